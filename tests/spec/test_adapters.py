"""Spec 2, exec adapters: each CLI called once for a message, its recorded output understood, its answer posted once."""

from __future__ import annotations

import json
import math
import os
import sys
import uuid
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio.abc import Process
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.spec.calling import adapter, begun, follower, killed
from tests.spec.promises import promise
from tests.spec.team import Team, team_house
from tests.spec.test_http import known

from farhand.channels.files.spooled_answers import read_spooled_answers
from farhand.cli.adapter import PAUSES_SECONDS, keep, post_until_taken
from farhand.drivers.codex.oneshot import ADAPTER as CODEX
from farhand.drivers.gemini.oneshot import ADAPTER as GEMINI
from farhand.drivers.opencode.oneshot import ADAPTER as OPENCODE
from farhand.drivers.wires.oneshot.runner import OneshotCall, OneshotRunner
from farhand.drivers.wires.oneshot.spec import OneshotCli, OneshotOutput
from farhand.model.facts import SessionKnown
from farhand.sandbox.holders import LocalHolders
from farhand.testing.models.server import served
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.sdk_env import until
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
    assert [adapter.source for adapter in (CODEX, GEMINI, OPENCODE)] == ["codex", "gemini", "opencode"]


@promise("hook.11", "protocol.10")
def test_what_the_clis_print_is_understood() -> None:
    assert CODEX.read(recorded("codex-first.jsonl"), "") == OneshotOutput("first", THREAD)
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
def test_garbage_is_no_answer_and_no_error_of_ours(adapter: OneshotCli, output: str, errors: str) -> None:
    assert isinstance(adapter.read(output, errors), OneshotOutput)


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


async def answer(
    adapter: OneshotCli,
    message: str,
    folder: Path,
    directory: Path,
    environ: dict[str, str],
    limit_seconds: float | None = None,
) -> OneshotOutput:
    """What the CLI says to the message, brought once."""
    brought: list[OneshotOutput] = []

    async def bring(_: OneshotCall, read: OneshotOutput) -> None:
        brought.append(read)

    calls = OneshotRunner(adapter, folder, LocalHolders(folder / "calls"), environ, limit_seconds)
    call = OneshotCall(id=uuid.uuid4().hex, message=message, directory=str(directory), bridge_url="")
    said = await calls.make(call, bring)
    assert brought == [said]
    return said


REPLAY = (
    f"print(open({str(RECORDINGS)!r} + '/codex-' + ('resumed' if 'resume' in sys.argv else 'first') + '.jsonl').read())"
)


@promise("hook.14", "files.11", "protocol.10")
async def test_codex_goes_on_with_its_session(tmp_path: Path) -> None:
    environ = program(tmp_path, "codex", note(tmp_path) + REPLAY)
    folder = tmp_path / "sessions" / "ann"
    assert (await answer(CODEX, "one", folder, tmp_path, environ)) == OneshotOutput("first", THREAD)
    assert (folder / "codex_session_id").read_text() == THREAD
    assert (folder / "codex_session_id.lock").exists()
    assert list((folder / "calls").iterdir()) == []
    assert (await answer(CODEX, "two", folder, tmp_path, environ)).text == "second"
    (_, given), (second, _) = notes(tmp_path)
    # Nothing that it could wait for.
    assert given == ""
    assert second[-3:] == ["resume", THREAD, "two"]


@promise("hook.14")
async def test_a_session_that_is_lost_is_begun_anew(tmp_path: Path) -> None:
    lost = f"if 'resume' in sys.argv:\n    sys.exit(open({str(RECORDINGS / 'codex-lost.txt')!r}).read())\n"
    environ = program(tmp_path, "codex", note(tmp_path) + lost + REPLAY)
    folder = tmp_path / "ann"
    folder.mkdir()
    (folder / "codex_session_id").write_text("gone")
    assert (await answer(CODEX, "hello", folder, tmp_path, environ)).text == "first"
    assert (folder / "codex_session_id").read_text() == THREAD


@promise("hook.11", "protocol.11", "protocol.12")
async def test_a_failure_is_told_in_a_sentence(tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path)}
    assert (await answer(GEMINI, "x", tmp_path / "a", tmp_path, nowhere)).error == (
        "Gemini failed: there is no 'gemini' on PATH."
    )
    environ = program(tmp_path, "gemini", "sys.exit('Invalid auth method selected.')")
    assert (
        await answer(GEMINI, "x", tmp_path / "a", tmp_path, environ)
    ).text == "Gemini failed: Invalid auth method selected."
    environ = program(
        tmp_path,
        "opencode",
        "print(json.dumps({'type': 'text', 'part': {'text': 'half'}}), flush=True)\ntime.sleep(600)",
    )
    late = await answer(OPENCODE, "x", tmp_path / "a", tmp_path, environ, limit_seconds=8)
    assert late.text == "half\n\nOpenCode failed: it took longer than 8 s and was stopped."
    assert [one.limit_seconds for one in (CODEX, GEMINI, OPENCODE)] == [math.inf, 300, 300]
    gone = await answer(OPENCODE, "x", tmp_path / "a", tmp_path / "none", environ)
    assert "could not be started" in gone.error


@promise("security.6", "hook.12", "files.11")
@pytest.mark.parametrize(
    ("adapter", "lock"),
    [(CODEX, "codex_session_id.lock"), (GEMINI, "gemini.lock"), (OPENCODE, "opencode.lock")],
    ids=["codex", "gemini", "opencode"],
)
async def test_one_call_at_a_time_for_each_worker(tmp_path: Path, adapter: OneshotCli, lock: str) -> None:
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
    environ = program(tmp_path, adapter.source, body)

    async def call(worker: str) -> None:
        given = {**environ, "FOR": worker}
        await answer(adapter, "x", tmp_path / "sessions" / worker, tmp_path, given)

    async with anyio.create_task_group() as tasks:
        for worker in ("ann", "bob", "ann", "bob", "ann"):
            tasks.start_soon(call, worker)
    assert (tmp_path / "ann").read_text() == "begin end " * 3
    assert (tmp_path / "bob").read_text() == "begin end " * 2
    assert (tmp_path / "sessions" / "ann" / lock).exists()


# --- the whole program


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


# --- somebody is killed


def waiting(folder: Path) -> str:
    """A program that notes that it was called, and answers with its message when the test lets it."""
    said = "{'type': 'item.completed', 'item': {'type': 'agent_message', 'text': 'heard ' + sys.argv[-1]}}"
    return (
        note(folder)
        + f"""
while not Path({str(folder / "let")!r}).exists():
    time.sleep(0.01)
print(json.dumps({said}))
"""
    )


async def called(environ: dict[str, str], folder: Path, *words: str) -> Process:
    """An adapter whose CLI has begun."""
    process = await begun(environ, *words)
    await until((folder / "notes").exists)
    return process


@promise("hook.11", "hook.13")
async def test_an_adapter_that_is_killed_brings_its_answer(team: Team, tmp_path: Path) -> None:
    await known(team)
    environ = program(tmp_path, "codex", waiting(tmp_path))
    words = ("codex", "ann", "one", team.url, str(team.settings.sessions), str(tmp_path))
    await killed(await called(environ, tmp_path, *words))
    (tmp_path / "let").touch()
    assert (await team.manager.reads("heard")).text == "ann:\nheard one"
    await until(lambda: not list((team.session() / "calls").iterdir()))
    assert len(notes(tmp_path)) == 1


@promise("hook.11", "hook.13")
async def test_the_next_adapter_brings_what_a_whole_family_that_was_killed_could_not(
    team: Team, tmp_path: Path
) -> None:
    await known(team)
    environ = program(tmp_path, "codex", waiting(tmp_path))
    rest = (team.url, str(team.settings.sessions), str(tmp_path))
    process = await called(environ, tmp_path, "codex", "ann", "one", *rest)
    await killed(process, follower(process))
    (tmp_path / "let").touch()
    assert await adapter(environ, "codex", "ann", "two", *rest) == (0, "")
    await team.manager.reads("ann:\nheard two")
    said = [one.text for one in await team.bot.messages(4242) if "heard" in one.text]
    # Each once, in the order in which they were asked for, and the CLI was called once for each.
    assert said == ["ann:\nheard one", "ann:\nheard two"]
    assert [words[-1] for words, _ in notes(tmp_path)] == ["one", "two"]
    assert list((team.session() / "calls").iterdir()) == []


async def test_a_call_that_was_killed_with_its_holder_is_told(team: Team, tmp_path: Path) -> None:
    await known(team)
    environ = program(tmp_path, "codex", waiting(tmp_path))
    rest = (team.url, str(team.settings.sessions), str(tmp_path))
    process = await called(environ, tmp_path, "codex", "ann", "one", *rest)
    (life,) = (team.session() / "calls").glob("*/life")
    await killed(process, follower(process), json.loads(life.read_text())["holder"])
    (tmp_path / "let").touch()
    assert await adapter(environ, "codex", "ann", "two", *rest) == (0, "")
    await team.manager.reads("ann:\nheard two")
    said = [one.text for one in await team.bot.messages(4242) if one.text.startswith("ann:")]
    assert said == ["ann:\nCodex failed: it was killed.", "ann:\nheard two"]


async def test_a_call_that_was_written_down_and_never_began_is_begun_first(tmp_path: Path) -> None:
    environ = program(tmp_path, "codex", note(tmp_path) + REPLAY)
    folder = tmp_path / "ann"
    (folder / "calls").mkdir(parents=True)
    cut_off = OneshotCall(id="one", message="one", directory=str(tmp_path), bridge_url="", at=1.0)
    (folder / "calls" / "codex-one.json").write_bytes(msgspec.json.encode(cut_off))
    (folder / "calls" / "codex-two.json").write_text("garbage")
    brought: list[str] = []

    async def bring(call: OneshotCall, read: OneshotOutput) -> None:
        brought.append(f"{call.id}: {read.text}")

    calls = OneshotRunner(CODEX, folder, LocalHolders(folder / "calls"), environ)
    await calls.make(OneshotCall(id="three", message="three", directory=str(tmp_path), bridge_url=""), bring)
    assert brought == ["one: first", "three: second"]
    assert [words[-1] for words, _ in notes(tmp_path)] == ["one", "three"]


async def test_a_call_that_nobody_waited_for_has_the_same_limit(tmp_path: Path) -> None:
    environ = program(tmp_path, "codex", waiting(tmp_path))
    folder = tmp_path / "ann"
    brought: list[str] = []

    async def bring(call: OneshotCall, read: OneshotOutput) -> None:
        brought.append(f"{call.id}: {read.text}")

    with anyio.CancelScope() as scope:

        async def cut() -> None:
            await until((tmp_path / "notes").exists)
            scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cut)
            calls = OneshotRunner(CODEX, folder, LocalHolders(folder / "calls"), environ)
            await calls.make(OneshotCall(id="one", message="one", directory=str(tmp_path), bridge_url=""), bring)
    calls = OneshotRunner(CODEX, folder, LocalHolders(folder / "calls"), environ, limit_seconds=0.01)
    await calls.make(OneshotCall(id="two", message="two", directory=str(tmp_path / "none"), bridge_url=""), bring)
    assert brought[0] == "one: Codex failed: it took longer than 0.01 s and was stopped."
    assert brought[1].startswith("two: Codex failed: it could not be started in")


async def test_wrong_words_are_told(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    code, errors = await adapter(environ, "nobody", "ann", "hi", "http://127.0.0.1:1")
    assert (code, errors.startswith("error: No backend called 'nobody'. Known: codex, gemini, opencode")) == (2, True)
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
    assert not post_until_taken(keep(gone, session), address, wait=waits.append)
    assert waits == [*PAUSES_SECONDS]
    (left,) = read_spooled_answers(session, 0.0)
    assert (left.name, left.text, left.html) == ("i", "a < b", False)
    async with team_house(tmp_path, bot, claude=agent) as team:
        await team.manager.reads("ann:\na < b")
        await until(lambda: not list((session / "answers").iterdir()))
        assert await anyio.to_thread.run_sync(post_until_taken, keep(gone, session), team.url)
        await team.post("/response", {"session": "ann", "text": "the end"})
        await team.manager.reads("the end")
        assert len([one for one in await bot.messages(4242) if one.text == "ann:\na < b"]) == 1


def test_an_answer_that_the_node_has_found_is_not_posted_again(tmp_path: Path) -> None:
    def found(_: float) -> None:
        (tmp_path / "answers" / "i.json").unlink(missing_ok=True)

    assert post_until_taken(
        keep({"session": "ann", "text": "x", "id": "i"}, tmp_path), "http://127.0.0.1:1", wait=found
    )


@promise("files.11", "hook.14")
async def test_a_drivers_session_is_in_the_workers_folder_too(team: Team) -> None:
    await team.hire("bob", "codex")
    team.codex.plays(SessionKnown(session=THREAD))
    await team.manager.says("hello")
    await until((team.session("bob") / "codex_session_id").exists)
    assert (team.session("bob") / "codex_session_id").read_text() == THREAD
