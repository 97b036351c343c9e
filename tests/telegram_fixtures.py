"""One fake Telegram for the whole run and all its workers, and a bot of its own for every test."""

import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from farhand.testing.telegram import FakeBot, FakeTelegram
from farhand.testing.telegram.picture import save

if TYPE_CHECKING:
    from tests.house.telegram_house import TelegramHouse

# Set to a folder, every test leaves a picture there of each private chat that its bot had.
PICTURES = "FARHAND_CHAT_PICTURES"
# Where the workers of a run find the one fake Telegram.
PLACE = "FARHAND_TEST_TELEGRAM"
HELD = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """The run, not a worker, holds the pipe open which is the fake's standard input: the fake ends with the run."""
    if not hasattr(config, "workerinput"):
        place = os.environ[PLACE] = tempfile.mkdtemp(prefix="fht-")
        os.mkfifo(f"{place}/held")
        config.stash[HELD] = os.open(f"{place}/held", os.O_RDWR)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Lets the fake go."""
    if HELD in config.stash:
        os.close(config.stash[HELD])
        shutil.rmtree(os.environ[PLACE], ignore_errors=True)


@pytest.fixture(scope="session")
def telegram_address() -> str:
    """The address of a fake Telegram in its own process; it starts when the first test of the run needs it."""
    place = Path(os.environ[PLACE])
    told = place / "address"
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            told.write_text(started(place / "held"))
    return told.read_text()


def started(held: Path) -> str:
    """Starts the fake, whose import takes seconds; the address where it listens. Its starter need not outlive it."""
    reads, writes = os.pipe()
    command = [sys.executable, "-m", "farhand.testing.telegram", "--port", "0"]
    its_input = (os.POSIX_SPAWN_OPEN, 0, str(held), os.O_RDONLY, 0)
    os.posix_spawn(sys.executable, command, os.environ, file_actions=[its_input, (os.POSIX_SPAWN_DUP2, writes, 1)])
    os.close(writes)
    with os.fdopen(reads) as output:
        address = output.readline().strip()
    assert address, "the fake Telegram did not start"
    return address


@pytest.fixture
async def bot(telegram_address: str, request: pytest.FixtureRequest) -> AsyncIterator[FakeBot]:
    """A bot with a Telegram of its own."""
    async with FakeTelegram(telegram_address) as telegram:
        made = await telegram.new_bot()
        yield made
        if folder := os.environ.get(PICTURES):
            for chat in (4242, 4711):
                if messages := await made.messages(chat):
                    save(messages, Path(folder) / f"{request.node.name.replace('/', '_')}.png")


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator["TelegramHouse"]:
    """A node with the manager's phone, where ann was hired."""
    # What most runs never need: a node, and all its channels.
    from tests.house.telegram_house import telegram_house

    async with telegram_house(tmp_path, bot) as opened:
        await opened.house.hire()
        yield opened
