"""The one `opencode serve` of a node: found or started in a holder, with a word of its own that opens it."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

import anyio
import msgspec
import structlog

from farhand.disk.atomic import write_private
from farhand.drivers.opencode import modes
from farhand.drivers.opencode.headless.api import Address, opened
from farhand.drivers.wires.holder.process import sentence
from farhand.drivers.wires.preflight import program_path
from farhand.model.errors import AgentGone, DriverError
from farhand.model.ports import Held, Holders
from farhand.model.present import Worker
from farhand.model.words import Mode, Word, replace

log = structlog.get_logger("opencode")
NAME = "opencode-server"
LISTENING = re.compile(rb"listening on (http://[^\s]+)")
START_SECONDS = 120.0
HEALTH_SECONDS = 10.0
# Nothing of the agent's own program may change under a worker's hands.
QUIET = {"OPENCODE_DISABLE_AUTOUPDATE": "1"}


class Host(Protocol):
    """A process that serves a worker's session."""

    @property
    def address(self) -> Address:
        """Where it listens."""
        ...

    @property
    def life(self) -> str:
        """Tells this process from the one before it."""
        ...

    @property
    def desk(self) -> bool:
        """Whether a person can sit down at it; then nobody but that person and the worker speaks there."""
        ...

    async def gone(self) -> str:
        """Returns when the process has ended, with a sentence that says how."""
        ...


class ServerRecord(Word):
    """What is written down about the server, for its owner alone."""

    life: int
    password: str
    url: str = ""

    @property
    def name(self) -> str:
        """The name of its holder."""
        return f"{NAME}.{self.life}"


class Served:
    """The server as a host."""

    desk = False

    def __init__(self, holders: Holders, record: ServerRecord) -> None:
        self._holders = holders
        self._record = record
        self.address = Address(url=record.url, password=record.password)
        self.life = str(record.life)

    async def gone(self) -> str:
        """Returns when the server has ended."""
        found = await self._holders.attach(self._record.name)
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
        """What is kept for a worker; while the folder is there, the server is needed."""
        return self._folder / f"{worker.name}-{worker.since}"

    async def up(self, worker: Worker) -> Host:
        """The server, healthy; raises when it cannot be had."""
        write_private(self.folder(worker) / "served", b"")
        async with self._lock:
            record = self._read()
            if record is not None:
                found = await self._found(record)
                if found is not None:
                    return Served(self._holders, found)
                await self._holders.forget(record.name)
            return Served(self._holders, await self._start(record.life + 1 if record else 1))

    async def leave(self, worker: Worker) -> None:
        """The worker needs it no more; when nobody does, it ends."""
        async with self._lock:
            shutil.rmtree(self.folder(worker), ignore_errors=True)
            if any(self._folder.glob("*/served")):
                return
            for name in await self._holders.names():
                if name.rpartition(".")[0] == NAME:
                    await self._holders.forget(name)
            # The number of the next life stays ahead of every one before.
            record = self._read()
            if record is not None:
                write_private(self._file, msgspec.json.encode(replace(record, url="")))

    def address(self) -> Address | None:
        """Where the server was last known to listen."""
        record = self._read()
        return Address(url=record.url, password=record.password) if record and record.url else None

    def _read(self) -> ServerRecord | None:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=ServerRecord)
        except (OSError, msgspec.MsgspecError):
            return None

    async def _found(self, record: ServerRecord) -> ServerRecord | None:
        """The server of that record, if it lives and answers."""
        if not record.url:
            held = await self._holders.attach(record.name)
            if held is None:
                return None
            async with held as child:
                record = replace(record, url=await listening(child) or "")
            write_private(self._file, msgspec.json.encode(record))
        if record.url and await is_healthy(Address(url=record.url, password=record.password)):
            return record
        log.warning("server not found", life=record.life)
        return None

    async def _start(self, life: int) -> ServerRecord:
        record = ServerRecord(life=life, password=secrets.token_urlsafe(32))
        write_private(self._file, msgspec.json.encode(record))
        words = (program(self._environment), "serve", "--hostname", "127.0.0.1", "--port", "0")
        # Whatever does not say what it may do asks, the sessions of helpers among them.
        variables = {
            **self._environment,
            **QUIET,
            **modes.variables(Mode.DEFAULT),
            "OPENCODE_SERVER_PASSWORD": record.password,
        }
        started = await self._holders.start(record.name, words, cwd=self._folder, environment=variables)
        async with started as child:
            url = await listening(child)
            if not url:
                ended = sentence(await child.wait_exit())
                raise AgentGone(f"OpenCode's server did not start. {ended}")
        record = replace(record, url=url)
        write_private(self._file, msgspec.json.encode(record))
        log.info("server started", life=life)
        return record


async def listening(child: Held) -> str:
    """Where the child says that it listens; empty when it ends, or says nothing, before."""
    output = b""
    with anyio.move_on_after(START_SECONDS):
        async with aclosing(child.follow(0)) as pieces:  # type: ignore[type-var]
            async for piece, _ in pieces:
                output += piece
                found = LISTENING.search(output)
                if found and b"\n" in output[found.start() :]:
                    return found[1].decode()
        return ""
    await child.end()
    return ""


async def is_healthy(address: Address, directory: str = "/", seconds: float = HEALTH_SECONDS) -> bool:
    """Whether the server behind that address is the one with that password, and answers."""
    with anyio.move_on_after(seconds):
        async with opened(address, directory) as api:
            return await api.healthy()
    return False


def program(environment: Mapping[str, str]) -> str:
    """The CLI's path; raises when it is not there."""
    return program_path(modes.MANIFEST["program"], modes.MANIFEST["install"], environment)


def checked_directory(worker: Worker) -> str:
    """The worker's folder as it really is; raises when it is not there."""
    if not Path(worker.directory).is_dir():
        raise DriverError(f"There is no folder {worker.directory}; {worker.name} cannot work there.")
    return resolved(worker)


def resolved(worker: Worker) -> str:
    """The worker's folder, behind every link."""
    return str(Path(worker.directory).resolve())
