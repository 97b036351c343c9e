"""A log line is always written, whatever is in it."""

import json
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.spec.promises import promise

from farhand.config.logs import LogFile, as_json


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


@promise("files.3")
def test_a_log_that_is_full_becomes_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "bridge.log"
    with closing(LogFile(path, most_bytes=100)) as log:
        for number in range(10):
            log.write(f"{number} {'x' * 37}\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one[0] for one in path.read_text().splitlines()] == ["8", "9"]
    assert [one[0] for one in (tmp_path / "bridge.log.1").read_text().splitlines()] == ["6", "7"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bridge.log", "bridge.log.1"]
    # A log that was there before is gone on with.
    with closing(LogFile(path, most_bytes=100)) as log:
        log.write("after a restart\n")
    assert path.read_text().endswith("after a restart\n")
    assert path.read_text().startswith("8")
