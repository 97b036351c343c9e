"""The one `opencode serve` of a node: found or started in a holder, with a password of its own."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import msgspec

from farhand.disk.atomic import write_private
from farhand.drivers.opencode import launch
from farhand.drivers.opencode.headless.api import OpenCodeAddress, open_api
from farhand.drivers.opencode.headless.state import OpenCodeState, OtherSession
from farhand.drivers.wires.holder.process import sentence
from farhand.drivers.wires.listener import is_trusted_listener
from farhand.model.errors import AgentGone
from farhand.model.holder_ports import Held, Holders
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.logger import get_logger
from farhand.model.present import Worker
from farhand.model.words import Mode, Word, replace

log = get_logger("opencode")
HOLDER = "opencode-server"
LISTENING = lazy_pattern(rb"listening on (http://[^\s]+)")
START_TIMEOUT_SECONDS = 120.0
HEALTH_TIMEOUT_SECONDS = 10.0


class ServerProcess(Protocol):
    """A process that serves a worker's session, with or without a terminal."""

    @property
    def address(self) -> OpenCodeAddress:
        """Where it listens."""
        ...

    @property
    def life(self) -> str:
        """Tells this process from the one before it."""
        ...

    def other_session(self, event: bytes, state: OpenCodeState, known: OtherSession | None) -> OtherSession | None:
        """The session that a person at its terminal speaks in after this event, if it is not the worker's."""
        ...

    async def wait_exit(self) -> str:
        """Returns when the process has ended, with a sentence that says how."""
        ...


class ServerRecord(Word):
    """What is stored about the server, for its owner alone."""

    life: int
    password: str
    url: str = ""

    @property
    def holder(self) -> str:
        """The name of its holder."""
        return f"{HOLDER}.{self.life}"

    @property
    def address(self) -> OpenCodeAddress:
        """Where it listens."""
        return OpenCodeAddress(url=self.url, password=self.password)


class HeldServer:
    """The server as one of the processes that serve a session; nobody sits at it."""

    def __init__(self, holders: Holders, record: ServerRecord) -> None:
        self._holders = holders
        self._record = record
        self.address = record.address
        self.life = str(record.life)

    def other_session(self, _event: bytes, _state: OpenCodeState, _known: OtherSession | None) -> OtherSession | None:
        """None: without a terminal, nobody but the worker speaks in its name."""
        return None

    async def wait_exit(self) -> str:
        """Returns when the server has ended."""
        found = await self._holders.attach(self._record.holder)
        if found is None:
            return "The agent's server is gone."
        async with found as held:
            return sentence(await held.wait_exit())


class OpenCodeServer:
    """Starts the server for the first worker, finds it for others, ends it with the last."""

    def __init__(self, holders: Holders, folder: Path, environment: Mapping[str, str]) -> None:
        self._holders = holders
        self._folder = folder
        self._environment = environment
        self._file = folder / "server.json"
        self._lock = anyio.Lock()

    def folder(self, worker: Worker) -> Path:
        """The worker's own folder; while it is there, the server is needed."""
        return self._folder / worker.hiring_id

    async def acquire(self, worker: Worker, may_start: Callable[[], Awaitable[None]] | None = None) -> ServerProcess:
        """The server, healthy, for this worker; raises when it cannot be had, or when `may_start` does.

        That is asked for every server that has not served this worker before: it reads the worker's folder anew."""
        served = self.folder(worker) / "served"
        async with self._lock:
            record = self._read()
            found = await self._find(record) if record is not None else None
            if may_start is not None and (found is None or not _says(served, found.life)):
                await may_start()
            if found is None:
                if record is not None:
                    await self._holders.forget(record.holder)
                write_private(served, b"")
                found = await self._start(record.life + 1 if record else 1)
            write_private(served, str(found.life).encode())
            return HeldServer(self._holders, found)

    async def release(self, worker: Worker) -> None:
        """The worker needs it no more; when nobody does, it ends."""
        async with self._lock:
            shutil.rmtree(self.folder(worker), ignore_errors=True)
            if any(self._folder.glob("*/served")):
                return
            for name in await self._holders.names():
                if name.rpartition(".")[0] == HOLDER:
                    await self._holders.forget(name)
            # The number of the next life stays ahead of every one before.
            record = self._read()
            if record is not None:
                self._write(replace(record, url=""))

    def address(self) -> OpenCodeAddress | None:
        """Where the server was last known to listen."""
        record = self._read()
        return record.address if record and record.url else None

    def _read(self) -> ServerRecord | None:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=ServerRecord)
        except (OSError, msgspec.MsgspecError):
            return None

    def _write(self, record: ServerRecord) -> None:
        write_private(self._file, msgspec.json.encode(record))

    async def _find(self, record: ServerRecord) -> ServerRecord | None:
        """The server of that record, if it lives and answers."""
        if not record.url:
            held = await self._holders.attach(record.holder)
            if held is None:
                return None
            async with held as child:
                record = replace(record, url=await wait_listening(child))
            self._write(record)
        if record.url and await is_healthy(record.address, users=owners(self._environment)):
            return record
        log.warning("server not found", life=record.life)
        return None

    async def _start(self, life: int) -> ServerRecord:
        record = ServerRecord(life=life, password=secrets.token_urlsafe(32))
        self._write(record)
        command = launch.server_line(launch.program(self._environment))
        # A session without rules of its own asks, those of subagents among them.
        variables = {**self._environment, **launch.variables(Mode.DEFAULT, self._environment, record.password)}
        started = await self._holders.start(record.holder, command, cwd=self._folder, environment=variables)
        async with started as child:
            url = await wait_listening(child)
            if not url:
                ended = sentence(await child.wait_exit())
                raise AgentGone(f"OpenCode's server did not start. {ended}")
        record = replace(record, url=url)
        self._write(record)
        log.info("server started", life=life)
        return record


def _says(served: Path, life: int) -> bool:
    """Whether the worker was served by the server of that life."""
    try:
        return served.read_bytes() == str(life).encode()
    except OSError:
        return False


async def wait_listening(child: Held) -> str:
    """The address that the child prints when it listens; empty when it ends, or the time-out passes, before."""
    output = b""
    with anyio.move_on_after(START_TIMEOUT_SECONDS):
        async with aclosing(child.follow(0)) as pieces:  # type: ignore[type-var]
            async for piece, _ in pieces:
                output += piece
                found = LISTENING.search(output)
                if found and b"\n" in output[found.start() :]:
                    return found[1].decode()
        return ""
    await child.end()
    return ""


async def is_healthy(
    address: OpenCodeAddress,
    directory: str = "/",
    timeout_seconds: float = HEALTH_TIMEOUT_SECONDS,
    users: Collection[int] = (),
) -> bool:
    """Whether the server behind that address is the one with that password, and answers within the time-out.

    Nobody else is asked: who took the port of one that ended would get the password, and everything that is said."""
    if not await anyio.to_thread.run_sync(is_trusted_listener, urlsplit(address.url).port or 0, users):
        return False
    with anyio.move_on_after(timeout_seconds):
        async with open_api(address, directory) as api:
            return await api.is_healthy()
    return False


def owners(environment: Mapping[str, str]) -> frozenset[int]:
    """Whom an agent with these variables runs as: whoever has its home."""
    try:
        return frozenset({Path(environment["HOME"]).stat().st_uid})
    except (KeyError, OSError):
        return frozenset()
