"""A log line is always written, whatever is in it."""

import json
from pathlib import Path
from typing import Any

import pytest

from farhand.config.logs import as_json


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"event": "said", "text": "größer"}, {"event": "said", "text": "größer"}),
        ({"event": "half a character", "text": "\ud83d"}, {"event": "half a character", "text": "\ud83d"}),
        ({"path": Path("a")}, {"path": repr(Path("a"))}),
        ({"seen": {3, 4}}, None),
        ({"names": {1: "a", "b": "c"}}, None),
        ({"names": {(1, 2): "a", "b": "c"}}, None),
        ({"endless": float("inf")}, None),
        ({"large": 2**70}, None),
    ],
)
def test_a_line_is_one_line_of_json(line: dict[str, Any], expected: dict[str, Any] | None) -> None:
    written = as_json(line)
    assert "\n" not in written
    found = json.loads(written)
    assert found.keys() == line.keys()
    assert expected is None or found == expected
