"""Posts JSON to a model's server and reads its answers, whole or as events, with patience for busy servers."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farhand.sdk.errors import ModelError, ModelRefused, StreamCut
from farhand.sdk.json_shapes import is_list, is_object
from farhand.sdk.models import RETRY_LISTENER

if TYPE_CHECKING:
    from farhand.sdk.models.connection import HttpAnswer, HttpClient

_PROXY_VARIABLES = [name for each in ("http_proxy", "https_proxy", "all_proxy") for name in (each, each.upper())]
_WITH_SYSTEM_PROXIES = ("darwin", "win32")
RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_contexts: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a failed request is retried, with exponential backoff; a server's `Retry-After` counts more."""

    attempts: int = 6
    first_seconds: float = 1.0
    longest_seconds: float = 30.0

    def delay(self, attempt: int, asked_for: float | None, chance: float) -> float:
        """The backoff after a failed attempt (the first is 1): doubled each time, up to a third shorter by jitter."""
        if asked_for is not None:
            return min(asked_for, self.longest_seconds)
        grown: float = min(self.first_seconds * 2.0 ** (attempt - 1), self.longest_seconds)
        return grown * (1 - chance / 3)


async def _sleep(seconds: float) -> None:
    import anyio

    await anyio.sleep(seconds)


class Wire:
    """One HTTP client for a model's server, made on first use and made anew when the event loop is another one."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        timeout_seconds: float = 300.0,
        retry_policy: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = _sleep,
        chance: Callable[[], float] = random.random,
        authorize: Callable[[], Awaitable[Mapping[str, str]]] | None = None,
    ) -> None:
        self._authorize = authorize
        self.base_url = base_url.rstrip("/")
        self.retry_policy = retry_policy or RetryPolicy()
        self._headers = {"content-type": "application/json", "user-agent": "farhand", **headers}
        self._timeout_seconds = timeout_seconds
        self._sleep = sleep
        self._chance = chance
        self._client: HttpClient | None = None
        self._loop: object = None

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The JSON answer to a JSON body."""
        from farhand.sdk.models.connection import HttpFailed

        response = await self._persist(path, body)
        try:
            raw = await response.aread()
        except HttpFailed as error:
            raise StreamCut(str(error)) from error
        finally:
            await response.aclose()
        try:
            answer = json.loads(raw)
        except ValueError:
            raise ModelError(f"The model's server sent no JSON: {_short(raw)}", retryable=True) from None
        if not is_object(answer):
            raise ModelError(f"The model's server sent no JSON object: {_short(raw)}")
        return answer

    async def events(self, path: str, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The data of each server-sent event, as JSON objects; `[DONE]` ends them."""
        from farhand.sdk.models.connection import HttpFailed

        response = await self._persist(path, body)
        try:
            async with aclosing(sent_events(response.aiter_bytes())) as found:
                async for data in found:
                    if data == b"[DONE]":
                        return
                    yield _event(data)
        except HttpFailed as error:
            raise StreamCut(str(error)) from error
        finally:
            await response.aclose()

    async def _persist(self, path: str, body: dict[str, Any]) -> HttpAnswer:
        """Sends until the server answers well, or the patience is over."""
        for attempt in range(1, self.retry_policy.attempts + 1):
            response, failure, asked_for = await self._try(path, body, attempt)
            if response is not None:
                return response
            if not failure.retryable or attempt == self.retry_policy.attempts:
                raise failure
            wait_seconds = self.retry_policy.delay(attempt, asked_for, self._chance())
            if (tell := RETRY_LISTENER.get()) is not None:
                await tell(attempt, wait_seconds, str(failure))
            await self._sleep(wait_seconds)
        raise AssertionError("patience has at least one attempt")

    async def _try(
        self, path: str, body: dict[str, Any], attempt: int
    ) -> tuple[HttpAnswer | None, ModelError, float | None]:
        from farhand.sdk.models.connection import HttpFailed

        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        # A token may expire between two attempts.
        signed = dict(await self._authorize()) if self._authorize is not None else dict[str, str]()
        try:
            response = await self._open().post(f"{self.base_url}{path}", content, {**self._headers, **signed})
            if response.status_code < 400:
                return response, ModelError(""), None
            try:
                raw = await response.aread()
            finally:
                await response.aclose()
        except HttpFailed as error:
            said = f"The model's server at {self.base_url} was not reached: {error}"
            return None, ModelError(said, retryable=error.retryable), None
        refused = ModelRefused(
            response.status_code, _detail(raw), retryable=response.status_code in RETRYABLE, attempts=attempt
        )
        return None, refused, asked_delay(response.headers.get("retry-after"), raw)

    def _open(self) -> HttpClient:
        import asyncio

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._loop = loop
            self._client = _client(self._timeout_seconds)
        return self._client

    async def close(self) -> None:
        """Closes the connections. The next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _client(timeout_seconds: float) -> HttpClient:
    """A client that goes straight to a server; through httpx2 where the way out may be a proxy."""
    if sys.platform in _WITH_SYSTEM_PROXIES or any(os.environ.get(name) for name in _PROXY_VARIABLES):
        from farhand.sdk.models.proxied_client import ProxiedClient

        return ProxiedClient(timeout_seconds, _tls)
    from farhand.sdk.models.connection import DirectClient

    return DirectClient(timeout_seconds, _tls)


def _tls() -> Any:
    """A TLS context, made once a process: making one costs more than a whole turn."""
    if "default" not in _contexts:
        import ssl

        _contexts["default"] = ssl.create_default_context()
    return _contexts["default"]


async def sent_events(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """The data of server-sent events. Lines end with a newline alone: an answer may hold every other separator."""
    rest, data = b"", list[bytes]()
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            text = line.rstrip(b"\r")
            if text.startswith(b"data:"):
                data.append(text[5:].strip(b" "))
            elif not text and data:
                yield b"\n".join(data)
                data = []
    if rest.startswith(b"data:"):
        data.append(rest[5:].strip())
    if data:
        yield b"\n".join(data)


def _event(data: bytes) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except ValueError:
        raise StreamCut(f"an event was no JSON: {_short(data)}") from None
    if not is_object(event):
        raise StreamCut(f"an event was no JSON object: {_short(data)}")
    error = event.get("error")
    if is_object(error):
        status = error.get("code") if isinstance(error.get("code"), int) else 500
        raise ModelRefused(int(status or 500), str(error.get("message", error)), retryable=status in RETRYABLE)
    return event


def _short(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace").strip()
    return text if len(text) <= 200 else text[:200] + "…"


def _detail(raw: bytes) -> str:
    """The server's own sentence, wherever its JSON keeps it."""
    try:
        answer = json.loads(raw)
    except ValueError:
        return _short(raw) or "no explanation"
    if is_list(answer) and answer:
        answer = answer[0]
    error = answer.get("error") if is_object(answer) else None
    if is_object(error) and error.get("message"):
        return str(error["message"])
    return str(error) if error else _short(raw) or "no explanation"


def asked_delay(header: str | None, raw: bytes) -> float | None:
    """How long the server wants us to wait: its Retry-After header, or Google's RetryInfo (`"retryDelay": "12s"`)."""
    if header:
        try:
            return max(0.0, float(header))
        except ValueError:
            return None
    marker = raw.find(b'"retryDelay"')
    if marker < 0:
        return None
    value = raw[marker + 12 :].split(b'"', 2)
    try:
        return max(0.0, float(value[1].rstrip(b"s")))
    except (IndexError, ValueError):
        return None
