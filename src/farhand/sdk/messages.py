"""A conversation as a person or a program wants to read it: who said what, without what the SDK put around it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, TypedDict

from farhand.sdk import wire
from farhand.sdk.protocols import Content, Part

_ADDED = re.compile(r"<hook_context>.*</hook_context>", re.DOTALL)
_OPENING = "<session_context>"


class HistoryMessage(TypedDict):
    """One message: the person's, the model's, or what tools answered; `parts` is the model's own wire JSON."""

    role: Literal["user", "model", "tool"]
    text: str
    parts: list[Part]


def clean_messages(contents: Iterable[Content]) -> Iterator[HistoryMessage]:
    """The messages of a conversation, without the opening one and without what hooks added."""
    for content in contents:
        parts = [part for part in wire.parts_of(content) if not _is_added(part)]
        if not parts:
            continue
        text = "".join(part["text"] for part in parts if wire.is_text(part))
        yield {"role": _role(content), "text": text, "parts": parts}


def _role(content: Content) -> Literal["user", "model", "tool"]:
    if content.get("role") == "model":
        return "model"
    return "tool" if wire.responses_of(content) else "user"


def _is_added(part: Part) -> bool:
    text = part.get("text")
    return isinstance(text, str) and (text.startswith(_OPENING) or _ADDED.fullmatch(text) is not None)
