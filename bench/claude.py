"""Claude Code's figures: a message in, an end out, what hooks, twenty idle workers and long transcripts cost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.rows import Row, beside
from farhand.disk.tail import read_lines, size_of
from farhand.drivers.claude.tmux.link import DIALOG_SECONDS
from farhand.drivers.wires.hooks.endpoint import POST_PATH, HookEndpoint
from farhand.drivers.wires.hooks.spool import read_spool
from farhand.hooks.install import compiled, interpreter, place_program
from farhand.model.commands import Hire
from farhand.model.facts import CameOnline, Noted, Seen, TurnEnded, TurnStarted
from farhand.model.words import Mode
from farhand.testing.bun import AS_SHIPPED
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.house import House
from farhand.testing.models.anthropic import FakeAnthropic
from farhand.testing.models.script import say, use
from farhand.testing.models.server import served

ROUNDS = 15
HOOK_ROUNDS = 100
IDLE_WORKERS = 20
IDLE_SECONDS = 10.0
ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / ".cache/npm/node_modules/.bin"
PAYLOAD = json.dumps({"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": "word " * 400}).encode()
# An agent that only draws an input box: what is measured is the node, not twenty Claude Codes.
STAND_IN = """#!/bin/sh
printf '%s\\n❯ \\n%s\\n  manual mode on\\n' ──────────────────── ────────────────────
exec sleep 1000
"""


async def conversation(cli_env: ClaudeEnv, model: Timed, ends: list[float]) -> list[Row]:
    """Messages beside bare pastes, and ends of turns beside a bare HTTP hook, in the same session."""
    cli_env.model.script.conversation("zz", *[say("ok")] * (2 * ROUNDS))
    ours: list[float] = []
    bare: list[float] = []
    told: list[float] = []
    floor: list[float] = []
    async with cli_env.open() as house:
        await house.send(Hire(id="hire", worker="ann", backend="claude", directory=str(cli_env.project)))
        after = (await house.event(CameOnline)).seq
        pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
        for number in range(ROUNDS):
            started = time.time()
            await house.say(f"zz message {number}")
            ours.append((await house.event(Seen, after=after)).at - started)
            after = await end_of(house, model, after, told, floor, ends)
            started = time.time()
            await cli_env.tmux.paste(pane, f"zz bare {number}")
            await cli_env.tmux.press(pane, "Enter")
            bare.append((await house.event(TurnStarted, after=after)).at - started)
            after = await end_of(house, model, after, told, floor, ends)
    return [
        beside("message → UserPromptSubmit", median_ms(ours), "ms", "bare paste and Enter", median_ms(bare), 1.5),
        beside("last word → end in the journal", median_ms(told), "ms", "bare HTTP Stop hook", median_ms(floor)),
    ]


async def end_of(
    house: House, model: Timed, after: int, told: list[float], floor: list[float], ends: list[float]
) -> int:
    """Waits for the end of a turn and for the bare hook; both are measured from the model's last word."""
    ended = await house.event(TurnEnded, after=after)
    with anyio.fail_after(10):
        while len(ends) <= len(told):
            await anyio.sleep(0.005)
    told.append(ended.at - model.answered_at)
    floor.append(ends[len(told) - 1] - model.answered_at)
    return ended.seq


def median_ms(values: list[float]) -> float:
    return statistics.median(values) * 1000


async def talk() -> list[Row]:
    """The two figures that need the real Claude Code."""
    ends: list[float] = []

    async def stopped(_: Request) -> Response:
        ends.append(time.time())
        return Response(status_code=204)

    with tempfile.TemporaryDirectory(prefix="fh") as name:
        folder, model = Path(name), Timed()
        server = ("tmux", "-f", "/dev/null", "-S", str(folder / "tmux"))
        async with model.served() as address, served(Starlette(routes=[Route("/", stopped, methods=["POST"])])) as bare:
            cli_env = ClaudeEnv(folder, server, model, address, PROGRAMS, AS_SHIPPED)
            hook = {"hooks": {"Stop": [{"hooks": [{"type": "http", "url": bare + "/", "timeout": 5}]}]}}
            (folder / "home/.claude").mkdir()
            (folder / "home/.claude/settings.json").write_text(json.dumps(hook))
            try:
                return await conversation(cli_env, model, ends)
            finally:
                await anyio.run_process([*server, "kill-server"], check=False)


async def notices() -> list[Row]:
    """How soon the manager is told that Claude Code was killed, that tmux was, and that a dialog is in the way."""
    with tempfile.TemporaryDirectory(prefix="fh") as name:
        folder, model = Path(name), Timed()
        server = ("tmux", "-f", "/dev/null", "-S", str(folder / "tmux"))
        async with model.served() as address:
            cli_env = ClaudeEnv(folder, server, model, address, PROGRAMS, AS_SHIPPED)
            try:
                async with cli_env.open() as house:
                    return await told_of(house, cli_env, model)
            finally:
                await anyio.run_process([*server, "kill-server"], check=False)


async def told_of(house: House, cli_env: ClaudeEnv, model: Timed) -> list[Row]:
    """The three, in one session after the other."""
    cli_env.model.script.conversation("zz", use("Bash", command="touch x", description="Touch"))
    hire = Hire(id="hire", worker="ann", backend="claude", directory=str(cli_env.project), mode=Mode.DEFAULT)
    await house.send(hire)
    after = (await house.event(CameOnline)).seq
    # The look that is due at every start shall not be the one that finds it.
    await anyio.sleep(2 * DIALOG_SECONDS)
    # A hook that says nothing leaves Claude Code in a dialog that nobody was asked about.
    (cli_env.folder / "hooks/farhand-hook.pyc").write_bytes(compiled(b""))
    await house.say("zz")
    told = await house.event(Noted, after=after)
    dialog = told.at - model.answered_at
    pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
    started = time.time()
    os.kill(pane.pid, signal.SIGKILL)
    told = await house.event(Noted, after=told.seq)
    killed = told.at - started
    await house.event(CameOnline, after=told.seq)
    tmux = int((await cli_env.tmux.command("display-message", "-p", "#{pid}"))[0])
    started = time.time()
    os.kill(tmux, signal.SIGKILL)
    gone = (await house.event(Noted, after=told.seq)).at - started
    return [
        Row("Claude Code killed → told", killed * 1000, "ms", limit=2000.0),
        Row("tmux killed → told", gone * 1000, "ms", limit=2000.0),
        Row("stuck in a dialog → told", dialog * 1000, "ms", limit=2000.0),
    ]


class Timed(FakeAnthropic):
    """Notes when it answered last."""

    answered_at = 0.0

    async def _messages(self, request: Request) -> Response:
        response = await super()._messages(request)
        self.answered_at = time.time()
        return response


def hook_cost(folder: Path) -> list[Row]:
    """One event posted to the node, and one run of the hook program, beside bash with one jq on the same payload."""
    if not shutil.which("jq"):
        return []
    floor, value = anyio.run(program_cost, folder)
    posted = anyio.run(post_cost)
    return [
        beside("one event posted", posted, "ms", "bash and jq", floor, 0.5),
        # An interpreter's start takes most of this; only the beginning of a session and an ask run it.
        beside("one run of the program", value, "ms", "bash and jq", floor, 0.5),
    ]


async def program_cost(folder: Path) -> tuple[float, float]:
    """The floor and our program, which leaves the payload where a node finds it."""
    spool = folder / "spool"
    signs = {"FARHAND_SOCKET": str(folder / "s"), "FARHAND_WORKER": "ann", "FARHAND_SPOOL": str(spool)}
    environment = {"PATH": os.environ["PATH"], **signs}
    ours = [interpreter(), "-I", "-S", str(place_program(folder)), "report", "Stop"]
    theirs = ["bash", "-c", "jq -r .last_assistant_message"]
    found = await in_turns(theirs, ours, environment)
    assert len(list(read_spool(spool))) == HOOK_ROUNDS
    return found


async def post_cost() -> float:
    """An event over HTTP, as Claude Code posts it, until the node has answered."""
    desk = HookEndpoint()
    taken: list[float] = []
    async with served(Starlette(routes=list(desk.open_routes()))) as address:
        port = int(address.rpartition(":")[2])
        lines = ("Host: localhost", "X-Farhand-Key: key", f"Content-Length: {len(PAYLOAD)}", "", "")
        request = f"POST {POST_PATH}ann HTTP/1.1\r\n".encode() + "\r\n".join(lines).encode() + PAYLOAD
        with desk.listening("ann", "key") as arrivals:
            for _ in range(200):
                started = time.perf_counter()
                async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                    await stream.send(request)
                    answer = await stream.receive()
                taken.append(time.perf_counter() - started)
                assert answer.startswith(b"HTTP/1.1 200")
                await arrivals.receive()
    return median_ms(taken)


async def in_turns(first: list[str], second: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Both commands in turns, so that a busy moment hits both; their lower quartiles."""
    asked = {"first": first, "second": second, "environment": environment}
    given = json.dumps({**asked, "payload": PAYLOAD.decode(), "rounds": HOOK_ROUNDS}).encode()
    done = await anyio.run_process([sys.executable, "-m", "bench.turns"], input=given)
    theirs, ours = json.loads(done.stdout)
    return quartile_ms(theirs), quartile_ms(ours)


def quartile_ms(values: list[float]) -> float:
    return statistics.quantiles(values, n=4)[0] * 1000


async def idle() -> list[Row]:
    """The processor time of a node with many workers that do nothing."""
    with tempfile.TemporaryDirectory(prefix="fh") as name:
        folder = Path(name)
        programs = folder / "bin"
        programs.mkdir()
        (programs / "claude").write_text(STAND_IN)
        (programs / "claude").chmod(0o755)
        server = ("tmux", "-f", "/dev/null", "-S", str(folder / "tmux"))
        cli_env = ClaudeEnv(folder, server, FakeAnthropic(), "http://127.0.0.1:1", programs, AS_SHIPPED)
        try:
            async with cli_env.open() as house:
                for number in range(IDLE_WORKERS):
                    command = Hire(id=f"h{number}", worker=f"w{number}", backend="claude", directory=str(folder))
                    await house.send(command)
                await house.until(lambda present: sum(one.online for one in present.workers.values()) == IDLE_WORKERS)
                before = time.process_time()
                await anyio.sleep(IDLE_SECONDS)
                percent = (time.process_time() - before) / IDLE_SECONDS * 100
        finally:
            await anyio.run_process([*server, "kill-server"], check=False)
    return [Row(f"{IDLE_WORKERS} idle workers", percent, "% of a core", limit=1.0)]


def transcripts(folder: Path) -> list[Row]:
    """One more line at the end of a short and of a long transcript."""
    text = {"type": "text", "text": "x" * 800}
    line = json.dumps({"type": "assistant", "message": {"content": [text]}}).encode() + b"\n"
    short, long = grown(folder / "short", 1, line), grown(folder / "long", 100, line)
    value, floor = follow(long, line) * 1e6, follow(short, line) * 1e6
    return [beside("one line more at 100 MB", value, "µs", "at 1 MB", floor, 1.5)]


def grown(path: Path, megabytes: int, line: bytes) -> Path:
    path.write_bytes(line * (megabytes * 1024 * 1024 // len(line)))
    return path


def follow(path: Path, line: bytes) -> float:
    taken = []
    for _ in range(200):
        offset = size_of(path)
        with path.open("ab") as file:
            file.write(line)
        started = time.perf_counter()
        found = read_lines(path, offset)
        taken.append(time.perf_counter() - started)
        assert found.lines == (line.strip(),)
    return statistics.median(taken)


def rows() -> list[Row]:
    """Every figure, measured in this run."""
    found = [*anyio.run(talk), *anyio.run(notices), *anyio.run(idle)]
    with tempfile.TemporaryDirectory() as name:
        return [*found, *hook_cost(Path(name)), *transcripts(Path(name))]
