"""Screens of the Gemini CLI: the box, the dialogs, and whether a dialog asks what was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from farhand.drivers.gemini.asks import DENY, Call, Question, digest_of, is_about, question_of, raised
from farhand.drivers.gemini.screen import Dialog, holds, read_box, read_dialog, says, standing
from farhand.drivers.wires.fields import Fields
from farhand.drivers.wires.painted import last_words
from farhand.model.words import replace

HERE = Path(__file__).parent
SCREENS = sorted((HERE / "recordings").glob("tui-*.txt"))
DIALOGS = {"tui-permission.txt", "tui-beforetool-ask.txt", "tui-fresh-auth.txt", "tui-fresh-trust.txt"}


def screen(name: str) -> str:
    return (HERE / "recordings" / name).read_text("utf-8")


@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.name)
def test_a_screen_has_a_box_or_a_dialog(path: Path) -> None:
    text = path.read_text("utf-8")
    assert (read_dialog(text) is not None) == (path.name in DIALOGS)
    assert (read_box(text) == "") == (path.name not in DIALOGS)


def test_what_is_typed_is_read_and_a_hint_is_not() -> None:
    idle = screen("tui-idle.txt")
    assert read_box(idle) == ""
    assert read_box(idle.replace("Type your message or @path/to/file", "fix the tests")) == "fix the tests"
    assert holds("fix the tests now", "fix the tests now\nand then")
    assert holds("[Pasted Text: 40 lines]", "anything")
    assert not holds("something else", "fix the tests")


def test_the_mode_and_the_standing_are_read() -> None:
    assert says(screen("tui-yolo.txt"), "YOLO")
    assert not says(screen("tui-idle.txt"), "YOLO")
    edits = screen("tui-idle.txt").replace("Shift+Tab to accept edits", "auto-accept edits Shift+Tab to plan")
    assert says(edits, "auto-accept edits")
    assert not says(edits, "plan")
    titles = ["◇  Ready (dir)", "✦  Working… (dir)", "✋  Action Required (dir)", "tmux"]
    assert [standing(title) for title in titles] == ["idle", "busy", "waiting", ""]
    assert "Request cancelled." in last_words(screen("tui-cancelled.txt"))


def dialog(*body: str) -> Dialog:
    options = {"1": "Allow once", "2": "Allow for this session", "3": "No, suggest changes (esc)"}
    return Dialog(header="? Shell  x", body=body, question="Allow execution of [Shell]?", options=options)


def shell(command: str) -> Question:
    details = {"type": "exec", "title": "Confirm Shell Command", "command": command, "rootCommand": "x"}
    return question_of(Fields({"details": details}), (Call(tool="run_shell_command", arguments={"command": command}),))


def test_a_dialog_is_about_exactly_one_command() -> None:
    seen = read_dialog(screen("tui-permission.txt"))
    assert seen is not None
    assert is_about(seen, shell("touch zz.txt"))
    assert not is_about(seen, shell("touch zz.txt; rm -rf ~"))
    assert not is_about(seen, shell("touch"))
    assert is_about(dialog("ls -la |", "wc -l"), shell("ls -la | wc -l"))
    # A part is enough only where the dialog says that it hides the rest.
    hidden = "... first 12 lines hidden (Ctrl+O to show) ..."
    assert is_about(dialog(hidden, "echo end"), shell("echo one\necho end"))
    assert not is_about(dialog(hidden, "echo else"), shell("echo one\necho end"))
    assert not is_about(dialog(hidden), shell("echo one"))


def test_an_edit_is_known_by_its_file() -> None:
    write = Call(tool="write_file", arguments={"file_path": "/p/w.txt"})
    details = {"type": "edit", "fileName": "w.txt", "filePath": "/p/w.txt", "fileDiff": "+beta"}
    calls = (Call(tool="replace", arguments={"file_path": "/p/other.txt"}), write, Call(tool="glob"))
    question = question_of(Fields({"details": details}), calls)
    assert question.call == write
    options = {"1": "Allow once", "2": "Allow for this session", "3": "Modify with external editor", "4": "No, suggest"}
    shown = Dialog(header="? WriteFile  Writing to w.txt", body=(), question="Apply this change?", options=options)
    assert is_about(shown, question)
    assert not is_about(Dialog(header="? x", body=(), question="Apply this change?", options=options), question)
    assert is_about(replace(shown, body=("12 + be", "ta")), question)
    assert not is_about(replace(shown, body=("12 + gamma",)), question)
    ask = raised("a", question, 60.0, shown)
    assert [choice.id for choice in ask.choices] == ["allow", "session", "deny"]
    assert [choice.allows for choice in ask.choices] == [True, True, False]
    assert ask.detail == "/p/w.txt\n\n+beta"
    assert shown.key("No") == "4"


def test_an_ask_names_exactly_what_runs_and_shows_what_is_hidden() -> None:
    one, two = shell("touch a"), shell("touch a ")
    assert digest_of(one) != digest_of(two)
    ask = raised("a", shell("touch a\u202eb"), None, dialog("touch a"))
    assert "⟨U+202E⟩" in ask.detail
    assert next(choice for choice in ask.choices if not choice.allows).id == DENY
