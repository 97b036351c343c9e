"""Structured output: asks the model for an answer that fits a Python type, checks it, says what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from farhand.sdk.errors import BadAnswer
from farhand.sdk.json_shapes import is_mapping
from farhand.sdk.protocols import ToolResult

if TYPE_CHECKING:
    from farhand.sdk.protocols import SessionContext

T = TypeVar("T")
ATTEMPTS = 3
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)\n?```", re.DOTALL)


class Structured(Generic[T]):
    """One answer of a type. Beside other tools the model gives it by calling `final_result`; alone, as JSON text."""

    name = "final_result"
    description = "Give the final answer. Call this once, when everything else is done."
    kind = "think"

    def __init__(self, output: type[T]) -> None:
        from farhand.sdk.tools.schema import Schemas

        self._output = output
        schemas = Schemas()
        schema = schemas.of(output)
        self._wrapped = schema.get("type") != "object"
        if self._wrapped:
            schema = {"type": "object", "properties": {"value": schema}, "required": ["value"]}
        if schemas.definitions:
            schema = {**schema, "$defs": schemas.definitions}
        self.parameters: Mapping[str, Any] = schema
        self.done = False
        self.data: T | None = None
        self._failures = 0

    def shape(self, request: dict[str, Any], declared: list[dict[str, Any]]) -> None:
        """Asks for the type in a request: by this tool when others are declared, by a response schema otherwise."""
        if not any(each["name"] != self.name for each in declared):
            declared.clear()
            request["generationConfig"] = {
                "responseMimeType": "application/json",
                "responseJsonSchema": dict(self.parameters),
            }

    async def run(self, arguments: dict[str, Any], context: SessionContext) -> ToolResult:  # noqa: ARG002
        """Takes the answer as a call's arguments."""
        complaint = self._take(arguments)
        if complaint is not None:
            return ToolResult(error=complaint)
        return ToolResult(content="Taken.", display=json.dumps(arguments, ensure_ascii=False))

    def read_text(self, text: str) -> str | None:
        """Takes the answer from the model's text; returns what to tell the model when it does not fit."""
        fenced = _FENCE.search(text)
        try:
            value = json.loads(fenced.group(1) if fenced else text)
        except ValueError as error:
            return self._complain(f"The answer is no JSON ({error}).")
        return self._take(value)

    def _take(self, value: Any) -> str | None:
        from farhand.sdk.tools.convert import BadArgument, convert

        if self._wrapped and is_mapping(value) and set(value) == {"value"}:
            value = value["value"]
        try:
            self.data = convert(self._output, value, "answer")
        except BadArgument as error:
            return self._complain(str(error))
        self.done = True
        return None

    def _complain(self, why: str) -> str:
        self._failures += 1
        if self._failures >= ATTEMPTS:
            raise BadAnswer(f"The model's answer does not fit {self._output!r} after {ATTEMPTS} attempts: {why}")
        return f"The final answer does not fit: {why} Give it again, as {self.name} or as JSON of the given schema."
