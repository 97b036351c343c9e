"""A fake Anthropic API for the real Claude Code: messages, streamed or not, and token counts, all by script."""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
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


def limited(message: str, resets_at: int = 4_102_444_800) -> Failure:
    """The usage limit is reached; the CLI does not try again before it resets."""
    unified = {"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": str(resets_at)}
    return Failure(429, "rate_limit_error", message, {**unified, "retry-after": "3600", "x-should-retry": "false"})


class AnthropicCall(msgspec.Struct, frozen=True):
    """A request that the fake has answered."""

    body: dict[str, Any]
    scripted: bool

    @property
    def texts(self) -> list[str]:
        """Every piece of text in the request's messages, oldest first."""
        return [text for message in self.body.get("messages", []) for text in _texts(message.get("content"))]

    @property
    def images(self) -> int:
        """How many images the messages carry."""
        contents = [message.get("content") for message in self.body.get("messages", [])]
        return sum(_count_images(content) for content in contents)


class FakeAnthropic:
    """Answers `/v1/messages` from a script and keeps what was asked."""

    def __init__(self, script: ModelScript | None = None) -> None:
        self.script = script or ModelScript()
        self._log = CallLog[AnthropicCall]()
        self.calls = self._log.all
        # Models that this API does not have.
        self.missing: set[str] = set()
        self.app = Starlette(
            routes=[
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/messages/count_tokens", self._count, methods=["POST"]),
                Route("/control/release/{gate}", self._release, methods=["POST"]),
                Route("/control/left", self._left),
                Route("/{rest:path}", self._other, methods=["GET", "POST", "HEAD"]),
            ]
        )
        # Its base URL while it listens; who asked about a text, and the wait for that.
        self.served = partial(served, self.app)
        self.prompted, self.asked = self._log.prompted, self._log.asked

    async def _messages(self, request: Request) -> Response:
        body = await request.json()
        missing = Failure(404, "not_found_error", f"model: {body.get('model')}")
        step = missing if body.get("model") in self.missing else self._step(body)
        self._log.add(AnthropicCall(body, scripted=step is not None))
        return self._respond(step or ASIDE, body)

    def _step(self, body: dict[str, Any]) -> AnyStep | None:
        # Titles, summaries of a tool's output and the like are asked for without tools: they are no turn.
        if not body.get("tools"):
            return None
        return self.script.take(AnthropicCall(body, scripted=False).texts)

    def _respond(self, step: AnyStep, body: dict[str, Any]) -> Response:
        if isinstance(step, Failure) and step.status:
            error = {"type": "error", "error": {"type": step.kind, "message": step.message}}
            return JSONResponse(error, step.status, headers=step.headers)
        model = str(body.get("model", "fake"))
        number = len(self.calls)
        if not body.get("stream"):
            return JSONResponse(_whole(step, model, number) if isinstance(step, ScriptedReply) else {})
        return StreamingResponse(
            self._stream(step, model, number), media_type="text/event-stream", headers=step.headers
        )

    async def _stream(self, step: AnyStep, model: str, number: int) -> AsyncIterator[bytes]:
        if isinstance(step, Failure):
            yield _event(_message_start(model, number, 1))
            raise ConnectionAbortedError("the fake model was told to cut the stream")
        yield _event(_message_start(model, number, step.input_tokens))
        index = 0
        for block in step.blocks:
            if isinstance(block, Hold):
                await self.script.gate(block.gate).wait()
                continue
            for event in _block_events(block, index, number):
                yield _event(event)
            index += 1
        yield _event(_message_delta(step))
        yield _event({"type": "message_stop"})

    async def _count(self, request: Request) -> Response:
        return JSONResponse({"input_tokens": max(1, len(await request.body()) // 4)})

    async def _release(self, request: Request) -> Response:
        self.script.release(request.path_params["gate"])
        return JSONResponse({})

    async def _left(self, request: Request) -> Response:  # noqa: ARG002
        return JSONResponse({"left": self.script.left_over(), "complaints": self.script.complaints})

    async def _other(self, request: Request) -> Response:
        message = f"the fake knows no {request.url.path}"
        return JSONResponse({"type": "error", "error": {"type": "not_found_error", "message": message}}, 404)


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]
        elif isinstance(part, dict) and part.get("type") == "tool_result":
            yield from _texts(part.get("content"))


def _count_images(content: Any) -> int:
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return sum((part.get("type") == "image") + _count_images(part.get("content")) for part in parts)


def _event(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {msgspec.json.encode(event).decode()}\n\n".encode()


def _usage(input_tokens: int, output_tokens: int) -> dict[str, int]:
    cache = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"input_tokens": input_tokens, "output_tokens": output_tokens, **cache}


def _message(model: str, number: int, usage: dict[str, int]) -> dict[str, Any]:
    head = {"id": f"msg_{number:06d}", "type": "message", "role": "assistant", "model": model}
    return {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}


def _message_start(model: str, number: int, input_tokens: int) -> dict[str, Any]:
    return {"type": "message_start", "message": _message(model, number, _usage(input_tokens, 1))}


def _stop_reason(step: ScriptedReply) -> str:
    return "tool_use" if any(isinstance(block, ToolUse) for block in step.blocks) else "end_turn"


def _message_delta(step: ScriptedReply) -> dict[str, Any]:
    delta = {"stop_reason": _stop_reason(step), "stop_sequence": None}
    return {"type": "message_delta", "delta": delta, "usage": {"output_tokens": step.output_tokens}}


def _whole(step: ScriptedReply, model: str, number: int) -> dict[str, Any]:
    blocks = [block for block in step.blocks if not isinstance(block, Hold)]
    message = _message(model, number, _usage(step.input_tokens, step.output_tokens))
    content = [_content(block, index, number) for index, block in enumerate(blocks)]
    return {**message, "content": content, "stop_reason": _stop_reason(step)}


def _content(block: ScriptedBlock, index: int, number: int) -> dict[str, Any]:
    match block:
        case ScriptedText(text=text):
            return {"type": "text", "text": text}
        case ScriptedThinking(text=text, signature=signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolUse(name=name, input=arguments, id=chosen):
            return {"type": "tool_use", "id": chosen or f"toolu_{number:06d}_{index}", "name": name, "input": arguments}
        case Hold():
            raise AssertionError("a hold is no content")


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)] if size else [text]


def _deltas(block: ScriptedBlock) -> list[dict[str, Any]]:
    match block:
        case ScriptedText(text=text, piece=piece):
            return [{"type": "text_delta", "text": part} for part in _pieces(text, piece)]
        case ScriptedThinking(text=text, signature=signature):
            thought = {"type": "thinking_delta", "thinking": text}
            return [thought, {"type": "signature_delta", "signature": signature}]
        case ToolUse(input=arguments):
            return [{"type": "input_json_delta", "partial_json": msgspec.json.encode(arguments).decode()}]
        case Hold():
            return []


def _block_events(block: ScriptedBlock, index: int, number: int) -> Iterator[dict[str, Any]]:
    empty: dict[str, dict[str, Any]] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"input": {}},
    }
    whole = _content(block, index, number)
    yield {"type": "content_block_start", "index": index, "content_block": {**whole, **empty[whole["type"]]}}
    for delta in _deltas(block):
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


async def _run(script: ModelScript, port: int) -> None:
    async with FakeAnthropic(script).served(port) as address:
        sys.stdout.write(address + "\n")
        sys.stdout.flush()
        await anyio.sleep_forever()


def main() -> None:
    """Serves the script of a JSON file (marker to list of steps) and prints the address."""
    parser = argparse.ArgumentParser(prog="python -m farhand.testing.models.anthropic", description=main.__doc__)
    parser.add_argument("script", type=Path, help="a JSON object: marker to list of steps")
    parser.add_argument("--port", type=int, default=0, help="the loopback port; 0 lets the system choose")
    arguments = parser.parse_args()
    conversations = msgspec.json.decode(arguments.script.read_bytes(), type=dict[str, list[AnyStep]])
    anyio.run(_run, ModelScript(dict(conversations)), arguments.port)


if __name__ == "__main__":
    main()
