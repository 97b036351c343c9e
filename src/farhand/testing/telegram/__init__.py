"""A Telegram to test on: the Bot API on loopback, with faults on order, and people who speak and tap."""

from farhand.testing.telegram.client import FakeBot, FakeTelegram, NeverSeen, Person, drawn
from farhand.testing.telegram.process import telegram_process
from farhand.testing.telegram.words import BotStatus, Fault, Rates, RecordedCall, ShownButton, ShownMessage, Spoken

__all__ = [
    "BotStatus",
    "FakeBot",
    "FakeTelegram",
    "Fault",
    "NeverSeen",
    "Person",
    "Rates",
    "RecordedCall",
    "ShownButton",
    "ShownMessage",
    "Spoken",
    "drawn",
    "telegram_process",
]
