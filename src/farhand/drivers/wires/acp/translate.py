"""Translates ACP updates into lines of the line protocol, and prompts into content blocks. Pure."""

import base64
import hashlib
import json
from collections.abc import Callable
from mimetypes import guess_type
from pathlib import Path

from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.lines.agent import Prompt
from farhand.model.visible import visible
from farhand.sdk.acp.words import AcpOption, AcpPermission, AcpSaid, AcpTurnEnded, ToolProgress, Update

SHOWN_CHARACTERS = 4000
ORDER = ("allow_once", "allow_always", "reject_once", "reject_always")
HOW = {"end_turn": "completed", "cancelled": "interrupted"}
FAILURES = {
    "max_tokens": "The model's answer was cut off: it reached the limit of its length.",
    "max_turn_requests": "The turn reached the agent's limit of model calls.",
    "refusal": "The model refused to go on.",
}


class AcpToolCalls:
    """The tool calls of one turn: which were reported, and under which title."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}
        self._over: set[str] = set()

    def lines(self, turn: str, update: ToolProgress) -> list[JsonObject]:
        """A call is reported when it is first seen, whatever the agent sends first, and once more when it is over."""
        lines: list[JsonObject] = []
        if update.call not in self._titles:
            title = update.title or update.kind or "tool"
            self._titles[update.call] = title
            lines.append(
                {"tool": turn, "call": update.call, "name": update.kind or "tool", "title": title, "status": "started"}
            )
        if update.over and update.call not in self._over:
            self._over.add(update.call)
            status = "failed" if update.status == "failed" else "done"
            lines.append(
                {"tool": turn, "call": update.call, "status": status, "output": update.text[:SHOWN_CHARACTERS]}
            )
        return lines


def lines_of(turn: str, event: Update | AcpTurnEnded, calls: AcpToolCalls) -> list[JsonObject]:
    """The lines that one update means."""
    match event:
        case AcpSaid(role="agent", content=content) if content.text:
            return [{"text": turn, "piece": content.text}]
        case AcpSaid(role="thought", content=content) if content.text:
            return [{"thought": turn, "piece": content.text}]
        case ToolProgress():
            return calls.lines(turn, event)
        case AcpTurnEnded():
            return _ended(turn, event)
        case _:
            return []


def _ended(turn: str, ended: AcpTurnEnded) -> list[JsonObject]:
    lines: list[JsonObject] = []
    if ended.input_tokens or ended.output_tokens:
        lines.append({"usage": turn, "input": ended.input_tokens, "output": ended.output_tokens})
    how = HOW.get(ended.stop_reason, "failed")
    error = FAILURES.get(ended.stop_reason, f"The agent stopped: {ended.stop_reason}.") if how == "failed" else ""
    return [*lines, {"ended": turn, "how": how, **({"error": error} if error else {})}]


def ask_line(turn: str, ask: str, permission: AcpPermission) -> JsonObject:
    """A request for permission as a question: what allows least comes first."""
    call = permission.call
    command = call.raw_input.get("command") if isinstance(call.raw_input, dict) else None
    detail = call.text or (command if isinstance(command, str) else "") or call.title or ""
    exact = json.dumps([call.call, call.kind, call.title, call.text, call.raw_input], sort_keys=True, default=str)
    return {
        "ask": turn,
        "ask_id": ask,
        "question": f"May this run? {call.title or call.kind or 'a tool'}",
        "choices": [_choice(option) for option in sorted(permission.options, key=_rank)],
        "about": "permission",
        "detail": visible(detail),
        "digest": hashlib.sha256(exact.encode(errors="surrogatepass")).hexdigest(),
    }


def _rank(option: AcpOption) -> int:
    return ORDER.index(option.kind) if option.kind in ORDER else len(ORDER)


def _choice(option: AcpOption) -> JsonObject:
    allows = option.kind.startswith("allow")
    return {"id": option.option_id, "label": option.name or option.option_id, "allows": allows}


def blocks_of(prompt: Prompt, *, images: bool, read: Callable[[Path], bytes] = Path.read_bytes) -> list[JsonObject]:
    """A prompt's text and files; an image goes as data where the agent can see it, everything else as a link."""
    blocks: list[JsonObject] = [{"type": "text", "text": prompt.text}] if prompt.text else []
    for name in prompt.files:
        path = Path(name)
        media_type = guess_type(path.name)[0] or ""
        if images and media_type.startswith("image/"):
            data = base64.b64encode(read(path)).decode()
            blocks.append({"type": "image", "mimeType": media_type, "data": data})
        else:
            blocks.append({"type": "resource_link", "uri": path.absolute().as_uri(), "name": path.name})
    return blocks
