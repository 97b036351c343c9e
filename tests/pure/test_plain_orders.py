"""Lone words that are orders: which are, and which are messages like any other."""

import pytest

from farhand.model.bridge import BACKEND
from farhand.model.plain_orders import PlainOrder, order_for, plain_order
from farhand.model.present import Worker
from farhand.model.sprint import SprintState
from farhand.model.words import LANGUAGES, replace

SPRINT = SprintState(id="s", began=1.0)


@pytest.mark.parametrize(
    "text",
    [
        "stop",
        " STOP! ",
        "Stop.",
        "stop it",
        "please stop",
        "stop, please",
        "Halt!",
        "cancel",
        "stopp",
        "hör auf",
        "bitte anhalten",
        "Arrête !",
        "arrête, stp",
        "¡Para!",
        "detente",
        "停",
        "停止。",
        "请停下",
    ],
)
def test_a_lone_stop_is_an_order(text: str) -> None:
    assert plain_order(text) is PlainOrder.STOP


@pytest.mark.parametrize(
    "text",
    ["take it back", "Take that back!", "nimm das zurück", "reprends-le", "retíralo", "撤回", "please take it back"],
)
def test_a_lone_take_it_back_is_an_order(text: str) -> None:
    assert plain_order(text) is PlainOrder.TAKE_BACK


@pytest.mark.parametrize(
    "text",
    [
        "",
        "!",
        "please",
        "stop using tabs",
        "don't stop",
        "stop the server",
        "take it back to the shop",
        "never mind",
        "no",
        "undo",
        "stop " * 20,
        "/stop",
        "para el servidor",
    ],
)
def test_anything_else_is_a_message(text: str) -> None:
    assert plain_order(text) is None


def test_every_language_of_the_texts_has_its_words() -> None:
    words = {"en": "stop", "de": "stopp", "fr": "arrête", "es": "para", "zh": "停"}
    assert set(words) == set(LANGUAGES)
    assert all(plain_order(word) is PlainOrder.STOP for word in words.values())


def test_a_sprint_and_an_agent_at_its_own_desk_have_a_stop_of_their_own() -> None:
    ann = Worker(name="ann", since=1, backend="claude", directory="/")
    assert order_for(ann, "stop") is PlainOrder.STOP
    assert order_for(replace(ann, backend=BACKEND), "stop") is None
    assert order_for(replace(ann, backend=BACKEND), "take it back") is PlainOrder.TAKE_BACK
    assert order_for(replace(ann, sprint=SPRINT), "STOP") is None
    assert order_for(replace(ann, sprint=SPRINT), "take it back") is PlainOrder.TAKE_BACK
