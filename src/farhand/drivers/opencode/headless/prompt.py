"""A message as OpenCode takes it: its words, its pictures, and who is to work on it."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import anyio.to_thread

from farhand.drivers.opencode import modes
from farhand.drivers.opencode.headless.cursor import OpenCodeTuning
from farhand.drivers.opencode.headless.ids import part_id
from farhand.drivers.wires.text.prompt import worded
from farhand.model.present import Message
from farhand.model.words import Attachment, Mode

LARGEST_IMAGE = 10 * 1024 * 1024


async def prompt_of(message: str, said: Message, tuning: OpenCodeTuning) -> dict[str, Any]:
    """The body of a prompt under that id; every part has the same id however often it is given."""
    pictures = [one for one in said.attachments if one.media_type.startswith("image/")]
    files = [part for part in [await anyio.to_thread.run_sync(_picture, one) for one in pictures] if part]
    parts = [{"type": "text", "text": worded(said)}, *files]
    body: dict[str, Any] = {
        "messageID": message,
        "parts": [{"id": part_id(message, number), **part} for number, part in enumerate(parts)],
    }
    provider, slash, model = tuning.model.partition("/")
    if slash:
        body["model"] = {"providerID": provider, "modelID": model}
    agent = _agent(tuning)
    if agent:
        body["agent"] = agent
    return body


def _agent(tuning: OpenCodeTuning) -> str:
    """Who is to work on it, where that is not whoever worked last."""
    if tuning.mode is Mode.PLAN:
        return modes.PLAN_AGENT
    return modes.WORK_AGENT if tuning.agent == modes.PLAN_AGENT else ""


def _picture(attachment: Attachment) -> dict[str, str] | None:
    """A picture as a part of a message; None for one that cannot be sent so: its path is in the words."""
    path = Path(attachment.path)
    try:
        if path.stat().st_size > LARGEST_IMAGE:
            return None
        content = base64.b64encode(path.read_bytes()).decode()
    except OSError:
        return None
    mime = attachment.media_type
    return {
        "type": "file",
        "mime": mime,
        "filename": attachment.name or path.name,
        "url": f"data:{mime};base64,{content}",
    }
