"""A run that is left or killed at any event: the session is free, the real Gemini CLI goes on, nothing runs on."""

from __future__ import annotations

import itertools
import os
import select
import signal
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.live.test_gemini_interchange import GEMINI, House
from tests.sdk.turning import intact

from farhand.testing.models.gemini import FakeGemini, says

pytestmark = pytest.mark.skipif(
    not GEMINI.exists(), reason="the Gemini CLI is not installed: sh scripts/setup-tests.sh"
)

PROGRAM = '''
import asyncio, os, signal, sys
from pathlib import Path
from farhand.sdk import Agent, FakeModel, SessionContext, tool

def answer(*parts):
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 1, "totalTokenCount": 1}
    return {"method": "generateContentStream", "response": [{"candidates": [candidate], "usageMetadata": usage}]}

def call(name):
    return {"functionCall": {"name": "work", "args": {}, "id": name}}

@tool
async def work(context: SessionContext) -> str:
    """Works, with a command that would go on for ever."""
    running = await context.shell.start("sleep 600 & echo $!; wait")
    async for line in running.lines():
        with Path("processes.txt").open("a") as file:
            file.write(f"{line}\\n")
        break
    await context.progress("it runs")
    await running.kill()
    await context.progress("it ended")
    return "done"

script = [answer({"text": "Well. "}, call("c1")), answer(call("c2"), call("c3")), answer({"text": "Done."})]

async def leave(way, run, session):
    match way:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "cancel":
            await run.cancel()
        case "interrupt":
            await session.interrupt()
        case "close":
            await session.close()

async def begin(way, at):
    agent = Agent(model=FakeModel([*script, answer({"text": "Next."})]), tools=[work], builtin_tools=False)
    session = agent.session()
    print(session.id, flush=True)
    async with session.run("go") as run:
        seen = 0
        async for event in run:
            seen += 1
            if seen > at:
                await leave(way, run, session)
                break
    assert not session.busy
    await session.close()

async def resume(name):
    agent = Agent(model=FakeModel([answer({"text": "Next."})]), tools=[work], builtin_tools=False)
    async with await agent.resume_session(name) as session:
        assert (await session.send("and now?")).text == "Next."
        assert not session.busy

asyncio.run(resume(sys.argv[2]) if sys.argv[1] == "resume" else begin(sys.argv[1], int(sys.argv[2])))
'''
A_HANGING_TEST_ENDS_SECONDS = 300
RUN_EVENTS = 20


def is_gone(process: int) -> bool:
    """Waits for the end of a process."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    watch = select.poll()
    watch.register(descriptor, select.POLLIN)
    try:
        return bool(watch.poll(A_HANGING_TEST_ENDS_SECONDS * 1000))
    finally:
        os.close(descriptor)


def play(house: House, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", PROGRAM, *arguments]
    return subprocess.run(
        command,
        cwd=house.project,
        env={**house.environ(), "GEMINI_MODEL": "gemini-2.5-flash"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=A_HANGING_TEST_ENDS_SECONDS,
        check=False,
    )


def left_at(house: House, way: str, at: int) -> str:
    """A session whose run was left; what its commands had started is gone."""
    began = play(house, way, str(at))
    assert began.returncode in (0, -signal.SIGKILL), began.stderr
    started = house.project / "processes.txt"
    processes = [int(line) for line in started.read_text().split()] if started.exists() else []
    assert all(is_gone(process) for process in processes)
    started.unlink(missing_ok=True)
    return began.stdout.strip()


def answered(contents: list[dict[str, Any]]) -> bool:
    """Whether a request is one that Gemini takes: roles in turn, a call answered by the message behind it."""
    roles = [content["role"] for content in contents]
    return (
        intact(contents) and roles[0] == "user" and "model" not in {a for a, b in itertools.pairwise(roles) if a == b}
    )


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(way=st.sampled_from(["break", "cancel", "interrupt", "close", "kill"]), at=st.integers(0, RUN_EVENTS))
@example(way="kill", at=4)
@example(way="kill", at=8)
def test_left_at_any_event_the_cli_and_we_go_on(tmp_path_factory: pytest.TempPathFactory, way: str, at: int) -> None:
    with FakeGemini() as fake:
        house = House(tmp_path_factory.mktemp("left"), fake)
        session = left_at(house, way, at)
        resumed = play(house, "resume", session)
        if "There is no session" in resumed.stderr:
            # Killed before anything was said: there is nothing to go on with.
            assert (way, at) == ("kill", 0)
            return
        assert resumed.returncode == 0, resumed.stderr
        fake.expect(says("Yes."))
        lines = run_gemini(house, session)
        assert lines[0]["session_id"] == session
        assert answered(fake.last["contents"])


def run_gemini(house: House, session: str) -> list[dict[str, Any]]:
    import anyio

    return anyio.run(house.gemini, "--resume", session, "-p", "still there?")
