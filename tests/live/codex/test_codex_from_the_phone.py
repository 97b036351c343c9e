"""The whole way: a phone at a fake Telegram, `farhand run` in a process of its own, the real Codex behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from tests.live.claude.test_claude_from_the_phone import SECONDS, Phone, _running, may_be_allowed

from farhand.sandbox.holders import LocalHolders
from farhand.testing.codex import CodexStudio
from farhand.testing.models.script import Hold, Reply, Text, say, use
from farhand.testing.telegram import FakeBot, Shown

pytestmark = pytest.mark.anyio
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "to make it"}


@pytest.fixture(params=["", " --tmux"], ids=["headless", "tmux"])
async def phone(request: pytest.FixtureRequest, studio: CodexStudio, bot: FakeBot) -> AsyncIterator[Phone]:
    """A phone with a worker who asks."""
    async with _held(studio), _running(Phone(studio, bot)) as opened:
        await opened.manager.says(f"/hire ann --codex --ask{request.param}")
        await opened.manager.reads("Ann is added", seconds=SECONDS)
        yield opened


@asynccontextmanager
async def _held(studio: CodexStudio) -> AsyncIterator[None]:
    """Leaves no agent behind that outlived its node."""
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            holders = LocalHolders(studio.folder / "farhand" / "nodes" / "test" / "holders")
            for name in await holders.names():
                await holders.forget(name)


async def asked(phone: Phone, words: str) -> Shown:
    """The message that asks about this: another one may show the tool that waits."""

    def asks(message: Shown) -> bool:
        return words in message.text and may_be_allowed(message)

    chat = await phone.manager.sees(lambda messages: any(map(asks, messages)), seconds=SECONDS)
    return next(filter(asks, chat))


async def test_an_ask_is_allowed_and_another_denied_on_the_phone(studio: CodexStudio, phone: Phone) -> None:
    one, two = (use("exec_command", cmd=f"touch {name}.txt", **ESCALATED) for name in ("one", "two"))
    studio.model.script.conversation("zz-one", one, say("made one"))
    studio.model.script.conversation("zz-two", two, say("left two"))
    await phone.manager.says("zz-one")
    await phone.manager.taps(await asked(phone, "touch one.txt"), "Allow once")
    await phone.manager.reads("made one", seconds=SECONDS)
    await phone.manager.says("zz-two")
    await phone.manager.taps(await asked(phone, "touch two.txt"), "Deny")
    await phone.manager.reads("left two", seconds=SECONDS)
    assert (studio.project / "one.txt").exists()
    assert not (studio.project / "two.txt").exists()


async def test_an_ask_outlives_a_killed_node(studio: CodexStudio, phone: Phone) -> None:
    one = use("exec_command", cmd="echo x >> one.txt", **ESCALATED)
    studio.model.script.conversation("zz-one", one, say("made one"))
    await phone.manager.says("zz-one")
    ask = await asked(phone, "one.txt")
    await phone.kill()
    await phone.manager.taps(ask, "Allow once")
    assert not (studio.project / "one.txt").exists()
    await phone.start()
    await phone.manager.reads("made one", seconds=SECONDS)
    assert (studio.project / "one.txt").read_text() == "x\n"


async def test_a_node_killed_in_mid_turn_brings_the_answer_once(studio: CodexStudio, phone: Phone) -> None:
    studio.model.script.conversation("zz-away", Reply((Text("the first half"), Hold("away"), Text("the second half"))))
    studio.model.script.conversation("zz-more", say("still here"))
    await phone.manager.says("zz-away")
    await studio.model.asked("zz-away")
    await phone.kill()
    studio.model.script.release("away")
    await phone.manager.says("zz-more")
    await phone.start()
    await phone.manager.reads("the second half", seconds=SECONDS)
    await phone.manager.reads("still here", seconds=SECONDS)
    assert await phone.answers("the second half") == 1
    assert await phone.answers("still here") == 1
