"""What the manager is told of the workers: how each is set, what it used and what waits; and of blocked commands."""

import pytest
from scripts.golden import STORIES

from farhand.channels.kit import overview, texts
from farhand.channels.kit.history import exchanges
from farhand.channels.kit.reply_buttons import offered
from farhand.channels.kit.surface import ChatTap
from farhand.channels.kit.tap_data import tap_data, typed_command
from farhand.model import facts, slash
from farhand.model.commands import Tune
from farhand.model.facts import Event, Fact
from farhand.model.grammar import CHAT, read
from farhand.model.history import HistoryPage, TurnEntry
from farhand.model.present import Message, Present
from farhand.model.present_fold import fold
from farhand.model.slash import INSTEAD, INTERACTIVE, OFFERS
from farhand.model.view import TurnView
from farhand.model.wishes import InfoRequest, Tell, Wrong
from farhand.model.words import Choice, HowEnded, HowSettled, Mode, Sender, Usage

ME = Sender(via="telegram", who="Mo")
YES_NO = (Choice(id="yes", label="Allow"), Choice(id="no", label="Deny", allows=False))


def events(*happened: tuple[str | None, Fact]) -> list[Event]:
    """Events of ann, each with its turn."""
    return [
        Event(seq=seq, at=float(seq), worker="ann", turn=turn, fact=fact)
        for seq, (turn, fact) in enumerate(happened, 1)
    ]


HIRED = (None, facts.Hired(backend="claude", directory="/srv/shop", model="opus", mode=Mode.PLAN, by=ME))


def after(*happened: tuple[str | None, Fact]) -> Present:
    """The present after a hiring and that."""
    present = Present()
    for event in events(HIRED, (None, facts.Focused(by=ME)), (None, facts.CameOnline()), *happened):
        present = fold(present, event)
    return present


def used(dollars: float | None, tokens: int) -> Usage:
    return Usage(input_tokens=tokens, output_tokens=tokens // 10, cost_dollars=dollars)


def test_what_turns_used_adds_up_and_a_turn_that_tells_twice_counts_once() -> None:
    present = after(
        ("t1", facts.TurnStarted(message="m")),
        ("t1", facts.Used(usage=used(0.10, 1000))),
        ("t1", facts.Used(usage=used(0.25, 3000))),
        ("t1", facts.TurnEnded(how=HowEnded.COMPLETED, usage=used(0.30, 3500))),
        ("t1", facts.Used(usage=used(0.32, 3500))),
        ("t2", facts.TurnStarted(message="n")),
        ("t2", facts.Used(usage=used(1.0, 100))),
    )
    total = present.workers["ann"].spent.total
    assert (total.input_tokens, round(total.cost_dollars or 0, 2)) == (3600, 1.32)
    assert overview.usage(present) == "Used since hired:\nann: $1.32, 3.6k tokens in, 360 out"
    assert overview.usage(after()) == "No worker has told what it used yet."


def test_the_inbox_has_the_oldest_question_of_all_workers_first() -> None:
    told: list[tuple[str, Fact]] = [
        (name, facts.Hired(backend="claude", directory="/", by=ME)) for name in ("ann", "bob", "cleo")
    ]
    for name, ask in (("bob", "b1"), ("ann", "a1"), ("bob", "b2"), ("cleo", "c1")):
        told.append((name, facts.AskRaised(ask=ask, question=ask, choices=YES_NO)))
    told += [("cleo", facts.WentOffline(why="It died.")), ("ann", facts.AskSettled(ask="a1", how=HowSettled.ANSWERED))]
    present = Present()
    for seq, (worker, fact) in enumerate(told, 1):
        present = fold(present, Event(seq=seq, at=0.0, worker=worker, turn=None, fact=fact))
    lines = overview.inbox(present).splitlines()
    asked = [line.split()[1:4:2] for line in lines if line.startswith("?")]
    assert asked == [["bob", "b1"], ["bob", "b2"], ["cleo", "c1"]]
    assert lines[-2].startswith("✗ cleo is offline"), "what needs no answer comes last"
    shell = overview.inbox(present, in_shell=True).splitlines()
    assert shell[2] == "   Answer: farhand answer b1 yes or no"
    assert shell[-1] == "   Try again: farhand relaunch cleo", "a shell knows neither @bob nor /relaunch"


def test_the_inbox_has_all_that_needs_somebody_with_what_to_do_about_it() -> None:
    story = next(one for one in STORIES if one.name == "inbox")
    present = Present()
    for event in story.events:
        present = fold(present, event)
    shown = overview.inbox(present)
    assert [line for line in shown.splitlines() if not line.startswith(" ")] == [
        "? bob asks: Run: make clean",
        "? ann asks: Run: make deploy",
        "? ann may not have got your message: Deploy it",
        "⚠ bob's sprint has stopped: The check fails.",
        "⏸ cleo has reached its usage limit; /retry cleo tries now.",
        "✋ A review of cleo's work wants changes: One hole.",
        "✗ dan is offline: Its agent ended.",
    ]
    named = [word.strip(".;,") for word in shown.split() if word.startswith("/")]
    assert {one.removeprefix("/") for one in named} >= {"pause", "sprint", "verdict", "relaunch"}
    assert all(CHAT.find(one.removeprefix("/")) for one in named), "every command of it works in a chat"
    at_terminal = overview.inbox(present, review="review")
    assert all(slash.terminal().find(word.strip(".;,/")) for word in at_terminal.split() if word.startswith("/"))
    shell = overview.inbox(present, in_shell=True)
    assert not any(word.startswith("/") for word in shell.split())


def test_the_team_says_mode_model_folder_cost_and_what_waits() -> None:
    present = after(
        ("t1", facts.TurnStarted(message="m")),
        ("t1", facts.Used(usage=used(0.5, 10))),
        ("t1", facts.AskRaised(ask="a", question="Run it?", choices=YES_NO)),
        (None, facts.Queued(message="n", text="next", by=ME)),
    )
    shown = texts.team(present)
    assert shown.startswith("Your team:\nFocused: ann\nWorkers:\n- ann (focused, working, backend=claude)\n\n")
    more = (
        "mode plan (plans and changes nothing), model opus, in /srv/shop, $0.50, 1 message waiting, 1 question for you"
    )
    assert shown.endswith(f"ann: {more}")
    assert overview.inbox(present) == "? ann asks: Run it?\n   1 Allow, 2 Deny\n   Answer: @ann 1"
    assert overview.inbox(after()) == overview.NOTHING_WAITS


@pytest.mark.parametrize(
    ("question", "detail"),
    [("Run: ls", '{"command": "ls", "script": "rm -rf ~/x"}'), ("Run: ls # A", f"ls # A{'A' * 300}\nrm -rf ~/x")],
)
def test_the_inbox_shows_all_that_a_yes_would_do(question: str, detail: str) -> None:
    risky = facts.AskRaised(ask="a", question=question, detail=detail, where="/srv", risks=("deletes",), choices=YES_NO)
    shown = overview.inbox(after(("t1", risky)))
    assert "rm -rf ~/x" in shown
    assert "   In: /srv\n   Risk: deletes." in shown
    long = facts.AskRaised(ask="a", question="Run: ls", detail=f"ls\n{'#' * 5000}\nrm -rf ~/x", choices=YES_NO)
    assert overview.inbox(after(("t1", long))) == f"? ann asks: Run: ls\n   {overview.TOO_LONG}"
    headline = facts.AskRaised(ask="a", question=f"Run: {'#' * 400} rm -rf ~/x", choices=YES_NO)
    assert "rm -rf ~/x" in overview.inbox(after(("t1", headline)))


def test_of_several_questions_of_one_worker_each_is_answered_by_a_reply() -> None:
    asks = [facts.AskRaised(ask=one, question=one, choices=YES_NO) for one in ("a1", "a2")]
    shown = overview.inbox(after(*(("t1", one) for one in asks)))
    assert shown.count("Answer: in reply to its own message") == 2
    assert "@ann 1" not in shown


def test_what_waits_for_an_agent_that_is_gone_is_not_being_done() -> None:
    present = after((None, facts.Queued(message="n", text="next", by=ME)), (None, facts.WentOffline(why="It died.")))
    line = "- ann (focused, available, backend=claude) – offline: /relaunch ann tries to start it\n"
    assert line in texts.team(present)
    assert "offline: It died." in texts.team(present)
    assert "ann is offline: It died.\n   Try again: /relaunch ann" in overview.inbox(present)


@pytest.mark.parametrize("name", sorted(INTERACTIVE))
def test_a_blocked_command_names_what_does_it_here(name: str) -> None:
    wish = read("i", f"/{name}", after())
    assert isinstance(wish, Wrong)
    first, second = wish.why.splitlines()
    assert first == f"/{name} is interactive and not supported here."
    assert second == INSTEAD[name]
    named = [word.strip(".;,").removeprefix("/") for word in second.split() if word.startswith("/")]
    assert all(CHAT.find(one) for one in named)


@pytest.mark.parametrize("name", sorted(OFFERS))
def test_a_blocked_command_has_a_button_that_types_what_does_it_here(name: str) -> None:
    for worker in ("", "ann"):
        [[button]] = offered(name, worker)
        assert len(button.label) <= 20, "WhatsApp has no room for more"
        typed = typed_command(ChatTap(id="q", chat="7", data=tap_data(button.tap)))
        assert not isinstance(read("i", typed, after()), Wrong | None)
    [[use]] = offered("model", "ann", "/model opus")
    typed = typed_command(ChatTap(id="q", chat="7", data=tap_data(use.tap)))
    assert (use.label, read("i", typed, after())) == ("Use opus", Tune(id="i", worker="ann", model="opus"))
    for made_up in ("i:end ann", "i:hire bob --yolo", "i:", "i:/stop"):
        assert typed_command(ChatTap(id="q", chat="7", data=made_up)) == ""


@pytest.mark.parametrize("text", ["/mode", "/mode ann", "/tune", "/tune ann"])
def test_mode_alone_shows_how_the_worker_is_set(text: str) -> None:
    for surface in (CHAT, slash.terminal()):
        wish = read("i", text, after(), surface)
        assert isinstance(wish, InfoRequest)
        assert wish.about == "mode"
    shown = overview.settings_of(after().workers["ann"])
    assert shown.startswith("ann: mode plan (plans and changes nothing), model opus, in /srv/shop.\nChange it: ")
    assert "/mode default (asks before it acts)" in shown
    assert "/effort <effort>" in shown
    told = after((None, facts.Tuned(effort="high"))).workers["ann"]
    assert "model opus, effort high, in /srv/shop" in overview.settings_of(told)
    assert "effort high" in overview.details(told)


def test_history_has_what_was_said_where_and_what_was_answered() -> None:
    said = Message(id="m", text="hello there", at=0.0, by=ME)
    ended = facts.TurnEnded(how=HowEnded.COMPLETED)
    first = TurnView(worker="ann", turn="m", started_at=0.0, text="Hi Mo.", ended=ended, seq=3)
    second = TurnView(worker="ann", turn="desk", started_at=0.0, text="at the desk", seq=5)
    page = HistoryPage(entries=(TurnEntry(seq=3, view=first, messages=(said,)),), open=TurnEntry(seq=5, view=second))
    assert overview.history(exchanges(page)) == ("Mo (telegram) → ann: hello there\n   Hi Mo.\nann:\n   at the desk")
    assert overview.history([]) == overview.NO_HISTORY


def test_the_bots_name_is_taken_off_what_is_passed_on() -> None:
    assert read("i", "/clear@my_bot all of it", after()) == Tell(id="i", text="/clear all of it", needs_focus=True)
    assert read("i", "/me@example.org x", after()) == Tell(id="i", text="/me@example.org x", needs_focus=True)


def test_the_terminals_help_fits_its_screen() -> None:
    from farhand.cli.conversation_lines import help_text
    from farhand.cli.line_editor import rows

    shown = [row for line in help_text(slash.terminal()).splitlines() for row in rows(line, 77)]
    assert len(shown) <= 22


def test_what_the_node_told_a_worker_is_not_told_as_the_managers_words() -> None:
    introduced = Message(id="i", text="You are ann, a long-lived worker.", at=1.0, by=Sender(via="files"))
    task = Message(id="t", text="Do the next task.", at=2.0, by=Sender(via="node"))
    turns = [TurnView(worker="ann", turn=one.id, started_at=one.at, text=one.id) for one in (introduced, task)]
    entries = [
        TurnEntry(seq=1, view=turns[0], messages=(introduced,)),
        TurnEntry(seq=2, view=turns[1], messages=(task,)),
    ]
    assert overview.history(exchanges(HistoryPage(entries=tuple(entries)))) == "the node → ann: Do the next task.\n   t"
