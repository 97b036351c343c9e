"""A built-in tool takes the arguments of its schema and no other: whoever allowed a call may have believed them."""

from __future__ import annotations

from pathlib import Path

import pytest

from farhand.sdk.tools.builtin import BUILTIN_TOOLS
from farhand.testing.sdk_env import sdk_context

pytestmark = pytest.mark.anyio
GIVEN = {"file_path": "made.txt", "content": "x", "command": "touch made.txt", "prompt": "http://127.0.0.1:1"}


@pytest.mark.parametrize("name", sorted(BUILTIN_TOOLS))
async def test_an_argument_that_a_tool_does_not_take_is_refused(tmp_path: Path, name: str) -> None:
    tool, context = BUILTIN_TOOLS[name], sdk_context(tmp_path)
    given = {one: GIVEN.get(one, "x") for one in tool.parameters["required"]}
    result = await tool.run({**given, "url": "https://good.example"}, context)
    await context.close()
    assert str(result.error).startswith(f"{name} was called wrongly: there is no argument 'url'")
    assert not (tmp_path / "made.txt").exists()
