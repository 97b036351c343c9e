"""Puts questions to the person at the terminal. Without a terminal, nobody is there."""

from __future__ import annotations

import sys
from typing import TextIO

from farhand.model.visible import visible
from farhand.sdk.protocols import Question, Reply, SessionContext
from farhand.sdk.questions import as_reply

_YES = {"y": "allow", "yes": "allow", "n": "deny", "no": "deny"}


class Terminal:
    """An asker: `Agent(asker=Terminal())`. A choice is made by its number or its words."""

    def __init__(self, source: TextIO | None = None, target: TextIO | None = None) -> None:
        self._source = source
        self._target = target

    async def ask(self, question: Question, context: SessionContext) -> Reply:  # noqa: ARG002
        """Shows the question and reads a line; an empty one, or the end of the input, is no answer."""
        from farhand.sdk.call_function import call_within

        source = self._source or sys.stdin
        if not source.isatty():
            return Reply(answered=False)
        while True:
            line, failed = await call_within(self._read, {"question": question, "source": source}, None)
            if failed is not None or not line:
                return Reply(answered=False)
            reply = _reply(question, line.strip())
            if reply is not None:
                return reply

    def _read(self, question: Question, source: TextIO) -> str:
        target = self._target or sys.stderr
        target.write(shown(question))
        target.flush()
        return source.readline()


def shown(question: Question) -> str:
    """A question as lines of text; what an eye cannot see or tell apart is spelled out."""
    lines = ["", visible(question.text)]
    if question.kind == "permission":
        return "\n".join([*lines, "[y]es or [n]o? "])
    lines += [f"  {number}. {visible(choice)}" for number, choice in enumerate(question.choices, 1)]
    return "\n".join([*lines, "> "])


def _reply(question: Question, said: str) -> Reply | None:
    if not said:
        return None
    if question.kind == "permission":
        choice = _YES.get(said.lower(), said.lower())
        return Reply(answered=True, choice=choice) if choice in ("allow", "deny") else None
    if question.choices and said.isdigit() and 1 <= int(said) <= len(question.choices):
        return as_reply(question.choices[int(said) - 1])
    return as_reply(said)
