"""A device on the live wire, as the phone app is one: holds a connection, folds events, reads the past after a gap."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal, TypeAlias

import anyio
import httpx2
import msgspec
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from farhand.model import frames, team_view
from farhand.model.commands import Accepted, Command
from farhand.model.facts import Event
from farhand.model.history import HistoryEntry
from farhand.model.stream import EventsFrame, Looking, NowFrame, Opening, ResumePoint, StreamHello
from farhand.model.team_view import ConversationView, TeamView
from farhand.model.wire import encode
from farhand.model.words import Seq, WorkerName, replace
from farhand.testing.http import local_client

Transport: TypeAlias = Literal["socket", "stream"]
# What a connection to a node that was killed, or a wire that was cut, ends with.
CUT = (OSError, httpx2.HTTPError, WebSocketException, EOFError)
PAUSE_SECONDS = 0.02


class _Frame(msgspec.Struct):
    hello: int = 0


_kinds = msgspec.json.Decoder(_Frame)
_hellos = msgspec.json.Decoder(StreamHello)
_events = msgspec.json.Decoder(EventsFrame)
_nows = msgspec.json.Decoder(NowFrame)


class WirePhone:
    """What one device knows of the team; it comes back by itself whenever its connection ends."""

    def __init__(self, port: int, key: str, transport: Transport, looks_at: WorkerName = "") -> None:
        self._transport = transport
        self._view = Looking(worker=looks_at) if looks_at else None
        # What agents are saying, as their screens show it.
        self.previews: dict[WorkerName, str] = {}
        self.move(port, key)
        self._resume: ResumePoint | None = None
        # A page of the past may be younger than the present that was read before it.
        self._pages: dict[WorkerName, Seq] = {}
        self._changed = anyio.Event()
        self.view = TeamView()
        self.connections = 0
        self.gaps = 0
        self.events = 0

    def move(self, port: int, key: str) -> None:
        """Where the node is from now on, and the key by which it knows the device."""
        self._address = f"127.0.0.1:{port}"
        self._key = {"Authorization": f"Bearer {key}"}

    @property
    def seq(self) -> Seq:
        """The last event that it handled."""
        return self.view.present.seq

    async def run(self) -> None:
        """Holds a connection until it is cancelled."""
        while True:
            try:
                async with aclosing(self._frames()) as incoming:
                    async for frame in incoming:
                        await self._take(frame)
            except CUT:
                await anyio.sleep(PAUSE_SECONDS)

    async def reaches(self, seq: Seq) -> None:
        """Waits until it has handled that event."""
        while self.seq < seq:
            await self._changed.wait()

    async def shows(self, worker: WorkerName, words: str) -> None:
        """Waits until these words stand in the worker's running turn, whatever its lines."""
        while words not in " ".join(self._shown(worker).split()):
            await self._changed.wait()

    def _shown(self, worker: WorkerName) -> str:
        seen = self.view.conversations.get(worker, ConversationView())
        return f"{seen.open.view.text if seen.open else ''} {self.previews.get(worker, '')}"

    async def send(self, command: Command) -> Accepted:
        """As the app does: again and again with the same id, until the node says that it has it."""
        while True:
            try:
                async with self._client() as client:
                    reply = await client.post("/api/hub/commands", content=encode(command))
                if reply.status_code < 500:
                    accepted = frames.read_reply(reply.content).accepted
                    assert accepted is not None, reply.text
                    return accepted
            except CUT:
                pass
            await anyio.sleep(PAUSE_SECONDS)

    async def read(self) -> TeamView:
        """The node's own view: its present, and every page of every worker's past."""
        view, _ = await self._read()
        return view

    def _client(self) -> httpx2.AsyncClient:
        return local_client(
            base_url=f"http://{self._address}", headers=self._key, timeout=httpx2.Timeout(30), trust_env=False
        )

    async def _frames(self) -> AsyncGenerator[bytes]:
        opening = encode(Opening(resume=self._resume, view=self._view))
        if self._transport == "socket":
            address = f"ws://{self._address}/api/hub/socket"
            async with connect(address, additional_headers=self._key, proxy=None, max_size=None) as socket:
                await socket.send(opening.decode())
                async for frame in socket:
                    yield frame.encode() if isinstance(frame, str) else frame
        else:
            timeout = httpx2.Timeout(30, read=None)
            async with (
                self._client() as client,
                client.stream("POST", "/api/hub/stream", content=opening, timeout=timeout) as response,
            ):
                async for line in response.aiter_lines():
                    if line.startswith("data: "):
                        yield line.removeprefix("data: ").encode()
        raise EOFError("The node ended the connection.")

    async def _take(self, frame: bytes) -> None:
        if _kinds.decode(frame).hello:
            await self._greeted(_hellos.decode(frame))
        elif frame.startswith(b'{"events"'):
            for event in _events.decode(frame).events:
                self._fold(event)
        elif frame.startswith(b'{"now"') and (preview := _nows.decode(frame).now.preview):
            self.previews[preview.worker] = preview.text
        self._changed.set()
        self._changed = anyio.Event()

    async def _greeted(self, hello: StreamHello) -> None:
        self.connections += 1
        if hello.resume == "gap":
            self.gaps += 1
            self.view, self._pages = await self._read()
        self._resume = ResumePoint(journal=hello.journal, after=self.seq)

    def _fold(self, event: Event) -> None:
        if event.seq <= self.seq:
            return
        assert event.seq == self.seq + 1, f"event {event.seq} follows {self.seq}"
        self.events += 1
        known = self.view.conversations
        self.view = team_view.fold(self.view, event)
        if event.seq <= self._pages.get(event.worker, 0):
            # The page has it.
            self.view = replace(self.view, conversations=known)
        if self._resume is not None:
            self._resume = replace(self._resume, after=event.seq)

    async def _read(self) -> tuple[TeamView, dict[WorkerName, Seq]]:
        async with self._client() as client:
            present = frames.read_reply((await client.get("/api/hub/present")).content).present
            assert present is not None
            conversations: dict[WorkerName, ConversationView] = {}
            pages: dict[WorkerName, Seq] = {}
            for worker in present.workers:
                conversations[worker], pages[worker] = await _conversation(client, worker)
        # How far messages got that were told of in the gap, nobody says.
        return TeamView(present=present, conversations=conversations), pages


async def _conversation(client: httpx2.AsyncClient, worker: WorkerName) -> tuple[ConversationView, Seq]:
    entries: tuple[HistoryEntry, ...] = ()
    asked = {"worker": worker, "limit": "60"}
    newest = None
    while True:
        page = frames.read_reply((await client.get("/api/hub/history", params=asked)).content).history
        assert page is not None
        newest = newest or page
        entries = (*page.entries, *entries)
        if not page.more:
            return ConversationView(entries=entries, open=newest.open), newest.seq
        asked["before"] = str(page.entries[0].seq)
