"""An ACP agent that judges: in a mode that only reads where it offers one, and all that it asks for is refused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from tests.house.reviewing import over, repository, review

from farhand.core.clock import SystemClock
from farhand.drivers.wires.acp.driver import AcpDriver
from farhand.drivers.wires.acp.schema import AcpAgent
from farhand.model.facts import Ended
from farhand.model.review import Judgement
from farhand.model.words import Mode
from farhand.sandbox.environment import child_environment
from farhand.sandbox.holders import LocalHolders
from farhand.testing.house import open_house

pytestmark = pytest.mark.anyio
AGENT = Path(__file__).with_name("acp_modes_agent.py")
BOTH = ("allow_always", "allow_once", "reject_once")
COPILOT = ("https://agentclientprotocol.com/protocol/session-modes#agent", "https://agentclientprotocol.com/x#plan")


@pytest.mark.parametrize(
    ("offered", "described", "kinds", "how"),
    [
        pytest.param((), {}, BOTH, "usual, the-reject_once", id="no modes: asks, and hears no"),
        pytest.param((), {}, ("allow_once",), "usual, cancelled", id="no way to say no: nothing is chosen"),
        pytest.param(COPILOT, {}, BOTH, f"{COPILOT[1]}, the-reject_once", id="a plan that it offers"),
        pytest.param(("code", "read-only"), {}, BOTH, "read-only, the-reject_once", id="a mode that only reads"),
        pytest.param(
            ("code", "look"), {Mode.PLAN: "look"}, BOTH, "look, the-reject_once", id="a plan that is described"
        ),
    ],
)
async def test_it_is_kept_from_acting(
    short_folder: Path, offered: tuple[str, ...], described: dict[Mode, str], kinds: tuple[str, ...], how: str
) -> None:
    command = (sys.executable, str(AGENT), json.dumps(offered), json.dumps(kinds))
    agent = AcpAgent(backend="editor", command=command, modes=described)
    own = {"PATH": os.environ["PATH"], "HOME": str(short_folder)}
    holders = LocalHolders(short_folder / "h")
    driver = AcpDriver(holders, agent, python=sys.executable, environment=child_environment(own, {}))
    shop = repository(short_folder / "shop")
    async with open_house(short_folder, clock=SystemClock(), drivers={"editor": driver}) as house:
        await house.hire(directory=shop)
        (shop / "a.py").write_text("print(2)\n")
        await review(house, "editor")
        judged = await over(house)
        (one,) = judged.reviewers
        assert (judged.judgement, one.problem) == (Judgement.APPROVE, "")
        assert one.verdict is not None
        assert one.verdict.summary == f"{how}, not written"
        await house.fact(Ended, lambda event: event.worker == one.worker)
    assert await holders.names() == []
