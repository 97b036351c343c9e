"""The catalogue of ACP agents: whole, hired where its programs are; one that does not ask is not started unasked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from farhand.cli.agent_clis import AgentCli, agent_clis, catalogue_clis
from farhand.cli.agents import agent_lines
from farhand.drivers.acp.schema import catalogue, is_here, own_agents
from farhand.drivers.wires.acp.driver import AcpDriver
from farhand.manifests import DRIVERS, manifest, packages
from farhand.model.errors import DriverError
from farhand.model.names import normalize
from farhand.model.present import Worker
from farhand.model.words import Mode
from farhand.sandbox.holders import LocalHolders

AGENTS = {agent.backend: agent for agent in catalogue()}
WANTED = "qwen copilot cursor goose kimi auggie cline antigravity pi".split()


def test_every_agent_says_how_it_is_run_installed_and_logged_in() -> None:
    assert set(WANTED) <= set(AGENTS)
    for name, agent in AGENTS.items():
        assert name == normalize(name)
        assert agent.command
        assert agent.title
        assert agent.about
        assert agent.install
        assert agent.login.how
        assert agent.login.files or agent.login.variables
        # What shows a log-in by a variable is handed to the agent, or it would not be one.
        assert set(agent.login.variables) <= set(agent.variables), name
        assert not [one for one in agent.variables if one.startswith(("TELEGRAM_", "FARHAND_"))]
        # Whoever does not ask has no mode in which it does.
        assert agent.asks or not agent.modes


def test_no_name_is_another_drivers() -> None:
    ours = {manifest(DRIVERS, name)["backend"] for name in packages()}
    assert not ours & set(AGENTS)


def programs(folder: Path, *names: str) -> str:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text("#!/bin/sh\necho 1.2.3\n")
        (folder / name).chmod(0o755)
    return str(folder)


def test_an_adapter_is_here_only_with_its_agent(tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", "pi-acp")
    assert not is_here(AGENTS["pi"], path)
    programs(tmp_path / "bin", "pi")
    assert is_here(AGENTS["pi"], path)


def test_a_file_of_ones_own_comes_before_the_catalogue(tmp_path: Path) -> None:
    (tmp_path / "acp").mkdir()
    (tmp_path / "acp" / "qwen.toml").write_text('title = "Mine"\ncommand = ["qwen", "--acp", "--debug"]\n')
    (tmp_path / "acp" / "broken.toml").write_text("command = 3")
    broken, mine = own_agents(tmp_path)
    assert isinstance(broken, DriverError)
    assert not isinstance(mine, DriverError)
    assert mine.command == ("qwen", "--acp", "--debug")
    titles = {one.backend: one.title for one in catalogue_clis(tmp_path, {"PATH": ""}, versions=False)}
    assert titles["qwen"] == "Mine"
    assert titles["goose"] == "goose"


def test_what_is_here_is_listed_by_what_it_needs(tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", "qwen", "goose", "pi", "pi-acp")
    environ = {"PATH": path, "HOME": str(tmp_path), "OPENAI_API_KEY": "x"}
    found = [*agent_clis(environ), *catalogue_clis(tmp_path, environ)]
    lines = list(agent_lines(found))
    ready, login, absent = (
        lines.index(f"{one}:") for one in ("Ready to hire", "Here, and not logged in", "Not installed")
    )
    assert lines[ready + 1 : login - 1] == [
        "  qwen         1.2.3 (tested with 0.24.4), logged in",
        "               modes: default, auto_edit, plan, yolo",
        "  pi           1.2.3, logged in",
        "               ⚠ acts without asking: only in the mode yolo",
    ]
    assert lines[login + 1 : absent - 1] == ["  goose        1.2.3 → goose configure"]
    assert "  cursor       Cursor              → curl https://cursor.com/install -fsS | bash" in lines[absent:]


def test_a_line_cannot_be_forged() -> None:
    one = AgentCli(backend="x", program="x", install="\x1b[2Jrm -rf", about="a\nb")
    assert not [line for line in agent_lines([one]) if "\x1b" in line or "\n" in line]


@pytest.mark.anyio
async def test_whoever_does_not_ask_is_started_only_where_nobody_wants_to_be_asked(tmp_path: Path) -> None:
    driver = AcpDriver(LocalHolders(tmp_path / "h"), AGENTS["pi"], python=sys.executable, environment={})
    for mode in (Mode.DEFAULT, Mode.AUTO_EDIT, Mode.PLAN):
        worker = Worker(name="ann", backend="pi", directory=str(tmp_path), mode=mode, since=1)
        with pytest.raises(DriverError, match="Pi does not ask before it acts: hire it with --mode yolo"):
            async with driver.open(worker, ""):
                pass
    assert not (tmp_path / "h").exists()


def test_a_mode_that_is_not_the_agents_own_usual_one_is_set_at_every_start(tmp_path: Path) -> None:
    driver = AcpDriver(LocalHolders(tmp_path / "h"), AGENTS["qwen"], python="python", environment={})
    for mode, word in ((Mode.DEFAULT, "default"), (Mode.AUTO_EDIT, "auto-edit"), (Mode.YOLO, "yolo")):
        words = driver._argv(Worker(name="ann", backend="qwen", directory="/", mode=mode, since=1))
        assert words[words.index("--mode") + 1] == word
