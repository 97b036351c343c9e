"""Small words beside an agent's files: none costs another one, the newest stay, and the file does not only grow."""

from __future__ import annotations

from pathlib import Path

from farhand.disk.jsonl import MOST, MOST_BYTES, JsonlFile
from farhand.drivers.opencode.headless.state import OpenCodeExpected, OpenCodeLog
from farhand.model.words import Word


class Numbered(Word):
    """A number, and something that takes room."""

    number: int
    room: str = ""


def numbers(file: JsonlFile[Numbered]) -> list[int]:
    return [one.number for one in file.all()]


def test_what_a_kill_cut_off_costs_nothing_but_itself(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "records"
    JsonlFile(path, Numbered).add(Numbered(number=1))
    with path.open("ab") as file:
        file.write(b'\n{"number":2,"roo')
    reading = JsonlFile(path, Numbered)
    assert numbers(reading) == [1]
    JsonlFile(path, Numbered).add(Numbered(number=3), sync=True)
    assert numbers(reading) == [1, 3]
    with path.open("ab") as file:
        file.write(b'\n{"number":4}')
    assert numbers(reading) == numbers(JsonlFile(path, Numbered)) == [1, 3, 4]
    reading.add(Numbered(number=5))
    assert numbers(reading) == numbers(JsonlFile(path, Numbered)) == [1, 3, 4, 5]


def test_opencodes_notes_outlive_a_line_that_a_kill_cut_off(tmp_path: Path) -> None:
    log = OpenCodeLog(tmp_path)
    log.add_delivery(OpenCodeExpected(id="msg_1", message="one"))
    with (tmp_path / "given").open("ab") as file:
        file.write(b'{"given":{"id":"msg')
    log.add_delivery(OpenCodeExpected(id="msg_2", message="two"))
    log.add_answer("per_1")
    assert [one.id for one in OpenCodeLog(tmp_path).deliveries()] == ["msg_1", "msg_2"]
    assert OpenCodeLog(tmp_path).may_be_answered("per_1")


def test_the_newest_are_read_back(tmp_path: Path) -> None:
    file = JsonlFile(tmp_path / "records", Numbered)
    for number in range(MOST + 10):
        file.add(Numbered(number=number))
    assert numbers(file) == numbers(JsonlFile(tmp_path / "records", Numbered)) == list(range(10, MOST + 10))


def test_a_file_that_has_grown_large_keeps_the_newest_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "records"
    writing, reading = JsonlFile(path, Numbered), JsonlFile(path, Numbered)
    room = "x" * (MOST_BYTES // (2 * MOST))
    largest = 0
    for number in range(5 * MOST):
        writing.add(Numbered(number=number, room=room))
        largest = max(largest, path.stat().st_size)
        if number % 100 == 0:
            assert numbers(reading)[-1] == number
    assert largest < 1.2 * MOST_BYTES
    assert numbers(reading) == numbers(JsonlFile(path, Numbered)) == list(range(4 * MOST, 5 * MOST))
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["records"]


def test_large_words_are_not_dropped_for_their_size(tmp_path: Path) -> None:
    file = JsonlFile(tmp_path / "records", Numbered)
    for number in range(MOST + 1):
        file.add(Numbered(number=number, room="x" * (4 * MOST_BYTES // MOST)))
    assert numbers(file) == list(range(1, MOST + 1))


def test_what_was_read_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "records"
    file = JsonlFile(path, Numbered)
    file.add(Numbered(number=1))
    assert numbers(file) == [1]
    # Of the same length: nobody who reads on only what was added sees it.
    path.write_bytes(path.read_bytes().replace(b"1", b"2"))
    file.add(Numbered(number=3))
    assert numbers(file) == [1, 3]
