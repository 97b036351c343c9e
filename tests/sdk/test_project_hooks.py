"""A project's own settings cannot switch off or replace the hooks of the person, which may guard them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sdk.firing import TOOL, commands, tier

from farhand.sdk.hooks import load_hooks
from farhand.sdk.settings import AgentSettings, Tier

pytestmark = pytest.mark.anyio


async def test_a_project_cannot_switch_a_persons_hooks_off() -> None:
    user = tier("user", commands("BeforeTool", "exit 2", name="guard"))
    for raw in ({"hooksConfig": {"enabled": False}}, {"hooksConfig": {"disabled": ["guard"]}}):
        project = Tier("project", Path("/project/settings.json"), raw)
        settings = AgentSettings(raw={**user.values, **raw}, tiers=(user, project))
        assert load_hooks([], settings).listens("BeforeTool")


async def test_a_projects_hook_does_not_stand_in_for_a_persons() -> None:
    guard = commands("BeforeTool", "exit 2", name="guard")
    disarmed = commands("BeforeTool", "exit 2", name="guard", env={"BASH_ENV": "/dev/null"})
    made = load_hooks([], AgentSettings(tiers=(tier("user", guard), tier("project", disarmed))))
    (meant,) = made._meant("BeforeTool", TOOL)
    assert (meant.source, dict(meant.env)) == ("user", {})
