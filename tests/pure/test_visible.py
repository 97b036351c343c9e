"""What an eye cannot see is spelled out before anybody allows it, from one set of characters for the whole house."""

from __future__ import annotations

import pytest

from farhand.channels.telegram import markup
from farhand.cli import say
from farhand.model.facts import AskRaised, Said, TurnEnded
from farhand.model.visible import is_hidden, visible, without_controls
from farhand.model.words import HowEnded

HIDDEN = "\u202e\u2066\u200b\u200d\ufeff\x00\x1b\r\x7f\x85\u2028\u3164\u2800\u180e\U000e0041\ue000"


@pytest.mark.parametrize("character", HIDDEN)
def test_one_set_for_agents_words_and_for_cards(character: str) -> None:
    spelled = f"a‹U+{ord(character):04X}›b"
    assert is_hidden(character)
    assert visible(f"a{character}b") == spelled
    # Twice is once: what a driver spelled out, a card shows as it is.
    assert visible(visible(f"a{character}b")) == spelled


@pytest.mark.parametrize("text", ["", "plain", "line\n\tindented é 漢字 🎉"])
def test_text_stays(text: str) -> None:
    assert visible(text) == without_controls(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm\xa0-rf\u2003x", "rm‹U+00A0›-rf‹U+2003›x"),
        ("ok\ufe0f\U000e0100", "ok‹U+FE0F›‹U+E0100›"),
        ("ls" + " " * 200 + "; rm -rf x", "ls ‹200 blanks› ; rm -rf x"),
        ("ls\n\n\n \n\n\n\nrm", "ls\n‹6 empty lines›\nrm"),
        ("curl p\u0430ypal.com", "curl p‹U+0430›ypal.com"),
        ("a \u2215 b/\u2215c", "a \u2215 b/‹U+2215›c"),
        ("\u0430\u200b \u0430\u3164.com", "\u0430‹U+200B› ‹U+0430›‹U+3164›.com"),
        # One by one, whatever other letters the word has.
        ("g\u0456thub.com/ñ", "g‹U+0456›thub.com/ñ"),
        ("\u0430\u0440\u0440\u04cf\u0435.com/ж", "‹U+0430›‹U+0440›‹U+0440›‹U+04CF›‹U+0435›.com/ж"),
        ("ñ\u0430b.com", "ñ‹U+0430›b.com"),
        ("g\u0585\u0585gle.com", "g‹U+0585›‹U+0585›gle.com"),
        ("x.com\uff0fy ls\uff1brm", "x.com‹U+FF0F›y ls‹U+FF1B›rm"),
        ("\U0001d41aws.com \uff41b \u212aate l\u037erm", "‹U+1D41A›ws.com ‹U+FF41›b ‹U+212A›ate l‹U+037E›rm"),
    ],
)
def test_blanks_and_look_alikes_are_told_apart(text: str, shown: str) -> None:
    assert visible(text) == visible(shown) == shown


@pytest.mark.parametrize(
    "text",
    ["файл.txt", "Привет, мир", "café naïve", "    indented\n\n\ntwice", "Ωmega", "wait… “so” 5m² a–b", "wiki/Россия"],
)
def test_what_people_write_stays(text: str) -> None:
    assert visible(text) == text


def test_control_characters_are_taken_out() -> None:
    assert without_controls("a\x00b\x1b[2K\x7f\n\tc\r") == markup.visible("a\x00b\x1b[2K\x7f\n\tc\r") == "ab[2K\n\tc"


def test_what_an_agent_says_gives_a_terminal_no_orders(capsys: pytest.CaptureFixture[str]) -> None:
    orders = "\x1b]0;owned\x07\x1b[2J\x9b31m\x08\r"
    say._show("ann", Said(text=f"one{orders}\ttwo\n"))
    say._show("ann", AskRaised(ask="a", question=f"ask{orders}", choices=()))
    say._show("ann", TurnEnded(how=HowEnded.FAILED, error=f"error{orders}"))
    told = capsys.readouterr()
    assert told.out == "one]0;owned[2J31m\ttwo\n\n"
    assert not set("\x1b\x07\x9b\x08\r") & set(told.err)
