"""A program whose run is left or killed at an event, and one that resumes it; `every` does both at each event.

`left_run.py <way> <event>` begins, `left_run.py resume <session>` goes on, `left_run.py every <way>` tries all events,
each in a process of its own that is forked from this one, and tells a line of JSON for each.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from farhand.sdk import Agent, FakeModel, Run, Session, SessionContext, tool

STARTED = Path("processes.txt")


def answer(*parts: dict[str, Any]) -> dict[str, Any]:
    """What the model says to one request."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 1, "totalTokenCount": 1}
    return {"method": "generateContentStream", "response": [{"candidates": [candidate], "usageMetadata": usage}]}


def call(name: str) -> dict[str, Any]:
    """A call of the tool, with this id."""
    return {"functionCall": {"name": "work", "args": {}, "id": name}}


SCRIPT = [answer({"text": "Well. "}, call("c1")), answer(call("c2"), call("c3")), answer({"text": "Done."})]


@tool
async def work(context: SessionContext) -> str:
    """Works, with a command that would go on for ever."""
    running = await context.shell.start("sleep 600 & echo $!; wait")
    async for line in running.lines():
        with STARTED.open("a") as file:
            file.write(f"{line}\n")
        break
    await context.progress("it runs")
    await running.kill()
    await context.progress("it ended")
    return "done"


def make_agent(*answers: dict[str, Any]) -> Agent:
    """An agent whose model says this."""
    return Agent(model=FakeModel(answers), tools=[work], builtin_tools=False)


async def leave(way: str, run: Run[Any], session: Session) -> None:
    """Leaves a run in this way; `break` is left to the caller."""
    match way:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "cancel":
            await run.cancel()
        case "interrupt":
            await session.interrupt()
        case "close":
            await session.close()
        case _:
            pass


async def begin(way: str, at: int) -> None:
    """Runs until the event, and leaves."""
    session = make_agent(*SCRIPT, answer({"text": "Next."})).session()
    print(session.id, flush=True)
    async with session.run("go") as run:
        seen = 0
        async for _ in run:
            seen += 1
            if seen > at:
                await leave(way, run, session)
                break
    assert not session.busy
    await session.close()


async def resume(name: str) -> None:
    """Goes on with the session, and tells the conversation."""
    async with await make_agent(answer({"text": "Next."})).resume_session(name) as session:
        assert (await session.send("and now?")).text == "Next."
        assert not session.busy
        print(json.dumps(session.transcript))


async def count() -> None:
    """Tells how many events the run has that nobody leaves."""
    async with make_agent(*SCRIPT).session() as session:
        print(len([event async for event in session.run("go")]))


def in_a_fork(what: Coroutine[Any, Any, None]) -> tuple[str, int]:
    """What it printed in a process of its own, and how that ended. This one has no threads that a fork would lose."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(writing, 1)
            asyncio.run(what)
            sys.stdout.flush()
            os._exit(0)
        except BaseException as error:  # noqa: BLE001 - told to whoever forked
            print(f"{type(error).__name__}: {error}", flush=True)
            os._exit(1)
    what.close()
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    return said, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def take_started() -> list[str]:
    """The processes that commands have started since."""
    started = STARTED.read_text().split() if STARTED.exists() else []
    STARTED.unlink(missing_ok=True)
    return started


def every(way: str) -> None:
    """Leaves the run at each of its events in turn, and goes on with each."""
    said, _ = in_a_fork(count())
    for at in range(int(said) + 1):
        began, ended = in_a_fork(begin(way, at))
        started = take_started()
        resumed, went = in_a_fork(resume(began.strip()))
        told = {"at": at, "session": began.strip(), "ended": ended, "started": started}
        print(json.dumps({**told, "resumed": resumed.strip(), "went": went, "again": take_started()}), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["every", chosen]:
            every(chosen)
        case ["resume", chosen]:
            asyncio.run(resume(chosen))
        case [chosen, event]:
            asyncio.run(begin(chosen, int(event)))
        case _:
            sys.exit("left_run.py <way> <event> | resume <session> | every <way>")
