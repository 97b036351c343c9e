"""Whatever Telegram sends, it is read without an error: as a command, as a question, or as nothing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farhand.channels.kit.card import AnswerTap, DoneTap, PickTap, SteerTap, StopTap, WithdrawTap, WordsTap
from farhand.channels.kit.inbound import read_message
from farhand.channels.kit.surface import ChatTap
from farhand.channels.kit.tap_data import DATA_BYTES, ChoiceWantsWords, TappedChoice, tap_data, tap_to_wish
from farhand.channels.telegram.parse import decode_update, message_command_id, message_place, to_message, to_tap
from farhand.channels.telegram.words import CallbackQuery, TelegramChat, TelegramMessage
from farhand.model import commands
from farhand.model.grammar import InfoRequest, Tell, Wrong
from farhand.model.present import Ask, Present, Turn, Worker
from farhand.model.present import Message as Waiting
from farhand.model.wire import checked
from farhand.model.words import Choice, Sender, replace

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["message_id", "chat", "from", "text", "caption", "photo", "document", "edit_date", "date", "id", "data", "message"]
)
PARTS = st.dictionaries(FIELDS, JSON, max_size=6)
UPDATES = st.fixed_dictionaries(
    {"update_id": st.integers(0, 2**31)},
    optional=dict.fromkeys(("message", "edited_message", "callback_query", "poll", "new_kind"), PARTS | JSON),
)
CHOICES = (Choice(id="yes", label="Yes"), Choice(id="no", label="No"))


def present(ask: str = "a", turn: str = "t") -> Present:
    worker = Worker(
        name="ann-b",
        since=1,
        backend="demo",
        directory="/",
        turn=Turn(id=turn, seq=1, at=0.0),
        asks=(Ask(id=ask, worker="ann-b", turn=turn, seq=2, question="?", choices=CHOICES),),
    )
    return Present(workers={"ann-b": worker}, focus="ann-b")


def wished(text: str, **more: Any) -> Any:
    message = TelegramMessage(message_id=5, chat=TelegramChat(id=7), text=text, **more)
    return read_message(to_message(message, "telegram", "99"), present())


@given(UPDATES)
def test_any_update_is_read(update: dict[str, Any]) -> None:
    number, what = decode_update(msgspec.json.encode(update))
    assert number == update["update_id"]
    if isinstance(what, TelegramMessage):
        wish = read_message(to_message(what, "telegram", "99"), present())
        if isinstance(wish, Tell):
            assert wish.id == message_command_id(what, "99")
    elif isinstance(what, CallbackQuery):
        tap = to_tap(what)
        if tap is not None:
            tap_to_wish(tap, present())


@given(st.binary(max_size=60))
def test_any_bytes_are_read(update: bytes) -> None:
    decode_update(update)


@given(st.text(max_size=80))
def test_any_text_becomes_a_command_that_the_hub_takes_or_a_sentence(text: str) -> None:
    wish = wished(text)
    if wish is not None and not isinstance(wish, InfoRequest | Wrong | Tell):
        checked(wish)
    assert wish is None or wish.id == "m:99:7:5"


@given(st.text(max_size=70))
def test_any_data_behind_a_button_is_read(data: str) -> None:
    tap_to_wish(ChatTap(id="9", chat="7", data=data), present())


@given(st.text(max_size=120), st.integers(0, 1))
def test_a_button_fits_and_finds_its_ask_again(ask: str, place: int) -> None:
    data = tap_data(AnswerTap(ask=ask, place=place))
    assert 1 <= len(data.encode("utf-8", "surrogatepass")) <= DATA_BYTES
    wish = tap_to_wish(ChatTap(id="9", chat="7", data=data), present(ask))
    assert wish == commands.Answer(id="t:9", ask=ask, choice=CHOICES[place].id)


@given(st.text(max_size=120), st.sets(st.integers(0, 99)))
def test_a_button_of_several_choices_fits_and_finds_its_ask_again(ask: str, chosen: set[int]) -> None:
    made = tuple(sorted(chosen))
    team = present(ask)
    known = team.workers["ann-b"].asks[0]
    for tap in (PickTap(ask=ask, chosen=made), DoneTap(ask=ask, chosen=made), WordsTap(ask=ask, chosen=made)):
        data = tap_data(tap)
        assert len(data.encode()) <= DATA_BYTES
        wish = tap_to_wish(ChatTap(id="9", chat="7", data=data), team)
        if chosen - {0, 1}:
            assert isinstance(wish, Wrong)
        elif isinstance(tap, PickTap):
            assert wish == TappedChoice(ask=known, chosen=made)
        elif isinstance(tap, WordsTap):
            assert wish == ChoiceWantsWords(ask=known, chosen=made)
        else:
            choice = ",".join(CHOICES[place].id for place in made)
            assert wish == commands.Answer(id="t:9", ask=ask, choice=choice)


@given(st.text(max_size=120))
def test_a_button_of_a_waiting_message_finds_it_and_no_other(message: str) -> None:
    team = present()
    queue = (Waiting(id=message, text="x", at=0.0, by=Sender(via="telegram")),)
    waiting = replace(team, workers={"ann-b": replace(team.workers["ann-b"], queue=queue)})
    taps = {
        tap_data(SteerTap(message=message)): commands.Steer(id="t:9", message=message),
        tap_data(WithdrawTap(message=message)): commands.Withdraw(id="t:9", message=message),
    }
    for data, wish in taps.items():
        assert len(data.encode()) <= DATA_BYTES
        query = ChatTap(id="9", chat="7", data=data)
        assert tap_to_wish(query, waiting) == wish
        assert tap_to_wish(query, team) == Wrong(id="t:9", why="That message waits no more.")


@given(st.text(max_size=120))
def test_a_stop_button_finds_its_turn_and_no_other(turn: str) -> None:
    data = tap_data(StopTap(turn=turn))
    assert len(data.encode()) <= DATA_BYTES
    query = ChatTap(id="9", chat="7", data=data)
    assert tap_to_wish(query, present(turn=turn)) == commands.Interrupt(id="t:9", worker="ann-b", withdraw=True)
    assert isinstance(tap_to_wish(query, present(turn=turn + "x")), Wrong)


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("hello", Tell(id="m:99:7:5", text="hello")),
        ("@ann-b hi", Tell(id="m:99:7:5", text="hi", worker="ann-b")),
        ("@bob hi", Tell(id="m:99:7:5", text="hi", worker="bob")),
        ("/ann_b hi there", Tell(id="m:99:7:5", text="hi there", worker="ann-b", focus=True)),
        ("/ann-b", commands.Focus(id="m:99:7:5", worker="ann-b")),
        ("/focus ann-b", commands.Focus(id="m:99:7:5", worker="ann-b")),
        ("/PAUSE@my_bot", commands.Interrupt(id="m:99:7:5", withdraw=True)),
        ("/hire bob --backend demo", commands.Hire(id="m:99:7:5", worker="bob", backend="demo")),
        ("/hire", Wrong(id="m:99:7:5", why="Usage: /hire <name>")),
        ("/team", InfoRequest(id="m:99:7:5", about="team")),
        ("/compress now", Tell(id="m:99:7:5", text="/compress now", needs_focus=True)),
        ("  ", None),
    ],
)
def test_the_grammar(text: str, wish: object) -> None:
    assert wished(text) == wish


def test_an_edit_rewords_the_message_that_it_edits() -> None:
    assert wished("better", edit_date=99) == commands.Reword(
        id="e:99:7:5:99", message="telegram:m:99:7:5", text="better"
    )


def test_a_message_is_found_again_by_its_name() -> None:
    assert message_place("telegram:m:99:-100:5", "telegram", "99") == (-100, 5)
    for other in ("web:m:99:1:2", "telegram:m:98:1:2", "telegram:m:99:1", "telegram:m:99:x:y", "telegram:t:99:1:2", ""):
        assert message_place(other, "telegram", "99") is None
