"""Every recording of Claude Code translated and compared; a mutated line gives facts or a counted skip, no error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
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

from farhand.drivers.claude.asks import digest, question_of, to_ask
from farhand.drivers.claude.headless.state import ClaudeStreamState
from farhand.drivers.claude.headless.translate import translate_stream
from farhand.drivers.claude.tmux.hooks import translate_hook
from farhand.drivers.claude.tmux.state import ClaudeState
from farhand.drivers.claude.tmux.translate import translate
from farhand.drivers.wires.foreign_json import Fields

HERE = Path(__file__).parent
RECORDINGS = sorted(path for path in (HERE / "recordings").iterdir() if path.suffix in (".out", ".jsonl"))
TRANSCRIPTS = [path for path in RECORDINGS if path.name.startswith("transcript")]
HOOKS = [path for path in RECORDINGS if "hooks-" in path.name]
STREAMS = [path for path in RECORDINGS if path not in TRANSCRIPTS and path not in HOOKS]


def records(path: Path) -> list[bytes]:
    """The CLI's own lines in a recording, without what the recorder put around them."""
    if path in HOOKS:
        return hook_payloads(path)
    if path.name == "stream-json-bidi.jsonl":
        both = [json.loads(line) for line in lines_of(path)]
        return [msgspec.json.encode(one["msg"]) for one in both if one["dir"] == "out"]
    return lines_of(path)


def way(path: Path) -> tuple[Translator, Any]:
    """Which translation a recording needs, and where it starts."""
    if path in TRANSCRIPTS:
        return translate, ClaudeState()
    if path in HOOKS:
        return translate_hook, ClaudeState()
    return translate_stream, ClaudeStreamState()


def told(path: Path) -> dict[str, Any]:
    """All that a recording says, as plain data."""
    return translated(records(path), *way(path))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_a_recording_says_what_it_said(path: Path) -> None:
    assert same_as_snapshot(HERE, path.name, told(path))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_nothing_in_a_recording_is_unknown(path: Path) -> None:
    assert told(path)["skipped"] == 0


# A field that is gone, and one of other kinds.
CHANGES: tuple[Any, ...] = (REMOVED, None, 7, "other", [], ["x", {"type": 3}], {"type": []}, True)


def kinds(path: Path) -> list[dict[str, Any]]:
    """One record of each shape."""
    found: dict[str, dict[str, Any]] = {}
    for line in records(path):
        record = json.loads(line)
        content = record.get("message", {}).get("content") if isinstance(record.get("message"), dict) else None
        block = content[0].get("type") if isinstance(content, list) else type(content).__name__
        shape = (record.get("type"), record.get("subtype"), record.get("hook_event_name"), block)
        found.setdefault(str(shape), record)
    return list(found.values())


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_no_mutation_is_an_error(path: Path) -> None:
    translator, _ = way(path)
    busy = (
        ClaudeState(prompt="p", running=True)
        if path in TRANSCRIPTS or path in HOOKS
        else ClaudeStreamState(running=True)
    )
    for record in kinds(path):
        for place in places(record)[:400]:
            for change in CHANGES:
                heard, state = translator(msgspec.json.encode(mutated(record, place, change)), busy)
                assert isinstance(heard, list)
                assert state.skipped in (0, 1, 2)


@pytest.mark.parametrize(
    "translator", [(translate, ClaudeState()), (translate_hook, ClaudeState()), (translate_stream, ClaudeStreamState())]
)
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"\xff\xfe",
        b'{"type":"brand-new"}',
        b'{"hook_event_name":"BrandNew"}',
        b"[" * 5000,
    ],
)
def test_what_is_unknown_is_counted(translator: tuple[Translator, Any], line: bytes) -> None:
    heard, state = translator[0](line, translator[1])
    assert heard == []
    assert state.skipped == 1


def test_an_unknown_block_costs_that_block_only() -> None:
    line = {
        "type": "assistant",
        "uuid": "u",
        "message": {"id": "m", "content": [{"type": "hologram"}, 5, {"type": "text", "text": "kept"}]},
    }
    heard, state = translate(msgspec.json.encode(line), ClaudeState(running=True))
    assert [msgspec.to_builtins(one.fact) for one in heard] == [{"type": "said", "text": "kept"}]
    assert state.skipped == 1


def test_every_permission_payload_makes_an_ask_bound_to_what_runs() -> None:
    payloads = [json.loads(record) for path in HOOKS for record in records(path)]
    requests = [one for one in payloads if one["hook_event_name"] == "PermissionRequest"]
    assert requests
    for request in requests:
        question = question_of(Fields(request))
        ask = to_ask("a", question, 60.0)
        assert ask.detail == request["tool_input"]["command"]
        assert ask.digest == digest(question)
        request["tool_input"]["command"] += " "
        assert digest(question_of(Fields(request))) != ask.digest


def prompt_line(text: str, prompt: str) -> bytes:
    """A prompt in the transcript."""
    return msgspec.json.encode({"type": "user", "promptId": prompt, "uuid": prompt, "message": {"content": text}})


def answer_line(text: str, stop_reason: str = "end_turn") -> bytes:
    """An answer in the transcript."""
    message = {"id": text, "content": [{"type": "text", "text": text}], "stop_reason": stop_reason}
    return msgspec.json.encode({"type": "assistant", "uuid": "u", "message": message})


def stop_hook(text: str, prompt: str) -> bytes:
    """The hook at the end of a turn."""
    return msgspec.json.encode({"hook_event_name": "Stop", "prompt_id": prompt, "last_assistant_message": text})


def played(*records: tuple[Translator, bytes]) -> list[Any]:
    """What these records say, one after the other."""
    state, facts = ClaudeState(), []
    for translator, record in records:
        heard, state = translator(record, state)
        facts += [(one.turn, type(one.fact).__name__) for one in heard]
    return facts


def test_a_stop_that_overtakes_the_transcript_does_not_end_the_turn_with_old_words() -> None:
    """Two turns with the same answer: the second one's hook comes before its words are written."""
    first = [
        (translate, prompt_line("a", "p1")),
        (translate, answer_line("ok")),
        (translate_hook, stop_hook("ok", "p1")),
    ]
    second = [
        (
            translate_hook,
            msgspec.json.encode({"hook_event_name": "UserPromptSubmit", "prompt": "b", "prompt_id": "p2"}),
        ),
        (translate_hook, stop_hook("ok", "p2")),
        (translate, prompt_line("b", "p2")),
        (translate, answer_line("ok")),
        (translate_hook, stop_hook("ok", "p2")),
    ]
    names = [("desk-p1", "TurnStarted"), ("desk-p1", "Said"), ("desk-p1", "TurnEnded")]
    assert played(*first, *second) == names + [("desk-p2", name) for _, name in names]


def test_words_before_a_tool_do_not_conclude_the_turn() -> None:
    records = [
        (translate, prompt_line("a", "p")),
        (translate, answer_line("ok", "tool_use")),
        (translate_hook, stop_hook("ok", "p")),
        (translate, answer_line("ok")),
        (translate_hook, stop_hook("ok", "p")),
    ]
    assert [name for _, name in played(*records)] == ["TurnStarted", "Said", "Said", "TurnEnded"]


def test_late_words_belong_to_their_own_turn() -> None:
    duration = msgspec.json.encode({"type": "system", "subtype": "turn_duration"})
    records = [(translate, prompt_line("a", "p")), (translate, duration), (translate, answer_line("late"))]
    assert played(*records) == [("desk-p", "TurnStarted"), ("desk-p", "TurnEnded"), ("desk-p", "Said")]


def test_a_turn_that_a_hook_prolongs_begins_anew() -> None:
    prod = msgspec.json.encode({"type": "user", "isMeta": True, "message": {"content": "Stop hook feedback: go on"}})
    records = [
        (translate, prompt_line("a", "p")),
        (translate, answer_line("one")),
        (translate_hook, stop_hook("one", "p")),
        (translate, prod),
        (translate, answer_line("two")),
    ]
    assert [name for _, name in played(*records)] == ["TurnStarted", "Said", "TurnEnded", "TurnStarted", "Said"]


def submit_hook(text: str, prompt: str) -> bytes:
    """The hook at the beginning of a turn."""
    return msgspec.json.encode({"hook_event_name": "UserPromptSubmit", "prompt": text, "prompt_id": prompt})


DURATION = b'{"type":"system","subtype":"turn_duration"}'


def test_the_late_end_of_one_turn_is_not_the_end_of_the_next() -> None:
    records = [
        (translate, prompt_line("a", "p1")),
        (translate, answer_line("one")),
        (translate_hook, stop_hook("one", "p1")),
        (translate_hook, submit_hook("b", "p2")),
        (translate, DURATION),
        (translate, prompt_line("b", "p2")),
        (translate, answer_line("two")),
        (translate, DURATION),
    ]
    names = ["TurnStarted", "Said", "TurnEnded"]
    assert played(*records) == [(f"desk-{prompt}", name) for prompt in ("p1", "p2") for name in names]


def test_a_new_prompt_ends_the_turn_before_it_whose_words_come_late() -> None:
    records = [
        (translate, prompt_line("a", "p1")),
        (translate_hook, submit_hook("b", "p2")),
        (translate, answer_line("one")),
        (translate, DURATION),
        (translate, prompt_line("b", "p2")),
        (translate, answer_line("two")),
        (translate, DURATION),
    ]
    assert played(*records) == [
        ("desk-p1", "TurnStarted"),
        ("desk-p1", "TurnEnded"),
        ("desk-p2", "TurnStarted"),
        ("desk-p1", "Said"),
        ("desk-p2", "Said"),
        ("desk-p2", "TurnEnded"),
    ]
