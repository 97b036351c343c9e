"""`farhand service`: the unit that keeps a node running, written and taken away; the system's program is a stand-in."""

from __future__ import annotations

import plistlib
from pathlib import Path

import pytest
from tests.spec.test_desk import farhand

from farhand.cli import service

pytestmark = pytest.mark.anyio


def stand_in(folder: Path, name: str, code: int = 0) -> Path:
    """A program that notes how it was called, and ends so."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f'#!/bin/sh\necho "$@" >> {folder}/calls\necho "no bus" >&2\nexit {code}\n')
    (folder / name).chmod(0o755)
    return folder / "calls"


async def test_a_unit_is_installed_and_taken_away(tmp_path: Path) -> None:
    calls = stand_in(tmp_path / "bin", "systemctl")
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    code, told = await farhand(tmp_path, "service", "install", "-n", "dev", PATH=path)
    assert (code, told.splitlines()[0]) == (3, "error: Node 'dev' has no env file.")
    folder = tmp_path / ".claude" / "telegram" / "nodes" / "dev"
    folder.mkdir(parents=True)
    (folder / "env").write_text("TELEGRAM_BOT_TOKEN=1:secret\n")
    code, told = await farhand(tmp_path, "service", "install", "-n", "dev", PATH=path)
    unit = tmp_path / ".config" / "systemd" / "user" / "farhand-dev.service"
    assert (code, f"Written: {unit}" in told, "loginctl enable-linger" in told) == (0, True, True)
    text = unit.read_text()
    assert "KillMode=process\n" in text
    assert '"run" "--node" "dev" "--headless"\n' in text
    assert "1:secret" not in text
    assert calls.read_text() == "--user daemon-reload\n--user enable --now farhand-dev.service\n"
    assert (await farhand(tmp_path, "service", "uninstall", "-n", "dev", PATH=path))[0] == 0
    assert not unit.exists()
    assert (await farhand(tmp_path, "service", "uninstall", "-n", "dev", PATH=path))[0] == 1


async def test_a_machine_without_systemd_is_told_what_did_not_work(tmp_path: Path) -> None:
    stand_in(tmp_path / "bin", "systemctl", code=1)
    folder = tmp_path / ".claude" / "telegram" / "nodes" / "dev"
    folder.mkdir(parents=True)
    (folder / "env").write_text("")
    code, told = await farhand(tmp_path, "service", "install", "-n", "dev", PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert (code, "⚠ systemctl --user daemon-reload: no bus" in told) == (0, True)


def test_the_file_for_launchd_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/a&b")
    said = plistlib.loads(service.launchd("dev", Path("/srv/<x>")).encode())
    assert said["ProgramArguments"][1:] == ["-m", "farhand", "run", "--node", "dev", "--headless"]
    assert (said["WorkingDirectory"], said["EnvironmentVariables"]["PATH"]) == ("/srv/<x>", "/a&b")
    assert said["AbandonProcessGroup"] is True
