"""The whole way: a phone at a fake Telegram, `farhand run` in a process of its own, the real Codex behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from farhand.testing.codex_env import CodexEnv
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say, use
from farhand.testing.phone import Phone, with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "to make it"}


@pytest.fixture(params=["", " --tmux"], ids=["headless", "tmux"])
async def phone(request: pytest.FixtureRequest, cli_env: CodexEnv, bot: FakeBot) -> AsyncIterator[Phone]:
    """A phone with a worker who asks."""
    async with with_phone(cli_env, bot) as opened:
        await opened.manager.says(f"/hire ann --codex --ask{request.param}")
        await opened.reads("Ann is added")
        yield opened


async def test_an_ask_is_allowed_and_another_denied_on_the_phone(cli_env: CodexEnv, phone: Phone) -> None:
    one, two = (use("exec_command", cmd=f"touch {name}.txt", **ESCALATED) for name in ("one", "two"))
    cli_env.model.script.conversation("zz-one", one, say("made one"))
    cli_env.model.script.conversation("zz-two", two, say("left two"))
    await phone.manager.says("zz-one")
    await phone.manager.taps(await phone.asks("touch one.txt"), "Allow once")
    await phone.reads("made one")
    await phone.manager.says("zz-two")
    await phone.manager.taps(await phone.asks("touch two.txt"), "Deny")
    await phone.reads("left two")
    assert (cli_env.project / "one.txt").exists()
    assert not (cli_env.project / "two.txt").exists()


async def test_an_ask_outlives_a_killed_node(cli_env: CodexEnv, phone: Phone) -> None:
    one = use("exec_command", cmd="echo x >> one.txt", **ESCALATED)
    cli_env.model.script.conversation("zz-one", one, say("made one"))
    await phone.manager.says("zz-one")
    ask = await phone.asks("one.txt")
    await phone.kill()
    await phone.manager.taps(ask, "Allow once")
    assert not (cli_env.project / "one.txt").exists()
    await phone.start()
    await phone.reads("made one")
    assert (cli_env.project / "one.txt").read_text() == "x\n"


async def test_a_node_killed_in_mid_turn_brings_the_answer_once(cli_env: CodexEnv, phone: Phone) -> None:
    cli_env.model.script.conversation(
        "zz-away", ScriptedReply((ScriptedText("the first half"), Hold("away"), ScriptedText("the second half")))
    )
    cli_env.model.script.conversation("zz-more", say("still here"))
    await phone.manager.says("zz-away")
    await cli_env.model.asked("zz-away")
    await phone.kill()
    cli_env.model.script.release("away")
    await phone.manager.says("zz-more")
    await phone.start()
    await phone.hears("the second half")
    await phone.hears("still here")
    assert await phone.answers("the second half") == 1
    assert await phone.answers("still here") == 1
