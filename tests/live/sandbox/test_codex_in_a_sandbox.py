"""The whole way with Codex in a sandbox, without a terminal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from tests.live import phone_scenarios
from tests.live.codex.conftest import cli_env  # noqa: F401
from tests.live.phone_scenarios import ScriptedPhoneModel
from tests.live.sandbox.conftest import Engine

from farhand.testing.codex_env import CodexEnv
from farhand.testing.models.script import say, use
from farhand.testing.phone import SECONDS, Phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "to make it"}


@pytest.fixture
async def phone(cli_env: CodexEnv, bot: FakeBot, engine: Engine) -> AsyncIterator[Phone]:  # noqa: F811
    """A phone with a worker who asks, in a sandbox."""
    async with engine.phone(cli_env, bot, "/hire ann --codex --ask --headless") as opened:
        yield opened


@pytest.fixture
def model(cli_env: CodexEnv) -> ScriptedPhoneModel:  # noqa: F811
    """What the scenarios need of the fake model."""
    return ScriptedPhoneModel(
        cli_env.model, cli_env.project, lambda name: use("exec_command", cmd=f"touch {name}", **ESCALATED)
    )


async def test_a_life_in_a_sandbox(
    cli_env: CodexEnv,  # noqa: F811
    phone: Phone,
    model: ScriptedPhoneModel,
    engine: Engine,
) -> None:
    await phone_scenarios.an_ask_is_allowed_and_another_denied(phone, model)
    await phone_scenarios.a_node_killed_in_mid_turn_brings_the_answer_once(phone, model)
    await its_commands_run_inside_and_its_container_ends_with_it(cli_env, phone, engine)


async def its_commands_run_inside_and_its_container_ends_with_it(
    cli_env: CodexEnv,  # noqa: F811
    phone: Phone,
    engine: Engine,
) -> None:
    outside = cli_env.folder / "outside"
    outside.mkdir()
    command = f"readlink /proc/self/ns/pid > namespace.txt; touch {outside}/written 2> refused.txt; true"
    cli_env.model.script.conversation("zz-look", use("exec_command", cmd=command, **ESCALATED), say("looked"))
    await phone.manager.says("zz-look")
    await phone.manager.taps(await phone.asks("readlink"), "Allow once")
    await phone.hears("looked")
    assert (cli_env.project / "namespace.txt").read_text().strip() != str(Path("/proc/self/ns/pid").readlink())
    assert "touch:" in (cli_env.project / "refused.txt").read_text()
    assert not list(outside.iterdir())
    assert len(await engine.containers(cli_env)) == (0 if engine.kind == "bwrap" else 1)
    await phone.manager.says("/end ann")
    await phone.reads("Ann removed from your team.")
    with anyio.fail_after(SECONDS):
        while await engine.containers(cli_env) or cli_env.agents():  # noqa: ASYNC110
            await anyio.sleep(0.05)
