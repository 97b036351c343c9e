"""One control-mode client of a tmux server: commands in, replies and notices out, for as long as the server lives."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from subprocess import DEVNULL, PIPE

import anyio
from anyio.abc import Process

from farhand.drivers.wires.tmux.errors import TmuxGone, TmuxMissing, TmuxRefused, TmuxUnreachable
from farhand.drivers.wires.tmux.protocol import TmuxNotice, TmuxReader, TmuxReply, command_line
from farhand.model.lazy_pattern import lazy_pattern

Listener = Callable[[TmuxNotice], Awaitable[None]]
# So much of what tmux says on its stderr is kept, and so long its end is waited for.
ERROR_BYTES = 2000
ERROR_SECONDS = 2.0
# Without a server there is nothing to connect to; everything else about the socket is for a person to mend.
_NO_SOCKET = lazy_pattern(
    r"error connecting to .*(?<!\(No such file or directory\))(?<!\(Connection refused\))$"
    r"|error creating |couldn't create directory |directory .* has unsafe permissions"
)


# tmux 3.3a keeps a client for ever that ends while tmux has something to say to it, and with the client what is to end
# with it. A shell that outlives us hears of our end by its standard input, and kills a client that is still there then.
_KILL_CLIENT = 'read -r _; sleep 1; kill -s KILL "$1"'


class _Waiting:
    def __init__(self) -> None:
        self.done = anyio.Event()
        self.reply: TmuxReply | None = None
        # The commands of the same line after this one: tmux drops them when this one fails.
        self.next: _Waiting | None = None
        self.replied: Callable[[], None] | None = None


class TmuxControl:
    """A running `tmux -C`: replies come in the order of the commands."""

    def __init__(self, process: Process, listener: Listener, undecodable: str = "replace") -> None:
        self._process = process
        self._undecodable = undecodable
        self._listener = listener
        self._waiting: deque[_Waiting] = deque()
        self._writing = anyio.Lock()
        self._ready = anyio.Event()
        self._errors = b""
        self._errors_read = anyio.Event()
        self.ended = anyio.Event()
        # The server's process, once it is asked for.
        self.server = 0

    async def command(self, *words: str) -> tuple[str, ...]:
        """Runs one tmux command; the lines that it printed."""
        return (await self.commands(words))[0]

    async def commands(
        self, *commands: tuple[str, ...], replied: Callable[[], None] | None = None
    ) -> list[tuple[str, ...]]:
        """Runs commands in one line: nothing else happens in the server between them. `replied` is called with the last
        reply, between the notices that came before it and those that come after it; it must not wait."""
        # The command that `if-shell` chooses has an answer of its own.
        every = [command for command in commands for _ in range(2 if command[0] == "if-shell" else 1)]
        waiting = [_Waiting() for _ in every]
        for one, following in pairwise(waiting):
            one.next = following
        waiting[-1].replied = replied
        async with self._writing:
            if self.ended.is_set() or self._process.stdin is None:
                raise TmuxGone
            self._waiting.extend(waiting)
            try:
                with anyio.CancelScope(shield=True):
                    await self._process.stdin.send(command_line(*commands))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                raise TmuxGone from None
        return [await _answer(one, command) for one, command in zip(waiting, every, strict=True)]

    async def ready(self) -> bool:
        """Returns once the client is attached, or could not be."""
        await self._ready.wait()
        return not self.ended.is_set()

    async def read(self) -> None:
        """Reads until the client ends; whoever waits for a reply then hears that tmux is gone."""
        reader = TmuxReader()
        try:
            async for line in _lines(self._process, self._undecodable):
                await self._take(reader.feed(line))
        finally:
            self.ended.set()
            self._ready.set()
            for waiting in self._waiting:
                waiting.done.set()

    async def read_errors(self) -> None:
        """Keeps the last of what tmux says on its stderr."""
        try:
            if self._process.stderr is not None:
                async for chunk in self._process.stderr:
                    self._errors = (self._errors + chunk)[-ERROR_BYTES:]
        finally:
            self._errors_read.set()

    async def not_attached(self) -> TmuxGone:
        """Why the client could not be attached."""
        with anyio.move_on_after(ERROR_SECONDS):
            await self._errors_read.wait()
        said = self._errors.decode("utf-8", "replace").strip().splitlines()[-1:]
        return TmuxUnreachable(said[0]) if said and _NO_SOCKET.match(said[0]) else TmuxGone()

    async def _take(self, received: TmuxReply | TmuxNotice | None) -> None:
        if isinstance(received, TmuxNotice):
            await self._listener(received)
        elif received is not None and not received.ours:
            # The reply to the command that attached us.
            self._ready.set()
        elif received is not None and self._waiting:
            waiting = self._waiting.popleft()
            waiting.reply = received
            if waiting.replied is not None:
                waiting.replied()
            waiting.done.set()
            while not received.ok and waiting.next is not None:
                waiting = self._waiting.popleft()
                waiting.done.set()


async def _answer(waiting: _Waiting, command: tuple[str, ...]) -> tuple[str, ...]:
    await waiting.done.wait()
    if waiting.reply is None:
        raise TmuxGone
    if not waiting.reply.ok:
        raise TmuxRefused(command, "\n".join(waiting.reply.lines))
    return waiting.reply.lines


async def _lines(process: Process, undecodable: str) -> AsyncIterator[str]:
    rest = b""
    if process.stdout is None:
        return
    async for chunk in process.stdout:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", undecodable)


@asynccontextmanager
async def control(
    server: Sequence[str],
    attach: Sequence[str],
    environment: Mapping[str, str],
    listener: Listener,
    undecodable: str = "replace",
) -> AsyncIterator[TmuxControl]:
    """A control client, from `tmux <server> -C <attach>` until the block is left. Bytes that are no UTF-8 are replaced,
    or kept with `surrogateescape`."""
    command = [*server, "-C", *attach]
    try:
        process = await anyio.open_process(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=dict(environment))
    except FileNotFoundError:
        raise TmuxMissing(server[0]) from None
    client = TmuxControl(process, listener, undecodable)
    problem: TmuxGone | None = None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.read, name="tmux control")
            tasks.start_soon(client.read_errors, name="tmux errors")
            tasks.start_soon(_end_with_us, process, name="tmux client's end")
            if await client.ready():
                yield client
            else:
                problem = await client.not_attached()
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _close(process)
    if problem is not None:
        # Outside of the group, which would wrap it into another error.
        raise problem


async def _end_with_us(client: Process) -> None:
    """Until it is cancelled, the client is killed should we be killed."""
    words = ["/bin/sh", "-c", _KILL_CLIENT, "sh", str(client.pid)]
    try:
        # Shielded: a process whose start is cancelled is left to nobody.
        with anyio.CancelScope(shield=True):
            shell = await anyio.open_process(
                words, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, env={}, start_new_session=True
            )
    except OSError:
        # Without it all works but that.
        return
    try:
        await anyio.sleep_forever()
    finally:
        # Before its standard input is closed. Somebody else may have ended it: all of a service's processes, say.
        with suppress(ProcessLookupError):
            shell.kill()
        with anyio.CancelScope(shield=True):
            await shell.aclose()


async def _close(process: Process) -> None:
    if process.stdin is not None:
        await process.stdin.aclose()
    with anyio.move_on_after(2):
        await process.wait()
    if process.returncode is None:
        process.kill()
    await process.aclose()
