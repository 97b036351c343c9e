"""Spec 2, images and documents: what comes in, what goes out, and what never does."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path, PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spec.promises import promise
from tests.spec.team import Team
from tests.spec.test_http import DOT, known

from farhand.channels.kit.inbox import as_size
from farhand.channels.kit.sendable_files import (
    DOCUMENTS,
    IMAGES,
    LARGEST_BYTES,
    NotSendable,
    SendableFiles,
    refusal,
)
from farhand.channels.kit.tags import take_tags
from farhand.channels.kit.worker_folders import WorkerFolder
from farhand.model.facts import Said, TurnEnded
from farhand.model.ports import Deliver
from farhand.model.secret_names import BLOCKED_ENDINGS
from farhand.model.words import HowEnded

pytestmark = pytest.mark.anyio
UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


async def reply_to(team: Team, message: int) -> list[str]:
    """What the bot replied to that very message."""
    chat = await team.manager.sees(lambda chat: any(one.reply_to == message for one in chat))
    return [one.text for one in chat if one.reply_to == message]


@promise("media.1", "media.3", "updates.6", "updates.7", "files.12", "files.17", "routing.14")
async def test_a_photo_reaches_the_worker_with_its_caption(team: Team) -> None:
    await team.hire("ann")
    await team.manager.sends_photo(DOT, caption="What is this?")
    told = await team.until_told("Manager sent image")
    found = re.fullmatch(r"What is this\?\n\nManager sent image: (.+)", told)
    assert found
    path = Path(found.group(1))
    inbox = team.pipe().parent / "inbox"
    assert path.parent == inbox
    assert re.fullmatch(rf"{UUID}\.jpg", path.name)
    assert path.read_bytes() == DOT
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(inbox.stat().st_mode) == 0o700
    errand = next(errand for _, errand in team.claude.performed if isinstance(errand, Deliver))
    assert [one.path for one in errand.message.attachments] == [str(path)]


@promise("media.1", "updates.8")
async def test_an_image_sent_as_a_file_is_an_image(team: Team) -> None:
    await team.hire("ann")
    await team.manager.sends_document(DOT, "plot.png", mime_type="image/png")
    told = await team.until_told("Manager sent image")
    assert re.fullmatch(rf"Manager sent image: \S+/{UUID}\.png", told)


@promise("media.2", "media.3", "updates.6", "updates.8")
async def test_a_document_is_told_with_all_that_is_known(team: Team) -> None:
    await team.hire("ann")
    await team.hire("bob", "codex")
    await team.manager.sends_document(b"a,b\n" * 600, "the data.csv", mime_type="text/csv", caption="@ann read it")
    told = await team.until_told("Manager sent file")
    pattern = rf"read it\n\nManager sent file: the data\.csv \(2\.3 KB, text/csv\)\nPath: (\S+/ann/inbox/{UUID}\.csv)"
    found = re.fullmatch(pattern, told)
    assert found
    assert Path(found.group(1)).read_bytes() == b"a,b\n" * 600
    assert team.told("bob") == []
    assert team.house.hub.present.focus == "bob"


@promise("updates.8")
def test_sizes() -> None:
    assert [as_size(one) for one in (0, 1023, 1024, 5 * 1024 * 1024)] == ["0 B", "1023 B", "1.0 KB", "5.0 MB"]


@promise("routing.13", "texts.12")
async def test_a_file_without_a_focused_worker(team: Team) -> None:
    for caption in ("", "look"):
        sent = await team.manager.sends_photo(DOT, caption=caption)
        assert await reply_to(team, sent.message_id) == ["Needs decision - No focused worker. Use /focus <name> first."]


@promise("media.4", "media.5", "texts.12")
async def test_files_that_cannot_be_had(team: Team) -> None:
    await team.hire("ann")

    large = await team.manager.sends_document(b"x", "film.mp4", mime_type="video/mp4", claimed_size=LARGEST_BYTES + 1)
    assert await reply_to(team, large.message_id) == [
        "film.mp4 is larger than 20 MB, more than Telegram hands to a bot."
    ]
    gone = "Bad Request: wrong file_id or the file is temporarily unavailable"
    await team.bot.fault("getFile", "status", code=400, description=gone, times=2)
    photo = await team.manager.sends_photo(DOT)
    assert await reply_to(team, photo.message_id) == [
        "Needs decision - Could not download image. Try again or send as file."
    ]
    file = await team.manager.sends_document(b"x", "x.txt")
    assert await reply_to(team, file.message_id) == ["Needs decision - Could not download file. Try again."]
    assert team.told() == []


@promise("media.8", "media.9")
@pytest.mark.parametrize(
    "text",
    [
        "```\n[[image:/tmp/a.png]]\n```",
        "~~~py\n[[image:/tmp/a.png]]\n~~~",
        "```\n[[image:/tmp/a.png]]",
        "say `[[image:/tmp/a.png]]` to me",
        "say ``a ` [[image:/tmp/a.png]]`` to me",
        "\\[[image:/tmp/a.png]]",
        "\\[[file:/tmp/a.txt|x]]",
        "[[image:]]",
        "[[video:/tmp/a.mp4]]",
        "[[image:/tmp/a\n.png]]",
    ],
)
def test_what_is_no_tag(text: str) -> None:
    assert take_tags(text) == (text, ())


@promise("media.8")
@pytest.mark.parametrize(
    "text",
    [
        "<pre>[[image:/tmp/a.png]]</pre>",
        '<pre><code class="x">[[file:/a.md]]</code></pre>',
        "<code>[[file:/a.md]]</code>",
    ],
)
def test_code_in_html_is_code(text: str) -> None:
    assert take_tags(text, is_html=True) == (text, ())


@promise("media.7")
def test_tags() -> None:
    text, named = take_tags("One\n[[image:/tmp/a b.png|a | b]]\n[[file:/x/y.md]]\nTwo `[[file:/no.md]]`")
    assert text == "One\n\nTwo `[[file:/no.md]]`"
    assert [(one.path, one.caption, one.picture) for one in named] == [
        ("/tmp/a b.png", "a | b", True),
        ("/x/y.md", "", False),
    ]


@given(st.text(max_size=200))
def test_any_text_is_searched(text: str) -> None:
    for is_html in (False, True):
        rest, named = take_tags(text, is_html=is_html)
        assert named or rest == text


@promise("media.9", "media.8", "media.7")
async def test_tags_in_the_answer_of_a_turn(team: Team, tmp_path: Path) -> None:
    await team.hire("ann")
    picture = tmp_path / "p.png"
    picture.write_bytes(DOT)
    answer = f"Here [[image:{picture}|it is]] and \\[[image:/x.png]] and `[[file:/y.md]]`"
    team.claude.plays(Said(text=answer), TurnEnded(how=HowEnded.COMPLETED))
    await team.manager.says("show me")
    chat = await team.manager.sees(lambda chat: any(one.photo for one in chat))
    text = next(one.text for one in chat if one.text.startswith("ann:\nHere"))
    assert text == "ann:\nHere  and \\[[image:/x.png]] and [[file:/y.md]]"


@promise("media.18", "texts.17", "media.12", "media.14", "media.15")
async def test_a_file_that_may_not_be_sent_is_told(team: Team, tmp_path: Path) -> None:
    await known(team)
    secret = tmp_path / "server.pem"
    secret.write_text("key")
    link = tmp_path / "innocent.md"
    link.symlink_to(secret)
    text = f"[[file:{link}]] [[image:/no/such.png]] [[file:{secret}]]"
    await team.post("/response", {"session": "ann", "text": text})
    chat = await team.manager.sees(lambda chat: sum("failed" in one.text for one in chat) == 3)
    assert [one.text.splitlines()[0] for one in chat if "failed" in one.text] == [
        f"ann: [File failed: {link}]",
        "ann: [Image failed: /no/such.png]",
        f"ann: [File failed: {secret}]",
    ]
    assert not await team.bot.calls("sendDocument")


@promise("media.18", "texts.17", "media.12")
async def test_a_turns_answer_goes_by_the_same_rules(team: Team, tmp_path: Path) -> None:
    await team.hire("ann")
    answer = f"Look [[image:/no/such.png]] and [[file:{tmp_path}/server.pem|key]]"
    team.claude.plays(Said(text=answer), TurnEnded(how=HowEnded.COMPLETED))
    await team.manager.says("show me")
    chat = await team.manager.sees(lambda chat: sum("failed" in one.text for one in chat) == 2)
    told = [one.text for one in chat if one.text.startswith("ann:") and "is working" not in one.text]
    # Below the line that spec 2 fixes stands the reason.
    assert [one.partition("\nWhy:")[0] for one in told[-3:]] == [
        "ann:\nLook  and",
        "ann: [Image failed: /no/such.png]",
        f"ann: [File failed: {tmp_path}/server.pem]",
    ]


@promise("media.12")
def test_the_workers_own_directory_is_a_working_directory(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
        (folder / "a.png").write_bytes(DOT)
    # Everything under /tmp may be shown: the rule is looked at without it.
    roots = [ours.resolve()]
    given = PurePath(theirs / "a.png")
    assert refusal(given, given, picture=True, roots=roots, closed=[])
    assert not refusal(given, given, picture=True, roots=[*roots, theirs], closed=[])
    assert SendableFiles(ours, ours).read(str(theirs / "a.png"), picture=True, folder=WorkerFolder(theirs)) == DOT


def test_of_a_worker_in_a_sandbox_nothing_is_sent_that_it_does_not_see(tmp_path: Path) -> None:
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    for one in (theirs, mine):
        one.mkdir()
        (one / "notes.md").write_text(one.name)
    (theirs / "link.md").symlink_to(mine / "notes.md")
    shown, folder = SendableFiles(tmp_path, tmp_path), WorkerFolder(theirs, lambda path: path.is_relative_to(theirs))
    assert shown.read(str(theirs / "notes.md"), picture=False, folder=folder) == b"theirs"
    for path in (mine / "notes.md", theirs / "link.md", theirs / ".." / "mine" / "notes.md"):
        with pytest.raises(NotSendable, match="cannot see it itself"):
            shown.read(str(path), picture=False, folder=folder)
    assert shown.read(str(mine / "notes.md"), picture=False, folder=WorkerFolder(theirs)) == b"mine"


@promise("media.18")
async def test_a_file_that_telegram_refuses_is_told(team: Team, tmp_path: Path) -> None:
    await known(team)
    notes = tmp_path / "notes.md"
    notes.write_text("x")
    await team.bot.fault("sendDocument", "status", code=400, description="Bad Request: FILE_PARTS_INVALID")
    await team.post("/response", {"session": "ann", "text": f"[[file:{notes}]]"})
    failed, why = (await team.manager.reads("failed")).text.split("\n", 1)
    assert failed == f"ann: [File failed: {notes}]"
    assert why == "Why: Telegram refused it: File_parts_invalid"


@promise("lists.1", "lists.2", "lists.3", "media.11", "media.13", "media.14")
def test_the_exact_lists() -> None:
    assert sorted(IMAGES) == sorted([".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp"])
    documents = """.md .txt .rst .pdf .json .csv .yaml .yml .toml .ini .cfg .xml .log .sql .patch .diff .py .js .ts .jsx
    .tsx .go .rs .java .kt .swift .rb .php .c .cpp .h .hpp .sh .html .css .scss"""
    assert sorted(DOCUMENTS) == sorted(documents.split())
    blocked = ".pem .key .p12 .pfx .crt .cer .der .jks .keystore .kdb .pgp .gpg .asc"
    assert sorted(BLOCKED_ENDINGS) == sorted(blocked.split())


def why(path: str, *, picture: bool = False, real: str = "") -> str:
    roots = [PurePath("/tmp"), PurePath("/s"), PurePath("/w")]
    return refusal(PurePath(path), PurePath(real or path), picture=picture, roots=roots, closed=[PurePath("/h/.ssh")])


@promise("lists.3", "media.15")
@pytest.mark.parametrize(
    "name",
    """.env .ENV .env.local .env.json .npmrc .pypirc .netrc .git-credentials id_rsa id_ed25519 id_dsa credentials
    Credentials kubeconfig .credentials.json auth.json oauth_creds.json .claude.json server.PEM x.key""".split(),
)
def test_names_that_may_hold_secrets(name: str) -> None:
    assert why(f"/w/{name}")
    assert why("/w/fine.md", real=f"/w/{name}")


@promise("lists.4", "media.12", "media.16", "media.13")
def test_where_files_may_be() -> None:
    for path in ("/tmp/a.png", "/s/ann/a.GIF", "/w/deep/a.bmp"):
        assert why(path, picture=True) == ""
    for path in ("/home/a.png", "/tmpx/a.png", "/wx/a.png"):
        assert why(path, picture=True)
    assert why("/tmp/a.png", picture=True, real="/home/a.png")
    for path in ("/anywhere/at/all.md", "/etc/nginx.cfg", "/w/a.PY"):
        assert why(path) == ""
    for path in ("/w/a.exe", "/w/a.png", "/w/noending", "/proc/1/x.txt", "/h/.ssh/config.txt"):
        assert why(path)


@promise("media.17")
def test_files_over_twenty_megabytes_and_things_that_are_no_files(tmp_path: Path) -> None:
    shown = SendableFiles(tmp_path, tmp_path)
    large = tmp_path / "large.log"
    with large.open("wb") as file:
        file.truncate(LARGEST_BYTES + 1)
    exact = tmp_path / "exact.log"
    with exact.open("wb") as file:
        file.truncate(LARGEST_BYTES)
    folder = tmp_path / "folder.md"
    folder.mkdir()
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    assert len(shown.read(str(exact), picture=False)) == LARGEST_BYTES
    for path in (large, folder, pipe, tmp_path / "none.md", Path("relative.md")):
        with pytest.raises(NotSendable):
            shown.read(str(path), picture=False)


@promise("media.12", "media.16")
def test_a_link_gains_nothing(tmp_path: Path) -> None:
    node = tmp_path / "node"
    (node / "sessions").mkdir(parents=True)
    (node / "events.log").write_text("the node's own")
    (node / "sessions" / "ok.md").write_text("fine")
    shown = SendableFiles(node / "sessions", tmp_path, node=node)
    assert shown.read(str(node / "sessions" / "ok.md"), picture=False) == b"fine"
    outside = tmp_path / "link.log"
    outside.symlink_to(node / "events.log")
    folder = tmp_path / "way"
    folder.symlink_to(node)
    # A second name of the same file is no better than a link.
    twin = tmp_path / "twin.md"
    twin.hardlink_to(node / "events.log")
    for path in (node / "events.log", outside, folder / "events.log", node / "sessions" / ".." / "events.log", twin):
        with pytest.raises(NotSendable):
            shown.read(str(path), picture=False)


@promise("media.10")
async def test_photos_and_documents_go_their_own_ways(team: Team, tmp_path: Path) -> None:
    await known(team)
    for name in ("a.gif", "b.py"):
        (tmp_path / name).write_bytes(DOT)
    await team.post("/response", {"session": "ann", "text": f"[[image:{tmp_path}/a.gif]][[file:{tmp_path}/b.py|code]]"})
    await team.bot.until_calls(lambda calls: calls, "sendDocument")
    assert [call.parameters["caption"] for call in await team.bot.calls("sendPhoto")] == ["ann:"]
    assert [call.parameters["caption"] for call in await team.bot.calls("sendDocument")] == ["ann: code"]
