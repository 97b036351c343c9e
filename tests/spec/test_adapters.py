"""Spec 2, exec adapters: each CLI called once for a message, its recorded output understood, its answer posted once."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.spec.promises import promise
from tests.spec.team import Team, team_house
from tests.spec.test_http import known

from farhand.channels.files.left import left_answers
from farhand.cli.adapter import PAUSES_SECONDS, bring
from farhand.drivers.codex.adapter import ADAPTER as CODEX
from farhand.drivers.gemini.adapter import ADAPTER as GEMINI
from farhand.drivers.opencode.adapter import ADAPTER as OPENCODE
from farhand.drivers.wires.adapter import LIMIT_SECONDS, Adapter, Read, answer
from farhand.model.facts import SessionKnown
from farhand.roster import adapter_of
from farhand.testing.models.serving import served
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.stage import until
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
RECORDINGS = Path(__file__).with_name("recordings")
THREAD = "01a1e0ae-2bb9-7652-a494-d33c0642025a"


def recorded(name: str) -> str:
    return (RECORDINGS / name).read_text()


# --- the commands and what they print


@promise("hook.11", "backend.4", "backend.5", "backend.6", "protocol.10", "protocol.11", "protocol.12")
def test_the_commands() -> None:
    assert CODEX.words("hi there", "/w", "") == [
        "exec", "--json", "--yolo", "--skip-git-repo-check", "-C", "/w", "hi there"
    ]  # fmt: skip
    assert CODEX.words("-v", "/w", "t1")[-3:] == ["resume", "t1", " -v"]
    assert GEMINI.words("hi there", "/w", "") == ["-p", "hi there", "--output-format", "json"]
    assert OPENCODE.words("hi there", "/w", "") == ["run", "--format", "json"]
    assert (OPENCODE.input("hi there"), CODEX.input("x"), GEMINI.input("x")) == ("hi there", "", "")
    assert [adapter_of(name).source for name in ("codex", "gemini", "opencode")] == ["codex", "gemini", "opencode"]


@promise("hook.11", "protocol.10")
def test_what_the_clis_print_is_understood() -> None:
    assert CODEX.read(recorded("codex-first.jsonl"), "") == Read("first", THREAD)
    assert CODEX.read(recorded("codex-failed.jsonl"), "").error == (
        '{"error": {"type": "server_error", "message": "fake error"}}'
    )
    assert "no rollout found" in CODEX.read("", recorded("codex-lost.txt")).error
    assert GEMINI.read(recorded("gemini.json"), "").text == "hello there"
    failed_call = GEMINI.read("", recorded("gemini-failed.txt"))
    assert failed_call.text == ""
    assert failed_call.error.startswith("Error when talking to Gemini API")
    broken = 'Warning: x\n{"session_id": "s", "error": {"type": "Error", "message": "no key", "code": 41}}'
    assert GEMINI.read("", broken).error == "no key"
    assert OPENCODE.read(recorded("opencode.jsonl"), "").session.startswith("ses_")
    assert OPENCODE.read(recorded("opencode.jsonl"), "").text
    failed = {"type": "error", "error": {"name": "APIError", "data": {"message": "no model"}}}
    assert OPENCODE.read(json.dumps(failed), "").error == "no model"


@promise("hook.11")
def test_all_that_codex_says_is_one_answer() -> None:
    said = [{"type": "item.completed", "item": {"type": "agent_message", "text": text}} for text in ("one", "two")]
    assert CODEX.read("\n".join(map(json.dumps, said)), "").text == "one\n\ntwo"


@pytest.mark.parametrize("adapter", [CODEX, GEMINI, OPENCODE], ids=lambda one: str(one.source))
@given(st.text(), st.text())
def test_garbage_is_no_answer_and_no_error_of_ours(adapter: Adapter, output: str, errors: str) -> None:
    assert isinstance(adapter.read(output, errors), Read)


# --- a call


def program(folder: Path, name: str, body: str) -> dict[str, str]:
    """An executable of that name first on PATH; it can leave notes in `notes`."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\nfrom pathlib import Path\n{body}\n")
    path.chmod(0o755)
    return {"PATH": f"{path.parent}:{os.environ['PATH']}", "HOME": str(folder)}


def note(folder: Path) -> str:
    return f"open({str(folder / 'notes')!r}, 'a').write(json.dumps([sys.argv[1:], sys.stdin.read()]) + chr(10))\n"


def notes(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "notes").read_text().splitlines()]


REPLAY = (
    f"print(open({str(RECORDINGS)!r} + '/codex-' + ('resumed' if 'resume' in sys.argv else 'first') + '.jsonl').read())"
)


@promise("hook.14", "files.11", "protocol.10")
def test_codex_goes_on_with_its_session(tmp_path: Path) -> None:
    environ = program(tmp_path, "codex", note(tmp_path) + REPLAY)
    folder = tmp_path / "sessions" / "ann"
    assert answer(CODEX, "one", folder, tmp_path, environ) == Read("first", THREAD)
    assert (folder / "codex_session_id").read_text() == THREAD
    assert (folder / "codex_session_id.lock").exists()
    assert answer(CODEX, "two", folder, tmp_path, environ).text == "second"
    (_, given), (second, _) = notes(tmp_path)
    # Nothing that it could wait for.
    assert given == ""
    assert second[-3:] == ["resume", THREAD, "two"]


@promise("hook.14")
def test_a_session_that_is_lost_is_begun_anew(tmp_path: Path) -> None:
    lost = f"if 'resume' in sys.argv:\n    sys.exit(open({str(RECORDINGS / 'codex-lost.txt')!r}).read())\n"
    environ = program(tmp_path, "codex", note(tmp_path) + lost + REPLAY)
    folder = tmp_path / "ann"
    folder.mkdir()
    (folder / "codex_session_id").write_text("gone")
    assert answer(CODEX, "hello", folder, tmp_path, environ).text == "first"
    assert (folder / "codex_session_id").read_text() == THREAD


@promise("hook.11", "protocol.11", "protocol.12")
def test_a_failure_is_told_in_a_sentence(tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path)}
    assert answer(GEMINI, "x", tmp_path / "a", tmp_path, nowhere).error == (
        "Gemini failed: there is no 'gemini' on PATH."
    )
    environ = program(tmp_path, "gemini", "sys.exit('Invalid auth method selected.')")
    assert answer(GEMINI, "x", tmp_path / "a", tmp_path, environ).text == "Gemini failed: Invalid auth method selected."
    environ = program(
        tmp_path,
        "opencode",
        "print(json.dumps({'type': 'text', 'part': {'text': 'half'}}), flush=True)\ntime.sleep(600)",
    )
    late = answer(OPENCODE, "x", tmp_path / "a", tmp_path, environ, limit_seconds=3)
    assert late.text == "half\n\nOpenCode failed: it took longer than 3 s and was stopped."
    assert LIMIT_SECONDS == 300
    gone = answer(OPENCODE, "x", tmp_path / "a", tmp_path / "none", environ)
    assert "could not be started" in gone.error


@promise("security.6", "hook.12", "files.11")
@pytest.mark.parametrize(
    ("adapter", "lock"),
    [(CODEX, "codex_session_id.lock"), (GEMINI, "gemini.lock"), (OPENCODE, "opencode.lock")],
    ids=["codex", "gemini", "opencode"],
)
async def test_one_call_at_a_time_for_each_worker(tmp_path: Path, adapter: Adapter, lock: str) -> None:
    """Each call notes its beginning and its end, and waits in between until the other worker's call has begun too."""
    body = f"""
folder = Path({str(tmp_path)!r})
worker = os.environ["FOR"]
with open(folder / worker, "a") as file:
    file.write("begin ")
(folder / (worker + ".begun")).touch()
other = folder / ("bob.begun" if worker == "ann" else "ann.begun")
for _ in range(3000):
    if other.exists():
        break
    time.sleep(0.01)
else:
    sys.exit("alone")
with open(folder / worker, "a") as file:
    file.write("end ")
print(json.dumps({{"type": "text", "part": {{"text": "ok"}}, "response": "ok"}}))
"""
    environ = program(tmp_path, adapter.program, body)

    async def call(worker: str) -> None:
        given = {**environ, "FOR": worker}
        await anyio.to_thread.run_sync(answer, adapter, "x", tmp_path / "sessions" / worker, tmp_path, given)

    async with anyio.create_task_group() as tasks:
        for worker in ("ann", "bob", "ann", "bob", "ann"):
            tasks.start_soon(call, worker)
    assert (tmp_path / "ann").read_text() == "begin end " * 3
    assert (tmp_path / "bob").read_text() == "begin end " * 2
    assert (tmp_path / "sessions" / "ann" / lock).exists()


# --- the whole program


async def adapter(environ: dict[str, str], *words: str) -> tuple[int, str]:
    with anyio.fail_after(120):
        done = await anyio.run_process(
            [sys.executable, "-m", "farhand", "adapter", *words], env=environ, check=False, stdin=-3
        )
    return done.returncode, done.stderr.decode()


@promise("hook.13", "hook.11", "backend.4", "flows.2", "protocol.11")
async def test_an_answer_is_posted_escaped_and_with_its_source(team: Team, tmp_path: Path) -> None:
    await known(team)
    tell = "print(json.dumps({'response': 'a < b & <b>c</b> ' + str('TELEGRAM_BOT_TOKEN' in os.environ)}))"
    environ = {**program(tmp_path, "gemini", note(tmp_path) + tell), "TELEGRAM_BOT_TOKEN": team.bot.token}
    words = ("gemini", "ann", "-what is up?", f"{team.url}/", str(team.settings.sessions), str(tmp_path))
    # argparse takes what begins with a hyphen for a flag: `--` ends them.
    code, errors = await adapter(environ, "--", *words)
    assert (code, errors) == (0, "")
    assert (await team.manager.reads("a < b")).text == "ann:\na < b & <b>c</b> False"
    assert notes(tmp_path)[0][0] == ["-p", " -what is up?", "--output-format", "json"]
    assert list((team.session() / "answers").iterdir()) == []
    assert (team.session() / "gemini.lock").exists()


@promise("hook.13")
async def test_a_cli_that_fails_is_told_to_the_manager(team: Team, tmp_path: Path) -> None:
    await known(team)
    environ = program(tmp_path, "codex", "sys.exit('no credits left')")
    code, errors = await adapter(environ, "codex", "ann", "hi", team.url, str(team.settings.sessions))
    assert (code, errors) == (1, "error: Codex failed: no credits left.\n")
    assert (await team.manager.reads("no credits")).text == "ann:\nCodex failed: no credits left."


@promise("hook.13", "protocol.10", "protocol.11", "protocol.12")
@pytest.mark.parametrize("backend", ["codex", "gemini", "opencode"])
async def test_what_an_adapter_posts(tmp_path: Path, backend: str) -> None:
    said = {"response": "hi", "type": "text", "part": {"text": "hi"}}
    if backend == "codex":
        said = {"type": "item.completed", "item": {"type": "agent_message", "text": "hi"}}
    environ = program(tmp_path, backend, f"print({json.dumps(said)!r})")
    posted: list[Any] = []

    async def take(request: Request) -> Response:
        posted.append(await request.json())
        return Response("OK")

    async with served(Starlette(routes=[Route("/response", take, methods=["POST"])])) as address:
        code, errors = await adapter(environ, backend, "ann", "hello", address, str(tmp_path / "s"))
    assert (code, errors) == (0, "")
    assert [{**one, "id": ""} for one in posted] == [
        {"session": "ann", "text": "hi", "source": backend, "escape": True, "id": ""}
    ]
    assert len(posted[0]["id"]) == 32


async def test_wrong_words_are_told(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    code, errors = await adapter(environ, "nobody", "ann", "hi", "http://127.0.0.1:1")
    assert (code, errors) == (1, "error: No backend called 'nobody'. Known: codex, gemini, opencode.\n")
    code, errors = await adapter(environ, "codex", "../ann", "hi", "http://127.0.0.1:1")
    assert (code, "letters, numbers" in errors) == (2, True)
    (tmp_path / "file").write_text("no folder")
    code, errors = await adapter(environ, "codex", "ann", "hi", "http://127.0.0.1:1", str(tmp_path / "file"))
    assert (code, errors) == (1, f"error: {tmp_path}/file/ann cannot be used: Not a directory.\n")


async def test_a_node_that_is_killed_in_between_gets_the_answer_once(tmp_path: Path, bot: FakeBot) -> None:
    agent = ScriptedDriver(backend="claude")
    async with team_house(tmp_path, bot, claude=agent) as team:
        await known(team)
        session, address = team.session(), team.url
    gone = {"session": "ann", "text": "a < b", "source": "codex", "escape": True, "id": "i"}
    waits: list[float] = []
    assert not bring(gone, session, address, waits.append)
    assert waits == [*PAUSES_SECONDS, 0.0]
    (left,) = left_answers(session, 0.0)
    assert (left.name, left.text, left.html) == ("i", "a < b", False)
    async with team_house(tmp_path, bot, claude=agent) as team:
        await team.manager.reads("ann:\na < b")
        await until(lambda: not list((session / "answers").iterdir()))
        assert await anyio.to_thread.run_sync(bring, gone, session, team.url)
        await team.post("/response", {"session": "ann", "text": "the end"})
        await team.manager.reads("the end")
        assert len([one for one in await bot.messages(4242) if one.text == "ann:\na < b"]) == 1


def test_an_answer_that_the_node_has_found_is_not_posted_again(tmp_path: Path) -> None:
    def found(_: float) -> None:
        (tmp_path / "answers" / "i.json").unlink()

    assert bring({"session": "ann", "text": "x", "id": "i"}, tmp_path, "http://127.0.0.1:1", found)


@promise("files.11", "hook.14")
async def test_a_drivers_session_is_in_the_workers_folder_too(team: Team) -> None:
    await team.hire("bob", "codex")
    team.codex.plays(SessionKnown(session=THREAD))
    await team.manager.says("hello")
    await until((team.session("bob") / "codex_session_id").exists)
    assert (team.session("bob") / "codex_session_id").read_text() == THREAD
