"""What others wrote gives the terminal of a command no orders: titles of conversations, errors, words of agents."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from farhand.cli.call_command import tell_error
from farhand.cli.conversation_lines import session_lines
from farhand.cli.terminal import PlainTerminal
from farhand.core.decide import check_model
from farhand.model.errors import BadInput
from farhand.model.names import is_model_name
from farhand.model.ports import SessionFound

ORDERS = "\x1b]0;mine\x07\x1b[2J\x9b31m"


def test_the_title_of_a_conversation_is_one_line_of_words() -> None:
    found = SessionFound(id="s1", directory=f"/w{ORDERS}", title=f"sum {ORDERS}\nrm -rf", at=0.0, backend="claude")
    shown = session_lines([found])
    assert not {"\x1b", "\x07", "\x9b"} & set(shown)
    assert "    sum ]0;mine[2J31m rm -rf  [/w]0;mine[2J31m]" in shown


@pytest.mark.parametrize("verbose", [False, True])
def test_an_error_is_words(capsys: pytest.CaptureFixture[str], *, verbose: bool) -> None:
    tell_error(BadInput(f"oops {ORDERS}", hints=[f"try {ORDERS}"], field=ORDERS), verbose=verbose)
    told = capsys.readouterr().err
    assert told.startswith("error: oops ]0;mine")
    assert not {"\x1b", "\x07", "\x9b"} & set(told)


def test_a_plain_terminal_shows_words(tmp_path: Path) -> None:
    written = io.StringIO()
    with (tmp_path / "typed").open("w+") as typed:
        terminal = PlainTerminal(typed, written)
        terminal.tell(f"Mo: {ORDERS}")
        terminal.stream(f"ann{ORDERS}", f"Done.{ORDERS}\n\tNext")
    assert not {"\x1b", "\x07", "\x9b"} & set(written.getvalue())
    assert "Done.]0;mine[2J31m\n\tNext" in written.getvalue()


@pytest.mark.parametrize("name", ["--yolo", "-y", "a b", "a\nb", "\x1b[31m", "x" * 400])
def test_what_no_model_is_called_stands_on_no_command_line(name: str) -> None:
    assert not is_model_name(name)
    with pytest.raises(BadInput):
        check_model(name)


@pytest.mark.parametrize("name", ["opus", "gpt-5.2-codex", "openai:o4", "anthropic/claude-4", "pro[1m]", "модель"])
def test_what_models_are_called(name: str) -> None:
    check_model(name)
