"""What an agent says is shown off its screen while somebody looks, until its own words come; nothing of it is kept."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from websockets.asyncio.client import ClientConnection, connect

from farhand.drivers.codex.tmux.screen import answer_on as codex_answer
from farhand.drivers.gemini.tmux.screen import answer_on
from farhand.model.facts import Draft, Said, TurnEnded, TurnStarted
from farhand.model.present import Worker
from farhand.model.previews import news
from farhand.model.words import HowEnded
from farhand.testing.house import SAFETY_SECONDS, House, open_house
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio
RECORDINGS = Path(__file__).parents[1] / "pure" / "gemini" / "recordings"


class DriverWithScreen(ScriptedDriver):
    """A scripted agent whose screen shows what the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.shows: asyncio.Queue[str] = asyncio.Queue()
        self.watched = 0
        self.left = anyio.Event()

    @asynccontextmanager
    async def answers_on_screen(self, worker: Worker) -> AsyncIterator[AsyncIterator[str]]:
        self.watched += 1
        try:
            yield self._screens()
        finally:
            self.left.set()

    async def _screens(self) -> AsyncIterator[str]:
        while True:
            yield await self.shows.get()


async def _next(socket: ClientConnection) -> dict[str, Any]:
    with anyio.fail_after(SAFETY_SECONDS):
        return dict(json.loads(await socket.recv()))


@asynccontextmanager
async def _looking_at(house: House, worker: str) -> AsyncIterator[ClientConnection]:
    """A device whose screen shows that worker; it has been greeted."""
    headers = {"Authorization": f"Bearer {house.node.settings.key.read_text()}"}
    address = f"ws://127.0.0.1:{house.node.port}/api/hub/socket"
    async with connect(address, additional_headers=headers, proxy=None) as socket:
        await socket.send(json.dumps({"view": {"worker": worker, "visible": True}}))
        assert (await _next(socket))["hello"] == 1
        yield socket


async def _start(house: House) -> None:
    started = Draft(worker="ann", turn="desk-1", fact=TurnStarted(text="say something"))
    await house.hub.record("ann", lambda _: [started])


async def test_a_preview_comes_while_somebody_looks_and_goes_when_the_words_come(tmp_path: Path) -> None:
    agent = DriverWithScreen()
    async with open_house(tmp_path, agent) as house:
        await house.hire("ann")
        async with _looking_at(house, "ann") as socket:
            await _start(house)
            assert (await _next(socket))["events"][0]["fact"]["type"] == "turn_started"
            agent.shows.put_nowait("Hello wor")
            preview = (await _next(socket))["now"]["preview"]
            assert preview == {"worker": "ann", "turn": "desk-1", "text": "Hello wor"}
            said = Draft(worker="ann", turn="desk-1", fact=Said(text="Hello world."))
            await house.hub.record("ann", lambda _: [said])
            frames = [await _next(socket), await _next(socket)]
            assert {"worker": "ann", "turn": "desk-1"} in [one.get("now", {}).get("preview") for one in frames]
            # The screen still shows what is said already: that is no news.
            agent.shows.put_nowait("Hello\n  world.")
            agent.shows.put_nowait("And one more thing")
            assert (await _next(socket))["now"]["preview"]["text"] == "And one more thing"
            ended = Draft(worker="ann", turn="desk-1", fact=TurnEnded(how=HowEnded.COMPLETED))
            await house.hub.record("ann", lambda _: [ended])
            agent.shows.put_nowait("")
            with anyio.fail_after(SAFETY_SECONDS):
                await agent.left.wait()
        assert not any("one more" in str(event.fact) for event in await house.history())


async def test_nobody_s_screen_is_read_while_nobody_looks(tmp_path: Path) -> None:
    agent = DriverWithScreen()
    async with open_house(tmp_path, agent) as house:
        await house.hire("ann")
        async with _looking_at(house, "bob") as socket:
            await _start(house)
            await _next(socket)
            assert agent.watched == 0
            await socket.send(json.dumps({"view": {"worker": "ann", "visible": True}}))
            with anyio.fail_after(SAFETY_SECONDS):
                agent.shows.put_nowait("Hi")
                assert (await _next(socket))["now"]["preview"]["text"] == "Hi"


def test_the_newest_answer_is_read_off_the_screen_of_gemini() -> None:
    busy = (RECORDINGS / "tui-busy.txt").read_text()
    assert answer_on(busy) == "alpha beta"
    assert answer_on((RECORDINGS / "tui-idle-after.txt").read_text()) == "alpha beta gamma delta epsilon zeta"
    assert answer_on((RECORDINGS / "tui-idle.txt").read_text()) == ""
    # What came before a person's next words is not the answer to them.
    asked = busy.replace("✦ alpha beta", "✦ alpha beta\n\n > and now?\n")
    assert answer_on(asked) == ""
    two = busy.replace("✦ alpha beta", "✦ alpha beta\n\n  second paragraph\n  goes on")
    assert answer_on(two) == "alpha beta\n\nsecond paragraph\ngoes on"


def test_what_was_said_in_other_lines_is_no_news() -> None:
    assert news("a b\nc", "x a  b c y") == ""
    assert news("a b d", "a b c") == "a b d"
    assert news("  ", "") == ""


def test_the_newest_answer_is_read_off_the_screen_of_codex() -> None:
    recordings = RECORDINGS.parents[1] / "codex" / "recordings"
    shown = {
        name: codex_answer((recordings / f"tui-{name}.txt").read_text()) for name in ("busy", "idle", "permission")
    }
    assert shown == {"busy": "alpha beta", "idle": "", "permission": ""}
    over = (recordings / "tui-idle-after.txt").read_text()
    assert codex_answer(over) == "alpha beta gamma delta epsilon zeta"
