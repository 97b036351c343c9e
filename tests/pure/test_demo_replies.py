"""What the demo agent says and understands, and that its picture is one."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as some

from farhand.drivers.demo import replies, work
from farhand.drivers.demo.panes import COLUMNS, DemoScreen
from farhand.model.panes import PaneInput
from farhand.model.welcome import welcome


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
        (welcome("shop", "http://localhost:1", "/tmp/shop", "[Message from "), "ready"),
    ],
)
def test_the_first_word_says_what_is_wanted(text: str, expected: str) -> None:
    assert replies.wanted(text) == expected


def test_help_names_every_show() -> None:
    assert all(f"- {show}:" in replies.HELP for show in replies.SHOWS)


def test_what_only_the_phone_app_has_is_not_promised_to_every_phone() -> None:
    assert "in the phone app" in next(line for line in replies.HELP.splitlines() if line.startswith("- diff:"))
    assert "In the phone app I have a terminal" in replies.HELP


@given(some.text())
def test_pieces_put_together_are_the_text(text: str) -> None:
    assert "".join(replies.pieces(text)).strip() == text.strip()


@given(some.text())
def test_anything_is_echoed(text: str) -> None:
    assert 0 < len(replies.echo(text)) < 500


def test_a_long_answer_has_14_000_characters() -> None:
    assert len("".join(replies.long_answer())) == 14_000


def test_an_edit_has_removed_and_added_lines_and_the_next_one_goes_back() -> None:
    first, second = work.before_and_after("")
    assert work.before_and_after(second) == (second, first)
    lines = work.patch(first, second).splitlines()
    assert lines[:2] == ["--- a/lighthouse.py", "+++ b/lighthouse.py"]
    assert {"-", "+"} <= {line[0] for line in lines[2:]}


def test_both_versions_of_the_program_run() -> None:
    for version in work.before_and_after(""):
        exec(compile(version, work.FILE, "exec"), {})


def test_the_terminal_shows_what_is_typed_and_obeys_none_of_it() -> None:
    screen = DemoScreen()
    screen.take(PaneInput(text="hello \x1b[31mworld", paste=True))
    assert b"demo>\x1b[0m hello " in screen.drawn()
    assert b"\x1b[31m" not in screen.drawn()
    screen.take(PaneInput(keys=("Enter", "Up")))
    assert "You typed 16 characters." in screen.drawn().decode()
    assert "(Up)" in screen.drawn().decode()


@given(some.lists(some.tuples(some.text(max_size=200), some.sampled_from(["Enter", "Escape", "Tab", "BSpace"]))))
def test_the_terminal_never_grows_over_its_size(typed: list[tuple[str, str]]) -> None:
    screen = DemoScreen()
    for text, key in typed:
        screen.take(PaneInput(text=text, keys=(key,)))
    lines = screen.drawn().decode().split("\r\n")
    assert len(lines) <= 22
    assert all(len(line) <= COLUMNS + 40 for line in lines)


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
