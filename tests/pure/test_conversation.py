"""What is typed becomes the right command, what happens is told in a line, and a typed line stays whole."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farhand.channels.kit import texts
from farhand.cli import line_editor as editing
from farhand.cli.conversation import AskedBack, decided, read_line
from farhand.cli.conversation_lines import ask_lines, done_line, event_line, prompt, said_line, settled_line, team_lines
from farhand.cli.line_editor import LineEditor
from farhand.model import commands, facts
from farhand.model.attention import AttentionSettings
from farhand.model.commands import Answer, End, Focus, Hire, Interrupt, Relaunch, Tune
from farhand.model.facts import Event, Fact
from farhand.model.present import Present
from farhand.model.present_fold import fold
from farhand.model.wishes import InfoRequest, Listing, Quit, Tell, Wish, Wrong
from farhand.model.words import Choice, HowEnded, HowSettled, Mode, Sender, replace

ME = Sender(via="chat")
HIRED = facts.Hired(backend="demo", directory="/here", by=ME)
CHOICES = (Choice(id="yes", label="Yes, write it"), Choice(id="no", label="No", allows=False))


def present(*happened: tuple[str, Fact]) -> Present:
    """The present after these facts."""
    now = Present()
    for seq, (worker, fact) in enumerate(happened, 1):
        now = fold(now, Event(seq=seq, at=0.0, worker=worker, turn="t", fact=fact))
    return now


def asked(ask: str = "a") -> facts.AskRaised:
    """A question."""
    return facts.AskRaised(ask=ask, question="May I?", choices=CHOICES)


def read(line: str, now: Present | None = None) -> Wish | AskedBack | None:
    """What a line asks for, with the id `1`."""
    numbers = count(1)
    return read_line(line, now or Present(), lambda: str(next(numbers)))


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("hello there", Tell(id="1", text="hello there")),
        ("@ann look at this", Tell(id="1", worker="ann", text="look at this")),
        ("@all look at this", Tell(id="1", text="look at this", everybody=True)),
        ("1", Tell(id="1", text="1")),
        ("/hire ann", Hire(id="1", worker="ann")),
        ("/hire ann --codex", Hire(id="1", worker="ann", backend="codex")),
        ("/focus ann", Focus(id="1", worker="ann")),
        ("/end ann", End(id="1", worker="ann")),
        ("/stop", Interrupt(id="1", withdraw=True)),
        ("/stop ann", Interrupt(id="1", worker="ann", withdraw=True)),
        ("/relaunch", Relaunch(id="1")),
        ("/mode plan", Tune(id="1", mode=Mode.PLAN)),
        ("/mode ann yolo", Tune(id="1", worker="ann", mode=Mode.YOLO)),
        ("/model opus", Tune(id="1", model="opus")),
        ("/team", InfoRequest(id="1", about="team")),
        ("/help", InfoRequest(id="1", about="help")),
        ("/?", InfoRequest(id="1", about="help")),
        ("/sessions demo /here", Listing(id="1", backend="demo", directory="/here")),
        ("/quit", Quit(id="1")),
        ("/exit", Quit(id="1")),
        ("", None),
    ],
)
def test_what_a_line_asks_for(line: str, command: Wish | None) -> None:
    assert read(line) == command


@pytest.mark.parametrize(
    "line", ["/nonsense", "/hire", "/hire a b c", '/hire "ann', "/mode wild", "/", "/focus", "/now 1 2"]
)
def test_what_cannot_be_done_is_told(line: str) -> None:
    assert isinstance(read(line), Wrong)


def test_a_number_answers_the_oldest_question_and_may_carry_advice() -> None:
    now = present(("ann", HIRED), ("bob", HIRED), ("bob", asked("first")), ("ann", asked("second")))
    assert read("2", now) == Answer(id="1", ask="first", choice="no")
    assert read("1 but only once", now) == Answer(id="1", ask="first", choice="yes", note="but only once")
    assert read("3", now) == Wrong(id="1", why="1–2, please.")
    assert read("Yes, write it", now) == read("yes", now) == Answer(id="1", ask="first", choice="yes")
    assert read("@ann 2", now) == Answer(id="1", ask="second", choice="no")
    held = read("10 reasons why", now)
    assert held == AskedBack(ask="first", deny="no", tell=Tell(id="1", text="10 reasons why", worker="bob"))
    assert isinstance(held, AskedBack)
    assert held.text == "bob waits for your answer. d: deny with this, s: say it after, or answer."
    assert decided("d", held, "2") == Answer(id="2", ask="first", choice="no", note="10 reasons why")
    assert decided("S", held, "2") == held.tell
    assert decided("something else", held, "2") is None
    assert read("@all stand up", now) == Tell(id="1", text="stand up", everybody=True)


def test_a_yes_with_a_condition_may_allow_this_once() -> None:
    held = read("yes if it is small", present(("bob", HIRED), ("bob", asked("first"))))
    assert isinstance(held, AskedBack)
    assert held.text == "bob waits for your answer. a: Yes, write it, d: deny with this, s: say it after, or answer."
    assert decided("a", held, "2") == Answer(id="2", ask="first", choice="yes")


def test_several_numbers_answer_a_question_that_takes_several() -> None:
    several = replace(asked("first"), several=True)
    now = present(("bob", HIRED), ("bob", several))
    assert read("1,2", now) == Answer(id="1", ask="first", choice="yes,no")
    assert read("1 , 2 but only once", now) == Answer(id="1", ask="first", choice="yes,no", note="but only once")
    assert read("2", now) == Answer(id="1", ask="first", choice="no")
    assert read("1,3", now) == Wrong(id="1", why="1–2, please.")
    assert ask_lines("bob", several).endswith("Several may be chosen, with commas between them: 1,2")
    one = present(("bob", HIRED), ("bob", asked("first")))
    assert isinstance(read("1,2", one), AskedBack)


def test_a_question_shows_its_choices_by_number() -> None:
    shown = ask_lines("ann", asked())
    assert shown.splitlines() == ["? ann asks: May I?", "  1. Yes, write it", "  2. No"]


def test_the_team_is_told_with_focus_state_and_reason() -> None:
    assert "/hire" in team_lines(Present(), 0.0)
    online, offline = facts.CameOnline(), facts.WentOffline(why="The agent ended.")
    now = present(("ann", HIRED), ("bob", HIRED), ("cleo", HIRED), ("ann", online), ("bob", offline))
    now = fold(now, Event(seq=9, at=0.0, worker="ann", fact=facts.Focused(by=ME)))
    ann, how, bob, _, cleo, _ = team_lines(now, 0.0).splitlines()
    assert how == f"    mode {HIRED.mode}, {HIRED.directory}"
    assert ann == "› ann (available, backend=demo)"
    assert bob == "  bob (offline: The agent ended., backend=demo)"
    assert cleo == "  cleo (starting, backend=demo)"


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        (facts.ToolStarted(call="c", tool="list", title="List the files"), "  ⚙ List the files"),
        (facts.ToolEnded(call="c", output="one\ntwo"), "  ✓ one"),
        (facts.ToolEnded(call="c", ok=False), "  ✗ failed"),
        (facts.TurnEnded(how=HowEnded.COMPLETED), ""),
        (facts.TurnEnded(how=HowEnded.FAILED, error="It broke."), "ann: ✗ failed: It broke."),
        (
            facts.TurnEnded(how=HowEnded.FAILED, error="Invalid API key", advice="Renew it.", can_retry=True),
            "ann: ✗ failed: Invalid API key\nRenew it. /retry ann says it again.",
        ),
        (facts.TurnEnded(how=HowEnded.INTERRUPTED, error="aborted"), "ann: ■ stopped"),
        (facts.WentOffline(why="The agent ended."), "ann is offline: The agent ended."),
        (facts.Interrupted(), ""),
        (facts.Interrupted(problem="It does not listen."), "ann could not be stopped: It does not listen."),
        (facts.AnswerDelivered(ask="a"), ""),
        (facts.AnswerDelivered(ask="a", problem="It ended."), "ann did not get your answer: It ended."),
        (facts.Noted(text="Mind the gap."), "ann: Mind the gap."),
        (facts.Queued(message="m", text="hi", by=ME), ""),
    ],
)
def test_what_happened_is_one_line(fact: Fact, line: str) -> None:
    assert event_line(Event(seq=1, at=0.0, worker="ann", fact=fact)) == line


def test_quiet_hours_are_confirmed_as_a_chat_confirms_them() -> None:
    command = commands.SetAttention(id="1", settings=AttentionSettings())
    assert done_line(command, "") == texts.done(command, "") != ""


def test_the_prompt_says_whom_the_next_line_goes_to() -> None:
    focused, began, ended = facts.Focused(by=ME), facts.TurnStarted(), facts.TurnEnded(how=HowEnded.COMPLETED)
    team = (("ann", HIRED), ("bob", HIRED), ("ann", focused))
    assert prompt(Present()) == "> "
    assert prompt(present(*team)) == "ann> "
    assert prompt(present(*team, ("ann", began))) == "ann (working)> "
    assert prompt(present(*team, ("ann", began), ("ann", ended))) == "ann> "
    assert prompt(present(*team, ("bob", began), ("bob", asked()))) == "bob 1-2> "


# --- the typed line


def typed(keyboard: str, typing: LineEditor | None = None) -> LineEditor:
    """The line after these keys."""
    typing = typing or LineEditor()
    found, rest = editing.keys(keyboard)
    assert not rest
    for key in found:
        typing = editing.press(typing, key)
    return typing


@pytest.mark.parametrize(
    ("keyboard", "text", "place"),
    [
        ("héllo", "héllo", 5),
        ("ab\x7fc", "ac", 2),
        ("\x7f", "", 0),
        ("abc\x1b[D\x1b[Dx", "axbc", 2),
        ("abc\x1b[H\x1b[3~", "bc", 0),
        ("abc\x01>\x05<", ">abc<", 5),
        ("one two three\x17", "one two ", 8),
        ("one two\x15", "", 0),
        ("abc\x1b[D\x0b", "ab", 2),
        ("a\x1b[200~b\rc\x1b[201~d", "ab\ncd", 5),
        ("a\x1b[1;5Cb\x1bc\x00", "abc", 3),
    ],
)
def test_keys_edit_the_line(keyboard: str, text: str, place: int) -> None:
    after = typed(keyboard)
    assert (after.text, after.place) == (text, place)


def test_lines_typed_before_come_back() -> None:
    typing = editing.entered(typed("two", editing.entered(typed("one"))))
    assert typed("\x1b[A", typing).text == "two"
    assert typed("\x1b[A\x1b[A\x1b[A", typing).text == "one"
    assert typed("\x1b[A\x1b[A\x1b[B", typing).text == "two"
    assert typed("\x1b[A\x1b[B", typing).text == ""


def test_what_was_being_typed_comes_back_after_those_before() -> None:
    typing = typed("half a thou", editing.entered(typed("two", editing.entered(typed("one")))))
    assert typed("\x1b[A", typing).text == "two"
    assert typed("\x1b[A\x1b[A\x1b[B\x1b[B", typing).text == "half a thou"
    # The cursor is where one goes on.
    assert typed("\x1b[A\x1b[B", typing).place == len("half a thou")
    # What was changed of an earlier line is not a draft.
    assert typed("\x1b[Ax\x1b[B", typing).text == "half a thou"


def test_tab_names_what_it_could_be() -> None:
    names = ["/hire", "/history", "/help", "/team"]
    assert editing.offered(LineEditor(text="/hi", place=3), names) == ["/hire", "/history"]
    # What Tab can do without asking is done.
    assert editing.offered(LineEditor(text="/te", place=3), names) == []
    assert editing.offered(LineEditor(text="/h", place=2), ["/hire", "/hirex"]) == []
    assert editing.offered(LineEditor(text="/zz", place=3), names) == []
    assert editing.offered(LineEditor(text="", place=0), names) == []


def test_a_key_that_comes_in_two_pieces_is_one_key() -> None:
    first, rest = editing.keys("a\x1b[")
    assert (first, rest) == (["a"], "\x1b[")
    assert editing.keys(rest + "Db") == (["\x1b[D", "b"], "")


@given(st.text())
def test_no_keyboard_breaks_the_line(keyboard: str) -> None:
    found, _ = editing.keys(keyboard)
    typing = LineEditor()
    for key in found:
        typing = editing.press(typing, key)
        assert 0 <= typing.place <= len(typing.text)


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"])), st.integers(4, 80))
def test_rows_fit_and_lose_no_letter(text: str, columns: int) -> None:
    rows = editing.rows(text, columns)
    assert all(editing.width(row) <= columns for row in rows)
    assert "".join("".join(rows).split()) == "".join(text.split())


def test_rows_are_cut_between_words() -> None:
    assert editing.rows("one two three", 8) == ["one two", "three"]
    assert editing.rows("  - indented words", 12) == ["  - indented", "  words"]
    assert editing.rows("abcdefgh", 3) == ["abc", "def", "gh"]


@given(st.text(), st.integers(8, 60), st.data())
def test_the_cursor_is_always_in_the_window(text: str, columns: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))
    shown, column = editing.window(text, place, columns)
    assert editing.width(shown) <= columns
    assert 0 <= column <= columns


def test_an_answer_is_told_by_the_words_of_its_choice() -> None:
    choices = (Choice(id="2", label="Tea"), Choice(id="3", label="Milk"))
    raised = facts.AskRaised(ask="a", question="Which?", choices=choices)
    ask = present(("ann", HIRED), ("ann", raised)).ask("a")
    answered = facts.AskSettled(ask="a", how=HowSettled.ANSWERED, choice="2", by=Sender(via="telegram", who="Mo"))
    assert settled_line("ann", answered, ask) == "  ann: → Tea, by Mo over telegram"
    expired = facts.AskSettled(ask="a", how=HowSettled.EXPIRED, choice="3")
    assert settled_line("ann", expired, ask) == "  ann: → nobody answered in time: Milk"


def test_alt_enter_is_a_newline_and_tab_completes_what_is_certain() -> None:
    typed = LineEditor()
    for key in editing.keys("one\x1b\rtwo")[0]:
        typed = editing.press(typed, key)
    assert typed.text == "one\ntwo"
    names = ["/hire", "/history", "/help", "/team"]
    assert editing.completed(LineEditor(text="/te", place=3), names).text == "/team "
    assert editing.completed(LineEditor(text="/hi", place=3), names).text == "/hi"
    assert editing.completed(LineEditor(text="/his", place=4), names).text == "/history "
    middle = editing.completed(LineEditor(text="tell @an hello", place=8), ["@ann", "@all"])
    assert (middle.text, middle.place) == ("tell @ann  hello", 10)
    assert editing.completed(LineEditor(text="", place=0), names).text == ""
    assert editing.completed(LineEditor(text="see /us", place=7), ["/usr/"]).text == "see /usr/"


def test_what_was_said_elsewhere_is_told_with_its_place() -> None:
    assert said_line("ann", "hello", Sender(via="telegram", who="Mo")) == "Mo (telegram) → ann: hello"


def test_what_wraps_below_a_number_stands_under_its_words() -> None:
    assert editing.rows("  2. Allow this command for this session", 22) == [
        "  2. Allow this",
        "     command for this",
        "     session",
    ]
    assert editing.rows("  In: /srv/a folder with words", 20) == ["  In: /srv/a folder", "  with words"]
