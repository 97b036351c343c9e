"""Every backend as a reviewer, with the real CLIs and fake models that are scripted; Claude Code and Codex judge each
other over two rounds. A reviewer gets a copy and a prompt, and nothing else of the worker
(`tests/house/test_reviews.py`): so these stand for every pair."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.house.reviewing import git, over, repository

from farhand.core.clock import SystemClock
from farhand.drivers.acp.schema import catalogue
from farhand.drivers.native.driver import NativeDriver
from farhand.drivers.wires.acp.driver import AcpDriver
from farhand.model.commands import Review, SendFindings
from farhand.model.facts import Hired, Queued, TurnEnded
from farhand.model.ports import Driver
from farhand.model.present import WIRE
from farhand.model.review import Judgement, ReviewState, Severity
from farhand.model.words import Mode, replace
from farhand.sandbox.holders import LocalHolders
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.clis import programs, quick_start
from farhand.testing.codex_env import CodexEnv, lasting_home
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.house import House, open_house
from farhand.testing.models.gemini import FakeGemini, calls, says
from farhand.testing.models.openai import FakeOpenAi
from farhand.testing.models.responses import FakeResponses
from farhand.testing.models.script import AnyStep, ModelScript, say, use
from farhand.testing.opencode_env import OpenCodeEnv

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = programs(ROOT)
_MARK = re.compile(r"----- BEGIN DATA ([0-9a-f]+) -----")
HOLE = {
    "severity": "P1",
    "path": "shop.py",
    "line": 1,
    "title": "It sells what is not there.",
    "detail": "Check stock.",
}
READ_ONLY = "You are read-only"
WRITES: dict[str, Callable[[Path], AnyStep]] = {
    "claude": lambda shop: use("Bash", command=f"touch {shop}/pwned", description="Leave a file"),
    "codex": lambda shop: use("exec_command", cmd=f"touch {shop}/pwned"),
}


def verdict(said: str, *findings: dict[str, Any]) -> Callable[[list[str]], AnyStep]:
    """The step of a model that judges what it was given."""

    def step(texts: list[str]) -> AnyStep:
        return say(judged(next(text for text in reversed(texts) if _MARK.search(text)), said, *findings))

    return step


def judged(asked: str, said: str, *findings: dict[str, Any]) -> str:
    """The words of a model that judges what it was given."""
    mark = _MARK.search(asked)
    told = {"review": mark[1] if mark else "", "verdict": said, "findings": findings, "summary": "as scripted"}
    return f"I have read it.\n\n```json\n{json.dumps(told)}\n```"


@pytest.fixture
async def codex_env(short_folder: Path, tmux_server: tuple[str, ...]) -> AsyncIterator[CodexEnv]:
    """The real Codex beside Claude Code."""
    model, folder = FakeResponses(), short_folder / "codex"
    folder.mkdir()
    async with model.served() as address:
        with lasting_home(ROOT / ".cache" / "homes") as home:
            opened = CodexEnv(folder, home, tmux_server, model, address, programs(ROOT))
            yield opened
            await opened.tidy()
    model.script.check()


@asynccontextmanager
async def both(cli_env: ClaudeEnv, codex_env: CodexEnv) -> AsyncIterator[House]:
    """One node with both agents."""
    drivers = {**cli_env.drivers(), **codex_env.drivers()}
    async with open_house(cli_env.folder, clock=SystemClock(), drivers=drivers) as house:
        yield house


async def rounds(
    house: House, shop: Path, author: str, reviewer: str, author_script: ModelScript, reviewer_script: ModelScript
) -> tuple[ReviewState, ReviewState]:
    """Changes wanted, sent back, mended, approved."""
    await house.hire(backend=author, directory=shop, wire="headless", mode=Mode.DEFAULT)
    (shop / "shop.py").write_text("def sell(): return True\n")
    # The model wants to write first, which nobody lets it.
    reviewer_script.conversation(READ_ONLY, WRITES[reviewer](shop), verdict("changes", HOLE), verdict("approve"))
    await house.send(Review(id="r1", worker="ann", by=(reviewer,)))
    first = await over(house)
    author_script.conversation("It sells what is not there.", say("Mended."))
    await house.send(SendFindings(id="back", worker="ann", review=first.id))
    sent = await house.event(Queued, lambda event: event.worker == "ann")
    await house.fact(TurnEnded, lambda event: event.worker == "ann", after=sent.seq)
    (shop / "shop.py").write_text("def sell(): return in_stock()\n")
    await house.send(Review(id="r2", worker="ann", again=first.id))
    return first, await over(house, 2)


@pytest.mark.parametrize(("author", "reviewer"), [("claude", "codex"), ("codex", "claude")])
async def test_one_is_judged_by_the_other(
    cli_env: ClaudeEnv, codex_env: CodexEnv, short_folder: Path, author: str, reviewer: str
) -> None:
    scripts = {"claude": cli_env.model.script, "codex": codex_env.model.script}
    shop = repository(short_folder / "shop")
    async with both(cli_env, codex_env) as house:
        first, second = await rounds(house, shop, author, reviewer, scripts[author], scripts[reviewer])
        (one,) = first.reviewers
        assert (first.judgement, one.backend, one.problem) == (Judgement.CHANGES, reviewer, "")
        assert one.verdict is not None
        (found,) = one.verdict.findings
        assert (found.severity, found.place) == (Severity.P1, "shop.py:1")
        assert (second.judgement, second.round, second.stale) == (Judgement.APPROVE, 2, False)
        hired = await house.fact(Hired, lambda event: event.worker == one.worker)
        assert (hired.mode, hired.options.get(WIRE)) == (Mode.PLAN, "headless")
        assert git(shop, "status", "--porcelain").split() == ["??", "shop.py"]
        await house.until(lambda present: list(present.workers) == ["ann"])


# --- each of the others: the model wants to write first, which nobody lets it, and then judges


@asynccontextmanager
async def gemini_cli(folder: Path, server: tuple[str, ...], shop: Path) -> AsyncIterator[Mapping[str, Driver]]:
    """The Gemini CLI."""
    wish = calls("run_shell_command", {"command": f"touch {shop}/pwned", "description": "Leave a file"})
    with FakeGemini() as model:
        model.expect(wish, lambda text: says(judged(text, "changes", HOLE)), prompt=READ_ONLY)
        opened = GeminiEnv(folder, server, model, PROGRAMS)
        yield opened.drivers()
        await opened.tidy()


@asynccontextmanager
async def opencode(folder: Path, server: tuple[str, ...], shop: Path) -> AsyncIterator[Mapping[str, Driver]]:
    """OpenCode, whose settings let everything run."""
    wish = use("bash", command=f"touch {shop}/pwned", description="Leave a file")
    async with judging_openai(wish) as address:
        opened = OpenCodeEnv(folder, server, FakeOpenAi(), address, PROGRAMS)
        yield opened.drivers()
        await opened.tidy()


@asynccontextmanager
async def qwen_code(folder: Path, _server: tuple[str, ...], shop: Path) -> AsyncIterator[Mapping[str, Driver]]:
    """An ACP agent, as the catalogue describes it."""
    wish = use("run_shell_command", command=f"touch {shop}/pwned", description="Leave a file", is_background=False)
    described = next(one for one in catalogue() if one.backend == "qwen")
    described = replace(described, command=(str(PROGRAMS / "qwen"), *described.command[1:]))
    async with judging_openai(wish) as address:
        own = {**home_of(folder), **openai(address), "OPENAI_MODEL": "fake-model"}
        (folder / "home" / ".qwen").mkdir()
        (folder / "home" / ".qwen" / "settings.json").write_text(json.dumps(QWEN_SETTINGS))
        yield {"qwen": AcpDriver(LocalHolders(folder / "h"), described, python=sys.executable, environment=own)}
    # What it makes of a foreign change is not kept for the person's other projects.
    assert not list((folder / "home" / ".qwen").rglob("memor*"))


@asynccontextmanager
async def own_agent(folder: Path, _server: tuple[str, ...], shop: Path) -> AsyncIterator[Mapping[str, Driver]]:
    """The SDK's agent."""
    wish = use("run_shell_command", command=f"touch {shop}/pwned", description="Leave a file")
    async with judging_openai(wish) as address:
        own = {**home_of(folder), **openai(address), "GEMINI_MODEL": "openai:fake-model"}
        yield {"native": NativeDriver(LocalHolders(folder / "h"), python=sys.executable, environment=own)}


@asynccontextmanager
async def judging_openai(wish: AnyStep) -> AsyncIterator[str]:
    """The address of a model that has a wish and then judges; all of it is played."""
    model = FakeOpenAi()
    model.script.conversation(READ_ONLY, wish, verdict("changes", HOLE))
    # Qwen Code has what it learned written down behind a turn, unless it was ended before.
    model.script.conversation("durable managed memory", say("Nothing to keep."))
    async with model.served() as address:
        yield address
    assert model.script.complaints == []
    assert READ_ONLY not in model.script.left_over()


def home_of(folder: Path) -> dict[str, str]:
    (folder / "home").mkdir()
    return {"HOME": str(folder / "home"), "PATH": os.environ["PATH"], **quick_start()}


def openai(address: str) -> dict[str, str]:
    return {"OPENAI_API_KEY": "fake", "OPENAI_BASE_URL": f"{address}/v1"}


QWEN_SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}
OTHERS = {"gemini": gemini_cli, "opencode": opencode, "qwen": qwen_code, "native": own_agent}


@pytest.mark.parametrize("reviewer", OTHERS)
async def test_it_judges_and_cannot_change_what_it_reads(
    short_folder: Path, tmux_server: tuple[str, ...], reviewer: str
) -> None:
    shop = repository(short_folder / "shop")
    async with (
        OTHERS[reviewer](short_folder, tmux_server, shop) as drivers,
        open_house(short_folder, clock=SystemClock(), drivers=drivers) as house,
    ):
        await house.hire(directory=shop)
        (shop / "shop.py").write_text("def sell(): return True\n")
        await house.send(Review(id="r1", worker="ann", by=(reviewer,)))
        done = await over(house)
        (one,) = done.reviewers
        assert (done.judgement, one.backend, one.problem) == (Judgement.CHANGES, reviewer, "")
        assert one.verdict is not None
        assert [(found.severity, found.place) for found in one.verdict.findings] == [(Severity.P1, "shop.py:1")]
        assert git(shop, "status", "--porcelain").split() == ["??", "shop.py"]
        await house.until(lambda present: list(present.workers) == ["ann"])
