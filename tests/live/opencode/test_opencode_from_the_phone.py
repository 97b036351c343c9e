"""The whole way: a phone at a fake Telegram, `farhand run` in a process of its own, the real OpenCode behind it."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
import pytest
from tests.live import phone_scenarios, sprint_scenarios
from tests.live.phone_scenarios import ScriptedPhoneModel

from farhand.testing.models.script import Failure, ScriptedReply, say, use
from farhand.testing.opencode_env import OpenCodeEnv
from farhand.testing.phone import Phone, with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["headless", "tmux"])
def wire(request: pytest.FixtureRequest) -> str:
    """Over the node's server, and where a person can sit down."""
    return str(request.param)


@asynccontextmanager
async def hired(cli_env: OpenCodeEnv, bot: FakeBot, wire: str) -> AsyncIterator[Phone]:
    """A phone with a worker that asks, and has answered its welcome."""
    async with with_phone(cli_env, bot) as phone:
        await phone.manager.says(f"/hire ann --opencode --ask{' --tmux' if wire == 'tmux' else ''}")
        await phone.hears("An aside")
        yield phone


def touch(name: str) -> ScriptedReply:
    """The call that makes a file."""
    return use("bash", command=f"touch {name}", description=f"Create {name}")


def touching(cli_env: OpenCodeEnv, name: str, *steps: ScriptedReply) -> Path:
    """The model wants to touch a file of that name; the file."""
    cli_env.model.script.conversation(f"zz-{name}", touch(f"{name}.txt"), *steps)
    return cli_env.project / f"{name}.txt"


async def an_agent_that_is_killed_while_it_asks_lets_nothing_run(
    phone: Phone, cli_env: OpenCodeEnv, ended: str
) -> None:
    """It is told how the agent ended, the ask is taken back, and the worker comes back."""
    no = touching(cli_env, "no")
    await phone.manager.says("zz-no")
    await phone.asks("touch no.txt")
    for pid in await anyio.to_thread.run_sync(cli_env.agents):
        os.kill(pid, signal.SIGKILL)
    await phone.reads(ended)
    await phone.reads("no longer asked")
    await phone.reads("Ann is back online.")
    assert not no.exists()


async def test_asks_are_allowed_and_denied_and_outlive_the_node_as_answers_and_sprints_do(
    cli_env: OpenCodeEnv, bot: FakeBot, wire: str
) -> None:
    """One after the other at one phone, over the server a sprint first: this CLI takes its time to start."""
    later = Failure(429, "rate_limit_error", "come back later", {"retry-after": "7200"})
    model = ScriptedPhoneModel(cli_env.model, cli_env.project, touch, later)
    ended = "killed by signal 9" if wire == "headless" else "OpenCode ended in its terminal"
    async with hired(cli_env, bot, wire) as phone:
        if wire == "headless":
            await sprint_scenarios.a_sprint_outlives_three_kills_and_a_usage_limit(phone, model)
        await an_agent_that_is_killed_while_it_asks_lets_nothing_run(phone, cli_env, ended)
        await phone_scenarios.an_ask_is_allowed_and_another_denied(phone, model)
        await phone_scenarios.an_ask_outlives_a_killed_node(phone, model)
        await phone_scenarios.a_node_killed_in_mid_turn_brings_the_answer_once(phone, model)
        await an_ask_that_nobody_answers_is_denied(phone, cli_env)
    assert not (cli_env.project / "no.txt").exists()


async def an_ask_that_nobody_answers_is_denied(phone: Phone, cli_env: OpenCodeEnv) -> None:
    late = touching(cli_env, "late", say("what a pity"))
    await phone.start_again_with(FARHAND_ASK_DEADLINE_SECONDS="1")
    await phone.manager.says("zz-late")
    await phone.reads("touch late.txt")
    await phone.hears("what a pity")
    assert not late.exists()
    assert "Nobody answered in time" in str((await cli_env.model.asked("zz-late", times=2)).body)
