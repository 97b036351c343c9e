"""`farhand doctor` where something is wrong: with the machine, with Telegram, with hooks and folders."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import anyio
import pytest
from tests.live.test_doctor import checks, program
from tests.spec.test_desk import farhand

from farhand.cli.checks import FULL_DISK, LEAST_DISK, NodeChecks, disk_result
from farhand.cli.telegram_checks import MOST_SECONDS_APART, TelegramChecks
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("free", "state", "told"),
    [
        (LEAST_DISK, "good", "1.0 GB free"),
        (LEAST_DISK - 1, "warning", "1.0 GB free"),
        (FULL_DISK, "warning", "0.1 GB free"),
        (FULL_DISK - 1, "bad", "0.1 GB free"),
        (0, "bad", "0.0 GB free"),
    ],
)
def test_a_disk_that_fills_up(free: int, state: str, told: str) -> None:
    found = disk_result(free, Path("/data"))
    assert (found.state, found.told) == (state, told)
    assert found.todo == ("" if state == "good" else "make room on the disk of /data")


def test_limits_of_watched_files_that_are_too_narrow(tmp_path: Path) -> None:
    node = NodeChecks("dev", {"HOME": str(tmp_path)})

    def inotify(**limits: int) -> list[tuple[str, str, str]]:
        for name, limit in limits.items():
            (tmp_path / name).write_text(f"{limit}\n")
        return [(one.state, one.told, one.todo) for one in node.inotify(tmp_path)]

    good = [("good", "limits are wide enough", "")]
    # Where the system has no such limits at all.
    assert inotify() == good
    assert inotify(max_user_watches=8192, max_user_instances=128) == good
    assert inotify(max_user_instances=127) == [
        ("warning", "max_user_instances is 127", "sudo sysctl fs.inotify.max_user_instances=128")
    ]
    assert inotify(max_user_watches=100) == [
        ("warning", "max_user_watches is 100", "sudo sysctl fs.inotify.max_user_watches=8192")
    ]


async def test_a_clock_that_is_wrong(tmp_path: Path, bot: FakeBot) -> None:
    environ = {"HOME": str(tmp_path), "TELEGRAM_BOT_TOKEN": bot.token, "TELEGRAM_API_URL": bot.address}

    def clock(apart: float) -> tuple[str, str, str]:
        found = TelegramChecks(environ, tmp_path, lambda: time.time() + apart).all()
        return next((one.state, one.told, one.todo) for one in found if one.name == "clock")

    assert (await anyio.to_thread.run_sync(clock, 0.0))[:2] == ("good", "right")
    for apart in (3600.0, -3600.0):
        state, told, todo = await anyio.to_thread.run_sync(clock, apart)
        assert (state, todo) == ("warning", "timedatectl set-ntp on")
        assert abs(float(told.removesuffix(" s apart from Telegram's")) - 3600.0) < MOST_SECONDS_APART


async def test_another_program_that_polls_the_bot(tmp_path: Path, bot: FakeBot) -> None:
    """It is ended by the doctor's own request, and asks again, as every such program does."""
    given = {"TELEGRAM_BOT_TOKEN": bot.token, "TELEGRAM_API_URL": bot.address}

    async def poll() -> None:
        while True:
            await bot.http.post(f"/bot{bot.token}/getUpdates", json={"timeout": 30})

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(poll)
        await bot.until_standing(lambda standing: standing.polling)
        found = await checks(tmp_path, **given)
        tasks.cancel_scope.cancel()
    todo = "stop the other program, or give this node a bot of its own"
    assert found["polling"] == ("bad", "another program polls this bot", todo)


async def test_a_hook_that_is_half_installed(tmp_path: Path) -> None:
    code, told = await farhand(tmp_path, "hook", "install")
    assert code == 0, told
    assert (await checks(tmp_path))["hook"][:2] == ("good", "installed for claude")
    (programs,) = tmp_path.glob(".claude/hooks")
    for one in programs.iterdir():
        one.unlink()
    todo = "farhand hook install --backend claude"
    assert (await checks(tmp_path))["hook"] == ("warning", "claude: half installed", todo)
    # What it says to do is enough.
    code, told = await farhand(tmp_path, *todo.split()[1:])
    assert code == 0, told
    assert (await checks(tmp_path))["hook"][0] == "good"


async def test_a_folder_that_configures_an_agent(tmp_path: Path) -> None:
    program(tmp_path / "bin", "claude", "2.1.325 (Claude Code)")
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)

    async def trust() -> tuple[str, str]:
        words = ["farhand", "doctor", "-n", "dev", "--json"]
        environ = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}
        done = await anyio.run_process([sys.executable, "-m", *words], cwd=project, env=environ, check=False)
        (found,) = [one for one in json.loads(done.stdout)["checks"] if one["name"] == "trust"]
        return found["state"], found["told"]

    assert await trust() == ("good", f"nothing in {project} that you would be asked about")
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": "id"}]}]}
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    assert await trust() == ("warning", f"{project} configures claude: you are asked before it starts there")


async def test_an_image_that_is_not_there(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    podman = programs / "podman"
    podman.write_text('#!/bin/sh\n[ "$1" != image ] || { echo "no such image" >&2; exit 125; }\necho false\n')
    podman.chmod(0o755)
    given = {"PATH": str(programs), "FARHAND_SANDBOX_ENGINE": "podman", "SANDBOX_IMAGE": "mine:2"}
    told, todo = "podman, without image mine:2", "farhand sandbox build"
    # Only where workers are to be in containers must it be there.
    assert (await checks(tmp_path, **given))["containers"] == ("absent", told, todo)
    assert (await checks(tmp_path, **given, SANDBOX_ENABLED="1"))["containers"] == ("bad", told, todo)
