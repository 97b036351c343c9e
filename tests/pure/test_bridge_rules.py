"""The rules of the file bridge: what is new, what is kept, what is told; and how a sprint of its hooks goes on."""

from __future__ import annotations

import json

import pytest

from farhand.bridge.hook import rounds, rules
from farhand.bridge.hook.program import from_transcript, last_words
from farhand.bridge.hook.rules import READ, SENT, BridgeMessage

NOW = 1_800_000_000.0


def message(text: str, *, age: float = 0.0, **fields: object) -> BridgeMessage:
    return {**rules.new_message("msg", "user", text, NOW - age, "x", READ), **fields}


def test_a_message_has_the_shape_of_the_files() -> None:
    made = rules.new_message("resp", "agent", "done", NOW, "ab12", SENT)
    assert made == {
        "id": "resp_1800000000000_ab12",
        "timestamp": "2027-01-15T08:00:00Z",
        "from": "agent",
        "text": "done",
        "sent": False,
    }


def test_a_file_is_utf8_without_bom_and_reads_back() -> None:
    data = rules.encode([message("grüß 🦊")])
    assert data.startswith(b"{")
    assert "grüß 🦊".encode() in data
    assert rules.parse(data) == [message("grüß 🦊")]
    assert rules.parse(b"\xef\xbb\xbf" + data) == [message("grüß 🦊")]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"messages": 3}', b"\xff\xfe", b"[" * 100_000])
def test_what_holds_no_messages_is_malformed(data: bytes) -> None:
    with pytest.raises(rules.Malformed):
        rules.parse(data)


def test_what_is_no_message_costs_itself_alone() -> None:
    assert rules.parse(b'{"messages": [7, {"id": "a", "text": "b"}, null]}') == [{"id": "a", "text": "b"}]


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("2027-01-15T08:00:00Z", NOW),
        ("2027-01-15T08:00:00.123Z", NOW),
        ("2027-01-15T10:30:00+02:30", NOW),
        ("2027-01-15T03:00:00-0500", NOW),
        ("2024-02-29T12:00:00Z", 1709208000.0),
        ("1970-01-01T00:00:00Z", 0.0),
        ("yesterday", -1.0),
    ],
)
def test_a_time_is_read_however_it_is_written(stamp: str, seconds: float) -> None:
    assert rules.written_at({"timestamp": stamp}, -1.0) == seconds


def test_what_is_read_goes_after_an_hour_and_what_is_unread_never() -> None:
    old, older_unread, fresh = message("a", age=3700, read=True), message("b", age=9999), message("c", read=True)
    assert rules.pruned([old, older_unread, fresh], READ, NOW) == [older_unread, fresh]


def test_over_a_hundred_everything_read_goes_and_nothing_unread() -> None:
    read = [message(f"r{number}", read=True) for number in range(60)]
    unread = [message(f"u{number}") for number in range(41)]
    assert rules.pruned([*read, *unread], READ, NOW) == unread
    assert rules.pruned([*read, *unread[:40]], READ, NOW) == [*read, *unread[:40]]


def test_two_messages_with_one_id_are_two() -> None:
    first, second = message("a", id="msg_1"), message("b", id="msg_1")
    assert rules.merged([first], [second], READ) == [first, second]
    assert rules.marked([first, second], [rules.key(first)], READ) == [{**first, "read": True}, second]


def test_what_is_done_in_either_file_is_done() -> None:
    assert rules.merged([message("a")], [message("a", read=True)], READ) == [message("a", read=True)]


@pytest.mark.parametrize("text", ["STOP", "stop", "please Stop!", "Stop.\nnow", "STOP NOW"])
def test_stop_is_heard_in_any_case(text: str) -> None:
    assert rules.is_stop(text)


@pytest.mark.parametrize("text", ["fix the stopwatch", "unstoppable", "go on"])
def test_a_word_that_only_contains_it_stops_nobody(text: str) -> None:
    assert not rules.is_stop(text)


def test_the_agent_is_told_messages_in_their_order() -> None:
    assert rules.context(["one", "two"]) == "WhatsApp messages:\none\ntwo"


def test_the_sentence_of_stop_is_exact() -> None:
    assert rules.context(["stop"]) == (
        "⛔ STOP signal received from user. Complete your current action, write a final status update, and halt."
        " Do not start any new tasks."
    )


def test_what_is_said_beside_stop_is_not_lost() -> None:
    told = rules.context(["remember the docs", "STOP"])
    assert told == f"{rules.STOP_SENTENCE}\n\nWhatsApp messages:\nremember the docs"


def test_a_summary_has_500_characters_at_most() -> None:
    assert rules.summary("short ") == "short"
    assert rules.summary("é" * 500) == "é" * 500
    assert rules.summary("é" * 501) == "é" * 499 + "…"


def test_the_answer_is_read_off_the_transcript() -> None:
    lines = [
        {"type": "user", "content": [{"text": "go"}]},
        {"type": "model", "content": "half"},
        {"type": "model", "content": "half and whole"},
        {"$set": {"lastUpdated": "now"}},
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    assert from_transcript(data, "model") == "half and whole"
    assert from_transcript(data + b'\n{"type":"user","content":"again"}', "model") == ""
    assert last_words({"transcript_path": "/nowhere", "prompt_response": "one two"}, "model") == "one two"
    assert last_words({"prompt_response": "[no response text]"}, "model") == ""
    assert last_words({"last_assistant_message": "done "}, "-") == "done"


@pytest.mark.parametrize(
    ("text", "tasks", "total"),
    [
        ("/sprint start\n- [ ] a b\n- [x] done before\n2. c", ("a b", "c"), 2),
        ("/sprint 3", (), 3),
        ("/sprint", (), 5),
        ("/SPRINT start 1\n- a\n- b", ("a", "b"), 1),
    ],
)
def test_a_message_starts_a_sprint(text: str, tasks: tuple[str, ...], total: int) -> None:
    begun = rounds.started(text)
    assert begun is not None
    assert (begun.tasks, begun.total) == (tasks, total)
    assert rounds.read_rounds(json.loads(json.dumps(begun.stored()))) == begun


@pytest.mark.parametrize("text", ["sprint", "/sprinter", "/sprint stop", "/sprint status", "run /sprint"])
def test_other_words_start_none(text: str) -> None:
    assert rounds.started(text) is None


def test_a_sprint_goes_from_task_to_task_and_ends() -> None:
    begun = rounds.Rounds(("a", "b"), 2)
    first = rounds.after_turn(begun, "did a", stopped=False)
    assert first.rounds is not None
    assert first.prompt.startswith("Task 2 of 2: b\n")
    assert first.report == "✅ 1/2 done. Next: b"
    assert rounds.after_turn(first.rounds, "did b", stopped=False) == rounds.Decided(None, "", "🏁 Sprint done: 2/2.")


def test_tasks_beyond_the_number_that_was_asked_for_are_told_as_left() -> None:
    begun = rounds.started("/sprint 1\n- a\n- b\n- c")
    assert begun is not None
    assert (
        rounds.after_turn(begun, "did a", stopped=False).report
        == "🏁 Sprint ended at its limit: 1/1. 2 tasks are left."
    )


def test_a_sprint_ends_at_stop_at_a_repetition_and_at_the_end_of_a_plan() -> None:
    begun = rounds.Rounds((), 5, done=1, said="same")
    assert rounds.after_turn(begun, "x", stopped=True).report == "⛔ Sprint stopped at 2/5."
    assert "says the same again" in rounds.after_turn(begun, "same", stopped=False).report
    assert rounds.after_turn(begun, f"all is done: {rounds.DONE}", stopped=False).rounds is None
    assert rounds.after_turn(begun, "more to do", stopped=False).rounds is not None
