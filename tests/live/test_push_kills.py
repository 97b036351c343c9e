"""Nothing lost, and nothing twice on the screen, through push: the node is killed before, in and after a send.

How often a message may be repeated: a device has one lane for what is urgent, in which one message is sent at a time
and marked before the next begins. So a kill leaves at most one question sent and not marked, and that one is sent once
more, word for word. Fewer than the kills cannot be promised: each of them, also that of a node which only seems to be
idle, may come between the request and its mark. What is sent again later for a reason, a reminder or the end of a
question, has other words and is no repeat."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import msgspec
import pytest
from tests.live.killed_node import KilledNode, tmp_path

from farhand.client.door import SocketHub
from farhand.model.commands import Command, Hire, Say
from farhand.model.errors import FarhandError, Refused
from farhand.model.facts import CameOnline
from farhand.model.words import Sender
from farhand.testing.house import settings_in
from farhand.testing.http import local_client
from farhand.testing.ports import lasting_port
from farhand.testing.push_service import Browser, FakePushService, push_service

__all__ = ["tmp_path"]
pytestmark = pytest.mark.anyio
http_ece: Any = import_module("http_ece")
# Not from the desk: whoever sits there is not buzzed.
SENDER = Sender(via="test")
# Before it is with the outbox, before and after the send, and after it is marked as sent.
PLACES = ("worker.recorded", "outbox.before_send", "outbox.sent", "outbox.marked")
SAFETY_SECONDS = 600.0
PAUSE_SECONDS = 0.05


class PushedNode(KilledNode):
    """A node in another process, to be killed, with one device that it can reach."""

    def __init__(self, folder: Path, service: FakePushService) -> None:
        super().__init__(folder)
        self.service = service
        self.browser: Browser = service.browser()
        self.port = lasting_port()

    async def start(self, kill_at: str = "") -> None:
        """Starts it, to be killed at that place."""
        await self.launch("--port", str(self.port), "--push", self.service.address, kill_at=kill_at)

    @asynccontextmanager
    async def door(self) -> AsyncIterator[SocketHub]:
        """The node's door, as soon as it is open."""
        while True:
            try:
                async with SocketHub(settings_in(self.folder).door) as hub:
                    await hub.look()
                    yield hub
                    return
            except (OSError, FarhandError):
                await anyio.sleep(PAUSE_SECONDS)

    async def send(self, command: Command) -> None:
        """A command that counts once however often it must be sent."""
        while True:
            try:
                async with SocketHub(settings_in(self.folder).door) as hub:
                    await hub.send(command, SENDER)
                    return
            except Refused:
                raise
            except (OSError, FarhandError):
                await anyio.sleep(PAUSE_SECONDS)

    async def pair(self) -> None:
        """A device that switched notifications on."""
        async with self.door() as hub:
            code = (await hub.pair()).code
        async with local_client(base_url=f"http://127.0.0.1:{self.port}") as client:
            key = (await client.post("/api/pair", json={"code": code, "bearer": True})).json()["key"]
            headers = {"Authorization": f"Bearer {key}"}
            answer = await client.post("/api/push", json=self.browser.subscription(), headers=headers)
            assert answer.status_code == 200, answer.text

    async def until_shown(self, count: int) -> None:
        """Returns when so many questions have a notification."""
        while len(self.asked()) < count:
            await self.service.receives(len(self.service.requests) + 1)

    def shown(self) -> Counter[bytes]:
        """How often each message came, word for word."""
        return Counter(
            http_ece.decrypt(
                one.body, private_key=self.browser.private, auth_secret=self.browser.auth, version="aes128gcm"
            )
            for one in self.service.requests
        )

    def asked(self) -> dict[str, Counter[bytes]]:
        """The messages about each question: a later one of the same tag takes the place of the one before."""
        found: dict[str, Counter[bytes]] = {}
        for body, count in self.shown().items():
            tag = str(msgspec.json.decode(body)["notification"]["tag"])
            if tag.startswith("ask:"):
                found.setdefault(tag, Counter())[body] += count
        return found


async def test_a_kill_in_a_push_loses_none_and_shows_none_twice(tmp_path: Path) -> None:
    with anyio.fail_after(SAFETY_SECONDS):
        async with push_service(time.time()) as service:
            node = PushedNode(tmp_path, service)
            await node.start()
            try:
                await node.pair()
                await killed_in_every_place(node)
            finally:
                await node.end()


async def until_online(hub: SocketHub, worker: str) -> None:
    """Returns when the worker can be spoken to."""
    async for event in hub.watch(after=0):
        if event.worker == worker and isinstance(event.fact, CameOnline):
            return


async def killed_in_every_place(node: PushedNode) -> None:
    """One worker asks for each place, so that each question has a notification of its own."""
    for number, place in enumerate(PLACES):
        worker = f"w{number}"
        await node.send(Hire(id=f"h{number}", worker=worker, backend="scripted"))
        async with node.door() as hub:
            await until_online(hub, worker)
        node.kill()
        await node.died()
        await node.start(f"{place}:1")
        async with anyio.create_task_group() as tasks:
            # It may be killed before it has heard of it.
            tasks.start_soon(node.send, Say(id=f"s{number}", worker=worker, text="ask"))
            await node.died()
            await node.start()
        await node.until_shown(number + 1)
    asked = node.asked()
    assert len(asked) == len(PLACES), node.shown()
    # Only what a kill cut off in its send is sent once more, under the tag that takes its own place.
    repeats = sum(count - 1 for told in asked.values() for count in told.values())
    assert repeats <= node.kills == 2 * len(PLACES), node.shown()
