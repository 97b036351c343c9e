"""A Telegram to test on: the Bot API on loopback, with faults on order, and people who speak and tap."""

from farhand.testing.telegram.client import FakeBot, FakeTelegram, NeverSeen, Person, drawn
from farhand.testing.telegram.process import telegram_process
from farhand.testing.telegram.words import Button, Call, Fault, Rates, Shown, Spoken, Standing

__all__ = [
    "Button",
    "Call",
    "FakeBot",
    "FakeTelegram",
    "Fault",
    "NeverSeen",
    "Person",
    "Rates",
    "Shown",
    "Spoken",
    "Standing",
    "drawn",
    "telegram_process",
]
