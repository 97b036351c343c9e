"""Both ends of a file of lines are read at the cost of the ends, whole lines only."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from farhand.disk.head_tail import HeadAndTail, newest, read_ends
from farhand.drivers.wires.text.tool_title import one_line


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_a_short_file_is_read_whole_on_both_sides(tmp_path: Path) -> None:
    ends = read_ends(write(tmp_path / "a", ["one", "", "two"]))
    assert (ends.head, ends.tail, ends.whole) == ((b"one", b"two"), (b"one", b"two"), True)


def test_a_line_that_is_still_being_written_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a").write_text('{"whole": 1}\n{"ha')
    assert read_ends(tmp_path / "a").tail == (b'{"whole": 1}',)


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert read_ends(tmp_path / "missing") == HeadAndTail()
    assert read_ends(tmp_path) == HeadAndTail()


@given(st.lists(st.text("abc\N{SNOWMAN}", max_size=12), max_size=40), st.integers(1, 60))
def test_every_line_of_an_end_is_a_line_of_the_file(tmp_path_factory: object, lines: list[str], size: int) -> None:
    path = Path(str(tmp_path_factory.mktemp("ends"))) / "a"  # type: ignore[attr-defined]
    ends = read_ends(write(path, lines), size)
    whole = [line.encode() for line in lines if line.strip()]
    assert list(ends.head) == whole[: len(ends.head)]
    assert list(ends.tail) == whole[len(whole) - len(ends.tail) :]


def test_the_newest_come_first_and_no_more_than_wanted(tmp_path: Path) -> None:
    for at, name in enumerate("abc"):
        os.utime(write(tmp_path / name, []), (at, at))
    assert [path.name for path in newest([*tmp_path.iterdir(), tmp_path / "gone"], 2)] == ["c", "b"]


def test_a_title_is_one_line() -> None:
    assert one_line("first\n  second") == "first second"
    assert one_line("x" * 200, 10) == "xxxxxxxxx…"
