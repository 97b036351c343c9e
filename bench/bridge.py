"""The file bridge's figures: its hooks beside bash with jq, how soon a message is there, a sprint's own time."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from bench.rows import Row, beside
from bench.timing import median, percentile
from farhand.bridge.hook.files import FolderLock
from farhand.bridge.hook.rules import INBOX, OUTBOX
from farhand.bridge.place import place_program
from farhand.channels.kit.surface import RateLimits
from farhand.channels.telegram.channel import TelegramChannel
from farhand.channels.telegram.settings import TelegramSettings
from farhand.core.clock import SystemClock
from farhand.drivers.bridge.driver import BridgeDriver
from farhand.hooks.install import interpreter
from farhand.manifests import bridge_hooks
from farhand.model.bridge import BACKEND
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.commands import Sprint
from farhand.model.facts import SprintEnded, TurnEnded, TurnStarted
from farhand.roster import open_bridge
from farhand.testing.house import House, open_house
from farhand.testing.telegram import FakeBot, FakeTelegram, telegram_process

ROUNDS = 25
HELD_ROUNDS = 9
# In turns, so that no inbox has to wait for its next second.
AGENTS = 10
MESSAGES = 12
TASKS = 30
MANAGER = 4242
# What the same two hooks are as a shell script with jq: unread → context, mark, prune; answer → summary, append.
BEFORE = """
INBOX="$1/wa_inbox.json"
UNREAD=$(jq -r '.messages[] | select(.read == false) | .text' "$INBOX")
[ -z "$UNREAD" ] && { echo '{}'; exit 0; }
jq '.messages[].read = true' "$INBOX" > "$INBOX.tmp" && mv "$INBOX.tmp" "$INBOX"
CUTOFF=$(date -u -d '1 hour ago' +%Y-%m-%dT%H:%M:%SZ)
jq --arg cutoff "$CUTOFF" '.messages |= [.[] | select(.read == false or .timestamp > $cutoff)]' "$INBOX" \\
  > "$INBOX.tmp" && mv "$INBOX.tmp" "$INBOX"
jq -n --arg ctx "WhatsApp messages: $UNREAD" '{"additionalContext": $ctx}'
"""
AFTER = """
OUTBOX="$1/wa_outbox.json"
RESPONSE=$(jq -r '.prompt_response // empty')
[ -z "$RESPONSE" ] && { echo '{}'; exit 0; }
SUMMARY=$(echo "$RESPONSE" | head -c 500)
[ -f "$OUTBOX" ] || echo '{"messages": []}' > "$OUTBOX"
jq --arg id "resp_$(date +%s)" --arg ts "$(date -u +%Y-%m-%dT%H:%M:%SZ)" --arg txt "$SUMMARY" \\
  '.messages += [{"id": $id, "timestamp": $ts, "from": "agent", "text": $txt, "sent": false}]' \\
  "$OUTBOX" > "$OUTBOX.tmp" && mv "$OUTBOX.tmp" "$OUTBOX"
echo '{}'
"""


class HookedFolder:
    """A project's folder, in which both ways of the two hooks can be run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / ".gemini"
        self.folder.mkdir(parents=True)
        program = place_program(folder / "programs")
        hooks = next(iter(bridge_hooks().values()))
        self.ours = hooks.commands(interpreter(), program, self.folder)
        self._environment = {"PATH": os.environ["PATH"]}

    def fill(self) -> None:
        """Three messages that nobody has read, and an outbox that was sent."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        made = [
            {"id": f"m{number}", "timestamp": stamp, "from": "user", "text": f"{time.time_ns()}", "read": False}
            for number in range(3)
        ]
        (self.folder / INBOX).write_text(json.dumps({"messages": made}))
        (self.folder / OUTBOX).unlink(missing_ok=True)

    def timed(self, words: list[str], payload: bytes = b"{}") -> float:
        """How long one run takes, in seconds."""
        began = time.perf_counter()
        subprocess.run(words, input=payload, capture_output=True, check=True, env=self._environment)
        return time.perf_counter() - began


def payload(said: str) -> bytes:
    """What a hook after a turn gets, whichever CLI runs it."""
    return json.dumps({"prompt_response": said, "last_assistant_message": said}).encode()


def hook_cost(folder: Path) -> list[Row]:
    """Both hooks of one turn, ours and the script's in turns, on the same files."""
    project = HookedFolder(folder)
    answer = payload("word " * 200)
    ours: list[float] = []
    script: list[float] = []
    for _ in range(ROUNDS):
        project.fill()
        before, after = (["/bin/sh", "-c", command] for command in project.ours)
        ours.append(project.timed(before) + project.timed(after, answer))
        project.fill()
        where = str(project.folder)
        script.append(
            project.timed(["bash", "-c", BEFORE, "hook", where])
            + project.timed(["bash", "-c", AFTER, "hook", where], answer)
        )
    return [
        beside("both bridge hooks of a turn", 1000 * median(ours), "ms", "bash + jq", 1000 * median(script), 0.5),
        Row("a bridge hook while another program holds the lock", 1000 * held_hook(project, answer), "ms", limit=500),
    ]


def held_hook(project: HookedFolder, answer: bytes) -> float:
    """How long the slower of the two hooks keeps an agent waiting when a stopped node has the lock, in seconds."""
    before, after = (["/bin/sh", "-c", command] for command in project.ours)
    with FolderLock(str(project.folder)):
        times = [(project.timed(before), project.timed(after, answer)) for _ in range(HELD_ROUNDS)]
    return max(median([first for first, _ in times]), median([second for _, second in times]))


async def until(look: Callable[[], bool]) -> float:
    """The moment at which it is so, looked at every millisecond."""
    while not await anyio.to_thread.run_sync(look):
        await anyio.sleep(0.001)
    return time.perf_counter()


def holds(path: Path, text: str) -> bool:
    """Whether the file has that text in it."""
    try:
        return text in path.read_text("utf-8")
    except OSError:
        return False


async def bridged(folder: Path) -> list[Row]:
    """From a phone at Telegram to the inbox, and from the hook to that phone; the agent's own turn is not in it."""
    projects = {f"ann{number}": HookedFolder(folder / f"project{number}") for number in range(AGENTS)}
    taken: list[tuple[float, float]] = []
    drivers = {BACKEND: BridgeDriver(open_bridge)}
    with telegram_process() as address:
        async with FakeTelegram(address) as telegram:
            bot = await telegram.new_bot()

            def channels(context: ChannelContext) -> list[Channel]:
                # How fast Telegram lets us write is not ours to measure.
                limits = RateLimits(chat_burst=1000)
                settings = TelegramSettings(bot.token, address, admin_chat_id=f"{MANAGER}", limits=limits)
                return [TelegramChannel(settings, context)]

            async with open_house(folder / "node", clock=SystemClock(), drivers=drivers, channels=channels) as house:
                for worker, project in projects.items():
                    await house.hire(worker, BACKEND, directory=project.folder.parent)
                for number in range(MESSAGES):
                    # An inbox takes one a second: that wait is not ours to measure, either.
                    again = anyio.current_time() + 1.05
                    for worker, project in projects.items():
                        taken.append(await one_message(bot, worker, project, number))
                    await anyio.sleep(max(0.0, again - anyio.current_time()))
    arrived, told = zip(*taken, strict=True)
    return [
        Row(f"phone → the agent's inbox, p99 of {len(taken)}", percentile(arrived, 0.99) * 1000, "ms", limit=1000),
        Row(f"hook after a turn → phone, p99 of {len(taken)}", percentile(told, 0.99) * 1000, "ms", limit=1000),
    ]


async def one_message(bot: FakeBot, worker: str, project: HookedFolder, number: int) -> tuple[float, float]:
    """How long it takes from the phone to the inbox, and from the hook's end back to Telegram, in seconds."""
    manager, words = bot.person(MANAGER), f"{worker} {number}."
    began = time.perf_counter()
    await manager.says(f"@{worker} do {words}")
    arrived = await until(partial(holds, project.folder / INBOX, f"do {words}")) - began
    await anyio.to_thread.run_sync(project.timed, ["/bin/sh", "-c", project.ours[0]])
    await anyio.to_thread.run_sync(project.timed, ["/bin/sh", "-c", project.ours[1]], payload(f"did {words}"))
    ended = time.time()
    await manager.reads(f"did {words}")
    calls = await bot.calls("sendMessage")
    sent = next(call.at for call in reversed(calls) if f"did {words}" in call.parameters["text"])
    return arrived, max(0.0, sent - ended)


async def sprint(folder: Path) -> list[Row]:
    """From the end of a task's turn to the begin of the next one, with an agent that answers at once."""
    async with open_house(folder, clock=SystemClock()) as house:
        await house.hire()
        tasks = tuple(f"task {number}" for number in range(TASKS))
        await house.send(Sprint(id="s", worker="ann", tasks=tasks, commits=False))
        await house.fact(SprintEnded)
        return [Row("sprint: end of a task → begin of the next", await step_ms(house), "ms", limit=50)]


async def step_ms(house: House) -> float:
    """The median over all tasks."""
    steps: list[float] = []
    ended = 0.0
    for event in await house.history():
        if isinstance(event.fact, TurnEnded):
            ended = event.at
        elif isinstance(event.fact, TurnStarted) and ended:
            steps.append(event.at - ended)
    return 1000 * median(steps)


def rows() -> list[Row]:
    """All of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = hook_cost(folder / "hooks")
        found += anyio.run(bridged, folder / "bridged")
        return [*found, *anyio.run(sprint, folder / "sprint")]
