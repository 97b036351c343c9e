"""Conversations on the phone: how they are asked for, shown, tapped, taken up and handed back."""

from farhand.channels.kit.card import AdoptTap
from farhand.channels.kit.fact_cards import cards
from farhand.channels.kit.session_list import ago, session_list
from farhand.channels.kit.surface import ChatTap
from farhand.channels.kit.tap_data import DATA_BYTES, tap_data, tap_to_wish
from farhand.cli.conversation import read_line
from farhand.cli.conversation_lines import event_line, session_lines
from farhand.model import facts
from farhand.model.commands import End, Hire
from farhand.model.facts import Event
from farhand.model.grammar import Listing, Wrong, read
from farhand.model.ports import SessionFound
from farhand.model.present import Present
from farhand.model.words import Mode, Sender

ME = Sender(via="test")
ONE = SessionFound(id="aaaa-1", directory="/a", title="fix the roof", at=1000.0, backend="claude", open=False)
OPEN = SessionFound(id="aaaa-2", directory="/a", title="at the desk", at=900.0, backend="claude", open=True)
HAD = SessionFound(id="aaaa-3", directory="/a", at=800.0, backend="claude", worker="ann")


def wish(text: str) -> object:
    return read("m", text, Present())


def test_conversations_are_asked_for_by_backend_and_folder() -> None:
    assert wish("/sessions") == Listing(id="m")
    assert wish("/sessions codex") == Listing(id="m", backend="codex")
    assert wish("/sessions codex /a b") == Listing(id="m", backend="codex", directory="/a b")
    assert wish("/sessions /a") == Listing(id="m", directory="/a")
    for text in ("/sessions", "/sessions codex", "/sessions codex /a b", "/sessions /a b"):
        assert read_line(text, Present(), lambda: "m") == wish(text)


def test_one_is_taken_up_and_handed_back_by_a_command() -> None:
    assert wish("/adopt claude aaaa") == Hire(id="m", worker="", backend="claude", session="aaaa")
    whole = wish("/adopt Claude aaaa ann --ask --tmux --anyway")
    assert whole == Hire(
        id="m",
        worker="ann",
        backend="claude",
        session="aaaa",
        mode=Mode.DEFAULT,
        options={"wire": "tmux"},
        anyway=True,
    )
    assert wish("/handback ann") == End(id="m", worker="ann", hand_back=True)
    for text in ("/adopt claude", "/adopt", "/adopt a b c d", "/handback"):
        assert isinstance(wish(text), Wrong)
    assert read_line("/adopt claude aaaa", Present(), lambda: "m") == wish("/adopt claude aaaa")
    assert read_line("/handback ann", Present(), lambda: "m") == wish("/handback ann")


def test_the_list_offers_those_that_nobody_has() -> None:
    card = session_list("k", [ONE, OPEN, HAD], now=1060.0)
    assert [button.tap for row in card.buttons for button in row] == [
        AdoptTap(backend="claude", session="aaaa-1"),
        AdoptTap(backend="claude", session="aaaa-2", anyway=True),
    ]
    assert card.buttons[1][0].label == "2. Take over: at the desk"
    assert "1. fix the roof\n   claude · 1 minute ago\n   /a" in card.head
    assert "at the desk\n   claude · 2 minutes ago · open at the desk" in card.head
    assert "3. aaaa-3\n   claude · 4 minutes ago · ann has it" in card.head
    assert session_list("k", [], now=0.0).head == "No agent has a conversation there."
    assert "… and 12 older" in session_list("k", [ONE] * 20, now=0.0).head
    assert [ago(seconds) for seconds in (5, 3600, 200_000)] == ["just now", "1 hour ago", "2 days ago"]
    assert "claude aaaa-2" in session_lines([ONE, OPEN])
    assert "open at the desk" in session_lines([OPEN])
    assert session_lines([OPEN], "farhand adopt --node dev").endswith(
        f"\n    farhand adopt --node dev claude {OPEN.id} --anyway"
    )
    assert session_lines([ONE]).endswith(f"\n    /adopt claude {ONE.id}")


def test_a_tap_takes_one_up_however_long_its_id_is() -> None:
    for session in ("aaaa-1", "x" * 100):
        data = tap_data(AdoptTap(backend="claude", session=session))
        assert len(data.encode()) <= DATA_BYTES
        adopted = tap_to_wish(ChatTap(id="q", chat="7", data=data), Present())
        assert isinstance(adopted, Hire)
        assert (adopted.backend, adopted.worker) == ("claude", "")
        assert session.startswith(adopted.session)


def test_a_conversation_taken_up_shows_its_last_answer_once() -> None:
    hired = facts.Hired(backend="claude", directory="/a", session="aaaa-1", answer="**done**", note="Mind.", by=ME)
    event = Event(seq=4, at=0.0, worker="ann", fact=hired)
    (card,) = cards(event, None)
    assert card.head.startswith("ann goes on with a conversation of claude in /a.")
    assert (card.markdown, "Mind." in card.head) == ("**done**", True)
    assert event_line(event).endswith("Mind.\nIts last answer:\n**done**")


def test_the_way_back_is_shown_letter_by_letter() -> None:
    event = Event(seq=4, at=0.0, worker="ann", fact=facts.Ended(resume="cd /a && claude --resume x"))
    (card,) = cards(event, None)
    assert (card.head, card.verbatim, card.foot) == (
        "Ann is handed back. Go on at the desk with:",
        "cd /a && claude --resume x",
        "You talk to nobody now: /focus <name> chooses somebody, /team shows who is there.",
    )
    assert "claude --resume x" in event_line(event)
