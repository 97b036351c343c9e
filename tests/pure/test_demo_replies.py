"""What the demo agent says and understands, and that its picture is one."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as some

from farhand.drivers.demo import replies


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("help", "help"),
        ("Hello!", "help"),
        ("hi there", "help"),
        ("", "help"),
        ("Stream", "stream"),
        ("/image", "image"),
        ("image please", "image"),
        ("fail.", "fail"),
        ("fail the build if a test fails", ""),
        ("fix the login page", ""),
        ("streams", ""),
    ],
)
def test_the_first_word_says_what_is_wanted(text: str, expected: str) -> None:
    assert replies.wanted(text) == expected


def test_help_names_every_show() -> None:
    assert all(f"- {show}:" in replies.HELP for show in replies.SHOWS)


@given(some.text())
def test_pieces_put_together_are_the_text(text: str) -> None:
    assert "".join(replies.pieces(text)).strip() == text.strip()


@given(some.text())
def test_anything_is_echoed(text: str) -> None:
    assert 0 < len(replies.echo(text)) < 500


def test_a_long_answer_has_14_000_characters() -> None:
    assert len("".join(replies.long_answer())) == 14_000


def test_the_picture_is_a_whole_png() -> None:
    data = replies.sunrise()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place, parts = 8, {}
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        name, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length : place + 12 + length]) == (zlib.crc32(name + body),)
        parts[name] = body
        place += 12 + length
    assert list(parts) == [b"IHDR", b"IDAT", b"IEND"]
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    assert len(zlib.decompress(parts[b"IDAT"])) == height * (1 + 3 * width)
