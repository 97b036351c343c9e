"""Questions worded for a person, and answers worded for Claude Code: only an allowance allows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farhand.drivers.claude.asks import ClaudeQuestion, decision, digest, steps, to_ask
from farhand.drivers.claude.titles import title
from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.text.tool_title import LONGEST_TITLE
from farhand.model.visible import visible
from farhand.model.words import AskKind

RULE: dict[str, object] = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "git status:*"}],
    "behavior": "allow",
    "destination": "localSettings",
}
BASH = ClaudeQuestion(tool="Bash", arguments={"command": "git status", "description": "Look"}, suggestions=(RULE,))
EDIT = ClaudeQuestion(tool="Edit", arguments={"file_path": "/a.py", "old_string": "x = 1\ny", "new_string": "x = 2\ny"})
PLAN = ClaudeQuestion(tool="ExitPlanMode", arguments={"plan": "# Do it\n\nall"})
ASKED = ClaudeQuestion(
    tool="AskUserQuestion",
    arguments={
        "questions": [
            {"question": "Which?", "options": [{"label": "A", "description": "first"}, {"label": "B"}]},
            {"question": "How many?", "multiSelect": True, "options": [{"label": "1"}, {"label": "2"}]},
        ]
    },
)


def test_a_permission_shows_the_whole_command_and_four_answers() -> None:
    ask = to_ask("a", BASH, 60.0)
    assert (ask.about, ask.detail, ask.deadline_seconds) == (AskKind.PERMISSION, "git status", 60.0)
    assert [(one.id, one.allows) for one in ask.choices] == [
        ("allow", True),
        ("session", True),
        ("pattern", True),
        ("deny", False),
    ]
    assert ask.question == "Run: git status"
    assert ask.why == "Look"
    assert ask.choices[2].label == "Always allow Bash(git status:*)"
    assert ".claude/settings.local.json, for every later session in this folder" in ask.choices[2].scope


def test_a_long_rule_stands_whole_in_its_scope() -> None:
    rule = {**RULE, "rules": [{"toolName": "Bash", "ruleContent": "x" * 200 + " --delete:*"}]}
    choice = to_ask("a", ClaudeQuestion(tool="Bash", arguments={"command": "x"}, suggestions=(rule,)), None).choices[2]
    assert choice.label == "Always allow this rule"
    assert "x" * 200 + " --delete:*" in choice.scope


@pytest.mark.parametrize("destination", ["", "everywhere"])
def test_a_rule_whose_lifetime_nobody_knows_is_not_offered(destination: str) -> None:
    question = ClaudeQuestion(
        tool="Bash", arguments={"command": "ls"}, suggestions=({**RULE, "destination": destination},)
    )
    assert [one.id for one in to_ask("a", question, None).choices] == ["allow", "session", "deny"]
    assert decision(question, (PartAnswer(choice="pattern"),))["behavior"] == "deny"


@pytest.mark.parametrize(
    ("tool", "arguments", "rule"),
    [
        ("Bash", {"command": "npm test"}, {"toolName": "Bash", "ruleContent": "npm test"}),
        ("Bash", {"command": "rm *"}, None),
        ("Bash", {"command": "npm:*"}, None),
        ("Bash", {"command": "ls\nrm x"}, None),
        ("Edit", {"file_path": "/w/a.py"}, {"toolName": "Edit", "ruleContent": "//w/a.py"}),
        ("Write", {"file_path": "/w/a.py"}, {"toolName": "Edit", "ruleContent": "//w/a.py"}),
        ("Write", {"file_path": "/w/**"}, None),
        ("Write", {"file_path": "/w/../a"}, None),
        ("Edit", {"file_path": "a.py"}, None),
        ("Read", {"file_path": "/w/a.py"}, {"toolName": "Read", "ruleContent": "//w/a.py"}),
        ("WebFetch", {"url": "https://docs.x.org/p"}, {"toolName": "WebFetch", "ruleContent": "domain:docs.x.org"}),
        ("WebFetch", {"url": "https://*"}, None),
        ("mcp__git__push", {"to": "x"}, {"toolName": "mcp__git__push"}),
    ],
)
def test_allowed_for_the_session_is_what_was_shown_and_no_more(
    tool: str, arguments: dict[str, object], rule: dict[str, str] | None
) -> None:
    question = ClaudeQuestion(tool=tool, arguments=arguments)
    offered = [one for one in to_ask("a", question, None).choices if one.id == "session"]
    answer = decision(question, (PartAnswer(choice="session"),))
    if rule is None:
        assert not offered
        assert answer["behavior"] == "deny"
        return
    assert Fields(answer).list("updatedPermissions")[0].any("rules") == [rule]
    (choice,) = offered
    assert "until its session ends" in choice.scope
    # A whole tool is granted only by a button that says so.
    assert ("every" in choice.label) == ("ruleContent" not in rule)


def test_without_a_plan_no_braces_are_shown() -> None:
    ask = to_ask("a", ClaudeQuestion(tool="ExitPlanMode", arguments={}), None)
    assert (ask.detail, ask.about) == ("", AskKind.PLAN)
    assert "no plan" in ask.question


def test_an_edit_shows_the_difference_and_a_plan_the_plan() -> None:
    detail = to_ask("a", EDIT, None).detail
    assert "-x = 1\n+x = 2\n y" in detail
    assert to_ask("a", PLAN, None).detail == "# Do it\n\nall"
    assert to_ask("a", PLAN, None).about is AskKind.PLAN


def test_arguments_that_a_title_does_not_show_are_in_the_detail() -> None:
    hidden = ClaudeQuestion(tool="Bash", arguments={"command": "ls", "dangerouslyDisableSandbox": True})
    assert "dangerouslyDisableSandbox" in to_ask("a", hidden, None).detail


@pytest.mark.parametrize(
    ("question", "picked", "behavior"),
    [
        (BASH, PartAnswer(choice="allow"), "allow"),
        (BASH, PartAnswer(choice="session"), "allow"),
        (BASH, PartAnswer(choice="pattern"), "allow"),
        (BASH, PartAnswer(choice="deny", note="no"), "deny"),
        (BASH, PartAnswer(choice=""), "deny"),
        (BASH, PartAnswer(choice="accept_edits"), "deny"),
        (BASH, PartAnswer(choice="1"), "deny"),
        (BASH, PartAnswer(choice="allow", expired=True), "deny"),
        (EDIT, PartAnswer(choice="pattern"), "deny"),
        (PLAN, PartAnswer(choice="accept_edits"), "allow"),
        (PLAN, PartAnswer(choice="deny"), "deny"),
        (ASKED, PartAnswer(choice="1"), "deny"),
    ],
)
def test_only_an_allowance_allows(question: ClaudeQuestion, picked: PartAnswer, behavior: str) -> None:
    assert decision(question, (picked,))["behavior"] == behavior


@given(st.text())
def test_no_unknown_choice_allows(choice: str) -> None:
    known = {"allow", "session", "pattern"}
    assert (decision(BASH, (PartAnswer(choice=choice),))["behavior"] == "allow") == (choice in known)


def test_what_is_allowed_is_what_was_shown() -> None:
    assert decision(BASH, (PartAnswer(choice="allow"),))["updatedInput"] == BASH.arguments
    exact = Fields(decision(BASH, (PartAnswer(choice="session"),))).list("updatedPermissions")[0]
    assert exact.any("rules") == [{"toolName": "Bash", "ruleContent": "git status"}]
    assert exact.text("destination") == "session"
    assert decision(BASH, (PartAnswer(choice="pattern"),))["updatedPermissions"] == [RULE]


@pytest.mark.parametrize(("choice", "mode"), [("allow", "default"), ("accept_edits", "acceptEdits")])
def test_what_follows_a_plan_is_said_by_name(choice: str, mode: str) -> None:
    given = decision(PLAN, (PartAnswer(choice=choice),))["updatedPermissions"]
    assert given == [{"type": "setMode", "mode": mode, "destination": "session"}]


def test_a_questionnaire_wants_all_its_answers() -> None:
    assert steps(ASKED) == 2
    assert to_ask("a", ASKED, None, 1).question == "How many?"
    answers = decision(ASKED, (PartAnswer(choice="2"), PartAnswer(choice="other", note="1, 2")))
    assert Fields(answers).fields("updatedInput").fields("answers").plain == {"Which?": "B", "How many?": "1, 2"}
    assert decision(ASKED, (PartAnswer(choice="2"), PartAnswer(choice="deny")))["behavior"] == "deny"


@pytest.mark.parametrize(
    ("picked", "answer"),
    [
        (PartAnswer(choice="1,2"), "1, 2"),
        (PartAnswer(choice="2"), "2"),
        (PartAnswer(choice="1,2", note="in this order"), "1, 2 (in this order)"),
        (PartAnswer(choice="1,other", note="and three"), "1, and three"),
        (PartAnswer(choice="1,9"), "1"),
        (PartAnswer(choice="9"), "No preference."),
    ],
)
def test_a_question_with_several_choices_is_answered_with_all_of_them(picked: PartAnswer, answer: str) -> None:
    assert [to_ask("a", ASKED, None, step).several for step in (0, 1)] == [False, True]
    told = decision(ASKED, (PartAnswer(choice="1"), picked))
    assert Fields(told).fields("updatedInput").fields("answers").text("How many?") == answer


def test_several_choices_with_a_refusal_among_them_refuse() -> None:
    assert decision(ASKED, (PartAnswer(choice="1"), PartAnswer(choice="1,deny")))["behavior"] == "deny"
    assert not to_ask("a", BASH, None).several


@given(st.dictionaries(st.text(), st.text()), st.dictionaries(st.text(), st.text()))
def test_different_arguments_have_different_digests(one: dict[str, Any], two: dict[str, Any]) -> None:
    same = digest(ClaudeQuestion(tool="T", arguments=one)) == digest(ClaudeQuestion(tool="T", arguments=two))
    assert same == (one == two)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm -rf /tmp/x", "rm -rf /tmp/x"),
        ("echo safe\u202e fr- mr", "echo safe‹U+202E› fr- mr"),
        ("a\u200bb\ufeffc", "a‹U+200B›b‹U+FEFF›c"),
        ("a\x1b[2Kb\r", "a‹U+001B›[2Kb‹U+000D›"),
        ("line\n\tindented é 漢字 🎉", "line\n\tindented é 漢字 🎉"),
        ("no\xa0break", "no‹U+00A0›break"),
        ("\u3164\u2800", "‹U+3164›‹U+2800›"),
        ("\U000e0041", "‹U+E0041›"),
    ],
)
def test_what_an_eye_cannot_see_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_the_ask_shows_hidden_characters_and_is_bound_to_them() -> None:
    honest, hidden = (ClaudeQuestion(tool="Bash", arguments={"command": text}) for text in ("ls", "l\u200bs"))
    assert to_ask("a", hidden, None).detail == "l‹U+200B›s"
    assert digest(honest) != digest(hidden)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("Bash", {"command": "ls -la"}, "ls -la"),
        ("Bash", {"command": "ls", "description": "List files"}, "List files"),
        ("Read", {"file_path": "/a/b.py"}, "Read /a/b.py"),
        ("Grep", {"pattern": "TODO"}, "Search TODO"),
        ("Task", {"description": "find it"}, "Agent: find it"),
        ("mcp__github__create_issue", {}, "github: create_issue"),
        ("Brand_New", {}, "Brand_New"),
        ("", {}, "Use a tool"),
        ("Bash", {"command": "x" * 500}, "x" * (LONGEST_TITLE - 1) + "…"),
        ("Bash", {"command": ["not", "text"]}, "Run a command"),
    ],
)
def test_a_tool_has_a_human_title(tool: str, arguments: dict[str, Any], words: str) -> None:
    assert title(tool, Fields(arguments)) == words
