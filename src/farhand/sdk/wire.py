"""Reads and joins Gemini's wire JSON. Pure: contents and parts in, contents and parts out, unknown fields kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from farhand.sdk.json_shapes import is_list, is_object
from farhand.sdk.protocols import Content, Part, ToolCall

# Gemini 3 refuses a call of the running turn that lacks its signature; this value tells it that none is to be had.
NO_SIGNATURE = "skip_thought_signature_validator"


def user(*parts: Part | str) -> Content:
    """A message from the person."""
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def model(*parts: Part | str) -> Content:
    """A message from the model."""
    return {"role": "model", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def parts_of(content: Mapping[str, Any]) -> list[Part]:
    """The parts of a message; an absent list is an empty one."""
    parts = content.get("parts")
    return [part for part in parts if is_object(part)] if is_list(parts) else []


def text_of(content: Mapping[str, Any]) -> str:
    """What a message says, its thoughts left out."""
    return "".join(part["text"] for part in parts_of(content) if is_text(part))


def is_text(part: Mapping[str, Any]) -> bool:
    """Whether a part is plain text for the reader."""
    return isinstance(part.get("text"), str) and not part.get("thought")


def is_thought(part: Mapping[str, Any]) -> bool:
    """Whether a part is a thought summary."""
    return bool(part.get("thought")) and isinstance(part.get("text"), str)


def calls_of(content: Mapping[str, Any]) -> list[ToolCall]:
    """The tool calls of a message, in order."""
    found: list[ToolCall] = []
    for part in parts_of(content):
        call = part.get("functionCall")
        if is_object(call) and isinstance(call.get("name"), str):
            arguments = call.get("args")
            found.append(ToolCall(str(call.get("id", "")), call["name"], arguments if is_object(arguments) else {}))
    return found


def responses_of(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The function responses of a message."""
    return [part["functionResponse"] for part in parts_of(content) if is_object(part.get("functionResponse"))]


def with_call_ids(content: Content, prefix: str, taken: Iterable[str] = ()) -> Content:
    """The same message with an id of its own on each call: some servers send none, some the same one twice.

    No id is one of those `taken`, and none that is made up here is one that another call of the message came with.
    """
    given = {call.id for call in calls_of(content)}
    parts: list[Part] = []
    seen = set(taken)
    for index, part in enumerate(parts_of(content)):
        call = part.get("functionCall")
        if is_object(call):
            own = str(call.get("id") or "")
            made = (
                own
                if own and own not in seen
                else _new_id(f"{call.get('name', 'call')}_{prefix}_{index}", seen | given)
            )
            seen.add(made)
            parts.append(part if made == own else {**part, "functionCall": {**call, "id": made}})
        else:
            parts.append(part)
    return {**content, "parts": parts}


def _new_id(wanted: str, taken: set[str]) -> str:
    tries = (wanted if number == 1 else f"{wanted}_{number}" for number in range(1, len(taken) + 2))
    return next(one for one in tries if one not in taken)


def first_candidate(response: Mapping[str, Any]) -> dict[str, Any]:
    """The candidate that counts; an empty one where the response has none."""
    candidates = response.get("candidates")
    if is_list(candidates) and candidates and is_object(candidates[0]):
        return candidates[0]
    return {}


def response_parts(response: Mapping[str, Any]) -> list[Part]:
    """The parts of a response, or of one chunk of it."""
    content = first_candidate(response).get("content")
    return parts_of(content) if is_object(content) else []


def finish_reason(response: Mapping[str, Any]) -> str:
    """Why the model stopped, when this chunk says so; a blocked prompt counts as a reason."""
    reason = first_candidate(response).get("finishReason")
    if isinstance(reason, str) and reason:
        return reason
    feedback = response.get("promptFeedback")
    if is_object(feedback) and feedback.get("blockReason"):
        return f"PROMPT_{feedback['blockReason']}"
    return ""


def usage_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """The token counts of a response."""
    usage = response.get("usageMetadata")
    return usage if is_object(usage) else {}


def join_parts(parts: Iterable[Part]) -> list[Part]:
    """The parts of all chunks as one message has them: neighbouring plain texts become one, all else stays as it came.

    A part with a signature ends the text before it and is never joined with what follows, so that each signature stays
    on the very part it came with.
    """
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if (
            last is not None
            and _joinable(last)
            and _joinable(part)
            and bool(last.get("thought")) == bool(part.get("thought"))
        ):
            joined[-1] = {**last, "text": last["text"] + part["text"]}
        else:
            joined.append(part)
    return [part for part in joined if part != {"text": ""}]


def _joinable(part: Part) -> bool:
    return isinstance(part.get("text"), str) and set(part) <= {"text", "thought"}


def function_response(call: ToolCall, content: str | Sequence[Part]) -> list[Part]:
    """What a tool gave back, as parts: its function response, then what that cannot hold (images, files)."""
    if isinstance(content, str):
        return [_response_part(call, {"output": content})]
    texts = [part["text"] for part in content if isinstance(part.get("text"), str)]
    rest = [part for part in content if not isinstance(part.get("text"), str)]
    said = "\n".join(texts) or (f"{len(rest)} attached item(s) follow." if rest else "")
    return [_response_part(call, {"output": said}), *rest]


def error_response(call: ToolCall, message: str) -> list[Part]:
    """A failed call, told to the model."""
    return [_response_part(call, {"error": message})]


def _response_part(call: ToolCall, response: dict[str, Any]) -> Part:
    return {"functionResponse": {"id": call.id, "name": call.name, "response": response}}


def unanswered(contents: Sequence[Content]) -> list[ToolCall]:
    """The calls of the last message for which no response follows."""
    return calls_of(contents[-1]) if contents and contents[-1].get("role") == "model" else []


def signed(contents: Sequence[Content], model_name: str) -> list[Content]:
    """The contents to send: in the running turn, a message whose calls came unsigned says that it has no signature."""
    sent = list(contents)
    if not model_name.removeprefix("models/").startswith("gemini-3"):
        return sent
    for index in range(len(sent) - 1, -1, -1):
        content = sent[index]
        if content.get("role") == "user" and not responses_of(content):
            break
        if calls_of(content) and not any("thoughtSignature" in part for part in parts_of(content)):
            sent[index] = {**content, "parts": _first_call_signed(parts_of(content))}
    return sent


def _first_call_signed(parts: list[Part]) -> list[Part]:
    first = next(index for index, part in enumerate(parts) if "functionCall" in part)
    return [*parts[:first], {**parts[first], "thoughtSignature": NO_SIGNATURE}, *parts[first + 1 :]]


def thought_of(text: str) -> tuple[str, str]:
    """A thought summary as subject and description: `**Subject** the rest`."""
    start, bold, rest = text.partition("**")
    if not bold:
        return "", text.strip()
    subject, closed, description = rest.partition("**")
    return (subject.strip(), (start + description).strip()) if closed else ("", text.strip())


def compact(value: Any) -> str:
    """JSON on one line. The two separators that Node takes for the end of a line are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def estimate_tokens(contents: Iterable[Mapping[str, Any]]) -> int:
    """A rough count for when no server is asked: a token for four characters of JSON."""
    return sum(len(compact(content)) for content in contents) // 4
