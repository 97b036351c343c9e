"""A question of Codex shows the whole of what will run, and whatever is unclear denies."""

from __future__ import annotations

from typing import Any

import pytest

from farhand.drivers.codex.asks import (
    CHANGE,
    COMMAND,
    ELICITATION,
    HOOK,
    INPUT,
    PERMISSIONS,
    CodexQuestion,
    decision,
    digest,
    hook_reply,
    steps,
    to_ask,
)
from farhand.drivers.codex.schema import change_words, shell_words
from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.foreign_json import Fields
from farhand.model.words import AskKind

RUN = {"command": "/bin/bash -lc 'rm -r build'", "cwd": "/home/dev", "reason": "to begin anew", "startedAtMs": 1}
WANTED = {"network": {"enabled": True}, "fileSystem": None}
OPTIONS = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
FORM: dict[str, object] = {
    "questions": [{"id": "q1", "question": "Which?", "options": OPTIONS}, {"id": "q2", "question": "Why?"}]
}
NO = PartAnswer(choice="deny")


def test_a_command_is_shown_as_it_was_written() -> None:
    ask = to_ask("a", CodexQuestion(method=COMMAND, params=RUN), 60.0)
    assert ask.question == "Run: rm -r build"
    assert (ask.detail, ask.why, ask.where) == ("rm -r build", "to begin anew", "/home/dev")
    assert ask.deadline_seconds == 60.0


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/bin/bash -lc 'ls -la'", "ls -la"),
        ("/bin/bash -lc ls", "ls"),
        ("/bin/bash -lc \"echo 'x'\"", "echo 'x'"),
        ('/bin/bash -lc "echo $HOME"', '/bin/bash -lc "echo $HOME"'),
        ("/bin/bash -lc 'a' 'b'", "/bin/bash -lc 'a' 'b'"),
        ("python x.py", "python x.py"),
        (["/bin/bash", "-lc", "ls"], "ls"),
        (["rm", "-r"], "rm -r"),
        (7, ""),
    ],
)
def test_a_shell_around_a_command_is_left_out_only_when_it_says_nothing(command: Any, shown: str) -> None:
    assert shell_words(command) == shown


def test_a_patch_of_several_files_is_a_diff_with_their_names_and_what_is_none_keeps_its_words() -> None:
    edits = [{"path": f"/w/{name}", "kind": {"type": "update"}, "diff": "@@ -1 +1 @@\n-a\n+b\n"} for name in "ab"]
    assert change_words(edits) == (
        "Edit /w/a, Edit /w/b",
        "--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-a\n+b\n\n--- /w/b\n+++ /w/b\n@@ -1 +1 @@\n-a\n+b",
    )
    # What a new file has inside may look like a diff; it is told as text.
    made = {"path": "/w/c", "kind": {"type": "add"}, "diff": "@@ -1 +1 @@\n-a\n+b\n"}
    assert change_words([made]) == ("Write /w/c", "Write /w/c\n@@ -1 +1 @@\n-a\n+b")


def test_another_command_has_another_digest_and_the_same_at_another_time_has_not() -> None:
    first = CodexQuestion(method=COMMAND, params=RUN)
    assert digest(first) == digest(CodexQuestion(method=COMMAND, params={**RUN, "startedAtMs": 2, "itemId": "x"}))
    assert digest(first) != digest(CodexQuestion(method=COMMAND, params={**RUN, "command": f"{RUN['command']} "}))
    assert digest(CodexQuestion(method=CHANGE, params={}, detail="a")) != digest(
        CodexQuestion(method=CHANGE, params={}, detail="b")
    )


@pytest.mark.parametrize("method", [COMMAND, CHANGE])
@pytest.mark.parametrize(
    ("picked", "told"),
    [
        (PartAnswer(choice="allow"), "accept"),
        (PartAnswer(choice="session"), "acceptForSession"),
        (NO, "decline"),
        (PartAnswer(choice="allow", expired=True), "decline"),
        (PartAnswer(choice="brand-new"), "decline"),
        (None, "decline"),
    ],
)
def test_only_a_clear_yes_is_a_yes(method: str, picked: PartAnswer | None, told: str) -> None:
    assert decision(CodexQuestion(method=method, params={}), (picked,) if picked else ()) == {"decision": told}


def test_permissions_are_given_as_they_were_wanted_or_not_at_all() -> None:
    question = CodexQuestion(method=PERMISSIONS, params={"permissions": WANTED})
    granted = {"network": {"enabled": True}}
    assert decision(question, (PartAnswer(choice="allow"),)) == {"permissions": granted, "scope": "turn"}
    assert decision(question, (PartAnswer(choice="session"),)) == {"permissions": granted, "scope": "session"}
    assert decision(question, (NO,)) == {"permissions": {}, "scope": "turn"}


def test_a_tool_server_is_answered() -> None:
    question = CodexQuestion(method=ELICITATION, params={"serverName": "files", "message": "Delete it?"})
    assert to_ask("a", question, None).question == "files: Delete it?"
    assert decision(question, (PartAnswer(choice="allow"),)) == {"action": "accept", "content": {}, "_meta": None}
    assert decision(question, (NO,)) == {"action": "decline", "content": None, "_meta": None}


def test_every_question_of_a_form_is_asked_and_answered_by_its_words() -> None:
    question = CodexQuestion(method=INPUT, params=FORM)
    assert steps(question) == 2
    first, second = (to_ask("a", question, None, step) for step in range(2))
    assert (first.ask, second.ask) == ("a", "a.1")
    assert (first.about, first.detail) == (AskKind.CHOICE, "Red: warm\nBlue: cold")
    assert [choice.label for choice in first.choices] == ["Red", "Blue", "Something else (write it)", "Do not answer"]
    answers = decision(question, (PartAnswer(choice="2"), PartAnswer(choice="other", note="because")))
    assert answers == {"answers": {"q1": {"answers": ["Blue"]}, "q2": {"answers": ["because"]}}}
    assert decision(question, (NO,)) == {"answers": {"q1": {"answers": []}}}


@pytest.mark.parametrize(
    "picked", [(), (NO,), (PartAnswer(choice="session"),), (PartAnswer(choice="allow", expired=True),)]
)
def test_a_hook_says_no_unless_it_is_told_yes(picked: tuple[PartAnswer, ...]) -> None:
    question = CodexQuestion(method=HOOK, params={"tool_name": "Bash", "tool_input": {"command": "ls"}})
    assert decided(hook_reply(question, picked)).text("behavior") == "deny"
    assert decided(hook_reply(question, (PartAnswer(choice="allow"),))).plain == {"behavior": "allow"}


def decided(reply: dict[str, object]) -> Fields:
    return Fields(reply).fields("hookSpecificOutput").fields("decision")
