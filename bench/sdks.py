"""The same coding task in our SDK and in three others from PyPI: lines to write, first token, time, memory, import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from bench.rows import Row
from farhand.testing.models.anthropic import FakeAnthropic
from farhand.testing.models.openai import FakeOpenAi
from farhand.testing.models.script import ModelScript, say, use

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = Path(__file__).resolve().parent / "other_sdks"
VENV = ROOT / ".cache" / "other-sdks"
PYTHON = VENV / "bin" / "python"
PACKAGES = ("claude-agent-sdk==0.2.182", "openai-agents==0.24.0", "pydantic-ai-slim[openai]==2.66.0")
ROUNDS = 6
RUNS = 3
MODEL_CALLS = 5
INSTALL_SECONDS = 600
RUN_SECONDS = 600
TESTS = "grep -q 'a + b' calc.py && echo passed || echo failed"


@dataclass(frozen=True)
class Contender:
    """One SDK: its program, the interpreter that has it, and the names of its tools."""

    name: str
    module: str
    python: Path
    reads: str = "read_file"
    replaces: str = "replace"
    runs: str = "run_shell_command"
    # Whether its tool for changes wants to be told what a change is for.
    asks_why: bool = False

    @property
    def lines(self) -> int:
        """The lines that a user writes, without blank ones, comments and the docstring."""
        text = (PROGRAMS / f"{self.module}.py").read_text().split('"""', 2)[2]
        return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("#"))


OURS = Contender("farhand.sdk", "farhand_agent", Path(sys.executable), asks_why=True)
OTHERS = (
    Contender("claude-agent-sdk", "claude_agent", PYTHON, "Read", "Edit", "Bash"),
    Contender("openai-agents", "openai_agent", PYTHON),
    Contender("pydantic-ai", "pydantic_agent", PYTHON),
)


def installed() -> str:
    """Makes the environment of the others, once; why it cannot be made, or nothing."""
    stamp = VENV / ".ready"
    if stamp.exists() and stamp.read_text() == " ".join(PACKAGES):
        return ""
    uv = [sys.executable, "-m", "uv"]
    commands = [[*uv, "venv", "-q", "--clear", "--python", sys.executable, str(VENV)]]
    commands += [
        [*uv, "pip", "install", "-q", "--compile-bytecode", "--python", str(PYTHON), each] for each in PACKAGES
    ]
    for command in commands:
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"the other SDKs could not be installed: {error}"
        if ended.returncode:
            return f"the other SDKs could not be installed: {ended.stderr.strip()[-300:]}"
    stamp.write_text(" ".join(PACKAGES))
    return ""


def script(one: Contender, folder: Path) -> ModelScript:
    """What the model does in each round: read, edit, run the tests, fix, report."""
    path = str(folder / "calc.py")
    why = {"instruction": "Repair it."} if one.asks_why else {}
    steps = (
        use(one.reads, said="I look.", file_path=path),
        use(one.replaces, file_path=path, old_string="a - b", new_string="a * b", **why),
        use(one.runs, command=TESTS),
        use(one.replaces, file_path=path, old_string="a * b", new_string="a + b", **why),
        say("Done: it adds."),
    )
    return ModelScript({f"round {number}: repair": steps for number in range(ROUNDS)})


async def figures(one: Contender) -> dict[str, float]:
    """What one SDK takes, each in a process of its own, against a fake of its vendor's API."""
    async with AsyncExitStack() as held:
        house = held.enter_context(_house())
        folder = house / "project"
        played = script(one, folder)
        fake = FakeAnthropic(played) if one.reads == "Read" else FakeOpenAi(played)
        url = await held.enter_async_context(fake.served())
        ended = await anyio.to_thread.run_sync(lambda: _run(one, folder, environment_with(house, url)))
    if ended.returncode:
        raise RuntimeError(f"{one.name}: {ended.stderr[-2000:]}")
    played.check()
    found: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return found


@contextmanager
def _house() -> Generator[Path]:
    with tempfile.TemporaryDirectory() as name:
        house = Path(name).resolve()
        (house / "project").mkdir()
        yield house


def _run(one: Contender, folder: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(one.python), str(PROGRAMS / "runner.py"), one.module, str(ROUNDS)],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )


def environment_with(home: Path, url: str) -> dict[str, str]:
    """What a program with another SDK is started with: a home of its own, fake keys, and the models at that address."""
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "fake-key",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "fake-key",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


async def measure() -> list[Row]:
    """Every figure of ours, beside each of the others'."""
    if problem := await anyio.to_thread.run_sync(installed):
        return [Row(f"beside other SDKs: not measured, for {problem}", 0, "")]
    best = await best_figures((OURS, *OTHERS))
    return [row for one in OTHERS for row in compared_rows(one, best[OURS.name], best[one.name])]


async def best_figures(contenders: Sequence[Contender]) -> dict[str, dict[str, float]]:
    """The least that each took, in runs by turns: what else the machine does hits none of them alone.

    The first run of each does not count: it compiles, and reads from a cold disk."""
    runs: dict[str, list[dict[str, float]]] = {one.name: [] for one in contenders}
    for _ in range(RUNS + 1):
        for one in contenders:
            runs[one.name].append(await figures(one))
    return {name: {key: min(each[key] for each in found[1:]) for key in found[0]} for name, found in runs.items()}


def compared_rows(one: Contender, ours: dict[str, float], theirs: dict[str, float]) -> list[Row]:
    """Ours beside one other: at most 1 in each is what is wanted."""

    def row(what: str, unit: str, mine: float, floor: float) -> Row:
        return Row(f"coding task, {what}", round(mine, 1), unit, one.name, round(floor, 1), round(mine / floor, 2), 1.0)

    return [
        row("lines to write", "lines", OURS.lines, one.lines),
        row("import", "ms", ours["import"] * 1000, theirs["import"] * 1000),
        row("import and first token of a process", "ms", started(ours), started(theirs)),
        row("first token of the first turn", "ms", ours["cold"] * 1000, theirs["cold"] * 1000),
        row("first token of a turn", "ms", ours["first"] * 1000, theirs["first"] * 1000),
        row(
            "one model call and its tool", "ms", ours["task"] * 1000 / MODEL_CALLS, theirs["task"] * 1000 / MODEL_CALLS
        ),
        row("memory, with what it starts", "MB", ours["memory"] / 1024, theirs["memory"] / 1024),
    ]


def started(found: dict[str, float]) -> float:
    """Milliseconds from nothing to the first token, whatever is loaded at the import and whatever after it."""
    return float(found["import"] + found["cold"]) * 1000


if __name__ == "__main__":
    for each in anyio.run(measure):
        print(each)
