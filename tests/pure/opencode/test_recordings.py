"""Every recording of OpenCode translated and compared; a mutated record gives facts or a counted skip, no error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.pure.recordings import REMOVED, Translator, mutated, places, same_as_snapshot, translated

from farhand.drivers.opencode.exec.state import OpenCodeRunState
from farhand.drivers.opencode.exec.translate import ended, translate_line
from farhand.drivers.opencode.headless.server import LISTENING
from farhand.drivers.opencode.headless.state import OpenCodeExpected, OpenCodeState
from farhand.drivers.opencode.headless.translate import encode_event, events_of, translate
from farhand.drivers.opencode.schema import OpenCodeMessage
from farhand.model.facts import TurnEnded
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, replace

HERE = Path(__file__).parent
RECORDED = HERE / "recordings"
RECORDINGS = sorted(path for path in RECORDED.iterdir() if path.name != "serve.out")
RUNS = [path for path in RECORDINGS if path.name.startswith("run-")]
STREAMS = [path for path in RECORDINGS if path not in RUNS]
PART = {"type": "step-start", "id": "p", "messageID": "m", "sessionID": "s"}


def records(path: Path) -> list[bytes]:
    """The CLI's own records in a recording, without what the recorder put around them."""
    content = path.read_bytes()
    if path.name.startswith("sse-"):
        return [line.removeprefix(b"data: ") for line in content.splitlines() if line.startswith(b"data: ")]
    if path.name == "plugin-events.jsonl":
        lines = [json.loads(line) for line in content.splitlines()]
        return [msgspec.json.encode(one["o"]) for one in lines if one["k"] == "event"]
    if path.name == "permission-list.json":
        return [encode_event("permission.asked", one) for one in json.loads(content)]
    if path.name == "serve-message.json":
        return events_of(msgspec.json.decode(content, type=OpenCodeMessage))
    if path.name == "export.out":
        exported = json.loads(content[content.index(b"{") :])
        found = [msgspec.json.decode(json.dumps(one), type=OpenCodeMessage) for one in exported["messages"]]
        return [record for message in found for record in events_of(message)]
    return content.splitlines()


def session(path: Path) -> str:
    """The session that a recording is about."""
    content = path.read_text("utf-8")
    start = content.index("ses_")
    return content[start : start + 30]


def beginning(path: Path) -> Any:
    """Where a recording's translation starts."""
    if path in RUNS:
        return OpenCodeRunState(message="m")
    # A single reply is told by the message that it answers.
    parent = json.loads(path.read_text())["info"]["parentID"] if path.name == "serve-message.json" else ""
    started = OpenCodeState(session=session(path))
    return replace(started, running=True, turn="t", prompts=(parent,)) if parent else started


def way(path: Path) -> tuple[Translator, Any]:
    """Which translation a recording needs, and where it starts."""
    return translate_line if path in RUNS else translate, beginning(path)


def told(path: Path) -> dict[str, Any]:
    """All that a recording says, as plain data."""
    return translated(records(path), *way(path))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_a_recording_says_what_it_said(path: Path) -> None:
    assert same_as_snapshot(HERE, path.name, told(path))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_nothing_in_a_recording_is_unknown(path: Path) -> None:
    found = told(path)
    assert found["skipped"] == 0
    assert found["facts"]


def test_a_run_that_stopped_for_want_of_leave_has_failed() -> None:
    state = OpenCodeRunState()
    for line in records(RECORDED / "run-refused.out"):
        _, state = translate_line(line, state)
    (over,) = ended(state, HowEnded.COMPLETED, "", 0.0)
    assert isinstance(over, TurnEnded)
    assert over.how is HowEnded.FAILED
    assert over.error == "Leave: leave was needed, and one command a turn cannot ask for it. Nothing was allowed."
    _, gone_on = translate_line(msgspec.json.encode({"type": "step_start", "part": PART}), state)
    (over,) = ended(gone_on, HowEnded.COMPLETED, "", 0.0)
    assert isinstance(over, TurnEnded)
    assert over.how is HowEnded.COMPLETED


def test_the_server_says_where_it_listens() -> None:
    found = LISTENING.search((RECORDED / "serve.out").read_bytes())
    assert found
    assert found[1] == b"http://127.0.0.1:4096"


# --- what may come instead


ALL = [(path, index) for path in RECORDINGS for index in range(len(records(path)))]
CHANGED = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(),
    some.floats(allow_nan=False, allow_infinity=False),
    some.text(),
    some.lists(some.integers(), max_size=2),
    some.dictionaries(some.text(max_size=3), some.integers(), max_size=2),
)


def busy(path: Path, index: int) -> Any:
    """The state that the record came in."""
    translator, state = way(path)
    for record in records(path)[:index]:
        _, state = translator(record, state)
    return state


@given(some.sampled_from(ALL), some.data())
def test_no_mutation_is_an_error(chosen: tuple[Path, int], data: some.DataObject) -> None:
    path, index = chosen
    record = json.loads(records(path)[index])
    place = data.draw(some.sampled_from(places(record)))
    record = mutated(record, place, data.draw(some.just(REMOVED) | CHANGED))
    state = busy(path, index)
    heard, after = way(path)[0](json.dumps(record).encode(), state)
    assert isinstance(heard, list)
    assert after.skipped - state.skipped in (0, 1)


@given(some.sampled_from(ALL), some.data())
def test_a_line_that_is_cut_is_counted(chosen: tuple[Path, int], data: some.DataObject) -> None:
    path, index = chosen
    record = records(path)[index]
    state = busy(path, index)
    heard, after = way(path)[0](record[: data.draw(some.integers(0, len(record) - 1))], state)
    assert heard == []
    assert after.skipped == state.skipped + 1


@pytest.mark.parametrize("translator", [(translate, OpenCodeState()), (translate_line, OpenCodeRunState())])
@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"type":"brand-new"}', b"[" * 5000])
def test_what_is_unknown_is_counted(translator: tuple[Translator, Any], line: bytes) -> None:
    heard, state = translator[0](line, translator[1])
    assert heard == []
    assert state.skipped == 1


def test_what_was_told_is_not_told_again() -> None:
    path = RECORDED / "sse-asks.txt"
    state = beginning(path)
    for record in records(path):
        _, state = translate(record, state)
    again: list[Heard] = []
    for record in records(path):
        heard, state = translate(record, state)
        again += heard
    assert not [one for one in again if type(one.fact).__name__ in ("Said", "Thought", "ToolStarted", "TurnEnded")]


def test_a_message_of_ours_is_the_turn_it_was_given_for() -> None:
    path = RECORDED / "sse-events.txt"
    first = json.loads(next(one for one in records(path) if b'"role":"user"' in one))["properties"]["info"]["id"]
    state = OpenCodeState(session=session(path), expected=(OpenCodeExpected(id=first, message="m1", turn="t1"),))
    turns = set()
    for record in records(path):
        heard, state = translate(record, state)
        turns |= {one.turn for one in heard}
    assert "t1" in turns
    assert all(one == "t1" or str(one).startswith("desk-") for one in turns)


def test_an_error_after_a_turn_does_not_fail_the_next_and_a_refused_message_ends_its_turn() -> None:
    failure = encode_event(
        "session.error", {"sessionID": "ses", "error": {"name": "UnknownError", "data": {"message": "no"}}}
    )
    heard, state = translate(failure, OpenCodeState(session="ses", after="msg_1", newest="msg_1"))
    assert (heard, state.error) == ([], None)
    given = OpenCodeExpected(id="msg_2", message="m2", turn="t2")
    heard, state = translate(failure, replace(state, expected=(given,)))
    (ended,) = heard
    assert isinstance(ended.fact, TurnEnded)
    assert (ended.turn, ended.fact.how, ended.fact.error) == ("t2", HowEnded.FAILED, "no")
    assert state.expected == ()
    assert not state.running
