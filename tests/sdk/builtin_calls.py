"""Calls of the built-in tools, as their tests make them."""

from __future__ import annotations

from typing import Any

from farhand.sdk.context import LiveContext
from farhand.sdk.protocols import ToolResult
from farhand.sdk.tools.builtin import BUILTIN_TOOLS


async def call(context: LiveContext, name: str, /, **arguments: Any) -> ToolResult:
    return await BUILTIN_TOOLS[name].run(arguments, context)


async def text(context: LiveContext, name: str, /, **arguments: Any) -> str:
    result = await call(context, name, **arguments)
    assert result.error is None
    assert isinstance(result.content, str)
    return result.content


async def refusal(context: LiveContext, name: str, /, **arguments: Any) -> str:
    result = await call(context, name, **arguments)
    assert result.error is not None
    assert result.visible_error
    return result.error
