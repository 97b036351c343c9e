"""A fake of OpenAI's Chat Completions API, as many servers speak it: streamed or not, all by script."""

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


class ChatCall(msgspec.Struct, frozen=True):
    """A request that the fake has answered."""

    body: dict[str, Any]
    scripted: bool

    @property
    def texts(self) -> list[str]:
        """Every piece of text that the person said, oldest first."""
        said = [each.get("content") for each in self.body.get("messages", []) if each.get("role") == "user"]
        return [text for content in said for text in _texts(content)]


class FakeOpenAi:
    """Answers `/v1/chat/completions` from a script and keeps what was asked."""

    def __init__(self, script: ModelScript | None = None) -> None:
        self.script = script or ModelScript()
        self._log = CallLog[ChatCall]()
        self.calls = self._log.all
        self.app = Starlette(routes=[Route("/v1/chat/completions", self._complete, methods=["POST"])])
        # Its base URL while it listens; who asked about a text, and the wait for that.
        self.served = partial(served, self.app)
        self.prompted, self.asked = self._log.prompted, self._log.asked

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        call = ChatCall(body, scripted=False)
        # Titles and the like are asked for without tools: they are no turn.
        step = self.script.take(call.texts) if body.get("tools") else None
        self._log.add(ChatCall(body, scripted=step is not None))
        return self._respond(step or ASIDE, body)

    def _respond(self, step: AnyStep, body: dict[str, Any]) -> Response:
        if isinstance(step, Failure) and step.status:
            error = {"error": {"type": step.kind, "message": step.message}}
            return JSONResponse(error, step.status, headers=step.headers)
        number = len(self.calls)
        head = {"id": f"chatcmpl-{number}", "created": 0, "model": str(body.get("model", "fake"))}
        if not body.get("stream"):
            return JSONResponse({**head, **_whole(step, number)} if isinstance(step, ScriptedReply) else {})
        return StreamingResponse(self._stream(step, head, number), media_type="text/event-stream")

    async def _stream(self, step: AnyStep, head: dict[str, Any], number: int) -> AsyncIterator[bytes]:
        whole = {**head, "object": "chat.completion.chunk"}
        yield _event({**whole, "choices": [_choice({"role": "assistant", "content": ""})]})
        if isinstance(step, Failure):
            raise ConnectionAbortedError("the fake model was told to cut the stream")
        for index, block in enumerate(step.blocks):
            if isinstance(block, Hold):
                await self.script.gate(block.gate).wait()
                continue
            for delta in _deltas(block, index, number):
                yield _event({**whole, "choices": [_choice(delta)]})
        yield _event({**whole, "choices": [{**_choice({}), "finish_reason": _ending(step)}]})
        yield _event({**whole, "choices": [], "usage": _usage(step)})
        yield b"data: [DONE]\n\n"


def _event(fields: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(fields) + b"\n\n"


def _choice(delta: dict[str, Any]) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": None}


def _deltas(block: ScriptedBlock, index: int, number: int) -> Iterator[dict[str, Any]]:
    match block:
        case ScriptedText(text=text, piece=piece):
            size = piece or len(text) or 1
            for start in range(0, len(text), size):
                yield {"content": text[start : start + size]}
        case ScriptedThinking(text=text):
            yield {"reasoning_content": text}
        case ToolUse():
            yield {"tool_calls": [{"index": index, **_tool_call(block, index, number)}]}
        case Hold():
            pass


def _tool_call(block: ToolUse, index: int, number: int) -> dict[str, Any]:
    arguments = msgspec.json.encode(block.input).decode()
    name = {"name": block.name, "arguments": arguments}
    return {"id": block.id or f"call_{number}_{index}", "type": "function", "function": name}


def _whole(step: ScriptedReply, number: int) -> dict[str, Any]:
    tools = [_tool_call(each, at, number) for at, each in enumerate(step.blocks) if isinstance(each, ToolUse)]
    text = "".join(block.text for block in step.blocks if isinstance(block, ScriptedText))
    message = {"role": "assistant", "content": text or None, **({"tool_calls": tools} if tools else {})}
    choice = {"index": 0, "message": message, "finish_reason": _ending(step)}
    return {"object": "chat.completion", "choices": [choice], "usage": _usage(step)}


def _ending(step: ScriptedReply) -> str:
    return "tool_calls" if any(isinstance(block, ToolUse) for block in step.blocks) else "stop"


def _usage(step: ScriptedReply) -> dict[str, int]:
    total = step.input_tokens + step.output_tokens
    return {"prompt_tokens": step.input_tokens, "completion_tokens": step.output_tokens, "total_tokens": total}


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [piece["text"] for piece in content or () if isinstance(piece, dict) and isinstance(piece.get("text"), str)]
