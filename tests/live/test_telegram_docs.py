"""The examples in the Telegram pages run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.anyio
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["how-to/telegram.md", "reference/fake-telegram.md"])
async def test_the_example_runs(page: str) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(example, page, "exec"), names)
    await names["example"]()
