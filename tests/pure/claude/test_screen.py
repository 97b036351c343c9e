"""Claude Code's screen, from recorded ones: where the input box is and what stands in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from farhand.drivers.claude.launch import MANIFEST
from farhand.drivers.claude.tmux.keyboard import mode_shown, new_reply
from farhand.drivers.claude.tmux.screen import (
    dialog_key,
    footer_says,
    holds,
    is_confirmed_by_enter,
    read_box,
    read_notice,
    read_reply,
    takes_escape,
)
from farhand.drivers.wires.tmux.screen import last_words

RECORDINGS = Path(__file__).parent / "recordings"
RULE = "─" * 40
BOXES = {
    "tui-idle.txt": "",
    "tui-busy.txt": "",
    "tui-idle-after.txt": "",
    "tui-after-approve.txt": "",
    "tui-fresh-3.txt": "",
    "tui-bypass-accepted.txt": "",
    "tui-permission.txt": None,
    "tui-permission-hookhold.txt": None,
    "tui-fresh-1-trust.txt": None,
    "tui-fresh-2-apikey.txt": None,
    "tui-bypass-dialog.txt": None,
    "tui-fresh-onboarding-offline.txt": None,
}


@pytest.mark.parametrize(("name", "box"), BOXES.items())
def test_the_box_is_found_where_there_is_one(name: str, box: str | None) -> None:
    assert read_box((RECORDINGS / name).read_text("utf-8")) == box


@pytest.mark.parametrize(
    ("line", "box"),
    [
        ("\x1b[39m❯\xa0\x1b[7m \x1b[0m", ""),
        ("\x1b[39m❯\xa0half typed\x1b[7m \x1b[0m", "half typed"),
        ("\x1b[38;5;246m❯\xa0\x1b[7m\x1b[39mP\x1b[0;2m\x1b[39m\x1b[49mress up to edit queued messages", ""),
        ("\x1b[39m❯\xa0\x1b[7mh\x1b[0malf typed", "half typed"),
        ("\x1b[39m❯\xa0\x1b[7mx\x1b[0m", "x"),
        ("! ls\n  more", "ls\n  more"),
    ],
)
def test_a_hint_is_not_what_somebody_typed(line: str, box: str) -> None:
    assert read_box(f"● answer\n{RULE}\n{line}\n{RULE}\n  ⏸ manual mode on") == box


def test_an_older_prompt_in_the_conversation_is_no_box() -> None:
    assert read_box("❯ said before\n● answer\n") is None


def test_the_box_holds_the_text_or_its_token() -> None:
    assert holds("hello there", "hello there\nsecond")
    assert holds("[Pasted text #1 +3 lines]", "a\nb\nc\nd")
    assert not holds("half typed hello", "hello")


def test_the_footer_names_the_mode() -> None:
    screen = (RECORDINGS / "tui-idle.txt").read_text("utf-8")
    assert footer_says(screen, "manual mode on")
    assert not footer_says(screen, "plan mode on")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("tui-fresh-1-trust.txt", "Down"),
        ("tui-fresh-2-apikey.txt", "Up"),
        ("tui-bypass-dialog.txt", "Down"),
        ("tui-permission.txt", None),
        ("tui-idle.txt", None),
    ],
)
def test_a_first_run_dialog_is_answered_by_keys_that_are_seen_to_work(name: str, key: str | None) -> None:
    screen = (RECORDINGS / name).read_text("utf-8")
    assert dialog_key(screen, MANIFEST["dialogs"]) == key
    for dialog in MANIFEST["dialogs"] if key else []:
        moved = screen.replace("❯", " ").replace(f"   {dialog['choice']}\n", f" ❯ {dialog['choice']}\n")
        if moved.count("❯"):
            assert dialog_key(moved, MANIFEST["dialogs"]) == "Enter"


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("tui-busy.txt", True),
        ("tui-queued.txt", True),
        ("tui-permission.txt", True),
        ("tui-interrupted.txt", False),
        ("tui-idle.txt", False),
        ("tui-stophook.txt", False),
    ],
)
def test_escape_is_for_turns_and_dialogs(name: str, takes: bool) -> None:
    assert takes_escape((RECORDINGS / name).read_text("utf-8")) is takes


@pytest.mark.parametrize(
    ("footer", "mode"),
    [
        ("⏸ manual mode on", "default"),
        ("⏵⏵ accept edits on (shift+tab to cycle)", "auto_edit"),
        ("⏸ plan mode on (shift+tab to cycle)", "plan"),
        ("⏵⏵ bypass permissions on (shift+tab to cycle)", "yolo"),
        # It lies on the way from one of ours to the next: without a name it was taken for a screen that is drawn anew.
        ("⏵⏵ auto mode on (shift+tab to cycle)", "auto"),
        ("? for shortcuts", None),
    ],
)
def test_every_mode_that_the_cycle_leads_through_has_a_name(footer: str, mode: str | None) -> None:
    assert mode_shown(f"{RULE}\n❯ \n{RULE}\n\n  {footer}\n") == mode


def test_what_only_draws_a_line_is_not_told() -> None:
    screen = f"one\n{RULE}\n{'▔' * 20} · /effort\n  two ▄▀\n\n{'▄' * 9} {'▀' * 9}\n"
    assert last_words(screen) == "one\n · /effort\n  two ▄▀"


BOX = f"{RULE}\n❯\xa0\n{RULE}\n  ⏸ manual mode on"
SET = "❯ /model sonnet\n  ⎿ \xa0Set model to Sonnet 5.5\n     It assumes a window.\n\n"


@pytest.mark.parametrize(
    ("above", "reply"),
    [
        (SET, "Set model to Sonnet 5.5 It assumes a window."),
        (f"{SET}● and more words\n\n", "Set model to Sonnet 5.5 It assumes a window."),
        (f"{SET}❯ another message\n\n● answer\n", ""),
        # Beside it stands what git says of the folder.
        (
            "❯ /model sonnet                │ a (untracked)\n  ⎿ \xa0Set model to Sonnet 5.5     │ b (untracked)\n\n",
            "Set model to Sonnet 5.5",
        ),
        (
            "❯ /model sonnet                │──────────────\n"
            "  ⎿ \xa0Set model to Sonnet 5.5     │New file not yet staged.\n"
            "                               │Run `git add`.\n                               │\n",
            "Set model to Sonnet 5.5",
        ),
        ("❯ /model haiku\n  ⎿ \xa0Set model to Haiku 5.5\n\n", ""),
        ("❯ /model\n  ⎿ \xa0Kept model as Opus 5.5\n\n", ""),
        ("❯ /model sonnet\n\n  ⎿ \xa0Tip: something else\n", ""),
        ("● ❯ /model sonnet\n  ⎿ \xa0Set model to Sonnet 5.5\n", ""),
        ("", ""),
    ],
)
def test_a_reply_is_that_to_the_command_that_was_typed_last(above: str, reply: str) -> None:
    assert read_reply(f"{above}\n{BOX}", "/model sonnet") == reply
    assert read_reply(above, "/model sonnet") == ""


def test_a_notice_stands_right_above_the_box() -> None:
    assert read_notice(f"● answer\n          Set model to Sonnet 5.5\n{BOX}") == "Set model to Sonnet 5.5"
    assert read_notice(f"● answer\n\n{BOX}") == ""
    assert read_notice("Switch model?\n❯ 1. Yes, switch to Sonnet 5.5") == ""


REFUSED = "❯ /model sonnet\n  ⎿ \xa0Model 'sonnet' not found\n\n"


@pytest.mark.parametrize(
    ("before", "after", "reply"),
    [
        ("", SET, "Set model to Sonnet 5.5 It assumes a window."),
        (REFUSED, REFUSED, ""),
        (REFUSED, REFUSED + SET, "Set model to Sonnet 5.5 It assumes a window."),
        ("", "● answer\n    Set model to Sonnet 5.5", "Set model to Sonnet 5.5"),
        ("", "● answer\n    Model 'sonnet' not found", "Model 'sonnet' not found"),
        ("    Set model to Sonnet 5.5", "    Set model to Sonnet 5.5", ""),
        ("", "    tmux detected", ""),
    ],
)
def test_what_was_said_before_is_no_reply(before: str, after: str, reply: str) -> None:
    done = MANIFEST["changes"]["model"]
    assert new_reply(f"{before}\n{BOX}", f"{after}\n{BOX}", "/model sonnet", done) == reply


def test_a_change_is_confirmed_only_where_its_yes_is_chosen() -> None:
    asked = "   This conversation is cached for the current model. Switching to Sonnet 5.5 means more.\n\n"
    yes, no = "1. Yes, switch to Sonnet 5.5", "2. No, go back"
    confirmation = MANIFEST["confirmation"]
    assert is_confirmed_by_enter(f"{asked}   ❯ {yes}\n     {no}", confirmation)
    assert not is_confirmed_by_enter(f"{asked}     {yes}\n   ❯ {no}", confirmation)
    assert not is_confirmed_by_enter(f"A PreModelSwitch hook asked you to confirm\n   ❯ {yes}\n     {no}", confirmation)
