"""What an SDK agent does, in the protocol's words: events become updates, content blocks become prompts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from farhand.sdk import events, wire
from farhand.sdk.acp.rpc import INVALID_PARAMS, RpcError
from farhand.sdk.json_shapes import is_list, is_mapping, is_object
from farhand.sdk.protocols import Content, Part, ToolCall

TITLE_CHARACTERS = 200
STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "safety": "refusal",
    "interrupted": "cancelled",
    "max_turns": "max_turn_requests",
}


def update_of(event: events.Event, kinds: Mapping[str, str], cwd: Path) -> dict[str, Any] | None:
    """The update that tells of an event; None when the protocol has none for it."""
    match event:
        case events.Text(text=text):
            return _chunk("agent_message_chunk", text)
        case events.Thought(text=text, subject=subject):
            return _chunk("agent_thought_chunk", f"**{subject}** {text}" if subject else text)
        case events.ToolRequest(call_id=call_id, name=name, arguments=arguments):
            call = ToolCall(call_id, name, arguments)
            return {"sessionUpdate": "tool_call", **described(call, kinds, cwd), "status": "in_progress"}
        case events.ToolResponse():
            return _ended(event)
        case events.Notice(message=message) | events.Error(message=message, fatal=False):
            return _chunk("agent_thought_chunk", message)
        case _:
            return None


def _ended(event: events.ToolResponse) -> dict[str, Any]:
    shown = event.error or event.display or _plain(event.content)
    return {
        "sessionUpdate": "tool_call_update",
        "toolCallId": event.call_id,
        "status": "failed" if event.error else "completed",
        "content": [_text_content(shown)] if shown else [],
    }


def described(call: ToolCall, kinds: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    """A tool call with its title, kind, places and, for an edit, what changes."""
    path = call.arguments.get("file_path")
    place = str(cwd / path) if isinstance(path, str) and path and "\0" not in path else ""
    return {
        "toolCallId": call.id,
        "title": title(call),
        "kind": kinds.get(call.name, "other"),
        "rawInput": call.arguments,
        "locations": [{"path": place}] if place else [],
        "content": _change(call, place),
    }


def title(call: ToolCall) -> str:
    """A tool call in a line."""
    texts = [value for value in call.arguments.values() if isinstance(value, str)]
    text = next(filter(None, texts), "")
    line = f"{call.name}: {' '.join(text.split())}" if text else call.name
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"


def _change(call: ToolCall, place: str) -> list[dict[str, Any]]:
    old, new = call.arguments.get("old_string"), call.arguments.get("new_string", call.arguments.get("content"))
    if not (place and isinstance(new, str)):
        return []
    return [{"type": "diff", "path": place, "oldText": old if isinstance(old, str) else None, "newText": new}]


def replayed(contents: Sequence[Content], kinds: Mapping[str, str], cwd: Path) -> Iterator[dict[str, Any]]:
    """A recorded conversation as the updates that would have told of it."""
    for content in contents:
        role = "user_message_chunk" if content.get("role") == "user" else "agent_message_chunk"
        for part in wire.parts_of(content):
            if wire.is_thought(part):
                yield _chunk("agent_thought_chunk", str(part["text"]))
            elif wire.is_text(part) and part["text"]:
                yield _chunk(role, part["text"])
        for call in wire.calls_of(content):
            yield {"sessionUpdate": "tool_call", **described(call, kinds, cwd), "status": "pending"}
        for response in wire.responses_of(content):
            yield _replayed_response(response)


def _replayed_response(response: Mapping[str, Any]) -> dict[str, Any]:
    content = response.get("response")
    fields: Mapping[str, Any] = content if is_mapping(content) else {}
    shown = str(fields.get("error") or fields.get("output") or "")
    return {
        "sessionUpdate": "tool_call_update",
        "toolCallId": str(response.get("id", "")),
        "status": "failed" if "error" in fields else "completed",
        "content": [_text_content(shown)] if shown else [],
    }


def to_prompt(blocks: Any) -> list[str | Part]:
    """The blocks of a prompt as the SDK's pieces."""
    if not is_list(blocks) or not blocks:
        raise RpcError(INVALID_PARAMS, "A prompt is a list of content blocks with at least one in it.")
    return [_piece(block) for block in blocks]


def _piece(block: Any) -> str | Part:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio", "data": str(data), "mimeType": str(mime_type)}:
            return {"inlineData": {"mimeType": mime_type, "data": data}}
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            return f"--- {uri} ---\n{text}\n--- end of {uri} ---"
        case {"type": "resource", "resource": {"blob": str(data), "mimeType": str(mime_type)}}:
            return {"inlineData": {"mimeType": mime_type, "data": data}}
        case {"type": "resource_link", "uri": str(uri)}:
            return f"[{block.get('name') or uri}]({uri})"
        case _:
            kind = block.get("type") if is_object(block) else type(block).__name__
            raise RpcError(INVALID_PARAMS, f"A prompt block of type {kind!r} cannot be read.")


def _chunk(kind: str, text: str) -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def _text_content(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _plain(content: str | list[Part]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
