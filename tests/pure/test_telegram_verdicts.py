"""What an error of Telegram proves: refused for good, certainly not taken, or nobody can tell."""

from __future__ import annotations

import httpx
import pytest
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from farhand.channels.kit.outbox import SendLater, SendRefused, SendUncertain
from farhand.channels.telegram.gateway import Gateway
from farhand.model.errors import ChannelError


def caused(error: TelegramError, cause: Exception) -> TelegramError:
    error.__cause__ = cause
    return error


GATEWAY = Gateway("1:secret-part", "http://127.0.0.1:1")
VERDICTS: list[tuple[TelegramError, type[ChannelError]]] = [
    (RetryAfter(7), SendLater),
    (BadRequest("chat not found"), SendRefused),
    (ChatMigrated(-100), SendRefused),
    (Forbidden("bot was blocked by the user"), SendLater),
    (InvalidToken("Unauthorized"), SendLater),
    (Conflict("terminated"), SendLater),
    (NetworkError("Bad Gateway"), SendLater),
    (caused(NetworkError("x"), httpx.ConnectError("refused")), SendLater),
    (caused(TimedOut(), httpx.ConnectTimeout("slow")), SendLater),
    (caused(TimedOut(), httpx.PoolTimeout("full")), SendLater),
    (caused(TimedOut(), httpx.ReadTimeout("slow")), SendUncertain),
    (caused(NetworkError("x"), httpx.ReadError("cut")), SendUncertain),
    (caused(NetworkError("x"), httpx.RemoteProtocolError("cut")), SendUncertain),
    (TelegramError("Invalid server response"), SendUncertain),
]


@pytest.mark.parametrize(("error", "verdict"), VERDICTS)
def test_an_error_proves_what_it_proves_and_no_more(error: TelegramError, verdict: type[Exception]) -> None:
    assert type(GATEWAY.verdict(error, again=False)) is verdict


@pytest.mark.parametrize("error", [error for error, verdict in VERDICTS if verdict is SendUncertain])
def test_what_does_no_harm_twice_is_simply_done_again(error: TelegramError) -> None:
    assert type(GATEWAY.verdict(error, again=True)) is SendLater


def test_patience_is_as_long_as_telegram_asks() -> None:
    verdict = GATEWAY.verdict(RetryAfter(7), again=False)
    assert isinstance(verdict, SendLater)
    assert verdict.after_seconds == 7.0


def test_the_token_is_in_no_sentence() -> None:
    assert "secret-part" not in str(GATEWAY.verdict(BadRequest("the token 1:secret-part is bad"), again=False))
