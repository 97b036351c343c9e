"""A model that answers from a file: the same JSONL that the CLI reads with `--fake-responses`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

from farhand.sdk import wire
from farhand.sdk.errors import FakeExhausted
from farhand.sdk.json_shapes import is_object
from farhand.sdk.models import Request, Response

Answer = dict[str, Any]
"""One line: `{"method": "generateContent" | "generateContentStream" | "countTokens", "response": …}`."""


class FakeModel:
    """Gives out its answers in order; each request it got is in `requests`. A call of another method is an error.

    With `strict=False` the next answer *of the same method* is taken, as with `--fake-responses-non-strict`.
    """

    def __init__(self, answers: Iterable[Answer], *, strict: bool = True) -> None:
        self._answers = [dict(answer) for answer in answers]
        self._strict = strict
        self.requests: list[tuple[str, Request]] = []

    @classmethod
    def from_file(cls, path: str | Path, *, strict: bool = True) -> FakeModel:
        """Reads the JSONL of `--fake-responses`."""
        return cls(read_answers(Path(path)), strict=strict)

    @classmethod
    def playing(cls, *steps: str | tuple[str, Mapping[str, Any]]) -> FakeModel:
        """A model that says and does what is listed: a text is an answer, `("tool", {…})` a call of a tool."""
        return cls(_step(step) for step in steps)

    @property
    def left(self) -> int:
        """How many answers were not asked for yet."""
        return len(self._answers)

    async def generate(self, request: Request) -> Response:
        """The next whole answer."""
        return dict(self._next("generateContent", request))

    async def stream(self, request: Request) -> AsyncIterator[Response]:
        """The chunks of the next streamed answer."""
        for chunk in self._next("generateContentStream", request):
            yield chunk

    async def count(self, request: Request) -> int:
        """The next token count; an estimate when the next answer is no count."""
        if any(answer.get("method") == "countTokens" for answer in self._answers[: 1 if self._strict else None]):
            return int(self._next("countTokens", request).get("totalTokens", 0))
        return wire.estimate_tokens(request.get("contents", []))

    def _next(self, method: str, request: Request) -> Any:
        self.requests.append((method, request))
        index = next(
            (index for index, answer in enumerate(self._answers) if self._strict or answer.get("method") == method),
            None,
        )
        if index is None:
            raise FakeExhausted(f"No answer is left for {method}; the request was: {wire.compact(request)[:500]}")
        answer = self._answers.pop(index)
        if answer.get("method") != method:
            raise FakeExhausted(f"The next answer is for {answer.get('method')}, but {method} was asked.")
        return answer.get("response")


def _step(step: str | tuple[str, Mapping[str, Any]]) -> Answer:
    part = {"text": step} if isinstance(step, str) else {"functionCall": {"name": step[0], "args": dict(step[1])}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    return {"method": "generateContentStream", "response": [{"candidates": [candidate]}]}


def read_answers(path: Path) -> list[Answer]:
    """The lines of a fake-responses file; a bad line is named by its number."""
    answers: list[dict[str, Any]] = []
    for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise FakeExhausted(f"{path}, line {number} is no JSON: {error}") from None
        if not is_object(answer) or "method" not in answer:
            raise FakeExhausted(f"{path}, line {number} names no method.")
        answers.append(answer)
    return answers
