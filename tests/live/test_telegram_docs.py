"""The example in the Telegram page runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.anyio
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "telegram.md"


async def test_the_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(example, str(PAGE), "exec"), names)
    await names["example"]()
