"""Runs an agent's CLI once for a message: in a holder, one at a time, with a write-ahead record until answered."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from farhand.disk.atomic import write_private
from farhand.drivers.wires.holder.process import Program, start
from farhand.drivers.wires.oneshot.spec import OneshotCli, OneshotOutput, final_output, parsed
from farhand.model.errors import DriverError
from farhand.model.holder_ports import Exit, Held, Holders
from farhand.model.words import Word, replace

FOLDER = "calls"
# What is at the CLI's input is there from the start, for some CLIs wait for the end of it.
SHELL = ("/bin/sh", "-c", 'given=$1 errors=$2; shift 2; exec "$@" <"$given" 2>"$errors"', "call")


class OneshotCall(Word):
    """What is wanted of the CLI, and where the answer is brought."""

    id: str
    message: str
    directory: str
    bridge_url: str
    session: str = ""
    # When the CLI was started.
    at: float = 0.0


class OneshotResult(Word):
    """How a call ended."""

    output: str = ""
    errors: str = ""
    problem: str = ""


class OneshotRunner:
    """The calls of one CLI for one worker. Whoever is killed over one, the next to come goes on with it."""

    def __init__(
        self,
        adapter: OneshotCli,
        folder: Path,
        holders: Holders,
        environment: Mapping[str, str],
        limit_seconds: float | None = None,
    ) -> None:
        self._adapter = adapter
        self._folder = folder
        self._holders = holders
        self._environment = {**environment, **(adapter.variables or {})}
        self._limit_seconds = adapter.limit_seconds if limit_seconds is None else limit_seconds

    async def make(
        self, call: OneshotCall, bring: Callable[[OneshotCall, OneshotOutput], Awaitable[None]]
    ) -> OneshotOutput:
        """Makes the call when nobody else makes one for this worker; what an earlier one left is brought first."""
        async with file_lock(self._folder / self._adapter.lock):
            for left in await self._unfinished():
                await self._run_and_bring(left, bring)
            return await self._run_and_bring(replace(call, session=self._stored_session()), bring)

    async def _run_and_bring(
        self, call: OneshotCall, bring: Callable[[OneshotCall, OneshotOutput], Awaitable[None]]
    ) -> OneshotOutput:
        ran = await self._run(call)
        if call.session and self._adapter.lost and self._adapter.lost in ran.errors:
            await self._holders.forget(self._name(call))
            call = replace(call, session="")
            ran = await self._run(call)
        read = self._adapter.read(ran.output, ran.errors)
        if self._adapter.session_file and read.session and read.session != call.session:
            keep(self._folder / self._adapter.session_file, read.session)
        said = final_output(self._adapter, read, ran.problem)
        await bring(call, said)
        await self._forget(call)
        return said

    # --- the CLI

    async def _run(self, call: OneshotCall) -> OneshotResult:
        """Waits for the CLI's end. It is started if it never was: its holder's folder is the proof."""
        found = await self._holders.attach(self._name(call))
        try:
            if found is None:
                call = self._store(replace(call, at=time.time()))
                found = await start(self._holders, self._name(call), self._program(call))
        except DriverError as error:
            return OneshotResult(problem=error.text)
        async with found as held:
            problem = await self._wait_for_exit(held, call.at + self._limit_seconds - time.time())
            output = b"".join([chunk async for chunk, _ in held.follow(0)])
        errors = self._file(call, "errors").read_bytes() if self._file(call, "errors").exists() else b""
        return OneshotResult(
            output=output.decode("utf-8", "replace"), errors=errors.decode("utf-8", "replace"), problem=problem
        )

    async def _wait_for_exit(self, held: Held, seconds: float) -> str:
        """Waits with a time-out; why it ended badly, or ''."""
        ended = Exit(code=0)
        with anyio.move_on_after(max(0.0, seconds)) as limit:
            ended = await held.wait_exit()
        if limit.cancelled_caught:
            await held.end(grace_seconds=0)
            return f"it took longer than {self._limit_seconds:g} s and was stopped"
        return "" if ended.code is not None else "it was killed"

    def _program(self, call: OneshotCall) -> Program:
        program = shutil.which(self._adapter.source, path=self._environment.get("PATH"))
        if program is None:
            raise DriverError(f"there is no '{self._adapter.source}' on PATH")
        if not Path(call.directory).is_dir():
            raise DriverError(f"it could not be started in {call.directory}: there is no such folder")
        given, errors = self._file(call, "given"), self._file(call, "errors")
        keep(given, self._adapter.input(call.message))
        keep(errors, "")
        words = self._adapter.words(call.message, call.directory, call.session)
        argv = (*SHELL, str(given), str(errors), program, *words)
        return Program(argv=argv, directory=call.directory, environment=self._environment)

    # --- what is written down

    async def _unfinished(self) -> list[OneshotCall]:
        """The calls whose answers nobody has brought, oldest first; holders without such a record are removed."""
        records = sorted((self._folder / FOLDER).glob(f"{self._adapter.source}-*.json"))
        found = [call for path in records if (call := parsed(path.read_bytes(), OneshotCall)) is not None]
        wanted = {self._name(call) for call in found}
        for name in await self._holders.names():
            if name.startswith(f"{self._adapter.source}-") and name not in wanted:
                await self._holders.forget(name)
        return sorted(found, key=lambda call: call.at)

    def _store(self, call: OneshotCall) -> OneshotCall:
        (self._folder / FOLDER).mkdir(mode=0o700, parents=True, exist_ok=True)
        keep(self._file(call, "json"), msgspec.json.encode(call).decode())
        return call

    async def _forget(self, call: OneshotCall) -> None:
        """The record goes first: without it nothing of the call is ever done again."""
        for kind in ("json", "given", "errors"):
            self._file(call, kind).unlink(missing_ok=True)
        await self._holders.forget(self._name(call))

    def _stored_session(self) -> str:
        """The session that the worker had before, for a CLI that is given one."""
        known = self._folder / self._adapter.session_file
        return known.read_text("utf-8").strip() if self._adapter.session_file and known.exists() else ""

    def _name(self, call: OneshotCall) -> str:
        return f"{self._adapter.source}-{call.id}"

    def _file(self, call: OneshotCall, kind: str) -> Path:
        return self._folder / FOLDER / f"{self._name(call)}.{kind}"


@asynccontextmanager
async def file_lock(path: Path) -> AsyncIterator[None]:
    """Holds the lock file; whoever else wants it waits."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        await anyio.to_thread.run_sync(fcntl.flock, descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def keep(path: Path, text: str) -> None:
    """Writes a small file, on the disk when this returns; letters that are none become question marks."""
    write_private(path, text.encode(errors="replace"), sync=True)
