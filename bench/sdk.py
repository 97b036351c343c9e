"""The SDK's figures: what it costs to import, to hook in, to run a turn, and to get to the first token."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GEMINI = ROOT / ".cache" / "npm" / "node_modules" / ".bin" / "gemini"
ANSWER = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
}
HOOK = """
from farhand.sdk import hook

@hook("BeforeTool", matcher="write_file")
def careful(event):
    return None

careful.run_as_command()
"""
EVENT = {
    "session_id": "s",
    "transcript_path": "",
    "cwd": "/",
    "hook_event_name": "BeforeTool",
    "timestamp": "2026-01-01T00:00:00.000Z",
    "tool_name": "write_file",
    "tool_input": {"file_path": "a.txt", "content": "x"},
}
ASK = [sys.executable, "-m", "farhand", "ask"]

Row = dict[str, Any]


def rows(rounds: int = 15) -> list[Row]:
    """Every figure, measured in this run."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as url:
        house = Path(folder)
        return [
            *start_rows(house, rounds),
            *turn_rows(house, url, rounds),
            *first_token_rows(house, url, min(rounds, 5)),
        ]


def start_rows(house: Path, rounds: int) -> list[Row]:
    """Imports and the hook path beside an empty interpreter, taken in turns."""
    script = house / "careful.py"
    script.write_text(HOOK)
    commands = {
        "pass": [sys.executable, "-c", "pass"],
        "import farhand.sdk": [sys.executable, "-c", "import farhand.sdk"],
        "from farhand.sdk import Agent": [sys.executable, "-c", "from farhand.sdk import Agent"],
        "hook.run_as_command()": [sys.executable, str(script)],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            taken[name].append(timed(lambda command=command: quiet(command, json.dumps(EVENT))))  # type: ignore[misc]
    floor = statistics.median(taken["pass"]) * 1000
    limits = {"import farhand.sdk": 7.0, "from farhand.sdk import Agent": 7.0, "hook.run_as_command()": 3.5}
    found = [
        row(f"{name}, beside python -c pass", statistics.median(taken[name]) * 1000, "ms", floor, limit)
        for name, limit in limits.items()
    ]
    more = (resident("import farhand.sdk") - resident("pass")) / 1024
    found.append({"name": "import farhand.sdk, memory more", "value": round(more, 1), "unit": "MB", "limit": 15})
    return found


def turn_rows(house: Path, url: str, rounds: int) -> list[Row]:
    """A turn beside the bare HTTP request it makes, and a hundred of them at once."""
    bare, ours, together = asyncio.run(_turns(house, url, rounds * 4))
    over = {
        "name": "our loop, a turn over the bare request",
        "value": round((ours - bare) * 1000, 2),
        "unit": "ms",
        "floor": round(bare * 1000, 2),
        "ratio": round(ours / bare, 2),
        "limit": 5.0,
    }
    parallel = {
        "name": "100 sessions in parallel, a turn each",
        "value": round(together * 1000),
        "unit": "ms",
        "floor": round(bare * 100_000),
    }
    return [over, {**parallel, "ratio": round(together / (bare * 100), 2)}]


async def _turns(house: Path, url: str, rounds: int) -> tuple[float, float, float]:
    import httpx2

    from farhand.sdk import Agent

    environ = environment(house, url)
    project = house / "project"
    bare, ours = [], []
    async with (
        Agent(cwd=project, home=house, environ=environ, builtin_tools=False) as agent,
        httpx2.AsyncClient() as client,
    ):
        session = agent.session()
        await session.send("warm up")
        body = {"contents": session.transcript}
        address = f"{url}/v1beta/models/{session.model_name}:streamGenerateContent?alt=sse"
        for number in range(rounds):
            began = time.perf_counter()
            async with client.stream("POST", address, json=body) as response:
                async for _ in response.aiter_lines():
                    pass
            middle = time.perf_counter()
            if number % 10 == 0:
                session = agent.session()
                await session.send("warm up")
                middle = time.perf_counter()
            began_ours = time.perf_counter()
            await session.send("hello")
            ours.append(time.perf_counter() - began_ours)
            if number % 10:
                bare.append(middle - began)
        began = time.perf_counter()
        sessions = [agent.session() for _ in range(100)]
        answers = await asyncio.gather(*(each.send("hello") for each in sessions))
        together = time.perf_counter() - began
        assert all(answer.text == "Hello." for answer in answers)
    return statistics.median(bare), statistics.median(ours), together


def first_token_rows(house: Path, url: str, rounds: int) -> list[Row]:
    """From process start to the first token, ours and the CLI's against the same model; then without a process."""
    environ = environment(house, url)
    project = house / "project"
    command = [str(GEMINI), "-m", "gemini-2.5-flash", "-p", "hello"]
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(first_output([*ASK, "hello"], project, environ, "Hello."))
        if GEMINI.exists():
            theirs.append(first_output(command, project, environ, "Hello."))
    inside = asyncio.run(_inside(house, url, rounds))
    row_inside = {"name": "prompt to first token, in process", "value": round(inside * 1000, 1), "unit": "ms"}
    if not theirs:
        name = "process start to first token (the CLI is not installed)"
        return [{"name": name, "value": round(statistics.median(ours) * 1000), "unit": "ms"}, row_inside]
    mine, floor = statistics.median(ours) * 1000, statistics.median(theirs) * 1000
    beside = {
        "name": "process start to first token, beside gemini -p",
        "value": round(mine),
        "unit": "ms",
        "floor": round(floor),
        "ratio": round(floor / mine, 1),
        "limit": 6.0,
        "better": "higher ratio",
    }
    return [beside, row_inside]


async def _inside(house: Path, url: str, rounds: int) -> float:
    from farhand.sdk import Agent, Text

    taken = []
    async with Agent(cwd=house / "project", home=house, environ=environment(house, url)) as agent:
        for _ in range(rounds + 1):
            began = time.perf_counter()
            moments = [
                time.perf_counter() - began
                async for event in agent.session().send_stream("hello")
                if isinstance(event, Text)
            ]
            taken.append(moments[0])
    return statistics.median(taken[1:])


@contextmanager
def serving(house: Path) -> Iterator[str]:
    """An instant model in a process of its own, and a home and project to ask it from."""
    (house / "project" / ".git").mkdir(parents=True)
    (house / ".gemini").mkdir()
    security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    general = {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}
    settings = {"security": security, "general": general, "privacy": {"usageStatisticsEnabled": False}}
    (house / ".gemini" / "settings.json").write_text(json.dumps(settings))
    tape = house / "tape.jsonl"
    tape.write_text(json.dumps({"method": "generateContentStream", "response": [ANSWER]}) + "\n")
    command = [sys.executable, "-m", "farhand.testing.models.gemini", str(tape), "--repeat", "2000"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


def environment(house: Path, url: str) -> dict[str, str]:
    """What both programs need to find the model."""
    path = os.environ["PATH"] if shutil.which("node") else f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    return {
        "HOME": str(house),
        "PATH": path,
        "GEMINI_API_KEY": "fake-key",
        "GEMINI_MODEL": "gemini-2.5-flash",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }


def timed(action: Callable[[], object]) -> float:
    """How long an action takes, in seconds."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def quiet(command: list[str], given: str) -> None:
    """Runs a command that must succeed."""
    subprocess.run(command, input=given.encode(), capture_output=True, check=True)


def resident(statement: str) -> int:
    """The most memory an interpreter has held after a statement, in KiB."""
    # getrusage would tell the memory of the process that started it, when that was more.
    code = (
        f"{statement}\nprint(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    )
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)


def first_output(command: list[str], folder: Path, environ: dict[str, str], wanted: str) -> float:
    """From the start of a process to the wanted words on its stdout."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        seen = b""
        while wanted.encode() not in seen:
            piece = os.read(process.stdout.fileno(), 4096)
            assert piece, f"{command[0]} ended without {wanted!r}"
            seen += piece
        taken = time.perf_counter() - began
        process.stdout.read()
    return taken


def row(name: str, value: float, unit: str, floor: float, limit: float) -> Row:
    """One figure beside its floor."""
    return {
        "name": name,
        "value": round(value, 1),
        "unit": unit,
        "floor": round(floor, 1),
        "ratio": round(value / floor, 2),
        "limit": limit,
    }


if __name__ == "__main__":
    for each in rows():
        print(json.dumps(each))
