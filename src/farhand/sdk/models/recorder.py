"""Writes down what another model answers, as JSONL that FakeModel and the CLI's `--fake-responses` can play again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from farhand.sdk import wire
from farhand.sdk.models import Model, Request, Response, close_stream


class Recorder:
    """Passes everything through and appends each finished answer to a file. An answer that failed is not written."""

    def __init__(self, model: Model, path: str | Path) -> None:
        self._model = model
        self._path = Path(path)

    async def generate(self, request: Request) -> Response:
        """Asks, then writes the answer down."""
        response = await self._model.generate(request)
        self._append("generateContent", _kept(response))
        return response

    async def stream(self, request: Request) -> AsyncIterator[Response]:
        """Passes the chunks on, then writes them down as one line."""
        chunks: list[Response] = []
        stream = self._model.stream(request)
        try:
            async for chunk in stream:
                chunks.append(_kept(chunk))
                yield chunk
        finally:
            await close_stream(stream)
        self._append("generateContentStream", chunks)

    async def count(self, request: Request) -> int:
        """Counts, then writes the count down."""
        total = await self._model.count(request)
        self._append("countTokens", {"totalTokens": total})
        return total

    async def close(self) -> None:
        """Closes the model behind."""
        close = getattr(self._model, "close", None)
        if close is not None:
            await close()

    def _append(self, method: str, response: Any) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(wire.compact({"method": method, "response": response}) + "\n")


def _kept(response: Response) -> Response:
    return {key: response[key] for key in ("candidates", "usageMetadata") if key in response}
