"""A manager's phone at a fake Telegram, and behind it `farhand run` in a process of its own that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
import anyio.abc

from farhand.sandbox.holders import LocalHolders
from farhand.store import folder
from farhand.testing.cli_env import CliEnv
from farhand.testing.ports import lasting_port
from farhand.testing.telegram import FakeBot, ShownMessage
from farhand.testing.telegram.client import Person

MANAGER = 4711
# Only a net for a test that hangs; a busy machine is no failure.
SECONDS = 300.0
FARHAND = (sys.executable, "-m", "farhand")


class Phone:
    """What the manager sees, and the node that can be killed behind it."""

    def __init__(
        self, cli_env: CliEnv, bot: FakeBot, variables: Mapping[str, str], starter: Sequence[str] = ()
    ) -> None:
        self.cli_env = cli_env
        self.bot = bot
        self.manager: Person = bot.person(MANAGER, "Mo")
        self._variables = dict(variables)
        # The program by which the node is started, if not by itself.
        self._starter = starter
        self.port = lasting_port()
        self._process: anyio.abc.Process | None = None

    async def start(self) -> None:
        """`farhand run`, as a person starts it."""
        token = {"TELEGRAM_BOT_TOKEN": self.bot.token, "TELEGRAM_API_URL": self.bot.address}
        with (self.cli_env.folder / "node.log").open("ab") as log:
            self._process = await anyio.open_process(
                [*self._starter, *FARHAND, "run", "--node", "test", "--no-tunnel", "--headless"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**self._environment, **token},
                cwd=self.cli_env.project,
            )

    @property
    def _environment(self) -> dict[str, str]:
        return {
            **self.cli_env.environment,
            "FARHAND_HOME": str(self.cli_env.folder / "farhand"),
            "FARHAND_TMUX_SOCKET": str(self.cli_env.folder / "tmux"),
            "FARHAND_HOST": "127.0.0.1",
            "FARHAND_TEMPORARY": str(self.cli_env.folder / "temporary"),
            "PORT": str(self.port),
            **self._variables,
        }

    async def types(self, *words: str) -> str:
        """A `farhand` command, typed at the desk in the project; what it says."""
        done = await anyio.run_process([*FARHAND, *words], env=self._environment, cwd=self.cli_env.project)
        return done.stdout.decode()

    async def kill(self) -> None:
        """`kill -9`, and nothing of the node is left but what it wrote down."""
        node = folder.running(self.cli_env.folder / "farhand" / "nodes" / "test")
        if node is not None:
            os.kill(node, signal.SIGKILL)
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def start_again_with(self, **variables: str) -> None:
        """The node is killed and started with other settings; its agents live on."""
        await self.kill()
        self._variables |= variables
        await self.start()

    async def tidy(self) -> None:
        """Ends every held agent that outlives the node; tmux ends with its own fixture."""
        holders = LocalHolders(self.cli_env.folder / "farhand" / "nodes" / "test" / "holders")
        for name in await holders.names():
            await holders.forget(name)

    async def reads(self, words: str) -> ShownMessage:
        """The message with these words, which may have buttons."""
        return await self.manager.reads(words, seconds=SECONDS)

    async def asks(self, words: str) -> ShownMessage:
        """The message that asks about this and waits; another one may show the tool that waits for it."""

        def waits(message: ShownMessage) -> bool:
            return words in message.text and any(label.startswith("Allow") for label in message.labels)

        chat = await self.manager.sees(lambda messages: any(map(waits, messages)), seconds=SECONDS)
        return next(filter(waits, chat))

    async def hears(self, text: str) -> None:
        """The phone buzzes with this answer: its words on the way, in a silent message, are not it yet."""
        await self.manager.sees(lambda messages: any(_buzzed(one, text) for one in messages), seconds=SECONDS)

    async def answers(self, text: str) -> int:
        """How many messages that buzzed have this text."""
        return sum(_buzzed(one, text) for one in await self.bot.messages(MANAGER))


def _buzzed(message: ShownMessage, text: str) -> bool:
    return message.buzzed and not message.deleted and text in message.text


@asynccontextmanager
async def with_phone(
    cli_env: CliEnv, bot: FakeBot, starter: Sequence[str] = (), **variables: str
) -> AsyncIterator[Phone]:
    """A phone and its node, which leaves no traceback in its log."""
    phone = Phone(cli_env, bot, variables, starter)
    await phone.start()
    try:
        yield phone
    finally:
        with anyio.CancelScope(shield=True):
            await phone.kill()
            await phone.tidy()
    assert b"Traceback" not in (cli_env.folder / "node.log").read_bytes()
