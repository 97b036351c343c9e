"""Any server with an OpenAI-compatible chat API behind the model protocol: Gemini's wire JSON in and out."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from farhand.sdk import wire
from farhand.sdk.errors import ModelError, NoKey, StreamCut
from farhand.sdk.json_shapes import is_list, is_object, list_or_empty, object_or_empty
from farhand.sdk.models import Request, Response
from farhand.sdk.models.http import RetryPolicy, Wire

PUBLIC_URL = "https://api.openai.com/v1"
_ENDINGS = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "function_call": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
}
_SETTINGS = {
    "temperature": "temperature",
    "topP": "top_p",
    "stopSequences": "stop",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "seed": "seed",
}


class OpenAiModel:
    """Asks `{base_url}/chat/completions`. An empty key is fine where the server wants none."""

    def __init__(
        self,
        api_key: str = "",
        *,
        base_url: str = PUBLIC_URL,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 300.0,
        retry_policy: RetryPolicy | None = None,
        **clock: Any,
    ) -> None:
        if not api_key and base_url == PUBLIC_URL:
            raise NoKey("No API key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs none.")
        # Only the vendor itself knows the newer name; other servers take the older one.
        self._limit_name = "max_completion_tokens" if base_url.rstrip("/") == PUBLIC_URL else "max_tokens"
        keyed = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._wire = Wire(
            base_url, {**keyed, **(headers or {})}, timeout_seconds=timeout_seconds, retry_policy=retry_policy, **clock
        )

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], **options: Any) -> OpenAiModel:
        """From OPENAI_API_KEY and OPENAI_BASE_URL."""
        base_url = environ.get("OPENAI_BASE_URL") or PUBLIC_URL
        return cls(environ.get("OPENAI_API_KEY", ""), base_url=base_url, **options)

    async def generate(self, request: Request) -> Response:
        """The whole answer at once."""
        answer = await self._wire.post("/chat/completions", to_body(request, self._limit_name))
        choices = answer.get("choices")
        if not is_list(choices) or not choices:
            raise ModelError("The model's server sent an answer without choices.", retryable=True)
        message = object_or_empty(choices[0].get("message"))
        parts = _text_parts(message)
        for call in list_or_empty(message.get("tool_calls")):
            function = object_or_empty(call.get("function"))
            parts.append(_call_part(call.get("id"), function.get("name"), function.get("arguments")))
        return _chunk(parts, _ENDINGS.get(choices[0].get("finish_reason") or "", "OTHER"), answer.get("usage"))

    async def stream(self, request: Request) -> AsyncGenerator[Response, None]:
        """The answer chunk by chunk; calls come when they are whole, with the end."""
        body = {**to_body(request, self._limit_name), "stream": True, "stream_options": {"include_usage": True}}
        calls: dict[int, dict[str, str]] = {}
        ending, usage = "", None
        async with aclosing(self._wire.events("/chat/completions", body)) as events:
            async for event in events:
                usage = event.get("usage") or usage
                for choice in list_or_empty(event.get("choices")):
                    delta = object_or_empty(choice.get("delta"))
                    parts = _text_parts(delta)
                    if parts:
                        yield _chunk(parts)
                    for piece in list_or_empty(delta.get("tool_calls")):
                        _gather(calls, piece)
                    ending = choice.get("finish_reason") or ending
        if not ending:
            raise StreamCut("the connection closed before a finish reason came")
        parts = [_call_part(call["id"], call["name"], call["arguments"]) for _, call in sorted(calls.items())]
        yield _chunk(parts, _ENDINGS.get(ending, "OTHER"), usage)

    async def count(self, request: Request) -> int:
        """An estimate: this API has no counting."""
        return wire.estimate_tokens(request.get("contents", []))

    async def close(self) -> None:
        """Closes the connections."""
        await self._wire.close()


def to_body(request: Request, limit_name: str = "max_tokens") -> dict[str, Any]:
    """A Gemini request as a chat completion's body."""
    messages: list[dict[str, Any]] = []
    system = request.get("systemInstruction")
    if is_object(system):
        messages.append({"role": "system", "content": wire.text_of(system)})
    for content in request.get("contents", []):
        messages += _model_message(content) if content.get("role") == "model" else _user_messages(content)
    generation = object_or_empty(request.get("generationConfig"))
    body: dict[str, Any] = {"model": request["model"], "messages": messages}
    body.update({_SETTINGS[name]: value for name, value in generation.items() if name in _SETTINGS})
    if "maxOutputTokens" in generation:
        body[limit_name] = generation["maxOutputTokens"]
    if generation.get("responseJsonSchema"):
        schema = {"name": "answer", "schema": generation["responseJsonSchema"]}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    declared = [each for tool in request.get("tools", []) for each in tool.get("functionDeclarations", [])]
    if declared:
        body["tools"] = [{"type": "function", "function": _function(each)} for each in declared]
        body.update(_choice(request))
    return body


def _function(declaration: Mapping[str, Any]) -> dict[str, Any]:
    parameters = declaration.get("parametersJsonSchema") or declaration.get("parameters") or {"type": "object"}
    return {
        "name": declaration["name"],
        "description": declaration.get("description", ""),
        "parameters": parameters,
    }


def _choice(request: Request) -> dict[str, Any]:
    choice = request.get("toolConfig", {}).get("functionCallingConfig", {})
    mode, allowed = choice.get("mode"), list_or_empty(choice.get("allowedFunctionNames"))
    if mode == "NONE":
        return {"tool_choice": "none"}
    if mode == "ANY" and len(allowed) == 1:
        return {"tool_choice": {"type": "function", "function": {"name": allowed[0]}}}
    return {"tool_choice": "required"} if mode == "ANY" else {}


def _model_message(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    message: dict[str, Any] = {"role": "assistant", "content": wire.text_of(content) or None}
    calls = wire.calls_of(content)
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": wire.compact(call.arguments)},
            }
            for call in calls
        ]
    return [message] if message["content"] or calls else []


def _user_messages(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Tool results as messages of their own, then what else the person's message holds."""
    messages: list[dict[str, Any]] = []
    for response in wire.responses_of(content):
        said = response.get("response", {})
        text = said.get("output") if isinstance(said.get("output"), str) and len(said) == 1 else wire.compact(said)
        messages.append({"role": "tool", "tool_call_id": response.get("id", ""), "content": text})
    pieces = [piece for part in wire.parts_of(content) for piece in _piece(part)]
    if len(pieces) == 1 and pieces[0]["type"] == "text":
        messages.append({"role": "user", "content": pieces[0]["text"]})
    elif pieces:
        messages.append({"role": "user", "content": pieces})
    return messages


def _piece(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    if wire.is_text(part):
        return [{"type": "text", "text": part["text"]}]
    data = part.get("inlineData")
    if not is_object(data):
        return []
    url = f"data:{data.get('mimeType')};base64,{data.get('data')}"
    if str(data.get("mimeType")).startswith("image/"):
        return [{"type": "image_url", "image_url": {"url": url}}]
    return [{"type": "file", "file": {"filename": "attachment", "file_data": url}}]


def _text_parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    thought = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought, str) and thought:
        parts.append({"text": thought, "thought": True})
    if isinstance(message.get("content"), str) and message["content"]:
        parts.append({"text": message["content"]})
    return parts


def _gather(calls: dict[int, dict[str, str]], piece: Mapping[str, Any]) -> None:
    call = calls.setdefault(int(piece.get("index") or 0), {"id": "", "name": "", "arguments": ""})
    function = object_or_empty(piece.get("function"))
    call["id"] = piece.get("id") or call["id"]
    call["name"] += function.get("name") or ""
    call["arguments"] += function.get("arguments") or ""


def _call_part(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    try:
        read: object = json.loads(arguments) if arguments else {}
    except ValueError:
        raise ModelError(f"The model called {name} with arguments that are no JSON.", retryable=True) from None
    return {"functionCall": {"id": call_id or "", "name": str(name), "args": read if is_object(read) else {}}}


def _chunk(parts: list[dict[str, Any]], ending: str = "", usage: Any = None) -> Response:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}}
    if ending:
        candidate["finishReason"] = ending
    response: Response = {"candidates": [candidate]}
    if is_object(usage):
        details = object_or_empty(usage.get("prompt_tokens_details"))
        thoughts = object_or_empty(usage.get("completion_tokens_details")).get("reasoning_tokens") or 0
        response["usageMetadata"] = {
            "promptTokenCount": usage.get("prompt_tokens", 0),
            "candidatesTokenCount": usage.get("completion_tokens", 0) - thoughts,
            "thoughtsTokenCount": thoughts,
            "cachedContentTokenCount": details.get("cached_tokens") or 0,
            "totalTokenCount": usage.get("total_tokens", 0),
        }
    return response
