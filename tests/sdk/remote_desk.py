"""A conversation with an agent of the SDK and its remote control on a real port, for tests."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import msgspec

from farhand.cli.remote_control import remote_control, sdk_action
from farhand.remote.sdk_session import SdkSession
from farhand.sdk.agent import Agent
from farhand.testing.http import local_client

SAFETY_SECONDS = 240.0


class RemoteDesk:
    """A program outside, and the conversation that it drives."""

    def __init__(self, session: SdkSession, client: httpx2.AsyncClient, port: int) -> None:
        self.session, self.client, self.port = session, client, port

    async def post(self, path: str, body: object, **options: Any) -> httpx2.Response:
        return await self.client.post(path, content=msgspec.json.encode(body), **options)

    async def get(self, path: str, **options: Any) -> Any:
        response = await self.client.get(path, **options)
        assert response.status_code == 200, response.text
        return response.json()

    async def until(self, true: Callable[[], bool]) -> None:
        """Waits until the conversation is so."""
        log = self.session.log
        with anyio.fail_after(SAFETY_SECONDS):
            while not true():
                await log.wait(log.number)

    async def stable(self) -> None:
        await self.until(lambda: not self.session.log.status.running)


@asynccontextmanager
async def remote_desk(agent: Agent, uploads: Path, *, key: str = "", ready: bool = True) -> AsyncIterator[RemoteDesk]:
    """The conversation runs and the API listens while the context is open."""
    async with agent, agent.session() as opened, anyio.create_task_group() as tasks:
        session = SdkSession(agent, opened, sdk_action, time.time)
        session.set_ready(ready)
        tasks.start_soon(session.run)
        async with remote_control(lambda _: session, 0, uploads, key) as port:
            address = f"http://127.0.0.1:{port}"
            async with local_client(base_url=address, timeout=SAFETY_SECONDS) as client:
                yield RemoteDesk(session, client, port)
        tasks.cancel_scope.cancel()


async def events(response: httpx2.Response) -> AsyncIterator[tuple[str, str, Any]]:
    """Server-sent events: their names, ids and data."""
    name = identity = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("id: "):
            identity = line.removeprefix("id: ")
        elif line.startswith("data: "):
            yield name, identity, msgspec.json.decode(line.removeprefix("data: "))
            name = identity = ""
