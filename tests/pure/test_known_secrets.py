"""The node's own secrets are found wherever they stand in what would be sent, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from farhand.model.devices import digest
from farhand.model.known_secrets import DEVICE_KEY, KnownSecrets, none_known

TOKEN = "7123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"
# Always the same: the processes that share the tests must name them alike.
DEVICE = "0123456789abcdefghijklmnopqrstuvwxyzABCDEF_"
KNOWN = KnownSecrets({TOKEN: "the token", "short": "too short to tell"}, frozenset({digest(DEVICE)}))


@given(before=some.binary(max_size=99), after=some.binary(max_size=99), size=some.integers(1, 70))
def test_a_secret_is_found_however_the_file_is_read(before: bytes, after: bytes, size: int) -> None:
    text = before + TOKEN.encode() + after
    assert KNOWN.found_in([text[place : place + size] for place in range(0, len(text), size)]) == "the token"


@given(size=some.integers(1, 70), around=some.sampled_from([b"\n", b'"', b" ", b"=", b""]))
def test_a_devices_key_is_known_by_its_digest(size: int, around: bytes) -> None:
    text = b"KEY=" + around + DEVICE.encode() + around
    assert KNOWN.found_in([text[place : place + size] for place in range(0, len(text), size)]) == DEVICE_KEY


@pytest.mark.parametrize("text", [b"", b"short", TOKEN[:-1].encode(), DEVICE[:-1].encode(), b"x" + DEVICE.encode()])
def test_what_is_no_secret_passes(text: bytes) -> None:
    assert KNOWN.found_in([text]) == ""
    assert none_known().found_in([TOKEN.encode()]) == ""


def test_a_secret_is_not_told_by_its_holder() -> None:
    assert TOKEN not in repr(KNOWN)
    assert KNOWN.and_also({"another one": "another"}).found_in([b"another one"]) == "another"
