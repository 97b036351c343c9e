"""Words that may be for the node or for another worker are asked back, and reach nobody meanwhile."""

import pytest

from farhand.cli.conversation import AskedBack, decided, read_line
from farhand.model import commands, facts
from farhand.model.facts import Event
from farhand.model.grammar import meant, read
from farhand.model.present import Present
from farhand.model.present_fold import fold
from farhand.model.wishes import InfoRequest, Tell, Unsure, Wish
from farhand.model.words import Choice, Sender, replace

ME = Sender(via="test")


def team(*names: str, focus: str = "") -> Present:
    now = Present()
    for seq, name in enumerate(names, 1):
        now = fold(now, Event(seq=seq, at=0.0, worker=name, fact=facts.Hired(backend="demo", directory="/", by=ME)))
    return replace(now, focus=focus)


def wished(text: str, present: Present) -> Wish | None:
    return meant(read("1", text, present), text, present)


HELP = ["help", "Help!", "help me", "help please", "?", "？", "Hilfe", "hilf mir", "aide-moi", "¡Ayuda!", "帮助"]


@pytest.mark.parametrize("text", HELP)
def test_a_lone_help_is_asked_back_and_given_where_nobody_is_spoken_to(text: str) -> None:
    asked = wished(text, team("ann", focus="ann"))
    assert isinstance(asked, Unsure)
    assert asked.question == "Is that for ann, or for me?"
    assert (asked.command, asked.label, asked.text) == ("commands", "Show help", text)
    assert wished(text, team("ann")) == wished(text, Present()) == InfoRequest(id="1", about="help")


@pytest.mark.parametrize(
    ("text", "command", "label"),
    [
        ("hire bob", "hire bob", "Hire bob"),
        ("Hire Bob, please", "hire bob", "Hire bob"),
        ("hire a codex", "hire codex", "Hire codex"),
        ("I want to hire another claude worker", "hire claude", "Hire claude"),
        ("hire someone", "hire", "Hire somebody"),
        ("hire a claude in Shop", "hire claude in Shop", "Hire claude in Shop"),
        ("hire bob into src/Shop, please", "hire bob in src/Shop", "Hire bob in src/Shop"),
        ("stell einen codex ein", "hire codex", "Hire codex"),
        ("embauche un codex", "hire codex", "Hire codex"),
        ("contrata a gemini", "hire gemini", "Hire gemini"),
        ("雇用一个codex", "hire codex", "Hire codex"),
        ("fire bob", "end bob", "End bob"),
        ("what has this cost so far?", "usage", "Show the cost"),
        ("How much did we spend?", "usage", "Show the cost"),
        ("was hat das bisher gekostet?", "usage", "Show the cost"),
        ("combien ça a coûté ?", "usage", "Show the cost"),
        ("¿cuánto ha costado esto?", "usage", "Show the cost"),
        ("花了多少钱？", "usage", "Show the cost"),
        ("show me the team", "team", "Show the team"),
        ("who is here?", "team", "Show the team"),
        ("what's waiting?", "queue", "Show what waits"),
        ("what did you say earlier?", "history", "Show what was said"),
        ("take over the desk session", "sessions", "Show the conversations"),
        ("you may edit files without asking me", "mode auto_edit", "Let it edit unasked"),
        ("you may edit files without asking from now on", "mode auto_edit", "Let it edit unasked"),
        ("from now on you can change files in here without asking me first", "mode auto_edit", "Let it edit unasked"),
        ("stop asking me before every edit", "mode auto_edit", "Let it edit unasked"),
        ("from now on only plan, don't change anything", "mode plan", "Only read and plan"),
        ("switch to plan mode", "mode plan", "Only read and plan"),
        ("let bob edit files without asking", "mode auto_edit", "Let it edit unasked"),
        ("let bob go", "end bob", "End bob"),
        ("remove bob from my team", "end bob", "End bob"),
        ("talk to bob", "focus bob", "Talk to bob"),
        ("back to bob, please", "focus bob", "Talk to bob"),
        ("take over the conversation I started at the desk", "sessions", "Show the conversations"),
        ("continue my session from the computer", "sessions", "Show the conversations"),
        ("what did bob say earlier?", "history bob", "History of bob"),
        ("show me bob's history", "history bob", "History of bob"),
        ("what did bob say about the tests?", "history bob", "History of bob"),
        ("only plan", "mode plan", "Only read and plan"),
        ("switch to sonnet", "tune model=sonnet", "Use sonnet"),
        ("switch to model gpt-5.1", "tune model=gpt-5.1", "Use gpt-5.1"),
        ("use another model", "tune", "Choose a model"),
        ("change the model", "tune", "Choose a model"),
    ],
)
def test_a_hiring_in_words_is_asked_back_and_done_where_nobody_is_spoken_to(
    text: str, command: str, label: str
) -> None:
    asked = wished(text, team("ann", "bob", focus="ann"))
    assert isinstance(asked, Unsure)
    assert (asked.command, asked.label) == (command, label)
    assert wished(text, team("bob")) == read("1", f"/{command}", team("bob"))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "help me with the tests",
            "hire a developer",
            "hire a new one of the consultants",
            "hire",
            "fire",
            "fire cleo",
            "let cleo go",
            "talk to the database",
            "continue the conversation about the parser",
            "what did cleo say earlier?",
            "what has the test said?",
            "remove the build folder",
            "edit the readme and create a test",
            "change the function so that it writes without asking the database for a lock and then returns",
            "fire up the server",
            "@ann help",
        ),
        *("ann: go on", "cleo: are you there?", "bob:", "bob:8080 is taken", "note bob: hello", "/help", "what?"),
    ],
)
def test_anything_else_is_a_message_as_before(text: str) -> None:
    now = team("ann", "bob", focus="ann")
    assert wished(text, now) == read("1", text, now)
    assert not isinstance(wished(text, now), Unsure)


def test_another_workers_name_and_a_colon_ask_for_whom_it_is() -> None:
    now = team("project", "bob", focus="project")
    asked = wished("Bob: are you there?", now)
    assert isinstance(asked, Unsure)
    assert asked.question == "Is that for bob, or for project?"
    assert (asked.worker, asked.text) == ("project", "Bob: are you there?")
    assert (asked.other, asked.other_text) == ("bob", "are you there?")


def test_what_answers_an_open_question_is_its_answer() -> None:
    now = team("ann", focus="ann")
    ask = facts.AskRaised(ask="a", question="What?", choices=(Choice(id="h", label="Help"), Choice(id="n", label="No")))
    now = fold(now, Event(seq=9, at=0.0, worker="ann", fact=ask))
    assert isinstance(wished("help", now), Tell)


@pytest.mark.parametrize("focus", ["ann", "bob", ""])
def test_a_name_and_a_colon_before_an_answer_answer_that_workers_open_question(focus: str) -> None:
    now = team("ann", "bob", focus=focus)
    yes_no = (Choice(id="y", label="Allow"), Choice(id="n", label="Deny", allows=False))
    now = fold(now, Event(seq=9, at=0.0, worker="bob", fact=facts.AskRaised(ask="a", question="Run?", choices=yes_no)))
    assert wished("Bob: yes", now) == Tell(id="1", text="yes", worker="bob")
    assert wished("bob: no, not today", now) == Tell(id="1", text="no, not today", worker="bob")
    # What is no answer is asked about as before, where it may be for somebody else.
    assert isinstance(wished("bob: are you there?", now), Unsure) is (focus == "ann")


def test_the_terminal_asks_back_as_well() -> None:
    now = team("ann", "bob", focus="ann")
    held = read_line("fire bob", now, lambda: "1")
    assert isinstance(held, AskedBack)
    assert held.text == "Is that for ann, or for me? m: End bob, s: say it to ann."
    assert decided("m", held, "2") == commands.End(id="1", worker="bob")
    assert decided("s", held, "2") == Tell(id="1", text="fire bob", worker="ann")
    held = read_line("bob: are you there?", now, lambda: "1")
    assert isinstance(held, AskedBack)
    assert held.text == "Is that for bob, or for ann? o: say it to bob, s: say it to ann."
    assert decided("o", held, "2") == Tell(id="1", text="are you there?", worker="bob")
