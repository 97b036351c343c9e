"""A change of a file before it is made: a diff of what is there and what would be, and nothing left out."""

from __future__ import annotations

from pathlib import Path

from farhand.remote.changes import change_told
from farhand.tui.shown_text import diff, whole_text


def test_an_edit_is_a_diff_of_its_words(tmp_path: Path) -> None:
    told = change_told({"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}, tmp_path)
    assert told.splitlines() == ["--- a/a.py", "+++ b/a.py", "@@ -1 +1 @@", "-x = 1", "+x = 2"]


def test_a_file_that_is_there_is_compared(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    told = change_told({"file_path": "a.txt", "content": "one\nthree\n"}, tmp_path)
    assert "-two\n+three" in told


def test_a_new_file_is_all_new_and_what_else_is_said_stands_below(tmp_path: Path) -> None:
    told = change_told({"file_path": "b.txt", "content": "x", "mode": "0777"}, tmp_path)
    assert "+x" in told
    assert '"mode": "0777"' in told


def test_what_changes_no_file_by_its_words_is_told_otherwise(tmp_path: Path) -> None:
    assert change_told({"file_path": "b.txt"}, tmp_path) == ""
    assert change_told({"command": "ls"}, tmp_path) == ""
    assert change_told({"file_path": 1, "content": "x"}, tmp_path) == ""
    assert change_told({"file_path": "b\0c", "content": "x"}, tmp_path) != ""


def test_a_diff_of_one_file_is_shown_without_its_head() -> None:
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"
    assert diff(text).plain == "@@ -1 +1 @@\n-a\n+b"
    assert whole_text(text).plain == diff(text).plain
    assert whole_text("make all").plain == "make all"
    two = f"{text}\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b"
    assert diff(two).plain == two
