"""Every recording of the Gemini CLI translated and compared; a mutated line gives facts or a counted skip, no error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pure.recordings import (
    REMOVED,
    Translator,
    hook_payloads,
    lines_of,
    mutated,
    places,
    same_as_snapshot,
    translated,
)

from farhand.drivers.gemini.exec.state import GeminiStreamState
from farhand.drivers.gemini.exec.translate import exit_sentence, translate_stream
from farhand.drivers.gemini.tmux.hooks import translate_hook
from farhand.drivers.gemini.tmux.state import GeminiState
from farhand.drivers.gemini.tmux.translate import translate

HERE = Path(__file__).parent
RECORDINGS = sorted(path for path in (HERE / "recordings").iterdir() if path.suffix in (".out", ".jsonl"))
RECORDINGS = [path for path in RECORDINGS if path.name != "p-json.out"]
SESSIONS = [path for path in RECORDINGS if path.name.startswith("session")]
HOOKS = [path for path in RECORDINGS if path.name.startswith("hooks-")]
ERRORS = sorted((HERE / "recordings").glob("*.err"))


def records(path: Path) -> list[bytes]:
    """The CLI's own lines in a recording, without what the recorder put around them."""
    if path in HOOKS:
        return hook_payloads(path)
    return lines_of(path)


def way(path: Path) -> tuple[Translator, Any]:
    """Which translation a recording needs, and where it starts."""
    if path in SESSIONS:
        return translate, GeminiState()
    if path in HOOKS:
        return translate_hook, GeminiState()
    return translate_stream, GeminiStreamState(turn="t")


def told(path: Path) -> dict[str, Any]:
    """All that a recording says, as plain data."""
    return translated(records(path), *way(path))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_a_recording_says_what_it_said(path: Path) -> None:
    assert same_as_snapshot(HERE, path.name, told(path))


def test_what_the_cli_says_on_stderr_is_told_in_a_sentence() -> None:
    codes = {"p-json-first.err": 55, "p-resume-bad.err": 42, "p-err.err": 144}
    found = {path.name: exit_sentence(codes.get(path.name, 1), path.read_text("utf-8")) for path in ERRORS}
    assert all(found.values())
    assert same_as_snapshot(HERE, "errors", found)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_nothing_in_a_recording_is_unknown(path: Path) -> None:
    assert told(path)["skipped"] == 0


def test_a_refusal_ends_the_turn_and_the_history_that_is_written_again_is_not_told_again() -> None:
    facts = told(HERE / "recordings/session-tui-refused.jsonl")["facts"]
    said = [one["fact"]["text"] for one in facts if one["fact"]["type"] == "said"]
    ends = [one["fact"]["how"] for one in facts if one["fact"]["type"] == "turn_ended"]
    assert said == ["hello there", "I will", "\n\nmade one", "wrote"]
    assert ends == ["completed", "completed", "completed", "interrupted", "failed", "interrupted"]


def test_hooks_and_file_together_tell_of_each_tool_once() -> None:
    state, facts = GeminiState(), []
    hooks = [msgspec.json.decode(line) for line in records(HERE / "recordings/hooks-tui.jsonl")]
    lines = [msgspec.json.decode(line) for line in records(HERE / "recordings/session-tui-refused.jsonl")]
    both: list[tuple[str, Translator, Any]] = [(one["timestamp"], translate_hook, one) for one in hooks]
    both += [(one.get("timestamp", ""), translate, one) for one in lines]
    when = ""
    timed = []
    for moment, translator, one in both:
        when = moment or when
        timed.append((when, translator, one))
    for _, translator, one in sorted(timed, key=lambda each: each[0]):
        heard, state = translator(msgspec.json.encode(one), state)
        facts += [type(each.fact).__name__ for each in heard]
    assert facts.count("ToolStarted") == 3
    assert facts.count("ToolEnded") == 3
    assert facts.count("TurnEnded") == 6


# --- mutations


LINES = [(path, line) for path in RECORDINGS for line in records(path)]
OTHERS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.just([]), st.just({}), st.just(["x", {"id": 3}])
)


@given(st.data())
def test_no_mutation_is_an_error(data: st.DataObject) -> None:
    path, line = data.draw(st.sampled_from(LINES))
    translator, fresh = way(path)
    busy = GeminiState(session="s", turn="t", running=True, known=("x",)) if isinstance(fresh, GeminiState) else fresh
    record = json.loads(line)
    place = data.draw(st.sampled_from(places(record)))
    changed = mutated(record, place, data.draw(st.just(REMOVED) | OTHERS))
    heard, state = translator(msgspec.json.encode(changed), busy)
    assert isinstance(heard, list)
    assert state.skipped in (0, 1)


@given(st.data())
def test_a_cut_line_is_counted(data: st.DataObject) -> None:
    path, line = data.draw(st.sampled_from(LINES))
    translator, state = way(path)
    heard, after = translator(line[: data.draw(st.integers(0, len(line) - 2))], state)
    assert (heard, after.skipped) == ([], 1)


UNKNOWN = [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 5000, b'{"type":"brand-new","id":"1"}', b'{"brand":"new"}']


@pytest.mark.parametrize("translator", [(translate, GeminiState()), (translate_stream, GeminiStreamState())])
@pytest.mark.parametrize("line", UNKNOWN)
def test_what_is_unknown_is_counted(translator: tuple[Translator, Any], line: bytes) -> None:
    heard, state = translator[0](line, translator[1])
    assert (heard, state.skipped) == ([], 1)
