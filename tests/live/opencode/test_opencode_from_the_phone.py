"""The whole way: a phone at a fake Telegram, `farhand run` in a process of its own, the real OpenCode behind it."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from typing import Any, cast

import anyio
import anyio.to_thread
import pytest
from tests.live.claude.test_claude_from_the_phone import SECONDS, Phone, _running

from farhand.sandbox.holders import LocalHolders
from farhand.testing.models.script import Hold, Reply, Text, say, use
from farhand.testing.opencode import OpenCodeStudio
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def phone(studio: OpenCodeStudio, bot: FakeBot) -> AsyncIterator[Phone]:
    """A phone with a hired worker that asks."""
    try:
        async with _running(Phone(cast("Any", studio), bot)) as opened:
            await opened.manager.says("/hire ann --opencode --ask")
            await opened.manager.reads("Ann is added", seconds=SECONDS)
            yield opened
    finally:
        holders = LocalHolders(studio.folder / "farhand" / "nodes" / "test" / "holders")
        with anyio.CancelScope(shield=True):
            for name in await holders.names():
                await holders.forget(name)


def touching(studio: OpenCodeStudio, name: str, *steps: Reply) -> None:
    """The model wants to touch a file of that name."""
    touch = use("bash", command=f"touch {name}.txt", description=f"Create {name}")
    studio.model.script.conversation(f"zz-{name}", touch, *steps)


async def test_an_ask_is_allowed_and_another_denied_on_the_phone(studio: OpenCodeStudio, phone: Phone) -> None:
    touching(studio, "one", say("made one"))
    touching(studio, "two", say("left two"))
    await phone.manager.says("zz-one")
    await phone.manager.taps(await phone.ask("touch one.txt"), "Allow once")
    await phone.manager.reads("made one", seconds=SECONDS)
    await phone.manager.says("zz-two")
    await phone.manager.taps(await phone.ask("touch two.txt"), "Deny")
    await phone.manager.reads("left two", seconds=SECONDS)
    assert (studio.project / "one.txt").exists()
    assert not (studio.project / "two.txt").exists()


async def test_an_ask_outlives_a_killed_node_and_a_turn_is_told_once(studio: OpenCodeStudio, phone: Phone) -> None:
    touching(studio, "one", say("made one"))
    studio.model.script.conversation("zz-away", Reply((Text("the first half"), Hold("away"), Text("the second half"))))
    await phone.manager.says("zz-one")
    ask = await phone.ask("touch one.txt")
    await phone.kill()
    await phone.manager.taps(ask, "Allow once")
    assert not (studio.project / "one.txt").exists()
    await phone.start()
    await phone.manager.reads("made one", seconds=SECONDS)
    assert (studio.project / "one.txt").exists()
    await phone.manager.says("zz-away")
    await studio.model.asked("zz-away")
    await phone.kill()
    studio.model.script.release("away")
    await phone.start()
    await phone.manager.reads("the second half", seconds=SECONDS)
    assert await phone.answers("the second half") == 1
    assert await phone.answers("made one") == 1


async def test_a_server_that_is_killed_while_it_asks_lets_nothing_run(studio: OpenCodeStudio, phone: Phone) -> None:
    touching(studio, "no")
    await phone.manager.says("zz-no")
    await phone.ask("touch no.txt")
    for pid in await anyio.to_thread.run_sync(studio.agents):
        os.kill(pid, signal.SIGKILL)
    await phone.manager.reads("killed by signal 9", seconds=SECONDS)
    await phone.manager.reads("no longer asked", seconds=SECONDS)
    assert not (studio.project / "no.txt").exists()
