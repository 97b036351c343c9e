"""A worker's folder from the phone: its files, what git says, what a turn changed; nothing outside, nothing is run."""

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.house.workdir_client import Api, api, git, hired_in, repository

from farhand.model import facts
from farhand.model.facts import TurnEnded
from farhand.model.words import HowEnded
from farhand.model.workdir import MOST_ENTRIES, TEXT_BYTES
from farhand.testing.house import SAFETY_SECONDS, House

pytestmark = pytest.mark.anyio
ANN = "/api/workers/ann"


@pytest.fixture
async def folder(house: House, tmp_path: Path) -> Path:
    made = repository(tmp_path / "project")
    await hired_in(house, made)
    return made


@pytest.fixture
async def phone(house: House, folder: Path) -> AsyncIterator[Api]:
    async with api(house) as opened:
        yield opened


async def test_folders_are_listed_and_files_read(phone: Api, folder: Path) -> None:
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n...")
    (folder / "binary").write_bytes(b"\0\1")
    (folder / "long.txt").write_text("ü" * TEXT_BYTES)
    (folder / "link").symlink_to("/etc/passwd")
    listed = (await phone.get(f"{ANN}/tree"))["tree"]["entries"]
    assert [one["name"] for one in listed] == [
        ".git", "sub", ".gitignore", "a.txt", "binary", "link", "long.txt", "picture.png"
    ]  # fmt: skip
    assert {one["name"]: one["kind"] for one in listed}["link"] == "link"
    assert [one["name"] for one in (await phone.get(f"{ANN}/tree", path="sub"))["tree"]["entries"]] == ["b.txt"]
    assert (await phone.get(f"{ANN}/file", path="sub/b.txt"))["file"] == {"path": "sub/b.txt", "size": 2, "text": "b\n"}
    assert "text" not in (await phone.get(f"{ANN}/file", path="binary"))["file"]
    long = (await phone.get(f"{ANN}/file", path="long.txt"))["file"]
    assert (long["cut"], set(long["text"])) == (True, {"ü"})
    picture = await phone.client.get(f"{ANN}/file", params={"path": "picture.png", "raw": "1"})
    assert (picture.headers["content-type"], picture.content[:4]) == ("image/png", b"\x89PNG")
    raw = await phone.client.get(f"{ANN}/file", params={"path": "a.txt", "raw": "1"})
    assert raw.headers["content-type"] == "application/octet-stream"
    assert raw.headers["content-disposition"].startswith("attachment")
    assert raw.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "../outside.txt",
        "/etc/passwd",
        "sub/../../outside.txt",
        "link",
        "linked/outside.txt",
        ".env",
        "sub/x.pem",
        ".git/config",
    ],
)
async def test_nothing_outside_no_link_and_no_secret_is_shown(phone: Api, folder: Path, path: str) -> None:
    (folder.parent / "outside.txt").write_text("not yours")
    (folder / "link").symlink_to(folder.parent / "outside.txt")
    (folder / "linked").symlink_to(folder.parent)
    (folder / ".env").write_text("KEY=1")
    (folder / "sub" / "x.pem").write_text("KEY")
    for raw in ("", "1"):
        assert await phone.error(f"{ANN}/file", path=path, raw=raw) in ("bad_input", "not_in_folder")
    assert await phone.error(f"{ANN}/tree", path="linked") == "not_in_folder"


@pytest.mark.parametrize("folder_of_git", [".git", "mirror.git"])
async def test_what_git_keeps_is_not_shown_for_it_has_the_secrets_of_all_commits(
    phone: Api, folder: Path, folder_of_git: str
) -> None:
    (folder / ".env").write_text("KEY=1")
    git(folder, "add", "-f", ".env")
    git(folder, "commit", "-q", "-m", "a mistake")
    if folder_of_git != ".git":
        git(folder, "clone", "-q", "--bare", ".", folder_of_git)
        git(folder / folder_of_git, "repack", "-q", "-a", "-d")
    kept = [one for one in (folder / folder_of_git / "objects").rglob("*") if one.is_file() and one.name != "packs"]
    assert kept
    for one in kept:
        path = str(one.relative_to(folder))
        assert await phone.error(f"{ANN}/file", path=path, raw="1") == "not_in_folder"


@pytest.mark.parametrize(
    "path",
    [
        ".ssh/work",
        ".gnupg/random_seed",
        ".kube/config",
        ".docker/config.json",
        ".aws/config",
        ".config/gh/hosts.yml",
        ".pgpass",
        ".bash_history",
        "sub/prod.env",
        "id_ecdsa",
        ".vault-token",
        "terraform.tfstate",
        "secrets.yaml",
    ],
)
async def test_the_usual_places_of_keys_are_not_shown(phone: Api, folder: Path, path: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text("KEY")
    for raw in ("", "1"):
        assert await phone.error(f"{ANN}/file", path=path, raw=raw) == "not_in_folder"
    patch = (await phone.get(f"{ANN}/diff"))["diff"]
    assert "KEY" not in str(patch)


async def test_nothing_of_the_node_is_shown_that_lies_in_a_workers_folder(house: House, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "new.txt").write_text("shown\n")
    (tmp_path / "way").symlink_to(house.node.settings.folder)
    await hired_in(house, tmp_path)
    own, key = house.node.settings.folder.name, house.node.settings.key.read_text()
    async with api(house) as phone:
        for path in (f"{own}/key", f"{own}/farhand.db", "way/key"):
            for raw in ("", "1"):
                assert await phone.error(f"{ANN}/file", path=path, raw=raw) == "not_in_folder"
        assert await phone.error(f"{ANN}/tree", path=own) == "not_in_folder"
        diff = (await phone.get(f"{ANN}/diff"))["diff"]
    assert "new.txt" in [one["path"] for one in diff["files"]]
    assert not [one["path"] for one in diff["files"] if one["path"].startswith(f"{own}/")]
    assert key not in diff["patch"]


async def test_a_file_that_holds_a_key_of_the_node_is_not_shown_to_who_may_only_look(
    house: House, phone: Api, folder: Path
) -> None:
    """A read-only device that reads the node's key, which an agent wrote somewhere, is the manager from then on."""
    (folder / "notes.txt").write_text(f"the key is\n{house.node.settings.key.read_text()}\n")
    for path, query in (("file", {"path": "notes.txt"}), ("file", {"path": "notes.txt", "raw": "1"}), ("diff", {})):
        answer = await phone.client.get(f"{ANN}/{path}", params=query)
        assert answer.status_code == 403, answer.text
        assert answer.json()["error"]["text"] == "This is not shown: it holds a secret of the node, its key."


async def test_odd_things_in_a_folder_do_no_harm(phone: Api, folder: Path) -> None:
    subprocess.run(["mkfifo", folder / "pipe"], check=True)
    assert await phone.error(f"{ANN}/file", path="pipe") == "not_in_folder"
    assert await phone.error(f"{ANN}/file", path="sub") == "not_in_folder"
    assert await phone.error(f"{ANN}/file", path="") == "not_in_folder"
    assert await phone.error(f"{ANN}/file", path="a\0b") == "bad_input"
    many = folder / "many"
    many.mkdir()
    for number in range(MOST_ENTRIES + 5):
        (many / str(number)).touch()
    listing = (await phone.get(f"{ANN}/tree", path="many"))["tree"]
    assert (len(listing["entries"]), listing["more"]) == (MOST_ENTRIES, True)


async def test_status_commits_and_diffs(phone: Api, folder: Path) -> None:
    (folder / "a.txt").write_text("one\n2\nthree\n")
    (folder / "new ü.txt").write_text("new\n")
    (folder / "ignored").mkdir()
    (folder / "ignored" / "x").write_text("x")
    git(folder, "mv", "sub/b.txt", "sub/c.txt")
    status = (await phone.get(f"{ANN}/git"))["git"]
    assert status["branch"] == "main"
    assert {(one["path"], one.get("index", ""), one.get("worktree", "")) for one in status["files"]} == {
        ("a.txt", "", "M"),
        ("new ü.txt", "?", "?"),
        ("sub/c.txt", "R", ""),
    }
    diff = (await phone.get(f"{ANN}/diff"))["diff"]
    assert {(one["path"], one["how"], one["added"], one["removed"]) for one in diff["files"]} == {
        ("a.txt", "M", 1, 1),
        ("new ü.txt", "A", 1, 0),
        ("sub/c.txt", "R", 0, 0),
    }
    assert "-two\n+2\n" in diff["patch"]
    assert "+new\n" in diff["patch"]
    only = (await phone.get(f"{ANN}/diff", path="a.txt"))["diff"]
    assert ("-two" in only["patch"], "+new" in only["patch"]) == (True, False)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "The second")
    first, second = (await phone.get(f"{ANN}/commits"))["commits"][::-1]
    assert (first["title"], second["title"], second["author"]) == ("The first", "The second", "Ada")
    assert (await phone.get(f"{ANN}/diff"))["diff"].get("files", []) == []
    of_commit = (await phone.get(f"{ANN}/diff", commit=second["id"]))["diff"]
    assert {one["path"] for one in of_commit["files"]} == {"a.txt", "new ü.txt", "sub/c.txt"}
    of_first = (await phone.get(f"{ANN}/diff", commit=first["id"]))["diff"]
    assert {one["path"] for one in of_first["files"]} == {".gitignore", "a.txt", "sub/b.txt"}
    between = (await phone.get(f"{ANN}/diff", base=first["id"], commit=second["id"]))["diff"]
    assert between["patch"] == of_commit["patch"]
    for wrong in ("--output=/tmp/x", "main", "HEAD^{/x}", "-p"):
        assert await phone.error(f"{ANN}/diff", commit=wrong) == "bad_input"


async def test_no_secret_comes_with_a_file_that_became_a_folder_or_got_another_name(phone: Api, folder: Path) -> None:
    def commit() -> None:
        git(folder, "add", "-fA")
        git(folder, "commit", "-qm", "next")

    (folder / "settings").write_text("plain\n")
    commit()
    (folder / "settings").unlink()
    (folder / "settings").mkdir()
    lines = "".join(f"LINE_{number}=harmless\n" for number in range(20))
    (folder / "settings" / ".env").write_text(f"{lines}TOKEN=hunter2\n")
    (folder / "settings" / "x.txt").write_text("shown\n")
    commit()
    patch = (await phone.get(f"{ANN}/diff", commit="HEAD"))["diff"]["patch"]
    assert "+shown" in patch
    assert "hunter2" not in patch
    # Git takes it for the same file, and would show what was taken out of it.
    (folder / "settings" / ".env").rename(folder / "example.txt")
    (folder / "example.txt").write_text(f"{lines}TOKEN=yours\n")
    (folder / "settings" / "x.txt").write_text("shown again\n")
    commit()
    diff = (await phone.get(f"{ANN}/diff", commit="HEAD"))["diff"]
    assert "+shown again" in diff["patch"]
    assert "hunter2" not in diff["patch"]
    assert "example.txt" in {one["path"] for one in diff["files"]}


async def test_a_worker_in_a_part_of_a_repository_sees_that_part(house: House, phone: Api, folder: Path) -> None:
    await hired_in(house, folder / "sub", "bob")
    (folder / "a.txt").write_text("changed\n")
    (folder / "sub" / "b.txt").write_text("changed\n")
    assert [one["path"] for one in (await phone.get("/api/workers/bob/git"))["git"]["files"]] == ["b.txt"]
    diff = (await phone.get("/api/workers/bob/diff"))["diff"]
    assert [one["path"] for one in diff["files"]] == ["b.txt"]
    assert "a.txt" not in diff["patch"]


async def test_a_folder_that_is_no_repository_says_so(house: House, phone: Api, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    await hired_in(house, tmp_path / "plain", "bob")
    for route in ("git", "commits", "diff"):
        assert await phone.error(f"/api/workers/bob/{route}") == "no_repository"
    assert await phone.error("/api/workers/nobody/tree") == "unknown_worker"


async def test_an_empty_repository_has_a_status_and_a_diff(house: House, phone: Api, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q", "-b", "main")
    (tmp_path / "empty" / "x.txt").write_text("x\n")
    await hired_in(house, tmp_path / "empty", "bob")
    assert (await phone.get("/api/workers/bob/git"))["git"]["branch"] == "main"
    assert (await phone.get("/api/workers/bob/commits"))["commits"] == []
    assert "+x\n" in (await phone.get("/api/workers/bob/diff"))["diff"]["patch"]


async def test_a_linked_worktree_is_read(house: House, phone: Api, folder: Path, tmp_path: Path) -> None:
    git(folder, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    (tmp_path / "tree" / "a.txt").write_text("changed\n")
    await hired_in(house, tmp_path / "tree", "bob")
    status = (await phone.get("/api/workers/bob/git"))["git"]
    assert (status["branch"], [one["path"] for one in status["files"]]) == ("other", ["a.txt"])
    assert "+changed" in (await phone.get("/api/workers/bob/diff"))["diff"]["patch"]


async def test_nothing_that_a_repository_configures_is_run(phone: Api, folder: Path) -> None:
    proof = folder.parent / "was-run"
    program = folder.parent / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {proof}\ncat\n")
    program.chmod(0o755)
    (folder / ".gitattributes").write_text("*.txt filter=evil diff=evil merge=evil\n")
    for key in (
        "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "diff.external", "filter.evil.clean",
        "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command", "gpg.program",
        "credential.helper", "uploadpack.packObjectsHook", "core.askPass",
    ):  # fmt: skip
        git(folder, "config", key, str(program))
    git(folder, "config", "filter.evil.required", "true")
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "core.worktree", "/")
    (folder / "config").write_text(f"[core]\n\tfsmonitor = {program}\n")
    git(folder, "config", "include.path", "../config")
    hooks = folder / ".git" / "hooks"
    for hook in ("post-index-change", "pre-commit", "reference-transaction", "fsmonitor-watchman", "post-checkout"):
        (hooks / hook).write_text(program.read_text())
        (hooks / hook).chmod(0o755)
    proof.unlink(missing_ok=True)
    (folder / "a.txt").write_text("one\nevil\nthree\n")
    for route in ("git", "commits", "diff", "diff?commit=HEAD"):
        assert "error" not in await phone.get(f"{ANN}/{route}"), route
    assert "+evil" in (await phone.get(f"{ANN}/diff"))["diff"]["patch"]
    assert not proof.exists()


async def test_the_repository_itself_is_not_written_to(phone: Api, folder: Path) -> None:
    (folder / "a.txt").write_text("one\nmore\n")
    (folder / "big.bin").write_bytes(b"x" * (11 * 1024 * 1024))
    before = {path: path.stat().st_mtime_ns for path in (folder / ".git").rglob("*")}
    for route in ("git", "commits", "diff"):
        await phone.get(f"{ANN}/{route}")
    diff = (await phone.get(f"{ANN}/diff"))["diff"]
    # What is that large is no text to be read on a phone.
    assert [one["path"] for one in diff["files"]] == ["a.txt"]
    assert {path: path.stat().st_mtime_ns for path in (folder / ".git").rglob("*")} == before


async def test_what_a_turn_changed(house: House, phone: Api, folder: Path) -> None:
    (folder / "before.txt").write_text("was there\n")
    await house.hub.record("ann", lambda _: [_draft("t1", facts.TurnStarted())])
    await _turn_diff(phone, running=True)
    (folder / "a.txt").write_text("one\ntwo\n")
    (folder / "made.txt").write_text("made\n")
    running = await _turn_diff(phone, running=True)
    assert {one["path"] for one in running["files"]} == {"a.txt", "made.txt"}
    await house.hub.record("ann", lambda _: [_draft("t1", TurnEnded(how=HowEnded.COMPLETED))])
    await _turn_diff(phone, running=False)
    (folder / "after.txt").write_text("after\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "All of it")
    diff = await _turn_diff(phone, running=False)
    assert {(one["path"], one["how"]) for one in diff["files"]} == {("a.txt", "M"), ("made.txt", "A")}
    assert await phone.error(f"{ANN}/diff", turn="t2") == "not_in_folder"


async def test_git_that_was_ended_in_the_middle_blinds_nobody(house: House, phone: Api, folder: Path) -> None:
    assert "diff" in await phone.get(f"{ANN}/diff")
    kept = house.node.settings.folder / "snapshots" / house.worker().hiring_id
    # What git leaves that took too long, or that ended with its node.
    for name in ("snapshot-index.lock", "exact-index.lock", "copied-index.lock"):
        (kept / name).touch()
    (folder / "later.txt").write_text("later\n")
    assert "later.txt" in [one["path"] for one in (await phone.get(f"{ANN}/diff"))["diff"]["files"]]


def _draft(turn: str, fact: facts.Fact) -> facts.Draft:
    return facts.Draft(worker="ann", turn=turn, fact=fact)


async def _turn_diff(phone: Api, *, running: bool) -> Any:
    """What the turn changed, as soon as somebody has looked at the folder at its start, or at its end."""
    with anyio.fail_after(SAFETY_SECONDS):
        while True:
            answer = await phone.get(f"{ANN}/diff", turn="t1")
            if "error" not in answer and answer["diff"].get("running", False) is running:
                return answer["diff"]
