"""What the remote control answers, in JSON: messages, status and questions in both of its vocabularies. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeAlias

import msgspec

from farhand.model.ask_text import circumstances
from farhand.model.errors import BadInput
from farhand.model.live_session import Role, SessionMessage, SessionStatus
from farhand.model.present import Ask

Json: TypeAlias = dict[str, object]
LONGEST_TEXT = 1_000_000
# The media type of an error (RFC 9457).
PROBLEM = "application/problem+json"
_AGENTS_NAME = {Role.USER: "user", Role.MODEL: "agent"}


class Posted(msgspec.Struct, frozen=True):
    """What `POST /message` was given: words, or keys for the agent's own terminal."""

    text: str
    raw: bool = False


def read_posted(body: bytes) -> Posted:
    """The body in either of its forms: `{"message"}`, or `{"content", "type"}`."""
    given = read_object(body)
    if "message" in given and "content" in given:
        raise BadInput('A message is either {"message"} or {"content", "type"}, not both.')
    name = "message" if "message" in given else "content"
    text = given.get(name)
    if not isinstance(text, str):
        raise BadInput('A message is {"message": "text"} or {"content": "text", "type": "user"}.')
    kind = given.get("type", "user") if name == "content" else "user"
    if kind not in ("user", "raw"):
        raise BadInput("'type' is user or raw.")
    if len(text) > LONGEST_TEXT:
        raise BadInput(f"A message has at most {LONGEST_TEXT:,} characters.")
    if not text.strip() and kind == "user":
        raise BadInput("The message is empty.")
    return Posted(text, kind == "raw")


def read_object(body: bytes) -> Json:
    """A JSON object, or BadInput."""
    try:
        given = msgspec.json.decode(body or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadInput("The body is no JSON.") from None
    if not isinstance(given, dict):
        raise BadInput("The body must be a JSON object.")
    return given


def history(messages: Sequence[SessionMessage], limit: int | None) -> list[Json]:
    """`[{role, text}]`: what was said, and nothing of the screen's own."""
    said = [one for one in messages if is_said(one)]
    if limit is not None:
        said = said[len(said) - limit :] if limit < len(said) else said
    return [{"role": one.role.value, "text": one.text} for one in said]


def is_said(message: SessionMessage) -> bool:
    """Whether somebody said it."""
    return message.role is not Role.NOTICE and bool(message.text)


def message_json(message: SessionMessage) -> Json:
    """A message with an id and a time, and its parts: thoughts and tools as well."""
    return {
        "id": message.id,
        "role": _AGENTS_NAME[message.role],
        "content": message.text,
        "time": datetime.fromtimestamp(message.at, UTC).isoformat().replace("+00:00", "Z"),
        "state": message.state.value,
        "parts": [msgspec.to_builtins(part) for part in message.parts],
    }


def update_json(message: SessionMessage) -> Json:
    """The same as an event has it, where the text is called `message`."""
    told = message_json(message)
    return {"message": told.pop("content"), **told}


def status_json(status: SessionStatus, asks: int) -> Json:
    """How the conversation stands. `transport` is in agentapi's two words: whether there is a terminal to look at."""
    return {
        "status": "running" if status.running else "stable",
        "agent_type": status.agent_type,
        "transport": "pty" if status.has_terminal else "acp",
        "wire": status.wire,
        "ready": status.ready,
        "queued": status.queued,
        "asks": asks,
        "model": status.model,
        "mode": status.mode,
        "directory": status.directory,
        "session_id": status.session_id,
        "tokens": status.tokens,
        "cost_dollars": status.cost_dollars,
        "why": status.why,
    }


def ask_json(ask: Ask) -> Json:
    """A question with the whole of what would be done, and what may be answered."""
    return {
        "id": ask.id,
        "question": ask.question,
        "about": ask.about.value,
        "detail": ask.detail,
        "circumstances": circumstances(ask),
        "several": ask.several,
        "choices": [
            {"id": one.id, "label": one.label, "allows": one.allows, "words": one.words, "scope": one.scope}
            for one in ask.choices
        ],
    }
