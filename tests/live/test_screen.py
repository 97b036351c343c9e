"""The terminal conversation as the eye sees it: what is typed and what is said never run into one another."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.live.nodes import Home

from farhand.testing.tmux import Screen, terminal


@pytest.fixture(params=[(80, 24), (120, 40)], ids=["80x24", "120x40"])
def screen(request: pytest.FixtureRequest) -> Iterator[Screen]:
    """A terminal with a node that is ready."""
    columns, rows = request.param
    with TemporaryDirectory(prefix="farhand-", ignore_cleanup_errors=True) as folder:
        home = Home(Path(folder), PS1="$ ")
        run = " ".join(home.command("run", "--node", "desk", "-p", "0", "--no-telegram", "--no-tunnel", "--demo"))
        with terminal(home.folder, home.environment, columns=columns, rows=rows) as opened:
            opened.type(f"clear; {run}")
            opened.wait(lambda text: "demo is online." in text, "the worker")
            yield opened
            opened.press("C-u")
            opened.press("C-d")
            opened.wait(lambda text: text.rstrip().endswith("$"), "the shell's prompt")
        home.end_agents()


def last_line(text: str) -> str:
    """The row where one types."""
    return text.rstrip("\n").rpartition("\n")[2]


def test_what_is_typed_stays_whole_while_a_worker_talks(screen: Screen) -> None:
    screen.type("stream")
    screen.wait(lambda text: "lighthouse" in text, "the story")
    # In one go: nineteen calls of tmux may take longer than the story.
    screen.press(*("Space" if letter == " " else letter for letter in "typed in the middle"))
    shown = screen.wait(lambda text: "typed in the middle" in last_line(text), "what was typed")
    assert "That is all." not in shown, "the story was over before anything was typed"
    shown = screen.wait(lambda text: last_line(text) == "demo> typed in the middle", "the end of the story")
    story = " ".join(shown.partition("you: stream\n")[2].partition("demo> ")[0].split())
    assert story.startswith("demo: There was a lighthouse keeper who had read every book in the tower twice.")
    assert story.endswith("It came to you word by word, as I would write code for you.")
    assert "typed" not in story
    assert story.count("demo:") == 1


def test_a_long_line_is_edited_in_one_row_and_sent_whole(screen: Screen) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    screen.type(words)
    shown = screen.wait(lambda text: "You said" in text and last_line(text) == "demo>", "the answer")
    said = " ".join(shown.partition("you: ")[2].split())
    assert said.startswith(words)
