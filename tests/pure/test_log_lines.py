"""A log line is always written, whatever is in it."""

import json
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import structlog
from tests.spec.promises import promise

from farhand.config.log_repeats import RepeatLimit
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


def test_the_size_of_a_log_is_counted_in_bytes(tmp_path: Path) -> None:
    path = tmp_path / "bridge.log"
    with closing(LogFile(path, most_bytes=100)) as log:
        for _ in range(10):
            log.write("😀" * 20 + "\n")
    assert path.stat().st_size <= 100


def test_what_happens_again_and_again_is_written_a_few_times_a_minute_and_then_counted() -> None:
    now = [0.0]
    limit = RepeatLimit(most=3, clock=lambda: now[0])

    def written(event: str, level: str = "warning", **more: str) -> dict[str, Any] | None:
        try:
            return dict(limit(None, level, {"event": event, **more}))
        except structlog.DropEvent:
            return None

    assert sum(written("refused") is not None for _ in range(1000)) == 3
    assert written("something else") is not None
    assert all(written("refused", "info") for _ in range(10))
    now[0] = 61.0
    assert written("refused") == {"event": "refused", "left_out": 997}
    assert written("refused") == {"event": "refused"}
    # What a library says of strangers' requests is a kind, whatever the words.
    assert sum(written(f"bad request {number}", library="uvicorn") is not None for number in range(100)) == 3
    # And so is what has no end of kinds.
    assert sum(written(f"kind {number}") is not None for number in range(5000)) <= 203
