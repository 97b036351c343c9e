"""What was missed of a session is fetched: only what is new of it is reported, and an open turn is ended."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from farhand.drivers.opencode.headless.state import OpenCodeExpected, OpenCodeState
from farhand.drivers.opencode.headless.translate import encode_event, translate, translate_missed
from farhand.drivers.opencode.schema import OpenCodeMessage
from farhand.model.facts import Said, TurnEnded
from farhand.model.ports import Heard
from farhand.model.words import HowEnded, replace

RUNNING = OpenCodeState(session="ses", running=True, turn="t1", prompts=("msg_1",), newest="msg_1")
REPLY = {"id": "msg_2", "role": "assistant", "sessionID": "ses", "parentID": "msg_1"}
PART = {"type": "text", "id": "prt_1", "messageID": "msg_2", "sessionID": "ses"}


def fetched(info: Mapping[str, object], *parts: Mapping[str, object]) -> OpenCodeMessage:
    """A message as the session has it."""
    return msgspec.json.decode(msgspec.json.encode({"info": info, "parts": parts}), type=OpenCodeMessage)


def missed(message: OpenCodeMessage, state: OpenCodeState) -> tuple[list[Heard], OpenCodeState]:
    """What is new of it."""
    return translate_missed(message, state, 0.0, None)


def test_of_a_part_that_was_reported_in_part_only_the_rest_is_reported_once() -> None:
    state = RUNNING
    delta = {"sessionID": "ses", "messageID": "msg_2", "partID": "prt_1", "field": "text", "delta": "one "}
    for event in (
        encode_event("message.updated", {"info": REPLY}),
        encode_event("message.part.updated", {"part": PART}),
        encode_event("message.part.delta", delta),
    ):
        heard, state = translate(event, state)
    assert heard == [Heard(fact=Said(text="one "), turn="t1")]
    whole = fetched(REPLY, {**PART, "text": "one two", "time": {"start": 1, "end": 2}})
    heard, state = missed(whole, state)
    assert heard == [Heard(fact=Said(text="two"), turn="t1")]
    assert missed(whole, state)[0] == []


def test_of_a_part_that_is_not_complete_only_its_end_says_what_is_new() -> None:
    heard, state = missed(fetched(REPLY, {**PART, "text": "on"}), RUNNING)
    delta = {"sessionID": "ses", "messageID": "msg_2", "partID": "prt_1", "field": "text", "delta": "e two"}
    more, state = translate(encode_event("message.part.delta", delta), state)
    assert heard == more == []
    ended = {"part": {**PART, "text": "one two", "time": {"start": 1, "end": 2}}}
    assert translate(encode_event("message.part.updated", ended), state)[0] == [
        Heard(fact=Said(text="one two"), turn="t1")
    ]


def test_a_persons_next_message_ends_the_turn_before_it_unless_it_joined_that_turn() -> None:
    following = fetched({"id": "msg_3", "role": "user", "sessionID": "ses"})
    heard, state = missed(following, RUNNING)
    assert isinstance(heard[0].fact, TurnEnded)
    assert (heard[0].turn, heard[0].fact.how) == ("t1", HowEnded.FAILED)
    assert (state.running, state.turn) == (True, "desk-msg_3")
    joined = replace(RUNNING, expected=(OpenCodeExpected(id="msg_3", message="m3"),))
    heard, state = missed(following, joined)
    assert (heard, state.turn, state.prompts) == ([], "t1", ("msg_1", "msg_3"))


def test_a_message_that_cannot_be_read_is_left_out() -> None:
    assert missed(fetched({"id": 7}), RUNNING) == ([], RUNNING)
