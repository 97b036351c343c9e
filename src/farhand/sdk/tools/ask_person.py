"""The built-in tools that speak to the person: a plan to look at, and questions to answer."""

from __future__ import annotations

import json
from typing import Annotated, Literal, NotRequired, TypedDict

from farhand.sdk.context import LiveContext, live
from farhand.sdk.protocols import Question, SessionContext, ToolResult
from farhand.sdk.tools.result import ToolError

MOST_QUESTIONS = 4
Status = Literal["pending", "in_progress", "completed", "cancelled", "blocked"]
_SIGNS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "cancelled": "[-]", "blocked": "[!]"}


class Todo(TypedDict):
    """One step of the plan."""

    description: Annotated[str, "What is to be done."]
    status: Annotated[Status, "How far it is."]


class QuestionOption(TypedDict):
    """One answer to choose."""

    label: Annotated[str, "The answer, in a few words."]
    description: NotRequired[Annotated[str, "What choosing it means."]]


class AskedQuestion(TypedDict):
    """One question."""

    question: Annotated[str, "The question itself."]
    header: NotRequired[Annotated[str, "A word or two to head it."]]
    type: NotRequired[Annotated[Literal["choice", "text", "yesno"], "How it is answered."]]
    options: NotRequired[Annotated[list[QuestionOption], "The answers of a choice, two to four."]]
    multiSelect: NotRequired[Annotated[bool, "Whether several answers may be chosen."]]
    placeholder: NotRequired[Annotated[str, "A hint for a free answer."]]


def write_todos(
    context: SessionContext, todos: Annotated[list[Todo], "The whole plan; it replaces the one before."]
) -> ToolResult:
    """Keeps the plan of a longer task where the person sees it. At most one step is in progress at a time."""
    own = live(context)
    if any(not todo["description"].strip() for todo in todos):
        raise ToolError("A step has no description.")
    if sum(todo["status"] == "in_progress" for todo in todos) > 1:
        raise ToolError("Only one step may be in progress.")
    own.todos[:] = [dict(todo) for todo in todos]
    if not todos:
        return ToolResult(content="The plan is empty.", display="The plan is empty.")
    listing = "\n".join(f"{_SIGNS[todo['status']]} {todo['description']}" for todo in todos)
    return ToolResult(content=f"The plan is kept:\n{listing}", display=listing, data=list(todos))


async def ask_user(
    context: SessionContext, questions: Annotated[list[AskedQuestion], "One to four questions, asked in order."]
) -> ToolResult:
    """Asks the person, and waits for the answers: a choice, a free text, or yes or no."""
    own = live(context)
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        raise ToolError(f"Ask one to {MOST_QUESTIONS} questions; there were {len(questions)}.")
    for asked in questions:
        _check(asked)
    answers: dict[str, str] = {}
    for index, asked in enumerate(questions):
        reply = await own.ask(_question(own, asked))
        if not reply.answered:
            raise ToolError("Nobody is there to answer. Decide yourself, and say what you assumed.")
        answers[str(index)] = ", ".join(reply.chosen) or reply.choice or reply.text
    display = "\n".join(f"{asked['question']} {answers[str(index)]}" for index, asked in enumerate(questions))
    return ToolResult(content=json.dumps({"answers": answers}, ensure_ascii=False), display=display, data=answers)


def _kind(asked: AskedQuestion) -> str:
    return asked.get("type") or ("choice" if asked.get("options") else "text")


def _check(asked: AskedQuestion) -> None:
    if not asked["question"].strip():
        raise ToolError("A question is empty.")
    if _kind(asked) == "choice" and len(asked.get("options") or ()) < 2:
        raise ToolError(f"{asked['question']!r} is a choice and needs two options or more.")


def _question(context: LiveContext, asked: AskedQuestion) -> Question:
    choices: tuple[str, ...] = ()
    if _kind(asked) == "choice":
        choices = tuple(option["label"] for option in asked.get("options", []))
    elif _kind(asked) == "yesno":
        choices = ("Yes", "No")
    name = f"ask-{context.session_id[:8]}-{context.next_number()}"
    kind: Literal["choice", "text"] = "choice" if choices else "text"
    return Question(id=name, kind=kind, text=asked["question"], choices=choices, fields=dict(asked))
