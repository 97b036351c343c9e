"""Translates between the wire and the plain form in which model hooks see requests and responses. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from farhand.sdk import wire
from farhand.sdk.json_shapes import is_list, is_mapping, is_object, object_or_empty
from farhand.sdk.protocols import Content, Part


def request_form(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request as hooks see it: the texts of its messages, its settings and its tool choice."""
    messages: list[dict[str, Any]] = []
    system = request.get("systemInstruction")
    if is_object(system) and wire.text_of(system):
        messages.append({"role": "system", "content": wire.text_of(system)})
    for content in request.get("contents", []):
        text = wire.text_of(content)
        if text:
            messages.append({"role": content.get("role", "user"), "content": text})
    form: dict[str, Any] = {"model": request.get("model", ""), "messages": messages}
    if request.get("generationConfig"):
        form["config"] = dict(request["generationConfig"])
    choice = request.get("toolConfig", {}).get("functionCallingConfig")
    if choice:
        form["toolConfig"] = dict(choice)
    return form


def with_request_form(request: Mapping[str, Any], form: Mapping[str, Any]) -> dict[str, Any]:
    """The request with a hook's changes. Messages, when given, replace those texts; calls and images stay in place.

    Message by message, a changed text replaces the text parts of the content it stands for. Messages beyond the known
    ones are added; leaving messages out removes contents only when what remains is not tied to a tool call.
    """
    changed = dict(request)
    if isinstance(form.get("model"), str) and form["model"]:
        changed["model"] = form["model"]
    if is_mapping(form.get("config")):
        changed["generationConfig"] = {**request.get("generationConfig", {}), **form["config"]}
    if is_mapping(form.get("toolConfig")):
        changed["toolConfig"] = {"functionCallingConfig": dict(form["toolConfig"])}
    if is_list(form.get("messages")):
        _replace_messages(changed, form["messages"])
    return changed


def _replace_messages(request: dict[str, Any], messages: list[Any]) -> None:
    given = [message for message in messages if is_mapping(message)]
    system = [_message_text(message) for message in given if message.get("role") == "system"]
    if system:
        request["systemInstruction"] = {"role": "user", "parts": [{"text": "\n\n".join(system)}]}
    texts = [message for message in given if message.get("role") != "system"]
    contents: list[Content] = []
    for content in request.get("contents", []):
        if not wire.text_of(content):
            contents.append(content)
        elif texts:
            contents.append(_with_text(content, _message_text(texts.pop(0))))
        elif wire.calls_of(content) or wire.responses_of(content):
            contents.append(_with_text(content, ""))
    contents += [{"role": _role(message), "parts": [{"text": _message_text(message)}]} for message in texts]
    request["contents"] = contents


def _role(message: Mapping[str, Any]) -> str:
    return "model" if message.get("role") in ("model", "assistant") else "user"


def _message_text(message: Mapping[str, Any]) -> str:
    content = message.get("content", "")
    if isinstance(content, str):
        return content
    return "".join(
        piece if isinstance(piece, str) else str(piece.get("text", "")) if is_mapping(piece) else ""
        for piece in (content if is_list(content) else [])
    )


def _with_text(content: Content, text: str) -> Content:
    """The content with its text replaced; unchanged when the text is the same, so that its parts stay as they came."""
    if wire.text_of(content) == text:
        return content
    parts: list[Part] = []
    placed = False
    for part in wire.parts_of(content):
        if not wire.is_text(part):
            parts.append(part)
        elif not placed:
            placed = True
            parts += [{**part, "text": text}] if text else []
    return {**content, "parts": parts}


def response_form(response: Mapping[str, Any]) -> dict[str, Any]:
    """A response, or one chunk of it, as hooks see it."""
    parts = [part["text"] for part in wire.response_parts(response) if wire.is_text(part)]
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}}
    original = wire.first_candidate(response)
    for key in ("finishReason", "index", "safetyRatings"):
        if key in original:
            candidate[key] = original[key]
    form: dict[str, Any] = {"text": "".join(parts), "candidates": [candidate]}
    usage = wire.usage_of(response)
    if usage:
        names = ("promptTokenCount", "candidatesTokenCount", "totalTokenCount")
        form["usageMetadata"] = {name: usage[name] for name in names if name in usage}
    return form


def from_response_form(form: Mapping[str, Any], original: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A response from a hook's form. What hooks cannot see (calls, thoughts, signatures) stays from the original."""
    candidates = form.get("candidates")
    candidate = object_or_empty(candidates[0] if is_list(candidates) and candidates else None)
    content = candidate.get("content")
    pieces = content.get("parts") if is_mapping(content) else None
    text = _message_text({"content": pieces}) if is_list(pieces) else str(form.get("text") or "")
    kept = [part for part in wire.response_parts(original or {}) if not wire.is_text(part)]
    parts = [*([{"text": text}] if text else []), *kept]
    rebuilt = {**wire.first_candidate(original or {}), "content": {"role": "model", "parts": parts}}
    reason = candidate.get("finishReason") or rebuilt.get("finishReason") or ("" if original else "STOP")
    if reason:
        rebuilt["finishReason"] = reason
    return {**(original or {}), "candidates": [rebuilt]}
