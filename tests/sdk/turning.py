"""What the tests of turns share: reading a stream, looking over a transcript, a tool that does as it is told."""

from __future__ import annotations

from typing import Any

from farhand.sdk import (
    SessionContext,
    ToolResult,
    wire,
)


async def collect(events: Any) -> list[Any]:
    return [event async for event in events]


def intact(contents: list[dict[str, Any]]) -> bool:
    """Every call is followed by the message that answers it."""
    for index, content in enumerate(contents):
        wanted = {call.id for call in wire.calls_of(content)}
        following = contents[index + 1] if index + 1 < len(contents) else {}
        if wanted and wanted != {response["id"] for response in wire.responses_of(following)}:
            return False
    return True


class RawTool:
    """A tool that is no function: it does what the test says."""

    description = "does something"
    parameters: dict[str, Any] = {"type": "object", "properties": {}}

    def __init__(self, run: Any, name: str = "raw", kind: str = "other") -> None:
        self._run, self.name, self.kind = run, name, kind

    async def run(self, arguments: dict[str, Any], context: SessionContext) -> ToolResult:
        result: ToolResult = await self._run(arguments)
        return result
