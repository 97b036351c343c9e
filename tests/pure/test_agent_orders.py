"""What an agent's own program would take for an order, whatever stands unseen before it."""

from __future__ import annotations

import pytest

from farhand.drivers.wires.tmux.keyboard import commands, guarded
from farhand.model.agent_orders import begins_as_order

UNSEEN = [
    "",
    " ",
    "\n\t",
    "\ufeff",
    "\u200b",
    "\u2060 \u00ad",
    "\u00a0",
    "\u3000",
    "\u180e",
    "\u3164",
    "\U000e0041",
    "\x01",
]


@pytest.mark.parametrize("before", UNSEEN)
@pytest.mark.parametrize("order", ["/about", "!id", "# note"])
def test_what_a_program_trims_hides_no_order(before: str, order: str) -> None:
    assert begins_as_order(before + order)


@pytest.mark.parametrize("words", ["", "\u200b", "about", "\ufeffsee /about", "1/2"])
def test_words_are_no_order(words: str) -> None:
    assert not begins_as_order(words)


@pytest.mark.parametrize("before", [one for one in UNSEEN if not one.isspace()])
def test_what_nobody_sees_does_not_make_words_of_an_order(before: str) -> None:
    about = commands(r"^/about")
    unseen = before.rstrip()
    assert guarded(f"{unseen}/about", about).strip(" ") == "/about"
    assert guarded(f"{unseen}!id", about) == " !id"
