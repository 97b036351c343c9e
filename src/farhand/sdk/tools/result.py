"""Turns what a function returned into what a model can read."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from farhand.sdk.errors import SdkError
from farhand.sdk.json_shapes import is_mapping
from farhand.sdk.protocols import ToolResult


class ToolError(SdkError):
    """Raised by a tool to tell the model what went wrong; its sentence always reaches the model."""

    kind = "tool"


def result_of(value: Any, tool_name: str) -> ToolResult:
    """The result of a call: text as it is, everything else as JSON; what is neither is an error the model sees."""
    if isinstance(value, ToolResult):
        return value
    if value is None or isinstance(value, str):
        text = value or ""
        return ToolResult(content=text, display=text, data=value)
    try:
        text = json.dumps(value, default=_plain, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        why = f"Tool {tool_name!r} returned {type(value).__name__}, which is neither text nor JSON ({error})."
        return ToolResult(error=why)
    return ToolResult(content=text, display=text, data=value)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    if is_mapping(value):
        return dict(value)
    if isinstance(value, set | frozenset):
        items: list[Any] = sorted(value, key=repr)  # pyright: ignore[reportUnknownArgumentType]
        return items
    raise TypeError(f"{type(value).__name__} has no JSON form")
