"""The table of slash commands feeds every surface: parsers, menu, help, reserved names and pages."""

from dataclasses import replace
from pathlib import Path

import pytest

from farhand.channels.kit import texts
from farhand.channels.kit.inbound import read_message
from farhand.channels.kit.queue_texts import queue
from farhand.channels.telegram.parse import to_message
from farhand.channels.telegram.replies import menu
from farhand.channels.telegram.words import TelegramChat, TelegramMessage
from farhand.cli.conversation import AskedBack, read_line
from farhand.cli.conversation_lines import help_text, progress_lines
from farhand.cli.main import COMMANDS
from farhand.model import facts, slash
from farhand.model.commands import (
    Command,
    End,
    Focus,
    Halt,
    Hire,
    Interrupt,
    Reword,
    Say,
    Steer,
    Tune,
    Withdraw,
    fingerprint,
)
from farhand.model.facts import Event, Fact
from farhand.model.grammar import CHAT, OPEN_CHAT, read
from farhand.model.present import Present
from farhand.model.present_fold import fold
from farhand.model.provenance import INTRODUCED_BY
from farhand.model.slash import SLASHES, Slash
from farhand.model.slash_argument import SlashArgument
from farhand.model.wishes import InfoRequest, Tell, Wish, Wrong
from farhand.model.words import Mode, Sender
from farhand.model.words import replace as word_replace
from farhand.model.worker_names import RESERVED

COMMANDS_PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "commands.md"
ME = Sender(via="test")


def present() -> Present:
    """Ann is busy, and two messages wait for her."""
    now = Present()
    happened: tuple[Fact, ...] = (
        facts.Hired(backend="demo", directory="/", by=ME),
        facts.Focused(by=ME),
        facts.CameOnline(),
        *(facts.Queued(message=name, text=f"do {name}", by=ME) for name in ("m1", "m2")),
    )
    for seq, fact in enumerate(happened, 1):
        now = fold(now, Event(seq=seq, at=0.0, worker="ann", fact=fact))
    return now


def on_telegram(text: str, table: tuple[Slash, ...] = SLASHES) -> Wish | None:
    """What a message on Telegram asks for."""
    message = TelegramMessage(message_id=7, chat=TelegramChat(id=4242), text=text)
    return read_message(to_message(message, "telegram", "1"), present(), slash.chat(table))


def in_the_terminal(text: str, table: tuple[Slash, ...] = SLASHES) -> Wish | AskedBack | None:
    """What a typed line asks for, under the id that Telegram would give it."""
    return read_line(text, present(), lambda: "m:1:4242:7", slash.terminal(table))


def test_no_name_stands_for_two_commands() -> None:
    named = [name for one in SLASHES for name in (one.name, *one.aliases)]
    assert len(named) == len(set(named)) == len(slash.names())
    assert {one.group for one in SLASHES} == set(slash.GROUPS)


def test_every_name_of_the_table_is_reserved() -> None:
    assert slash.names() <= RESERVED


def test_the_menu_and_the_help_have_what_the_table_offers() -> None:
    chat, terminal = list(CHAT.offered()), list(slash.terminal().offered())
    assert menu(Present()) == [(one.name, one.help) for one in chat if one.menu]
    for one in terminal:
        assert one.synopsis in help_text(slash.terminal())
        assert one.help in help_text(slash.terminal(), one.name)
    for one in chat:
        assert f"/{one.name} – {one.help}" in texts.help_text(CHAT)
        assert one.flags in texts.help_text(CHAT, one.name)
    assert not {one.name for one in chat} & slash.INTERACTIVE


def test_the_page_and_the_command_line_tell_what_the_table_tells() -> None:
    page = COMMANDS_PAGE.read_text("utf-8")
    for one in SLASHES:
        assert f"| `{one.synopsis}" in page
        assert one.help in page
        if one.cli:
            assert COMMANDS[one.cli].capitalize() == one.help.capitalize()


@pytest.mark.parametrize(
    "text",
    [
        "/hire bob",
        "/hire bob --codex --tmux --ask --model o9 --dir /srv",
        "/hire codex-bob",
        "/hire bob --agent mine.agents:bob",
        "/hire",
        "/hire bob --mode wild",
        "/adopt codex 12 bob --anyway --mode plan",
        "/adopt codex",
        "/pause",
        "/stop ann",
        "/end",
        "/handback ann",
        "/focus ann",
        "/retry",
        "/learn tests",
        "/sessions codex /srv",
        "/mode plan",
        "/mode wild",
        "/tune ann mode=plan model=opus",
        "/tune",
        "/queue",
        "/now 2",
        "/drop 3",
        "/edit 1 do it  well",
        "/ann hello",
        "/ann",
        "@ann hello",
        "@all hello",
        "hello",
    ],
)
def test_a_line_means_the_same_on_telegram_and_in_the_terminal(text: str) -> None:
    wish = on_telegram(text)
    assert wish is not None
    assert in_the_terminal(text) == wish


def test_an_agent_of_ones_own_is_a_native_worker() -> None:
    assert read("i", "/hire bob --agent mine:bob", present()) == Hire(
        id="i", worker="bob", backend="native", options={"agent": "mine:bob"}
    )
    refused = Wrong(id="i", why="An agent of your own is a native worker, and no codex one.")
    assert read("i", "/hire bob --codex --agent mine:bob", present()) == refused


def test_a_message_that_waits_is_meant_by_its_number() -> None:
    change = "Change it: /edit 1 <message>, /drop 1, /now 1."
    assert queue(present()) == f"1. ann: do m1\n2. ann: do m2\n{change}"
    assert queue(Present()) == "No message waits."
    assert read("i", "/now 2", present()) == Steer(id="i", message="m2")
    assert read("i", "/drop 1", present()) == Withdraw(id="i", message="m1")
    assert read("i", "/edit 2 do it\nwell", present()) == Reword(id="i", message="m2", text="do it\nwell")
    for number in ("0", "3", "²", "-1", "one", "99999"):
        gone = Wrong(id="i", why=f"No message for ann waits under the number {number}; /queue tells which do.")
        assert read("i", f"/drop {number}", present()) == gone
    assert read("i", "/edit 1", present()) == Wrong(id="i", why="Usage: /edit [name] <n> <message>")
    assert read("i", "/drop 1 2", present()) == Wrong(id="i", why="Usage: /drop [name] <n>")


def with_bob(focus: str) -> Present:
    """Messages wait for bob, too."""
    now = present()
    his: tuple[Fact, ...] = (
        facts.Hired(backend="demo", directory="/", by=ME),
        # What the node itself tells him has no number.
        facts.Queued(message="b0", text="You are bob.", by=Sender(via=INTRODUCED_BY)),
        *(facts.Queued(message=name, text=f"do {name}", by=ME) for name in ("b1", "b2", "b3")),
    )
    for seq, fact in enumerate(his, 6):
        now = fold(now, Event(seq=seq, at=0.0, worker="bob", fact=fact))
    return word_replace(now, focus=focus)


def test_numbers_count_within_the_worker_that_is_meant() -> None:
    assert read("i", "/drop 1", with_bob("bob")) == Withdraw(id="i", message="b1")
    assert read("i", "/drop 3", with_bob("ann")) == Wrong(
        id="i", why="No message for ann waits under the number 3; /queue tells which do."
    )
    assert read("i", "/drop bob 3", with_bob("ann")) == Withdraw(id="i", message="b3")
    assert read("i", "/now bob 2", with_bob("ann")) == Steer(id="i", message="b2")
    assert read("i", "/edit bob 2 well", with_bob("ann")) == Reword(id="i", message="b2", text="well")
    # A menu types no number: what waits is shown then.
    assert read("i", "/drop bob", with_bob("ann")) == InfoRequest(id="i", about="queue", of="bob")
    for name in ("now", "edit", "drop"):
        assert read("i", f"/{name}", with_bob("ann")) == InfoRequest(id="i", about="queue")
    whose = "Whose message? Nobody is focused: put the name before the number."
    assert read("i", "/drop 1", with_bob("")) == Wrong(id="i", why=whose)
    assert read("i", "/drop 1", word_replace(present(), focus="")) == Withdraw(id="i", message="m1")
    assert read("i", "/drop 1", Present()) == Wrong(id="i", why="No message waits.")


def test_the_queue_shows_the_numbers_that_its_commands_know() -> None:
    assert queue(with_bob("bob")) == (
        "1. bob: do b1\n2. bob: do b2\n3. bob: do b3\n\n1. ann: do m1\n2. ann: do m2\n"
        "Change it: /edit 1 <message>, /drop 1, /now 1. For ann: /drop ann 1."
    )
    assert queue(with_bob("bob"), "ann") == (
        "1. ann: do m1\n2. ann: do m2\nChange it: /edit ann 1 <message>, /drop ann 1, /now ann 1."
    )
    assert queue(present(), "eve") == "Can't find eve. Check /team for who's available."


@pytest.mark.parametrize("surface", [CHAT, slash.terminal()])
def test_progress_is_of_the_worker_that_is_named(surface: slash.Surface) -> None:
    assert read("i", "/progress bob", with_bob("ann"), surface) == InfoRequest(id="i", about="progress", of="bob")
    assert texts.progress(with_bob("ann"), (), 0.0, "bob").startswith(
        "Progress for worker: bob\nFocused: no\nWorking: yes\n"
    )
    assert progress_lines(with_bob("ann"), 0.0, "bob").startswith("bob: ")
    assert texts.progress(with_bob("ann"), (), 0.0).startswith("Progress for focused worker: ann\nFocused: yes\n")
    unknown = "Can't find eve. Check /team for who's available."
    assert texts.progress(with_bob("ann"), (), 0.0, "eve") == unknown == progress_lines(with_bob("ann"), 0.0, "eve")


TUNE_USAGE = "Usage: /tune [name] [mode=<mode>] [model=<model>] [effort=<effort>]"


def test_mode_model_and_effort_are_changed_by_one_command_everywhere() -> None:
    assert read("i", "/tune mode=PLAN", present()) == Tune(id="i", mode=Mode.PLAN)
    assert read("i", "/tune Ann model=opus mode=yolo", present()) == Tune(
        id="i", worker="ann", model="opus", mode=Mode.YOLO
    )
    for text in ("/tune ann bob mode=plan", "/tune size=3", "/tune mode="):
        assert read("i", text, present()) == Wrong(id="i", why=TUNE_USAGE)
    assert read("i", "/tune ann effort=High", present()) == Tune(id="i", worker="ann", effort="high")
    assert read("i", "/effort ann low", present()) == Tune(id="i", worker="ann", effort="low")
    assert read("i", "/effort low", present()) == Tune(id="i", effort="low")
    assert read("i", "/effort", present()) == InfoRequest(id="i", about="mode")
    assert read("i", "/effort ann bob low", present()) == Wrong(id="i", why="Usage: /effort [name] <effort>")
    assert on_telegram("/model opus") == Wrong(id="m:1:4242:7", why=slash.interactive("model"), blocked="model")
    assert in_the_terminal("/model opus") == Tune(id="m:1:4242:7", model="opus")


def test_a_chat_of_which_no_spec_says_so_refuses_only_what_nothing_here_does() -> None:
    assert read("i", "/model opus", present(), OPEN_CHAT) == Tune(id="i", model="opus")
    assert read("i", "/cost", present(), OPEN_CHAT) == InfoRequest(id="i", about="usage")
    assert read("i", "/help", present(), OPEN_CHAT) == InfoRequest(id="i", about="help")
    assert read("i", "/review", present(), OPEN_CHAT) == Wrong(
        id="i", why=slash.interactive("review"), blocked="review"
    )
    # Telegram's list is spec 2's, to the word.
    assert CHAT.blocked == slash.INTERACTIVE
    assert CHAT.blocked - OPEN_CHAT.blocked == {"help", "model", "cost"}
    assert "/model – Show or change a worker's model" in texts.help_text(OPEN_CHAT)
    assert "/model – " not in texts.help_text(CHAT)


def test_what_nobody_knows_is_passed_on_in_a_chat_and_refused_in_the_terminal() -> None:
    assert on_telegram("/clear") == Tell(id="m:1:4242:7", text="/clear", needs_focus=True)
    assert isinstance(in_the_terminal("/clear"), Wrong)
    assert (
        on_telegram("@nobody hi") == in_the_terminal("@nobody hi") == Tell(id="m:1:4242:7", text="hi", worker="nobody")
    )


def read_nudge(argument: SlashArgument) -> Wish:
    """A toy: asks a worker how far it is."""
    return Say(id=argument.id, worker=argument.worker, text="How far are you?")


def test_one_more_entry_is_read_shown_and_offered_on_every_surface() -> None:
    nudge = Slash("nudge", "[name]", "Ask how far it is", read_nudge, "Toys", aliases=("poke",), menu=True)
    table = (*SLASHES, nudge)
    expected = Say(id="m:1:4242:7", worker="ann", text="How far are you?")
    assert on_telegram("/nudge@my_bot ann", table) == in_the_terminal("/poke Ann", table) == expected
    assert menu(Present(), slash.chat(table))[-1] == ("nudge", "Ask how far it is")
    assert "Toys: /nudge [name]" in help_text(slash.terminal(table))
    assert "Toys:\n/nudge – Ask how far it is" in texts.help_text(slash.chat(table))
    assert texts.help_text(slash.chat(table), "/nudge") == "/nudge [name]\nAsk how far it is.\nAlso /poke."
    assert {"nudge", "poke"} <= slash.names(table)
    here = (*SLASHES, replace(nudge, surfaces=(slash.TERMINAL,)))
    assert on_telegram("/nudge", here) == Tell(id="m:1:4242:7", text="/nudge", needs_focus=True)
    assert in_the_terminal("/nudge", here) == Say(id="m:1:4242:7", text="How far are you?")


@pytest.mark.parametrize("command", [Tune(id="1", model="x"), Interrupt(id="1"), Halt(id="1"), Say(id="1", text="hi")])
def test_a_command_without_a_name_is_the_same_whoever_is_focused(command: Command) -> None:
    again = word_replace(command, id="2", worker="ann")
    assert fingerprint(command) == fingerprint(again)


def test_a_command_that_needs_a_name_is_another_one_for_another_worker() -> None:
    assert fingerprint(Focus(id="1", worker="ann")) != fingerprint(Focus(id="1", worker="bob"))


@pytest.mark.parametrize("surface", [slash.chat(), slash.terminal()])
def test_whoever_fires_lets_go(surface: slash.Surface) -> None:
    assert read("1", "/fire ann", present(), surface) == read("1", "/end ann", present(), surface)
    assert read("1", "/fire ann", present(), surface) == End(id="1", worker="ann")
    assert read("1", "/fire", present(), surface) == Wrong(id="1", why="Offboarding is permanent. Usage: /end <name>")
