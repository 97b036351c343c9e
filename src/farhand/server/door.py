"""The node's own door: a unix socket that only its owner can open, with the hub behind it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.abc

from farhand.model import frames, road
from farhand.model.attention_ports import NO_ATTENTION, AttentionView
from farhand.model.devices import DeviceRegistry
from farhand.model.errors import BadFrame, EventsGone, FarhandError, TooLarge
from farhand.model.frames import DoorReply, DoorRequest
from farhand.model.history import HistoryPage
from farhand.model.logger import get_logger
from farhand.model.ports import Hub
from farhand.model.stream import ResumePoint, StreamHello
from farhand.model.wire import decode_command
from farhand.model.words import Sender, Seq
from farhand.server.sockets import listen
from farhand.server.speaker import own_name, peer_name

log = get_logger("door")
# Time-out for a client that does not read: it is cut off, and may come back with the number of its last event.
WRITE_TIMEOUT_SECONDS = 30.0
MOST_WATCHES = 32


class OpenHub(Hub, Protocol):
    """A hub that also gives events as they were written."""

    def bodies(self, after: Seq | None = None) -> AsyncIterator[list[bytes]]:
        """Like `watch`, in pieces and encoded."""
        ...

    async def bodies_after(self, position: Seq) -> tuple[list[bytes], Seq]:
        """What follows that event now, encoded and up to a limit, and where it ends; never waits for more."""
        ...

    def calling(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Calls `wake` after every write. It must not wait."""
        ...

    async def check_after(self, after: Seq) -> None:
        """Raises EventsGone when what followed that event cannot all be given."""
        ...

    async def messages(self, backend: str, session: str, before: Seq | None, limit: int) -> HistoryPage:
        """A page of a conversation that an agent has on the node's machine."""
        ...

    async def hello(self, resume: ResumePoint | None) -> StreamHello:
        """How the journal stands, and whether a reader can go on where it was."""
        ...


class Door:
    """Serves everybody who may open the socket; what one of them does harms no other."""

    def __init__(
        self,
        hub: OpenHub,
        path: Path,
        status: Callable[[], dict[str, Any]],
        reserved: frozenset[str] = frozenset(),
        devices: DeviceRegistry | None = None,
        attention: AttentionView = NO_ATTENTION,
    ) -> None:
        self._hub = hub
        self._devices = devices
        self._attention = attention
        self._path = path
        self._status = status
        # The names of channels, which no client of the door can speak as.
        self._reserved = reserved

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Listens until it is cancelled."""
        async with anyio.create_task_group() as tasks:

            def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                tasks.start_soon(self._serve_client, reader, writer, name="door client")

            server = await asyncio.start_unix_server(connected, sock=listen(self._path), limit=frames.LONGEST)
            try:
                task_status.started()
                await anyio.sleep_forever()
            finally:
                server.close()
                self._path.unlink(missing_ok=True)
                tasks.cancel_scope.cancel()

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with anyio.create_task_group() as tasks:
                client = _ClientConnection(
                    self._hub, self._status, writer, tasks, self._reserved, self._devices, self._attention
                )
                await client.serve(reader)
                tasks.cancel_scope.cancel()
        except* (OSError, TimeoutError) as group:
            log.info("client gone", why=str(group.exceptions[0]))
        except* Exception:
            # It costs this client alone, which may come back with the number of its last event.
            log.exception("client cut off")
        finally:
            writer.close()


class _ClientConnection:
    """One client's connection: requests are handled one after the other, watches run concurrently."""

    def __init__(
        self,
        hub: OpenHub,
        status: Callable[[], dict[str, Any]],
        writer: asyncio.StreamWriter,
        tasks: anyio.abc.TaskGroup,
        reserved: frozenset[str],
        devices: DeviceRegistry | None,
        attention: AttentionView,
    ) -> None:
        self._hub = hub
        self._devices = devices
        self._attention = attention
        self._status = status
        self._writer = writer
        self._tasks = tasks
        self._reserved = reserved
        self._peer = peer_name(writer.get_extra_info("socket"))
        self._watches = 0

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Answers until the client disconnects, or sends a line over the limit."""
        while True:
            try:
                line = await reader.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                return
            except asyncio.LimitOverrunError:
                await self._send(frames.error_line(0, TooLarge("A request", frames.LONGEST)))
                return
            road.reached("door.received")
            await self._answer(line)
            road.reached("door.acknowledged")

    async def _answer(self, line: bytes) -> None:
        request = DoorRequest(do="look")
        try:
            request = frames.read_request(line)
            await self._handle(request)
        except FarhandError as error:
            await self._send(frames.error_line(request.id, error))
        except (OSError, TimeoutError):
            raise
        except Exception:
            log.exception("request failed", request=request.do)
            await self._send(
                frames.error_line(request.id, FarhandError("Something went wrong inside; the log has it."))
            )

    async def _handle(self, request: DoorRequest) -> None:
        match request.do:
            case "send":
                command = decode_command(request.command)
                accepted = await self._hub.send(command, self._sender(request))
                await self._send(frames.write(DoorReply(id=request.id, accepted=accepted)))
            case "look":
                await self._send(frames.write(DoorReply(id=request.id, present=await self._hub.look())))
            case "status":
                await self._send(frames.write(DoorReply(id=request.id, status=self._status())))
            case "sessions":
                found = await self._hub.sessions(request.backend, request.directory)
                await self._send(frames.write(DoorReply(id=request.id, sessions=found)))
            case "history":
                page = await self._hub.history(request.worker, request.before, request.limit)
                await self._send(frames.write(DoorReply(id=request.id, history=page)))
            case "search":
                hits = await self._hub.search(request.query, request.worker, request.limit)
                await self._send(frames.write(DoorReply(id=request.id, found=hits)))
            case "pair" | "devices" | "revoke":
                await self._send(frames.write(await self._of_devices(request)))
            case "digest":
                await self._send(frames.write(DoorReply(id=request.id, digest=self._attention.digest())))
            case "watch":
                if self._watches >= MOST_WATCHES:
                    raise BadFrame(f"One connection may have {MOST_WATCHES} watches.")
                after = (await self._hub.look()).seq if request.after is None else max(request.after, 0)
                await self._hub.check_after(after)
                self._watches += 1
                await self._send(frames.write(DoorReply(id=request.id, watching=True)))
                self._tasks.start_soon(self._watch, request.id, after, name="door watch")

    async def _of_devices(self, request: DoorRequest) -> DoorReply:
        devices = self._devices
        if devices is None:
            raise BadFrame("This node pairs no devices.")
        if request.do == "pair":
            return DoorReply(id=request.id, pairing=devices.invite(read_only=request.read_only))
        if request.do == "revoke":
            await devices.revoke(request.device)
        return DoorReply(id=request.id, devices=await devices.all())

    def _sender(self, request: DoorRequest) -> Sender:
        return Sender(via=own_name(request.via, self._reserved), who=request.who if self._peer is None else self._peer)

    async def _watch(self, request: int, after: Seq) -> None:
        try:
            async for bodies in self._hub.bodies(after):
                if bodies:
                    await self._send(frames.events_line(request, bodies))
        except EventsGone as gone:
            await self._send(frames.error_line(request, gone))

    async def _send(self, line: bytes) -> None:
        self._writer.write(line)
        transport = self._writer.transport
        if not transport.get_write_buffer_size() and not transport.is_closing():
            # All of it is in the socket: there is nothing to wait for.
            return
        with anyio.fail_after(WRITE_TIMEOUT_SECONDS):
            await self._writer.drain()
