"""Reads session files of the CLI and turns them into wire contents. Pure but for the reading of a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from farhand.sdk import wire
from farhand.sdk.json_shapes import is_list, is_object
from farhand.sdk.protocols import Content, Part, ToolCall

SIDECAR_SUFFIX = ".wire"
_SKIPPED = ("<session_context>", "<hook_context>", "/", "?")
INTERRUPTED = "The session ended while this tool was running; whether it had an effect is unknown."

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SessionRecords:
    """A session file, its records applied: the metadata and the messages that count."""

    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    messages: tuple[Record, ...] = ()
    damaged_lines: int = 0

    @property
    def session_id(self) -> str:
        return str(self.metadata.get("sessionId", ""))


@dataclass(frozen=True, slots=True)
class Restored:
    """A conversation as wire contents, and in plain sentences what could not be restored."""

    contents: tuple[Content, ...]
    losses: tuple[str, ...]
    # How long the recording was when it was read.
    recorded_bytes: int | None = None


def read_conversation(path: Path) -> SessionRecords:
    """Reads a `.jsonl` session, or a `.json` one of older versions. A damaged line costs that line alone."""
    if path.suffix == ".json":
        whole = json.loads(path.read_text("utf-8"))
        messages: list[Any] = whole.pop("messages", []) if is_object(whole) else []
        return SessionRecords(whole if is_object(whole) else {}, tuple(filter(_is_message, messages)))
    with path.open(encoding="utf-8", errors="replace") as lines:
        return apply_records(lines)


def apply_records(lines: Iterable[str]) -> SessionRecords:
    """Applies the records in order: a message again replaces itself, `$set` updates, `$rewindTo` takes back."""
    metadata: Record = {}
    messages: dict[str, Record] = {}
    damaged = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            damaged += 1
            continue
        if is_object(record):
            messages = _apply(record, metadata, messages)
    metadata.pop("messages", None)
    return SessionRecords(metadata, tuple(messages.values()), damaged)


def _apply(record: Record, metadata: Record, messages: dict[str, Record]) -> dict[str, Record]:
    if isinstance(record.get("$rewindTo"), str):
        return _rewound(messages, record["$rewindTo"])
    if _is_message(record):
        messages[record["id"]] = record
        return messages
    update = record.get("$set") if is_object(record.get("$set")) else record if "sessionId" in record else None
    if update is None:
        return messages
    metadata.update(update)
    kept = update.get("messages")
    if is_list(kept):
        return {message["id"]: message for message in kept if _is_message(message)}
    return messages


def _is_message(record: Any) -> bool:
    return is_object(record) and isinstance(record.get("id"), str)


def _rewound(messages: dict[str, Record], message_id: str) -> dict[str, Record]:
    kept: dict[str, Record] = {}
    if message_id not in messages:
        return kept
    for each, message in messages.items():
        if each == message_id:
            break
        kept[each] = message
    return kept


def read_sidecar(path: Path) -> dict[str, Content]:
    """The exact contents by message id; nothing when there is no sidecar."""
    contents: dict[str, Content] = {}
    try:
        lines = path.read_text("utf-8", errors="replace").split("\n")
    except OSError:
        return contents
    for line in lines:
        try:
            record = json.loads(line)
            contents[record["id"]] = dict(record["content"])
        except (ValueError, KeyError, TypeError):
            continue
    return contents


def restore(conversation: SessionRecords, sidecar: Mapping[str, Content]) -> Restored:
    """The wire contents of a conversation: each call answered once, signatures back where the sidecar has them."""
    contents: list[Content] = []
    answered: set[str] = set()
    unsigned = 0
    for message in conversation.messages:
        if message.get("type") == "user":
            _add_user(contents, message, answered)
        elif message.get("type") == "gemini":
            exact = _exact(message, sidecar)
            content = exact or _model_content(message)
            if not wire.parts_of(content):
                continue
            unsigned += exact is None and _should_be_signed(content)
            contents.append(content)
            # Ids are unique in a message, and not in a conversation: some servers begin anew each time.
            answered = set()
            _add_results(contents, message, content, answered)
    repaired = _answer_all(contents)
    return Restored(tuple(contents), tuple(_losses(conversation, unsigned, repaired)))


def _add_user(contents: list[Content], message: Record, answered: set[str]) -> None:
    parts = [
        part
        for part in _part_list(message.get("content"))
        if not (is_object(part.get("functionResponse")) and part["functionResponse"].get("id") in answered)
    ]
    said = "".join(part["text"] for part in parts if isinstance(part.get("text"), str)).strip()
    only_text = all(isinstance(part.get("text"), str) for part in parts)
    if not parts or (only_text and (not said or said.startswith(_SKIPPED))):
        return
    answered.update(str(response.get("id")) for response in wire.responses_of({"parts": parts}))
    contents.append({"role": "user", "parts": parts})


def _exact(message: Record, sidecar: Mapping[str, Content]) -> Content | None:
    """The sidecar's content, when it still is what the session file says."""
    content = sidecar.get(message["id"])
    if content is None:
        return None
    said = _model_content(message)
    same_calls = [call.name for call in wire.calls_of(content)] == [call.name for call in wire.calls_of(said)]
    unfinished = not wire.calls_of(said)  # results are written when all tools ended; a kill may come before
    return content if wire.text_of(content) == wire.text_of(said) and (same_calls or unfinished) else None


def _model_content(message: Record) -> Content:
    parts = _part_list(message.get("content"))
    if any("functionCall" in part or part.get("thought") for part in parts):
        return {"role": "model", "parts": parts}
    parts = [part for part in parts if part != {"text": ""}]
    for call in _dicts(message.get("toolCalls")):
        parts.append({"functionCall": {"id": call.get("id"), "name": call.get("name"), "args": call.get("args") or {}}})
    return {"role": "model", "parts": parts}


def _add_results(contents: list[Content], message: Record, content: Content, answered: set[str]) -> None:
    parts: list[Part] = []
    asked = {call.id for call in wire.calls_of(content)}
    for call in _dicts(message.get("toolCalls")):
        result = call.get("result")
        if not result or call.get("id") in answered or call.get("id") not in asked:
            continue
        if isinstance(result, str):
            parts += wire.function_response(ToolCall(str(call.get("id")), str(call.get("name")), {}), result)
        else:
            parts += _part_list(result)
    answered.update(str(response.get("id")) for response in wire.responses_of({"parts": parts}))
    if parts:
        contents.append({"role": "user", "parts": parts})


def _answer_all(contents: list[Content]) -> int:
    """Gives every call that has no response one that says so: models refuse a transcript with an open call."""
    repaired = 0
    for index in range(len(contents) - 1, -1, -1):
        responded = _responses_after(contents, index)
        open_calls = [call for call in wire.calls_of(contents[index]) if call.id not in responded]
        if not open_calls:
            continue
        repaired += len(open_calls)
        parts = [part for call in open_calls for part in wire.error_response(call, INTERRUPTED)]
        following = contents[index + 1] if index + 1 < len(contents) else None
        if following is not None and wire.responses_of(following):
            contents[index + 1] = {**following, "parts": [*wire.parts_of(following), *parts]}
        else:
            contents.insert(index + 1, {"role": "user", "parts": parts})
    return repaired


def _responses_after(contents: Sequence[Content], index: int) -> set[str]:
    """The ids that are answered between a message and the model's next one."""
    found: set[str] = set()
    for content in contents[index + 1 :]:
        if content.get("role") == "model":
            break
        found |= {str(response.get("id")) for response in wire.responses_of(content)}
    return found


def _should_be_signed(content: Content) -> bool:
    return bool(wire.calls_of(content)) and not any("thoughtSignature" in part for part in wire.parts_of(content))


def _losses(conversation: SessionRecords, unsigned: int, repaired: int) -> list[str]:
    losses: list[str] = []
    if unsigned:
        losses.append(
            f"{unsigned} message(s) with tool calls have no thought signatures (the session file does not keep them "
            "and no sidecar has them): the model goes on without its earlier reasoning."
        )
    if repaired:
        losses.append(f"{repaired} tool call(s) had no recorded result; the model is told that they were interrupted.")
    if conversation.damaged_lines:
        losses.append(f"{conversation.damaged_lines} damaged line(s) of the session file were skipped.")
    return losses


def _part_list(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [{"text": content}]
    if is_object(content):
        return [content]
    items: Sequence[Any] = content if is_list(content) else ()
    return [{"text": item} if isinstance(item, str) else item for item in items if isinstance(item, str | dict)]


def _dicts(value: Any) -> list[Record]:
    return [item for item in value if is_object(item)] if is_list(value) else []
