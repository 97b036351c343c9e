"""The whole way: a phone at a fake Telegram, `farhand run` in a process of its own, the real Gemini CLI."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from threading import Event

import anyio.to_thread
import pytest

from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import calls, held, says
from farhand.testing.phone import Phone, with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
WIRES = ["headless", "tmux"]


def touches(cli_env: GeminiEnv, marker: str, name: str, *then: str) -> Path:
    """The model wants to create a file; the file."""
    arguments = {"command": f"touch {name}", "description": f"Create {name}"}
    cli_env.model.expect(calls("run_shell_command", arguments), *map(says, then), prompt=marker)
    return cli_env.project / name


async def hire(cli_env: GeminiEnv, phone: Phone, wire: str) -> None:
    """A worker who asks, and has said that it is ready."""
    option = " --tmux" if wire == "tmux" else ""
    cli_env.model.expect(says("I am ready"), prompt="a long-lived worker on this team")
    await phone.manager.says(f"/hire ann --gemini --ask{option}")
    await phone.reads("I am ready")


@pytest.mark.parametrize("wire", WIRES)
async def test_asks_are_allowed_and_denied_and_the_answer_comes_once_after_a_kill(
    cli_env: GeminiEnv, bot: FakeBot, wire: str
) -> None:
    one = touches(cli_env, "zz-one", "one.txt", "made one")
    two = touches(cli_env, "zz-two", "two.txt", *(["left two"] if wire == "headless" else []))
    three = touches(cli_env, "zz-three", "three.txt", "made three")
    gate = Event()
    cli_env.model.expect(held(gate, "the first half ", "and the second half", before=1), prompt="zz-away")
    async with with_phone(cli_env, bot) as phone:
        await hire(cli_env, phone, wire)
        await phone.manager.says("zz-one")
        await phone.manager.taps(await phone.reads("touch one.txt"), "Allow once" if wire == "tmux" else "Allow")
        await phone.reads("made one")
        assert one.exists()
        await phone.manager.says("zz-two")
        await phone.manager.taps(await phone.reads("touch two.txt"), "Deny" if wire == "tmux" else "Reject")
        if wire == "headless":
            await phone.reads("left two")
        # An ask outlives a killed node, and so does the tap on it.
        await phone.manager.says("zz-three")
        ask = await phone.reads("touch three.txt")
        await phone.kill()
        await phone.manager.taps(ask, "Allow once" if wire == "tmux" else "Allow")
        assert not three.exists()
        await phone.start()
        await phone.reads("made three")
        # A node that is killed in mid-turn brings the answer once.
        await phone.manager.says("zz-away")
        await cli_env.asked("zz-away")
        await phone.kill()
        gate.set()
        await phone.start()
        await phone.reads("the second half")
        assert await phone.answers("the second half") == 1
        assert await phone.answers("made three") == 1
    assert three.exists()
    assert not two.exists()


@pytest.mark.parametrize("wire", WIRES)
async def test_an_ask_that_nobody_answers_is_denied(cli_env: GeminiEnv, bot: FakeBot, wire: str) -> None:
    file = touches(cli_env, "zz-late", "late.txt", *(["what a pity"] if wire == "headless" else []))
    cli_env.model.expect(says("still here"), prompt="zz-more")
    async with with_phone(cli_env, bot, FARHAND_ASK_DEADLINE_SECONDS="2") as phone:
        await hire(cli_env, phone, wire)
        await phone.manager.says("zz-late")
        await phone.reads("touch late.txt")
        await phone.manager.says("zz-more")
        await phone.reads("still here")
    assert not file.exists()


async def test_an_agent_whose_link_is_killed_runs_nothing(cli_env: GeminiEnv, bot: FakeBot) -> None:
    file = touches(cli_env, "zz-kill", "kill.txt")
    async with with_phone(cli_env, bot) as phone:
        await hire(cli_env, phone, "headless")
        await phone.manager.says("zz-kill")
        await phone.reads("touch kill.txt")
        for pid in await anyio.to_thread.run_sync(cli_env.agents):
            os.kill(pid, signal.SIGKILL)
        await phone.reads("The agent")
    assert not file.exists()
