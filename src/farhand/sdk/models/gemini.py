"""Gemini over REST: an API key, another address or a gateway in front of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Literal
from urllib.parse import quote

from farhand.sdk import wire
from farhand.sdk.errors import NoKey, StreamCut
from farhand.sdk.models import Request, Response
from farhand.sdk.models.http import RetryPolicy, Wire

PUBLIC_URL = "https://generativelanguage.googleapis.com"


class GeminiModel:
    """Asks `{base_url}/{version}/models/{model}:…`. A gateway is a base URL with headers, with or without a key."""

    def __init__(
        self,
        api_key: str = "",
        *,
        base_url: str = PUBLIC_URL,
        version: str = "v1beta",
        headers: Mapping[str, str] | None = None,
        key_in: Literal["x-goog-api-key", "bearer"] = "x-goog-api-key",
        timeout_seconds: float = 300.0,
        retry_policy: RetryPolicy | None = None,
        **clock: Any,
    ) -> None:
        if not api_key and not headers:
            raise NoKey("No API key: set GEMINI_API_KEY, or give GeminiModel an api_key or a gateway's headers.")
        keyed = {"x-goog-api-key": api_key} if key_in == "x-goog-api-key" else {"authorization": f"Bearer {api_key}"}
        all_headers = {**(keyed if api_key else {}), **(headers or {})}
        self._version = version
        self._wire = Wire(base_url, all_headers, timeout_seconds=timeout_seconds, retry_policy=retry_policy, **clock)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], **options: Any) -> GeminiModel:
        """From the variables that the CLI reads."""
        key_in = environ.get("GEMINI_API_KEY_AUTH_MECHANISM", "x-goog-api-key")
        return cls(
            environ.get("GEMINI_API_KEY") or environ.get("GOOGLE_API_KEY") or "",
            base_url=environ.get("GOOGLE_GEMINI_BASE_URL") or PUBLIC_URL,
            version=environ.get("GOOGLE_GENAI_API_VERSION") or "v1beta",
            headers=custom_headers(environ.get("GEMINI_CLI_CUSTOM_HEADERS", "")),
            key_in="bearer" if key_in == "bearer" else "x-goog-api-key",
            **options,
        )

    async def generate(self, request: Request) -> Response:
        """The whole answer at once."""
        path, body = self._split(request, "generateContent")
        return await self._wire.post(path, body)

    async def stream(self, request: Request) -> AsyncGenerator[Response, None]:
        """The answer chunk by chunk; raises `StreamCut` when no chunk said why the model stopped."""
        path, body = self._split(request, "streamGenerateContent")
        finished = False
        async with aclosing(self._wire.events(f"{path}?alt=sse", body)) as chunks:
            async for chunk in chunks:
                finished = finished or bool(wire.finish_reason(chunk))
                yield chunk
        if not finished:
            raise StreamCut("the connection closed before a finish reason came")

    async def count(self, request: Request) -> int:
        """How many tokens a request has."""
        path, body = self._split(request, "countTokens")
        name = str(request["model"])
        whole = {"generateContentRequest": {"model": f"models/{name.removeprefix('models/')}", **body}}
        answer = await self._wire.post(path, whole)
        return int(answer.get("totalTokens", 0))

    def _split(self, request: Request, method: str) -> tuple[str, dict[str, Any]]:
        body = {key: value for key, value in request.items() if key != "model"}
        name = quote(str(request["model"]).removeprefix("models/"), safe="")
        return f"/{self._version}/models/{name}:{method}", body

    async def close(self) -> None:
        """Closes the connections."""
        await self._wire.close()


def custom_headers(text: str) -> dict[str, str]:
    """`Name: value, Other: value` as a mapping; a comma belongs to a value unless a new name follows it."""
    import re

    headers: dict[str, str] = {}
    for entry in re.split(r",(?=\s*[^,:]+:)", text):
        name, colon, value = entry.partition(":")
        if colon and name.strip():
            headers[name.strip()] = value.strip()
    return headers
