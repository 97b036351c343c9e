"""One fake Telegram for the whole run, and a bot of its own for every test."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from farhand.testing.telegram import FakeBot, FakeTelegram, telegram_process
from farhand.testing.telegram.picture import save

# Set to a folder, every test leaves a picture there of each private chat that its bot had.
PICTURES = "FARHAND_CHAT_PICTURES"


@pytest.fixture(scope="session")
def telegram_address() -> Iterator[str]:
    """The address of a fake Telegram in its own process; it starts when the first test needs it."""
    with telegram_process() as address:
        yield address


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
