"""The whole way: a phone at a fake Telegram, `farhand run` in a process of its own, the real Gemini CLI."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from threading import Event

import anyio.to_thread
import pytest
from tests.live import phone_scenarios, sprint_scenarios
from tests.live.phone_scenarios import FIRST, SECOND

from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import calls, exhausted, held, says
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


class GeminiPhoneModel:
    """The fake model of the Gemini CLI, for the scenarios; its terminal ends the turn at a no."""

    def __init__(self, cli_env: GeminiEnv, wire: str) -> None:
        self._cli_env = cli_env
        self.allow, self.deny = ("Allow once", "Deny") if wire == "tmux" else ("Allow once", "Reject")
        self.goes_on = wire == "headless"

    def touches(self, name: str, then: str) -> Path:
        spoken = [then] if self.goes_on or name != "two" else []
        return touches(self._cli_env, f"zz-{name}", f"{name}.txt", *spoken)

    def says(self, marker: str, text: str) -> None:
        self._cli_env.model.expect(says(text), prompt=marker)

    def pauses(self, marker: str) -> Callable[[], None]:
        gate = Event()
        self._cli_env.model.expect(held(gate, FIRST, SECOND, before=1), prompt=marker)
        return gate.set

    def limits(self, marker: str, text: str) -> None:
        self._cli_env.model.expect(exhausted(daily=True), says(text), prompt=marker)

    def looks_at_a_picture(self, marker: str, then: str) -> bool:
        self.says(marker, then)
        return False

    def hears_words(self, words: str, then: str) -> bool:
        self.says(words, then)
        return True

    def was_told(self, text: str) -> bool:
        return any(text in str(one.body) for one in self._cli_env.model.requests)

    async def asked(self, marker: str) -> None:
        await self._cli_env.asked(marker)


async def an_ask_that_nobody_answers_is_denied(cli_env: GeminiEnv, phone: Phone, wire: str) -> None:
    """By a node that starts again with a deadline."""
    file = touches(cli_env, "zz-late", "late.txt", *(["what a pity"] if wire == "headless" else []))
    cli_env.model.expect(says("here as ever"), prompt="zz-ever")
    await phone.start_again_with(FARHAND_ASK_DEADLINE_SECONDS="2")
    await phone.manager.says("zz-late")
    await phone.reads("touch late.txt")
    await phone.reads("nobody answered in time")
    await phone.manager.says("zz-ever")
    await phone.reads("here as ever")
    assert not file.exists()


async def an_agent_whose_link_is_killed_runs_nothing(cli_env: GeminiEnv, phone: Phone) -> None:
    file = touches(cli_env, "zz-kill", "kill.txt")
    await phone.start_again_with(FARHAND_ASK_DEADLINE_SECONDS="600")
    await phone.manager.says("zz-kill")
    await phone.reads("touch kill.txt")
    for pid in await anyio.to_thread.run_sync(cli_env.agents):
        os.kill(pid, signal.SIGKILL)
    await phone.reads("The agent is gone")
    assert not file.exists()


@pytest.mark.parametrize("wire", WIRES)
async def test_asks_are_allowed_denied_and_expire_and_the_answer_comes_once_after_a_kill(
    cli_env: GeminiEnv, bot: FakeBot, wire: str
) -> None:
    """One after the other at one phone: this CLI takes its time to start."""
    model = GeminiPhoneModel(cli_env, wire)
    async with with_phone(cli_env, bot) as phone:
        await hire(cli_env, phone, wire)
        await phone_scenarios.an_ask_is_allowed_and_another_denied(phone, model)
        await phone_scenarios.an_ask_outlives_a_killed_node(phone, model)
        await phone_scenarios.a_node_killed_in_mid_turn_brings_the_answer_once(phone, model)
        await an_ask_that_nobody_answers_is_denied(cli_env, phone, wire)
        if wire == "headless":
            await an_agent_whose_link_is_killed_runs_nothing(cli_env, phone)


async def test_a_sprint_outlives_three_kills_and_a_usage_limit(cli_env: GeminiEnv, bot: FakeBot) -> None:
    async with with_phone(cli_env, bot) as phone:
        await hire(cli_env, phone, "headless")
        await sprint_scenarios.a_sprint_outlives_three_kills_and_a_usage_limit(
            phone, GeminiPhoneModel(cli_env, "headless")
        )
