"""The wire JSON is the transcript: whatever a model sends comes back, through chunks, recordings and resuming."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from farhand.sdk import wire
from farhand.sdk.conversation import SIDECAR_SUFFIX, read_conversation, read_sidecar, restore
from farhand.sdk.protocols import Content, ToolCall
from farhand.sdk.recording import CallRecord, Recording

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
said = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)
signature = st.one_of(st.none(), st.text("abcdef0123456789", min_size=1, max_size=8))
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), words),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=6,
)


def signed(part: dict[str, Any], mark: str | None) -> dict[str, Any]:
    return part if mark is None else {**part, "thoughtSignature": mark}


texts = st.builds(lambda text, mark: signed({"text": text}, mark), said, signature)
thoughts = st.builds(lambda text, mark: signed({"text": text, "thought": True}, mark), said, signature)
unknown = st.builds(lambda value: {"partOfTomorrow": value}, json_values)
calls = st.builds(
    lambda name, args, mark, call_id: signed({"functionCall": {"name": name, "args": args, **call_id}}, mark),
    st.sampled_from(["look", "write"]),
    st.dictionaries(words, json_values, max_size=3),
    signature,
    st.sampled_from([{}, {"id": ""}, {"id": "call_0"}, {"id": "call_1"}]),
)
parts = st.one_of(texts, thoughts, unknown, calls)


@given(st.lists(parts, max_size=8))
@settings(deadline=None)
def test_joining_chunks_keeps_every_word_and_every_signature(given_parts: list[dict[str, Any]]) -> None:
    joined = wire.join_parts(given_parts)
    content, original = {"parts": joined}, {"parts": given_parts}
    assert wire.text_of(content) == wire.text_of(original)
    assert [part for part in joined if "thoughtSignature" in part] == [
        part for part in given_parts if "thoughtSignature" in part
    ]
    assert [part for part in joined if "text" not in part] == [part for part in given_parts if "text" not in part]
    assert wire.join_parts(joined) == joined


@given(st.lists(st.tuples(said, st.lists(parts, min_size=1, max_size=5)), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_recorded_conversation_is_restored_as_it_was(turns: list[tuple[str, list[dict[str, Any]]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        expected = _record(Recording(path), turns)
        restored = restore(read_conversation(path), read_sidecar(path.with_name(path.name + SIDECAR_SUFFIX)))
        assert list(restored.contents) == expected
        assert restored.losses == ()


@given(st.lists(st.tuples(said, st.lists(parts, min_size=1, max_size=5)), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_without_a_sidecar_every_call_still_has_one_response(turns: list[tuple[str, list[dict[str, Any]]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        _record(Recording(path), turns)
        contents = restore(read_conversation(path), {}).contents
    for content, following in zip(contents, [*contents[1:], {}], strict=True):
        asked = [call.id for call in wire.calls_of(content)]
        assert len(set(asked)) == len(asked)
        assert not asked or asked == [response["id"] for response in wire.responses_of(following)]


def _record(recording: Recording, turns: list[tuple[str, list[dict[str, Any]]]]) -> list[Content]:
    """Records turns as a session does; returns the transcript."""
    transcript: list[Content] = []
    recording.start("s", Path("/project"))
    for number, (prompt, answer) in enumerate(turns):
        transcript.append(wire.user(prompt))
        recording.said(transcript[-1])
        content = wire.with_call_ids({"role": "model", "parts": wire.join_parts(answer)}, str(number))
        transcript.append(content)
        recording.answered(content, {}, "a-model")
        wanted = wire.calls_of(content)
        if wanted:
            records = [_record_of(call) for call in wanted]
            recording.called(records)
            transcript.append({"role": "user", "parts": [part for record in records for part in record.result]})
    return transcript


def _record_of(call: ToolCall) -> CallRecord:
    return CallRecord(call, wire.function_response(call, "done"), "success")


def test_no_call_gets_an_id_that_another_has() -> None:
    def call(name: str) -> dict[str, Any]:
        return {"functionCall": {"name": "f", **({"id": name} if name else {})}}

    message = {"role": "model", "parts": [call(""), call("f_p_0"), call("old"), call("f_p_0")]}
    ids = [each.id for each in wire.calls_of(wire.with_call_ids(message, "p", {"old", "f_p_3"}))]
    assert ids == ["f_p_0_2", "f_p_0", "f_p_2", "f_p_3_2"]
