"""The terminal app and its remote control: a message in, a word out, a stream resumed, a long conversation opened."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
import httpx2

from bench.rows import Row
from bench.timing import median, percentile
from farhand.cli.remote_control import remote_control
from farhand.model.live_session import MessageState, Role, SessionPart, SessionStatus
from farhand.testing.desk import ScriptedDesk, ScriptedSession, piloted
from farhand.tui.app import TerminalApp
from farhand.tui.short_collections import short_collections
from farhand.tui.typed_session import TypedSession

ROUNDS = 200
EVENTS = 1_000
LONG = 5_000
LOOKS = 3
PAGES = 150
# What a person does not feel as a pause.
PAUSE_MILLISECONDS = 50.0
PAUSE_BETWEEN_SECONDS = 0.05
PAGE_SECONDS = 0.1
TICK_SECONDS = 0.002
ANSWER = "It goes out **twice**:\n\n1. `schedule.py` arms one,\n2. `retry.py` another.\n\n```python\narm(order)\n```\n"


def rows() -> Iterator[Row]:
    """Every figure, measured in this run."""
    # The long conversation first: what another part leaves behind is not its garbage.
    yield from _long_conversation()
    yield from asyncio.run(_control())


@asynccontextmanager
async def _shown(session: ScriptedSession) -> AsyncIterator[httpx2.AsyncClient]:
    """The app before that conversation, and a program outside."""
    desk = ScriptedDesk(session)
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as folder:
        app = TerminalApp(desk, ready=session.set_ready)
        async with piloted(app, size=(120, 40)) as pilot:
            await pilot.pause()
            typed = TypedSession(desk, may_allow=False)
            async with remote_control(lambda _: typed, 0, Path(folder)) as port:
                address = f"http://127.0.0.1:{port}"
                async with httpx2.AsyncClient(base_url=address, trust_env=False, timeout=60) as outside:
                    yield outside


async def _control() -> list[Row]:
    session = ScriptedSession()
    async with _shown(session) as outside:
        posted = await _posted(session, outside)
        words = await _words(session, outside)
        resumed = await _resumed(session, outside)
    said = f"p99 {percentile(posted, 0.99) * 1e3:.1f} ms, the app drawing it"
    return [
        Row("POST /message → in the app's history, p50", median(posted) * 1e3, "ms", limit=20.0, note=said),
        Row("agent's word → SSE event, our app, p50", median(words) * 1e3, "ms", limit=30.0),
        Row(f"{EVENTS:,} missed events resumed", median(resumed) * 1e3, "ms", limit=100.0),
    ]


async def _posted(session: ScriptedSession, outside: httpx2.AsyncClient) -> list[float]:
    taken = []
    for number in range(ROUNDS):
        text = f"message {number}"
        began = time.perf_counter()
        response = await outside.post("/message", json={"message": text})
        taken.append(time.perf_counter() - began)
        assert response.status_code == 200
        assert session.log.messages[-1].text == text
        await asyncio.sleep(0.01)
    return taken


async def _words(session: ScriptedSession, outside: httpx2.AsyncClient) -> list[float]:
    taken: list[float] = []
    reply = session.log.add(Role.MODEL, "", MessageState.RUNNING).id
    async with outside.stream("GET", "/events", headers={"Last-Event-ID": _last(session)}) as response:
        lines = response.aiter_lines()
        for number in range(ROUNDS):
            # Each word comes by itself, as from a model that takes its time.
            await asyncio.sleep(PAUSE_BETWEEN_SECONDS)
            began = time.perf_counter()
            session.log.append(reply, "text", f"word{number} ")
            async for line in lines:
                if f"word{number} " in line or line.rstrip('"').endswith(f"word{number}"):
                    break
            taken.append(time.perf_counter() - began)
    return taken


def _last(session: ScriptedSession) -> str:
    return f"{session.log.id}:{session.log.number}"


async def _resumed(session: ScriptedSession, outside: httpx2.AsyncClient) -> list[float]:
    after = _last(session)
    for number in range(EVENTS):
        session.log.add(Role.MODEL if number % 2 else Role.USER, f"{number} {ANSWER}")
    taken = []
    for _ in range(9):
        began = time.perf_counter()
        async with outside.stream("GET", "/events", headers={"Last-Event-ID": after}) as response:
            got = 0
            async for line in response.aiter_lines():
                got += line == "event: message_update"
                if got == EVENTS and line.startswith("data: "):
                    assert json.loads(line.removeprefix("data: "))["message"]
                    break
        taken.append(time.perf_counter() - began)
    return taken


def _long_session() -> ScriptedSession:
    session = ScriptedSession(SessionStatus(model="bench", directory="/work"))
    for number in range(LONG // 2):
        session.log.add(Role.USER, f"Question {number}: why twice?")
        reply = session.log.add(Role.MODEL, "").id
        part = SessionPart(kind="tool", call=str(number), title="Run: rg -n timers", detail="rg", text="a\nb", ok=True)
        session.log.add_part(reply, part)
        session.log.append(reply, "text", f"Answer {number}. {ANSWER}")
    return session


class Looked(NamedTuple):
    """One look at the long conversation: by the clock, and by the processor time of the app's thread."""

    opened: float
    opened_cpu: float
    pauses: list[float]
    pauses_cpu: list[float]
    oldest: int


async def _look() -> Looked:
    session = _long_session()
    pauses: list[tuple[float, float]] = []
    with short_collections(session.set_ready) as ready:
        app = TerminalApp(ScriptedDesk(session), ready=ready)
        began, began_cpu = time.perf_counter(), time.thread_time()
        async with piloted(app, size=(120, 40)) as pilot:
            while f"Answer {LONG // 2 - 1}." not in _text(app):
                await pilot.pause()
            opened, opened_cpu = time.perf_counter() - began, time.thread_time() - began_cpu
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_watch_pauses, pauses)
                for _ in range(PAGES):
                    app.action_scroll(-1)
                    # A page for every blink of an eye.
                    await asyncio.sleep(PAGE_SECONDS)
                tasks.cancel_scope.cancel()
            oldest = app.transcript.oldest
    return Looked(opened, opened_cpu, [wall for wall, _ in pauses], [cpu for _, cpu in pauses], oldest)


def _long_conversation() -> list[Row]:
    """What a person waits for, the best of several looks: what others do on the machine is in each of them."""
    looks = [asyncio.run(_look()) for _ in range(LOOKS)]
    first = min(looks, key=lambda look: look.opened)
    calm = min(looks, key=lambda look: max(look.pauses))
    best = f"best of {LOOKS}"
    opened = f"{best}; {first.opened_cpu * 1e3:.0f} ms of it CPU time"
    note = (
        f"{best}; {PAGES} pages up, to message {calm.oldest:,}; p99 {percentile(calm.pauses, 0.99) * 1e3:.0f} ms; "
        f"longest in CPU time {max(calm.pauses_cpu) * 1e3:.0f} ms"
    )
    pause = max(calm.pauses) * 1e3
    return [
        Row(f"a conversation of {LONG:,} messages on the screen", first.opened * 1e3, "ms", limit=1000.0, note=opened),
        Row("the longest pause while one scrolls up in it", pause, "ms", limit=PAUSE_MILLISECONDS, note=note),
    ]


def _text(app: TerminalApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def _watch_pauses(found: list[tuple[float, float]]) -> None:
    """How long no key was heard and nothing drawn, again and again: by the clock beyond the sleep, and in CPU time."""
    while True:
        began, began_cpu = time.perf_counter(), time.thread_time()
        await asyncio.sleep(TICK_SECONDS)
        found.append((max(0.0, time.perf_counter() - began - TICK_SECONDS), time.thread_time() - began_cpu))
