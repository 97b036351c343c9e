"""One fake Telegram for the whole run, and a bot of its own for every test."""

from collections.abc import AsyncIterator, Iterator

import pytest

from farhand.testing.telegram import FakeBot, FakeTelegram, telegram_process


@pytest.fixture(scope="session")
def telegram_address() -> Iterator[str]:
    """The address of a fake Telegram in its own process; it starts when the first test needs it."""
    with telegram_process() as address:
        yield address


@pytest.fixture
async def bot(telegram_address: str) -> AsyncIterator[FakeBot]:
    """A bot with a Telegram of its own."""
    async with FakeTelegram(telegram_address) as telegram:
        yield await telegram.new_bot()
