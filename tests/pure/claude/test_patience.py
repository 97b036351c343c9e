"""What goes wrong with Claude Code is noticed within two seconds: by an event, or by a look that is due before that."""

from farhand.drivers.claude.tmux import keyboard, link

GOAL_SECONDS = 2.0


def test_whoever_waits_for_the_input_box_is_told_in_time() -> None:
    assert keyboard.BOX.box_seconds < GOAL_SECONDS


def test_a_dialog_is_told_in_time() -> None:
    assert link.DIALOG_SECONDS < GOAL_SECONDS
    assert keyboard.UNKNOWN_DIALOG_SECONDS < GOAL_SECONDS


def test_a_screen_counts_as_still_only_while_it_stays_the_same() -> None:
    still = keyboard.Still()
    assert [still.looks(screen) for screen in ("a", "a", "a", "b", "b")] == [0, 1, 2, 0, 1]
