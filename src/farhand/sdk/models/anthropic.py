"""Anthropic's messages API behind the model protocol: Gemini's wire JSON in and out, signatures kept."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from farhand.sdk import wire
from farhand.sdk.errors import ModelError, NoKey, StreamCut
from farhand.sdk.json_shapes import is_object, list_or_empty, object_or_empty
from farhand.sdk.models import Request, Response
from farhand.sdk.models.http import RetryPolicy, Wire

PUBLIC_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"
DEFAULT_OUTPUT_TOKENS = 8192
_ENDINGS = {
    "end_turn": "STOP",
    "tool_use": "STOP",
    "stop_sequence": "STOP",
    "max_tokens": "MAX_TOKENS",
    "refusal": "SAFETY",
}


class AnthropicModel:
    """Asks `{base_url}/v1/messages`."""

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
        if not api_key and not headers:
            raise NoKey("No API key: set ANTHROPIC_API_KEY, or give AnthropicModel an api_key.")
        keyed = {"x-api-key": api_key} if api_key else {}
        all_headers = {"anthropic-version": API_VERSION, **keyed, **(headers or {})}
        self._wire = Wire(base_url, all_headers, timeout_seconds=timeout_seconds, retry_policy=retry_policy, **clock)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], **options: Any) -> AnthropicModel:
        """From ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL."""
        base_url = environ.get("ANTHROPIC_BASE_URL") or PUBLIC_URL
        return cls(environ.get("ANTHROPIC_API_KEY", ""), base_url=base_url, **options)

    async def generate(self, request: Request) -> Response:
        """The whole answer at once."""
        answer = await self._wire.post("/v1/messages", to_body(request))
        parts = [part for block in list_or_empty(answer.get("content")) for part in _part(block)]
        return _chunk(parts, str(answer.get("stop_reason") or ""), answer.get("usage"))

    async def stream(self, request: Request) -> AsyncGenerator[Response, None]:
        """The answer chunk by chunk; a call and a thought's signature come when they are whole."""
        answer = _AnthropicAnswer()
        async with aclosing(self._wire.events("/v1/messages", {**to_body(request), "stream": True})) as events:
            async for event in events:
                chunk = answer.take(event)
                if chunk is not None:
                    yield chunk
        if not answer.stopped:
            raise StreamCut("the connection closed before the message stopped")

    async def count(self, request: Request) -> int:
        """How many tokens a request has."""
        body = to_body(request)
        counted: dict[str, Any] = {
            key: body[key] for key in ("model", "messages", "system", "tools", "tool_choice") if key in body
        }
        answer = await self._wire.post("/v1/messages/count_tokens", counted)
        return int(answer.get("input_tokens", 0))

    async def close(self) -> None:
        """Closes the connections."""
        await self._wire.close()


class _AnthropicAnswer:
    """A streamed message, put together block by block."""

    def __init__(self) -> None:
        self.stopped = False
        self._blocks: dict[int, dict[str, Any]] = {}
        self._usage: dict[str, Any] = {}
        self._ending = ""

    def take(self, event: dict[str, Any]) -> Response | None:
        """The chunk that an event makes, when it makes one."""
        parts: list[dict[str, Any]] = []
        index = event.get("index", 0)
        match event.get("type"):
            case "message_start":
                self._usage.update(event.get("message", {}).get("usage") or {})
            case "content_block_start":
                self._blocks[index] = {**event.get("content_block", {}), "json": ""}
            case "content_block_delta":
                parts = _grown(self._blocks.setdefault(index, {"json": ""}), event.get("delta", {}))
            case "content_block_stop":
                parts = _closed(self._blocks.pop(index, {}))
            case "message_delta":
                self._ending = event.get("delta", {}).get("stop_reason") or self._ending
                self._usage.update(event.get("usage") or {})
            case "message_stop":
                self.stopped = True
                return _chunk([], self._ending, self._usage)
            case _:
                pass
        return _chunk(parts) if parts else None


def to_body(request: Request) -> dict[str, Any]:
    """A Gemini request as a message's body."""
    generation = object_or_empty(request.get("generationConfig"))
    body: dict[str, Any] = {
        "model": request["model"],
        "max_tokens": generation.get("maxOutputTokens") or DEFAULT_OUTPUT_TOKENS,
        "messages": _messages(request.get("contents", [])),
    }
    system = request.get("systemInstruction")
    said = wire.text_of(system) if is_object(system) else ""
    if generation.get("responseJsonSchema"):
        said += f"\n\nAnswer with JSON alone, of this schema:\n{wire.compact(generation['responseJsonSchema'])}"
    if said:
        body["system"] = said
    for name, theirs in {
        "temperature": "temperature",
        "topP": "top_p",
        "topK": "top_k",
        "stopSequences": "stop_sequences",
    }.items():
        if name in generation:
            body[theirs] = generation[name]
    budget = object_or_empty(generation.get("thinkingConfig")).get("thinkingBudget") or 0
    if budget > 0:
        # The budget counts as output here, and at least 1024 tokens are wanted.
        body["thinking"] = {"type": "enabled", "budget_tokens": max(1024, budget)}
        body["max_tokens"] += max(1024, budget)
    declared = [each for tool in request.get("tools", []) for each in tool.get("functionDeclarations", [])]
    if declared:
        body["tools"] = [_tool(each) for each in declared]
        body.update(_choice(request))
    return body


def _tool(declaration: Mapping[str, Any]) -> dict[str, Any]:
    schema = declaration.get("parametersJsonSchema") or declaration.get("parameters") or {"type": "object"}
    return {"name": declaration["name"], "description": declaration.get("description", ""), "input_schema": schema}


def _choice(request: Request) -> dict[str, Any]:
    choice = request.get("toolConfig", {}).get("functionCallingConfig", {})
    mode, allowed = choice.get("mode"), list_or_empty(choice.get("allowedFunctionNames"))
    if mode == "NONE":
        return {"tool_choice": {"type": "none"}}
    if mode == "ANY":
        return {"tool_choice": {"type": "tool", "name": allowed[0]} if len(allowed) == 1 else {"type": "any"}}
    return {}


def _messages(contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages that alternate, as this API wants them: neighbours of one role become one."""
    messages: list[dict[str, Any]] = []
    for content in contents:
        role = "assistant" if content.get("role") == "model" else "user"
        blocks = [block for part in wire.parts_of(content) for block in _block(part)]
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})
    return messages


def _block(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A part as a block. A thought without this API's own signature stays behind: it would be refused."""
    if part.get("thought"):
        signature = part.get("thoughtSignature")
        return [{"type": "thinking", "thinking": part.get("text", ""), "signature": signature}] if signature else []
    if isinstance(part.get("text"), str):
        return [{"type": "text", "text": part["text"]}] if part["text"] else []
    if is_object(part.get("functionCall")):
        call = part["functionCall"]
        return [
            {"type": "tool_use", "id": call.get("id", ""), "name": call.get("name"), "input": call.get("args") or {}}
        ]
    if is_object(part.get("functionResponse")):
        response = part["functionResponse"]
        said = response.get("response", {})
        text = said.get("output") if isinstance(said.get("output"), str) and len(said) == 1 else wire.compact(said)
        block = {"type": "tool_result", "tool_use_id": response.get("id", ""), "content": text}
        return [{**block, "is_error": True} if "error" in said else block]
    return _data_block(part.get("inlineData"))


def _data_block(data: Any) -> list[dict[str, Any]]:
    if not is_object(data):
        return []
    source = {"type": "base64", "media_type": data.get("mimeType"), "data": data.get("data")}
    return [{"type": "image" if str(data.get("mimeType")).startswith("image/") else "document", "source": source}]


def _part(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    match block.get("type"):
        case "text":
            return [{"text": block.get("text", "")}]
        case "thinking":
            return [
                {"text": block.get("thinking", ""), "thought": True, "thoughtSignature": block.get("signature", "")}
            ]
        case "tool_use":
            return [
                {"functionCall": {"id": block.get("id"), "name": block.get("name"), "args": block.get("input") or {}}}
            ]
        case _:
            return []


def _grown(block: dict[str, Any], delta: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a delta adds: text at once; thoughts, signatures and arguments are gathered until the block is closed."""
    match delta.get("type"):
        case "text_delta":
            return [{"text": delta.get("text", "")}]
        case "thinking_delta":
            block["thinking"] = block.get("thinking", "") + delta.get("thinking", "")
        case "signature_delta":
            block["signature"] = block.get("signature", "") + delta.get("signature", "")
        case "input_json_delta":
            block["json"] += delta.get("partial_json", "")
        case _:
            pass
    return []


def _closed(block: dict[str, Any]) -> list[dict[str, Any]]:
    if block.get("type") == "thinking":
        return _part(block)
    if block.get("type") != "tool_use":
        return []
    try:
        arguments = json.loads(block["json"]) if block["json"] else object_or_empty(block.get("input"))
    except ValueError:
        said = f"The model called {block.get('name')} with arguments that are no JSON."
        raise ModelError(said, retryable=True) from None
    return _part({**block, "input": arguments})


def _chunk(parts: list[dict[str, Any]], ending: str = "", usage: Any = None) -> Response:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}}
    if ending:
        candidate["finishReason"] = _ENDINGS.get(ending, "OTHER")
    response: Response = {"candidates": [candidate]}
    if is_object(usage) and usage:
        cached = usage.get("cache_read_input_tokens") or 0
        read = (usage.get("input_tokens") or 0) + cached + (usage.get("cache_creation_input_tokens") or 0)
        written = usage.get("output_tokens") or 0
        response["usageMetadata"] = {
            "promptTokenCount": read,
            "candidatesTokenCount": written,
            "cachedContentTokenCount": cached,
            "totalTokenCount": read + written,
        }
    return response
