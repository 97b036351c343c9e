"""The real Codex, started by hand, reached through the two files of the bridge alone."""

from __future__ import annotations

import pytest
from tests.live.bridge_scenarios import (
    Desk,
    ForeignScript,
    a_sprint_goes_on_by_itself_and_stop_ends_the_next_one_with_its_turn,
)

from farhand.drivers.codex.launch import overrides
from farhand.testing.codex_env import CodexEnv

pytestmark = pytest.mark.anyio


@pytest.fixture
async def desk(cli_env: CodexEnv) -> Desk:
    """Codex at a desk, its project bridged and its hooks trusted for this start."""
    opened = Desk(cli_env)
    await opened.install("codex")
    trusted = ["--no-daemon", "--dangerously-bypass-hook-trust", *overrides(str(cli_env.project))]
    await opened.start(["codex", *trusted], "Ask Codex to do anything")
    return opened


@pytest.fixture
def script(cli_env: CodexEnv) -> ForeignScript:
    return ForeignScript(cli_env.project)


async def test_a_sprint_goes_on_by_itself_and_stop_ends_the_next_one_with_its_turn(
    cli_env: CodexEnv, desk: Desk, script: ForeignScript
) -> None:
    await a_sprint_goes_on_by_itself_and_stop_ends_the_next_one_with_its_turn(desk, script, cli_env.model)
