"""The whole way: a phone at a fake Telegram, `farhand run` in a process of its own, the real Claude Code in tmux."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread
import pytest

from farhand.testing.models.script import Hold, Reply, Text, say, use
from farhand.testing.studio import Studio, red_pixel
from farhand.testing.telegram import FakeBot, Shown
from farhand.testing.telegram.client import Person
from farhand.testing.workshop import Workshop

pytestmark = pytest.mark.anyio
MANAGER = 4711
SECONDS = 40.0


class Phone:
    """A manager's phone, and the node that can be killed behind it."""

    def __init__(self, studio: Workshop, bot: FakeBot) -> None:
        self.studio = studio
        self.bot = bot
        self.manager: Person = bot.person(MANAGER, "Mo")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._process: anyio.abc.Process | None = None

    async def start(self) -> None:
        """`farhand run`, as a person starts it."""
        command = [sys.executable, "-m", "farhand", "run", "--node", "test", "--no-tunnel", "--headless"]
        environment = {
            **self.studio.environment,
            "FARHAND_HOME": str(self.studio.folder / "farhand"),
            "FARHAND_TMUX_SOCKET": str(self.studio.folder / "tmux"),
            "FARHAND_HOST": "127.0.0.1",
            "FARHAND_TEMPORARY": str(self.studio.folder / "temporary"),
            "PORT": str(self._port),
            "TELEGRAM_BOT_TOKEN": self.bot.token,
            "TELEGRAM_API_URL": self.bot.address,
        }
        log = (self.studio.folder / "node.log").open("ab")
        with log:
            self._process = await anyio.open_process(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=self.studio.project
            )

    async def kill(self) -> None:
        """`kill -9`, and nothing of the node is left but what it wrote down."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def ask(self, words: str) -> Shown:
        """The message that asks about this, with its buttons."""
        return await self.manager.reads(words, seconds=SECONDS)

    async def answers(self, text: str) -> int:
        """How many messages that buzzed have this text."""
        chat = await self.bot.messages(MANAGER)
        return sum(one.from_bot and not one.deleted and not one.silent and text in one.text for one in chat)


@pytest.fixture
async def phone(studio: Studio, bot: FakeBot) -> AsyncIterator[Phone]:
    """A phone with a hired worker."""
    async with _running(Phone(studio, bot)) as opened:
        await opened.manager.says("/hire ann --ask")
        await opened.manager.reads("Ann is added", seconds=SECONDS)
        yield opened


@asynccontextmanager
async def _running(phone: Phone) -> AsyncIterator[Phone]:
    await phone.start()
    try:
        yield phone
    finally:
        with anyio.CancelScope(shield=True):
            await phone.kill()
    assert b"Traceback" not in (phone.studio.folder / "node.log").read_bytes()


async def test_an_ask_is_allowed_and_another_denied_on_the_phone(studio: Studio, phone: Phone) -> None:
    one = use("Bash", command="touch one.txt", description="Create one")
    two = use("Bash", command="touch two.txt", description="Create two")
    studio.model.script.conversation("zz-one", one, say("made one"))
    studio.model.script.conversation("zz-two", two, say("left two"))
    await phone.manager.says("zz-one")
    await phone.manager.taps(await phone.ask("touch one.txt"), "Allow once")
    await phone.manager.reads("made one", seconds=SECONDS)
    await phone.manager.says("zz-two")
    await phone.manager.taps(await phone.ask("touch two.txt"), "Deny")
    await phone.manager.reads("left two", seconds=SECONDS)
    assert (studio.project / "one.txt").exists()
    assert not (studio.project / "two.txt").exists()


async def test_an_ask_outlives_a_killed_node(studio: Studio, phone: Phone) -> None:
    studio.model.script.conversation("zz-one", use("Bash", command="touch one.txt", description="One"), say("made one"))
    await phone.manager.says("zz-one")
    ask = await phone.ask("touch one.txt")
    await phone.kill()
    await phone.manager.taps(ask, "Allow once")
    assert not (studio.project / "one.txt").exists()
    await phone.start()
    await phone.manager.reads("made one", seconds=SECONDS)
    assert (studio.project / "one.txt").exists()


async def test_a_node_killed_in_mid_turn_brings_the_answer_once(studio: Studio, phone: Phone) -> None:
    studio.model.script.conversation("zz-away", Reply((Text("the first half"), Hold("away"), Text("the second half"))))
    studio.model.script.conversation("zz-more", say("still here"))
    await phone.manager.says("zz-away")
    await studio.model.asked("zz-away")
    await phone.kill()
    studio.model.script.release("away")
    await phone.manager.says("zz-more")
    await phone.start()
    await phone.manager.reads("the second half", seconds=SECONDS)
    await phone.manager.reads("still here", seconds=SECONDS)
    assert await phone.answers("the second half") == 1
    assert await phone.answers("still here") == 1


async def test_what_was_answered_while_the_node_was_dead_is_told(studio: Studio, phone: Phone) -> None:
    wait = use("Bash", command="ls", description="Look")
    studio.model.script.conversation(
        "zz-dead", Reply((Hold("dead"), *wait.blocks)), say("all done while you were away")
    )
    await phone.manager.says("zz-dead")
    await studio.model.asked("zz-dead")
    await phone.kill()
    studio.model.script.release("dead")
    await studio.model.asked("zz-dead", times=2)
    await phone.start()
    await phone.manager.reads("all done while you were away", seconds=SECONDS)
    assert await phone.answers("all done while you were away") == 1


async def test_the_token_is_nowhere_an_agent_can_look(studio: Studio, phone: Phone) -> None:
    studio.model.script.conversation("zz-look", say("looked"))
    await phone.manager.says("zz-look")
    await phone.manager.reads("looked", seconds=SECONDS)
    token = phone.bot.token.encode()
    for pid in await anyio.to_thread.run_sync(studio.agents):
        assert token not in await anyio.Path(f"/proc/{pid}/environ").read_bytes()
    written = [path for path in Path(studio.folder).rglob("*") if path.is_file() and path.suffix in (".json", ".log")]
    assert not [path for path in written if token in path.read_bytes()]


async def test_a_hook_that_is_killed_lets_nothing_run(studio: Studio, phone: Phone) -> None:
    studio.model.script.conversation("zz-kill", use("Bash", command="touch no.txt", description="No"))
    await phone.manager.says("zz-kill")
    await phone.ask("touch no.txt")
    found = await anyio.run_process(["pgrep", "-f", f"{studio.folder}/.*farhand-hook.pyc ask"])
    for pid in found.stdout.split():
        os.kill(int(pid), signal.SIGKILL)
    await phone.manager.reads("nothing was allowed", seconds=SECONDS)
    assert not (studio.project / "no.txt").exists()


async def test_a_picture_goes_both_ways(studio: Studio, phone: Phone) -> None:
    def read(texts: list[str]) -> Reply:
        path = re.search(r"Manager sent image: (\S+)", "\n".join(texts))
        assert path is not None
        return use("Read", file_path=path.group(1))

    shown = studio.project / "shown.png"
    shown.write_bytes(red_pixel())
    studio.model.script.conversation("zz-photo", read, say(f"I saw it. [[image:{shown}|mine]]"))
    await phone.manager.sends_photo(red_pixel(), name="red.png", caption="zz-photo")
    # A picture lies outside the project: Claude Code asks before it reads it.
    chat = await phone.manager.sees(lambda messages: any(map(may_be_allowed, messages)), seconds=SECONDS)
    await phone.manager.taps(next(filter(may_be_allowed, chat)), "Allow once")
    await phone.manager.sees(lambda chat: any(one.from_bot and one.photo for one in chat), seconds=SECONDS)
    await phone.manager.reads("I saw it.", seconds=SECONDS)
    assert studio.model.prompted("zz-photo")[-1].images == 1


def may_be_allowed(message: Shown) -> bool:
    """A question that waits."""
    return any(button.text == "Allow once" for row in message.buttons for button in row)
