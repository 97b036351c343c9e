"""Ways to reach a model, all behind one protocol of three methods. Requests and responses are Gemini's wire JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from farhand.sdk.models.anthropic import AnthropicModel
    from farhand.sdk.models.fake import FakeModel
    from farhand.sdk.models.gemini import GeminiModel
    from farhand.sdk.models.openai import OpenAiModel
    from farhand.sdk.models.recorder import Recorder
    from farhand.sdk.models.vertex import VertexModel

Request: TypeAlias = dict[str, Any]
"""A `generateContent` body with its `model`: contents, systemInstruction, tools, toolConfig, generationConfig."""

Response: TypeAlias = dict[str, Any]
"""A `generateContent` response, or one chunk of a streamed one."""

__all__ = [
    "RETRY_LISTENER",
    "AnthropicModel",
    "FakeModel",
    "GeminiModel",
    "Model",
    "OpenAiModel",
    "Recorder",
    "Request",
    "Response",
    "VertexModel",
    "close_stream",
]


@runtime_checkable
class Model(Protocol):
    """What the loop needs of a model. `stream` ends normally only when the model finished; otherwise it raises."""

    async def generate(self, request: Request) -> Response: ...
    def stream(self, request: Request) -> AsyncIterator[Response]: ...
    async def count(self, request: Request) -> int: ...


# Who is told of a wait before a server is asked again: the attempt that failed, the wait in seconds, and why.
RETRY_LISTENER: ContextVar[Callable[[int, float, str], Awaitable[None]] | None] = ContextVar("retry", default=None)


async def close_stream(stream: AsyncIterator[Response]) -> None:
    """Closes a stream that is not read to its end; an iterator that cannot be closed needs no closing."""
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()


_HOMES = {
    "AnthropicModel": "anthropic",
    "FakeModel": "fake",
    "GeminiModel": "gemini",
    "OpenAiModel": "openai",
    "Recorder": "recorder",
    "VertexModel": "vertex",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"farhand.sdk.models.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
