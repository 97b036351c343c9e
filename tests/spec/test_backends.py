"""Spec 2, backend system: one registry, and every backend behind the same interface."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.spec.promises import promise
from tests.spec.team import Team

from farhand import roster
from farhand.drivers.claude.launch import command_line
from farhand.model.ports import Can
from farhand.model.words import Mode
from farhand.testing.house import settings_in

pytestmark = pytest.mark.anyio


@promise("backend.1", "backend.2", "backend.4", "backend.5", "backend.6", "backend.7")
def test_all_backends_are_in_one_registry_behind_one_interface(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    settings = replace(settings_in(tmp_path), environment={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    drivers = roster.drivers(settings)
    assert {"claude", "codex", "gemini", "opencode", "demo", "native"} <= set(drivers)
    for name, driver in drivers.items():
        assert name in {driver.backend, f"{driver.backend}/{driver.wire}", *getattr(driver, "formerly", ())}
        assert isinstance(driver.can, Can)
        assert callable(driver.open)
        assert callable(driver.end)
    assert "claude" in {driver.backend for driver in drivers.values() if driver.can.terminal}
    assert drivers["claude"].can.terminal
    assert not any(drivers[name].can.terminal for name in ("codex", "gemini", "opencode"))
    assert {"codex/exec", "gemini/exec", "opencode/exec"} <= set(drivers)
    assert {kind for kind in drivers if kind.endswith("/tmux")} == {
        f"{driver.backend}/tmux" for driver in drivers.values() if driver.can.terminal
    }


@promise("backend.3", "claude.1")
def test_claude_skips_its_permissions_only_where_nobody_wants_to_be_asked() -> None:
    def line(mode: Mode) -> list[str]:
        return command_line("claude", mode, "", Path("/s.json"), "id", resume=False)

    assert "--dangerously-skip-permissions" in line(Mode.YOLO)
    assert not any("--dangerously-skip-permissions" in line(mode) for mode in Mode if mode is not Mode.YOLO)


@promise("backend.2", "backend.12")
async def test_what_is_not_in_the_registry_cannot_be_hired(team: Team) -> None:
    assert "Known: claude, codex." in await team.asks("/hire gemini-bob")
    assert team.house.hub.present.workers == {}
