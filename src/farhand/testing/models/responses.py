"""A fake of OpenAI's Responses API, as the real Codex speaks it: streamed text, reasoning and tool calls, by script."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from farhand.testing.models.calls import CallLog
from farhand.testing.models.script import (
    AnyStep,
    Failure,
    Hold,
    ModelScript,
    ScriptedBlock,
    ScriptedReply,
    ScriptedText,
    ScriptedThinking,
    ToolUse,
    say,
)
from farhand.testing.models.server import served

ASIDE = say("An aside")
ResponsesEvent = dict[str, Any]


def limited(message: str, resets_at: int = 4_102_444_800) -> Failure:
    """The usage limit of the account is reached; the CLI does not try again before it resets."""
    used = {"x-codex-primary-used-percent": "100", "x-codex-primary-window-minutes": "300"}
    headers = {**used, "x-codex-primary-reset-at": str(resets_at)}
    return Failure(429, "usage_limit_reached", message, headers, {"plan_type": "pro", "resets_at": resets_at})


class ResponsesCall(msgspec.Struct, frozen=True):
    """A request that the fake has answered."""

    body: dict[str, Any]
    scripted: bool

    @property
    def texts(self) -> list[str]:
        """Every piece of text that a person or a tool brought, oldest first."""
        brought = [item for item in self._input if item.get("role") == "user" or "output" in item]
        return [text for item in brought for text in _texts(item.get("content", item.get("output")))]

    @property
    def images(self) -> int:
        """How many images the input carries."""
        contents = [item.get("content") for item in self._input]
        parts = [part for content in contents if isinstance(content, list) for part in content]
        return sum(part.get("type") == "input_image" for part in parts)

    @property
    def _input(self) -> list[dict[str, Any]]:
        given = self.body.get("input")
        return [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []


class FakeResponses:
    """Answers `/v1/responses` from a script and keeps what was asked."""

    def __init__(self, script: ModelScript | None = None) -> None:
        self.script = script or ModelScript()
        self._log = CallLog[ResponsesCall]()
        self.calls = self._log.all
        # Whatever else was asked for: a CLI that calls nobody else asks for nothing here.
        self.strange: list[str] = []
        methods = ["GET", "POST", "HEAD"]
        self.app = Starlette(
            routes=[
                Route("/v1/responses", self._respond, methods=["POST"]),
                Route("/{rest:path}", self._other, methods=methods),
            ]
        )
        # Its base URL while it listens; who asked about a text, and the wait for that.
        self.served = partial(served, self.app)
        self.prompted, self.asked = self._log.prompted, self._log.asked

    async def _respond(self, request: Request) -> Response:
        body = await request.json()
        # Titles and the like are asked for without tools: they are no turn.
        step = self.script.take(ResponsesCall(body, scripted=False).texts) if body.get("tools") else None
        self._log.add(ResponsesCall(body, scripted=step is not None))
        return self._answer(step or ASIDE, body)

    def _answer(self, step: AnyStep, body: dict[str, Any]) -> Response:
        if isinstance(step, Failure) and step.status:
            error = {"type": step.kind, "message": step.message, **step.fields}
            return JSONResponse({"error": error}, step.status, headers=step.headers)
        number = len(self.calls)
        custom = (
            {tool.get("name") for tool in body["tools"] if tool.get("type") == "custom"} if "tools" in body else set()
        )
        head = {"id": f"resp_{number:06d}", "object": "response", "model": str(body.get("model", "fake"))}
        return StreamingResponse(
            self._stream(step, head, number, custom), media_type="text/event-stream", headers=step.headers
        )

    async def _stream(self, step: AnyStep, head: ResponsesEvent, number: int, custom: set[str]) -> AsyncIterator[bytes]:
        yield _event({"type": "response.created", "response": {**head, "status": "in_progress"}})
        if isinstance(step, Failure):
            raise ConnectionAbortedError("the fake model was told to cut the stream")
        index = 0
        for item in _items(step.blocks):
            whole = _item(item, index, number, custom)
            yield _event({"type": "response.output_item.added", "output_index": index, "item": _begun(whole)})
            for block in item:
                if isinstance(block, Hold):
                    await self.script.gate(block.gate).wait()
                    continue
                for event in _deltas(block, str(whole["id"]), index):
                    yield _event(event)
            yield _event({"type": "response.output_item.done", "output_index": index, "item": whole})
            index += 1
        usage = _usage(step)
        yield _event({"type": "response.completed", "response": {**head, "status": "completed", "usage": usage}})

    async def _other(self, request: Request) -> Response:
        self.strange.append(f"{request.method} {request.url.path}")
        return JSONResponse({"error": {"message": f"the fake knows no {request.url.path}"}}, 404)


def _items(blocks: tuple[ScriptedBlock, ...]) -> list[list[ScriptedBlock]]:
    """The blocks as output items: words with a hold between them are one message that stands still in the middle."""
    items: list[list[ScriptedBlock]] = []
    for block in blocks:
        words = isinstance(block, ScriptedText | Hold)
        if words and items and isinstance(items[-1][0], ScriptedText | Hold):
            items[-1].append(block)
        else:
            items.append([block])
    return items


def _item(blocks: list[ScriptedBlock], index: int, number: int, custom: set[str]) -> ResponsesEvent:
    match blocks[0]:
        case ScriptedText() | Hold():
            text = "".join(block.text for block in blocks if isinstance(block, ScriptedText))
            content = [{"type": "output_text", "text": text, "annotations": []}]
            head = {"type": "message", "id": f"msg_{number:06d}_{index}", "role": "assistant", "status": "completed"}
            return {**head, "content": content}
        case ScriptedThinking(text=text):
            summary = [{"type": "summary_text", "text": text}]
            return {
                "type": "reasoning",
                "id": f"rs_{number:06d}_{index}",
                "summary": summary,
                "encrypted_content": None,
            }
        case ToolUse() as use:
            return _tool_call(use, index, number, custom)


def _tool_call(use: ToolUse, index: int, number: int, custom: set[str]) -> ResponsesEvent:
    name = {"call_id": use.id or f"call_{number:06d}_{index}", "name": use.name, "status": "completed"}
    if use.name in custom:
        text = str(use.input.get("input", ""))
        return {"type": "custom_tool_call", "id": f"ctc_{number:06d}_{index}", **name, "input": text}
    arguments = msgspec.json.encode(use.input).decode()
    return {"type": "function_call", "id": f"fc_{number:06d}_{index}", **name, "arguments": arguments}


def _begun(whole: ResponsesEvent) -> ResponsesEvent:
    empty: dict[str, ResponsesEvent] = {
        "message": {"content": []},
        "reasoning": {"summary": []},
        "function_call": {"arguments": ""},
    }
    return {**whole, **empty.get(whole["type"], {"input": ""}), "status": "in_progress"}


def _deltas(block: ScriptedBlock, item: str, index: int) -> Iterator[ResponsesEvent]:
    where = {"item_id": item, "output_index": index}
    match block:
        case ScriptedText(text=text, piece=piece):
            size = piece or len(text) or 1
            for start in range(0, len(text), size):
                delta = text[start : start + size]
                yield {"type": "response.output_text.delta", **where, "content_index": 0, "delta": delta}
        case ScriptedThinking(text=text):
            part = {"type": "summary_text", "text": ""}
            yield {"type": "response.reasoning_summary_part.added", **where, "summary_index": 0, "part": part}
            yield {"type": "response.reasoning_summary_text.delta", **where, "summary_index": 0, "delta": text}
        case ToolUse() | Hold():
            return


def _event(event: ResponsesEvent) -> bytes:
    return f"event: {event['type']}\ndata: {msgspec.json.encode(event).decode()}\n\n".encode()


def _usage(step: ScriptedReply) -> ResponsesEvent:
    return {
        "input_tokens": step.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": step.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": step.input_tokens + step.output_tokens,
    }


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [piece["text"] for piece in content or () if isinstance(piece, dict) and isinstance(piece.get("text"), str)]
