"""HTTP to a model's server through httpx2, which knows the proxies of this machine and of the environment."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2

from farhand.sdk.models.connection import CONNECT_SECONDS, HttpFailed


class ProxiedClient:
    """One client of httpx2."""

    def __init__(self, timeout_seconds: float, tls: Callable[[], Any]) -> None:
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(timeout_seconds, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            verify=tls(),
        )

    async def post(self, url: str, content: bytes, headers: Mapping[str, str]) -> ProxiedAnswer:
        """Sends a body; the answer's head has come when this returns."""
        with _failing():
            request = self._client.build_request("POST", url, content=content, headers=dict(headers))
            return ProxiedAnswer(await self._client.send(request, stream=True))

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()


class ProxiedAnswer:
    """An answer whose body is still to come."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.status_code = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def aiter_bytes(self) -> AsyncGenerator[bytes, None]:
        """The body, in pieces as they come."""
        with _failing():
            async for piece in self._response.aiter_bytes():
                yield piece

    async def aread(self) -> bytes:
        """The whole body."""
        with _failing():
            return await self._response.aread()

    async def aclose(self) -> None:
        """Done with it."""
        await self._response.aclose()


@contextmanager
def _failing() -> Generator[None]:
    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise HttpFailed(str(error) or type(error).__name__) from error
