"""Ids as OpenCode makes them: they rise with time, so that ours stand in their place among its own. Pure."""

from __future__ import annotations

import hashlib

DIGITS = 12
LIMIT: int = 16**DIGITS
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
TAIL = 14


def message_id(name: str, at: float, newest: str) -> str:
    """The id of a message with that name, given at that time: above every id there is."""
    stamp = (int(at * 1000) * 4096 + 1) % LIMIT
    last = _stamp(newest)
    # Only a clock that was set back makes the newest one younger than now; half the circle away it is older.
    if 0 <= last - stamp < LIMIT // 2:
        stamp = (last + 1) % LIMIT
    return f"msg_{stamp:0{DIGITS}x}{_tail(name)}"


def part_id(message: str, number: int) -> str:
    """The id of a message's part, the same however often it is given."""
    return f"prt_{message[4 : 4 + DIGITS]}{_tail(f'{message} {number}')}"


def _stamp(newest: str) -> int:
    try:
        found = int(newest[4 : 4 + DIGITS], 16)
    except ValueError:
        return -LIMIT
    return found


def _tail(name: str) -> str:
    number = int.from_bytes(hashlib.sha256(name.encode(errors="surrogatepass")).digest()[:12], "big")
    letters = []
    for _ in range(TAIL):
        number, rest = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[rest])
    return "".join(letters)
