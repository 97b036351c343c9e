"""Where a person at the terminal speaks: what is followed, and what is not."""

from __future__ import annotations

from farhand.drivers.opencode.headless.state import OpenCodeExpected, OpenCodeState, OtherSession, is_idle
from farhand.drivers.opencode.headless.translate import encode_event
from farhand.drivers.opencode.tmux.translate import other_session

HERE = OpenCodeState(session="ses_a", children=("ses_helper",), after="msg_1", newest="msg_3")
THERE = OtherSession(session="ses_b", prompt="msg_4")


def message(session: str, name: str, role: str = "user") -> bytes:
    """A message that began or changed."""
    return encode_event("message.updated", {"info": {"id": name, "role": role, "sessionID": session}})


def test_a_new_message_in_another_session_is_followed_from_the_first_on() -> None:
    assert other_session(message("ses_b", "msg_4"), HERE, None) == THERE
    assert other_session(message("ses_b", "msg_5"), HERE, THERE) == THERE
    assert other_session(message("ses_c", "msg_6"), HERE, THERE) == OtherSession(session="ses_c", prompt="msg_6")
    prompt = OtherSession(session="ses_b", prompt="msg_1e2aedb160019CkFPLai7uUV2g")
    assert "msg_1e2aedb16000zzzzzzzzzzzzzz" < prompt.before < prompt.prompt


def test_old_messages_answers_helpers_and_the_own_session_are_not() -> None:
    assert other_session(message("ses_b", "msg_2"), HERE, None) is None
    assert other_session(message("ses_c", "msg_4"), HERE, THERE) == THERE
    assert other_session(message("ses_b", "msg_4", role="assistant"), HERE, None) is None
    assert other_session(message("ses_helper", "msg_4"), HERE, None) is None
    assert other_session(message("ses_a", "msg_4"), HERE, None) is None
    assert other_session(encode_event("session.idle", {"sessionID": "ses_b", "x": "user"}), HERE, None) is None
    assert other_session(b'"user" {', HERE, THERE) == THERE


def test_who_comes_back_is_not_followed_away_and_the_phone_is_nobody_at_the_desk() -> None:
    given = OpenCodeState(
        session="ses_a", newest="msg_3", expected=(OpenCodeExpected(id="msg_5", message="m", turn="t"),)
    )
    assert other_session(message("ses_a", "msg_5"), HERE, THERE) is None
    assert other_session(message("ses_a", "msg_5"), given, THERE) == THERE
    assert other_session(message("ses_a", "msg_2"), HERE, THERE) == THERE


def test_a_session_is_idle_when_nothing_runs_and_nothing_is_on_its_way() -> None:
    assert is_idle(HERE)
    assert not is_idle(OpenCodeState(session="ses_a", running=True))
    assert not is_idle(
        OpenCodeState(session="ses_a", after="msg_1", expected=(OpenCodeExpected(id="msg_2", message="m"),))
    )
    assert is_idle(OpenCodeState(session="ses_a", after="msg_3", expected=(OpenCodeExpected(id="msg_2", message="m"),)))
