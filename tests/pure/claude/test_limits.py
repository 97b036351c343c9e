"""A usage limit of Claude Code is told as one, with the time of its end, by whichever source brings it first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from farhand.drivers.claude.headless.state import ClaudeStreamState
from farhand.drivers.claude.headless.translate import translate_stream
from farhand.drivers.claude.limits import limit, reset
from farhand.drivers.claude.tmux.hooks import translate_hook
from farhand.drivers.claude.tmux.state import ClaudeState
from farhand.drivers.claude.tmux.translate import translate
from farhand.drivers.wires.foreign_json import Fields
from farhand.model.facts import Fact, Limited, TurnEnded
from farhand.model.words import HowEnded


def moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


NOW = moment("2026-03-10T20:00:00")
HIT = "You've hit your limit · resets 10pm (America/New_York)"


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("Claude AI usage limit reached|1749924000", 1749924000.0),
        ("Claude AI usage limit reached|1749924000000", 1749924000.0),
        (HIT, moment("2026-03-11T02:00:00")),
        ("You've hit your session limit · resets 3:30am (Asia/Kolkata)", moment("2026-03-10T22:00:00")),
        ("Claude usage limit reached. Your limit will reset at 3pm (America/Bogota).", moment("2026-03-11T20:00:00")),
        ("You've hit your weekly limit · resets Mar 14, 9am (UTC)", moment("2026-03-14T09:00:00")),
        ("You've hit your weekly limit · resets Mar 14 at 12am (UTC)", moment("2026-03-14T00:00:00")),
        ("You've hit your weekly limit · resets Jan 2, 9am (UTC)", moment("2026-01-02T09:00:00")),
        ("You've hit your limit · resets 10pm (Nowhere/Land)", None),
        ("You've hit your limit · resets Feb 31, 9am (UTC)", None),
        ("You've hit your limit · resets 44pm (UTC)", None),
        ("API Error: Request rejected (429) · limited", None),
        ("", None),
    ],
)
def test_the_end_of_a_limit_is_read_from_its_words(text: str, until: float | None) -> None:
    assert reset(text, NOW) == until


def test_a_date_at_the_turn_of_the_year_is_one_of_the_next() -> None:
    assert reset("resets Jan 2, 9am (UTC)", moment("2026-12-30T20:00:00")) == moment("2027-01-02T09:00:00")


def test_without_a_time_no_hour_of_a_clock_can_be_placed() -> None:
    assert reset(HIT, 0.0) is None


@pytest.mark.parametrize("record", [{"error": "overloaded"}, {"api_error_status": 529}, {"apiErrorStatus": "429"}, {}])
def test_another_error_is_no_limit(record: dict[str, Any]) -> None:
    assert limit(Fields(record), "API Error: Overloaded", NOW) is None


@pytest.mark.parametrize("record", [{"error": "rate_limit"}, {"api_error_status": 429}, {"apiErrorStatus": 429}])
def test_a_limit_is_known_by_its_kind_or_status(record: dict[str, Any]) -> None:
    assert limit(Fields(record), "come back later", NOW) == Limited(text="come back later")


def facts(translated: tuple[list[Any], Any]) -> list[Fact]:
    assert {one.turn for one in translated[0]} <= {"t"}
    return [one.fact for one in translated[0]]


RUNNING = ClaudeState(running=True, turn="t", prompt="p", prompts={"p": "t"}, written="p")


def failed_line(text: str) -> bytes:
    line = {
        "type": "assistant",
        "isApiErrorMessage": True,
        "error": "rate_limit",
        "timestamp": "2026-03-10T20:00:00.000Z",
        "message": {"content": [{"type": "text", "text": text}]},
    }
    return msgspec.json.encode(line)


def stop_failure(error: str, text: str) -> bytes:
    record = {"hook_event_name": "StopFailure", "prompt_id": "p", "error": error, "last_assistant_message": text}
    return msgspec.json.encode(record)


def test_the_transcript_tells_of_a_limit_before_the_end_of_the_turn() -> None:
    told = facts(translate(failed_line(HIT), RUNNING))
    limited, ended = told
    assert limited == Limited(text=HIT, until=moment("2026-03-11T02:00:00"))
    assert isinstance(ended, TurnEnded)
    assert ended.how is HowEnded.FAILED


def test_hook_and_transcript_tell_of_the_same_limit_once() -> None:
    heard, state = translate_hook(stop_failure("rate_limit", HIT), RUNNING, NOW)
    assert facts((heard, state))[0] == Limited(text=HIT, until=moment("2026-03-11T02:00:00"))
    assert translate(failed_line(HIT), state)[0] == []


def test_a_hook_that_tells_of_another_failure_tells_of_no_limit() -> None:
    told = facts(translate_hook(stop_failure("server_error", "API Error: 500"), RUNNING, NOW))
    assert [type(one) for one in told] == [TurnEnded]


def test_the_stream_tells_of_a_limit_with_the_time_of_its_event() -> None:
    event = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1773194400}}
    result = {"type": "result", "is_error": True, "api_error_status": 429, "result": "API Error: 429"}
    state = ClaudeStreamState(running=True, turn="t")
    heard, state = translate_stream(msgspec.json.encode(event), state, NOW)
    assert heard == []
    limited, ended = facts(translate_stream(msgspec.json.encode(result), state, NOW))
    assert limited == Limited(text="API Error: 429", until=1773194400.0)
    assert isinstance(ended, TurnEnded)
    # A warning is no limit, and lifts what was told before.
    event["rate_limit_info"] = {"status": "allowed_warning", "resetsAt": 1773194400}
    heard, state = translate_stream(msgspec.json.encode(event), state, NOW)
    assert (heard, state.resets_at) == ([], None)


def test_a_completed_turn_that_speaks_of_limits_is_none() -> None:
    result = {"type": "result", "is_error": False, "result": HIT}
    told = facts(translate_stream(msgspec.json.encode(result), ClaudeStreamState(running=True, turn="t"), NOW))
    assert [type(one) for one in told] == [TurnEnded]
