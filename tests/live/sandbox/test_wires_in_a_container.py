"""Every wire whose program is Python of our own, in a container of real podman: the image's Python runs it there."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.live.codex.conftest import cli_env as codex_env  # noqa: F401
from tests.live.gemini.conftest import cli_env as gemini_env  # noqa: F401
from tests.live.opencode.conftest import cli_env as opencode_env  # noqa: F401
from tests.live.sandbox.conftest import Engine
from tests.live.sandbox.engines import image_python, variables

from farhand.testing.cli_env import CliEnv
from farhand.testing.codex_env import CodexEnv
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import calls, says
from farhand.testing.models.script import say
from farhand.testing.opencode_env import OpenCodeEnv
from farhand.testing.phone import Phone
from farhand.testing.sandbox_engines import SYSTEM
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
# Of the first thing that a worker is told.
WELCOME = "a long-lived worker on this team"
LIMIT_FILES = (
    "memory.max memory/memory.limit_in_bytes pids.max pids/pids.max cpu.max cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us"
).split()


def podman(folder: Path, mounts: list[str], **more: str) -> Engine:
    """The real podman, with these mounts added to the usual ones."""
    usual = variables("podman", folder)
    return Engine("podman", {**usual, "SANDBOX_MOUNTS": ",".join([usual["SANDBOX_MOUNTS"], *mounts]), **more})


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Podman with an image that is made as ours is; neither our package nor this test's Python is in it."""
    folder = tmp_path_factory.getbasetemp()
    return podman(folder, image_python(folder))


def empty_folder(folder: Path) -> Path:
    made = folder / "empty"
    made.mkdir()
    return made


def orders(cli_env: CliEnv) -> list[dict[str, str]]:
    """What the node has written to its log."""
    lines = (cli_env.folder / "node.log").read_text().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


async def answers_inside(phone: Phone, engine: Engine, cli_env: CliEnv, worker: str, kind: str, word: str) -> None:
    """Hires the worker, who answers that word with another, out of a container of its own."""
    before = len(await engine.containers(cli_env))
    await phone.manager.says(f"/hire {worker} {kind}")
    await phone.reads(f"{worker.capitalize()} is added")
    await phone.manager.says(f"@{worker} {word}")
    await phone.hears(f"{word}-answered")
    assert len(await engine.containers(cli_env)) == before + 1


async def test_gemini_without_a_terminal_and_turn_by_turn_and_our_own_agents(
    gemini_env: GeminiEnv,  # noqa: F811
    bot: FakeBot,
    engine: Engine,
) -> None:
    gemini_env.model.expect(*([says("I am ready")] * 3), prompt=WELCOME)
    for word in ("zz-acp", "zz-turns", "zz-native"):
        gemini_env.model.expect(says(f"{word}-answered"), prompt=word)
    async with engine.phone(gemini_env, bot, "/hire ann --gemini --headless --mode yolo") as phone:
        await phone.manager.says("@ann zz-acp")
        await phone.hears("zz-acp-answered")
        assert len(await engine.containers(gemini_env)) == 1
        await answers_inside(phone, engine, gemini_env, "bob", "--gemini --wire exec --mode yolo", "zz-turns")
        await answers_inside(phone, engine, gemini_env, "cat", "--backend native --mode yolo", "zz-native")
        await phone.manager.says("/hire dan --backend demo")
        await phone.reads("Dan is added")
        await phone.manager.says("@dan zz-demo")
        await phone.hears("You said: “zz-demo”")
        assert len(await engine.containers(gemini_env)) == 4


async def test_codex_turn_by_turn(codex_env: CodexEnv, bot: FakeBot, engine: Engine) -> None:  # noqa: F811
    codex_env.model.script.conversation("zz-turns", say("zz-turns-answered"))
    async with engine.phone(codex_env, bot, "/hire ann --codex --wire exec --mode yolo") as phone:
        await phone.manager.says("zz-turns")
        await phone.hears("zz-turns-answered")
        assert len(await engine.containers(codex_env)) == 1


async def test_opencode_turn_by_turn(opencode_env: OpenCodeEnv, bot: FakeBot, engine: Engine) -> None:  # noqa: F811
    opencode_env.model.script.conversation("zz-turns", say("zz-turns-answered"))
    async with engine.phone(opencode_env, bot, "/hire ann --opencode --wire exec --mode yolo") as phone:
        await phone.manager.says("zz-turns")
        await phone.hears("zz-turns-answered")
    # A container a turn: its welcome, and this one.
    assert [one["kind"] for one in orders(opencode_env) if one["event"] == "sandbox"] == ["podman", "podman"]


async def test_an_image_without_a_package_that_is_needed_is_named_as_the_reason(
    cli_env: CliEnv, bot: FakeBot, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    engine = podman(tmp_path_factory.getbasetemp(), image_python(tmp_path, str(empty_folder(tmp_path))))
    async with engine.phone(cli_env, bot, "/hire ann --backend native") as phone:
        told = await phone.reads("The image's python3 has no package")
        assert "farhand sandbox build" in told.text


async def test_an_image_without_python_is_named_as_the_reason(
    cli_env: CliEnv, bot: FakeBot, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """All that it has is a shell."""
    (tmp_path / "bin").mkdir()
    shutil.copy(os.path.realpath("/bin/sh"), tmp_path / "bin" / "sh")
    usual = variables("podman", tmp_path_factory.getbasetemp())
    libraries = [f"ro:{one}" for one in SYSTEM if one.startswith("/lib") and Path(one).is_dir()]
    mounts = ",".join([f"ro:{tmp_path}/bin:/bin", *libraries])
    engine = Engine("podman", {**usual, "SANDBOX_MOUNTS": mounts})
    async with engine.phone(cli_env, bot, "/hire ann --backend demo") as phone:
        told = await phone.reads("The image has no python3")
        assert "farhand sandbox build" in told.text


async def test_the_limits_of_the_settings_hold_inside(
    gemini_env: GeminiEnv,  # noqa: F811
    bot: FakeBot,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.getbasetemp()
    limits = {"MEMORY": "300m", "PIDS": "170", "CPUS": "0.5", "READ_ONLY": "1"}
    named = {f"FARHAND_SANDBOX_{name}": value for name, value in limits.items()}
    seen = gemini_env.project / "seen.txt"
    # Cgroups of version 2 or 1: one of the two is there.
    files = " ".join(f"/sys/fs/cgroup/{one}" for one in LIMIT_FILES)
    command = f"cat {files} > {seen} 2>/dev/null; touch /written 2>> {seen}; touch /tmp/written && echo tmp >> {seen}"
    looks = calls("run_shell_command", {"command": command})
    gemini_env.model.expect(says("I am ready"), prompt=WELCOME)
    gemini_env.model.expect(looks, says("zz-limits-seen"), prompt="zz-limits")
    engine = podman(folder, image_python(folder), **named)
    async with engine.phone(gemini_env, bot, "/hire ann --backend native --mode yolo") as phone:
        await phone.manager.says("zz-limits")
        await phone.hears("zz-limits-seen")
    memory, processes, *processors, refused, temporary = seen.read_text().splitlines()
    assert (int(memory), int(processes), temporary) == (300 * 1024 * 1024, 170, "tmp")
    quota, period = " ".join(processors).split()
    assert int(quota) / int(period) == 0.5
    assert refused.endswith("Read-only file system")
