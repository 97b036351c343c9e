"""What the node and agents without a terminal tell one another, live: the lines of a wire, in the place of a screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from farhand.model.errors import CannotDo
from farhand.model.known_secrets import KnownSecrets, SecretsInUse
from farhand.model.panes import PaneInput, PanePiece, as_piece
from farhand.model.present import Worker
from farhand.model.visible import for_terminal
from farhand.sandbox.held_child import HeldChild
from farhand.sandbox.holders import LocalHolders

# So much of what was written before is shown at first.
FIRST_BYTES = 32 * 1024
LONGEST_LINE = 2000
COLUMNS, ROWS = 100, 40
BATCH_SECONDS = 0.016
# Pieces that wait for whoever looks; beyond them, what is sent to the agent is not shown.
MOST_WAITING = 256
# What is sent to an agent, and what it says.
SENT, GOT = "→", "←"
# What is held for a worker: under the name of its hiring, or that of its turns where each is a process of its own.
NAMES = ("{hiring}", "{hiring}-turns")


class ProtocolLogs:
    """The wires of all held agents, as far as they are kept. Nothing can be typed there."""

    def __init__(self, holders: LocalHolders, secrets: SecretsInUse = KnownSecrets) -> None:
        self._holders = holders
        self._secrets = secrets

    @asynccontextmanager
    async def watched(self, worker: Worker) -> AsyncIterator[AsyncIterator[PanePiece]]:
        """The last lines that the worker's agent wrote, then every new one, and what is sent to it from now on."""
        name = await self._newest(worker)
        found = await self._holders.attach(name) if name else None
        if found is None:
            raise CannotDo(f"{worker.name} has neither a terminal nor a log of its wire right now.", worker=worker.name)
        try:
            async with found as held, self._both_ways(name, held) as pieces:
                yield pieces
        except BaseExceptionGroup as group:
            # What went wrong, for those who know its kind.
            raise _first_error(group) from None

    @asynccontextmanager
    async def _both_ways(self, name: str, held: HeldChild) -> AsyncIterator[AsyncIterator[PanePiece]]:
        said, heard = anyio.create_memory_object_stream[bytes](MOST_WAITING)
        size = (await held.status()).size

        def hear(data: bytes) -> None:
            with suppress(anyio.WouldBlock, anyio.ClosedResourceError):
                said.send_nowait(b"".join(self._shown(SENT, data.splitlines())))

        with said, heard, self._holders.listening(name, hear):
            async with anyio.create_task_group() as tasks:
                chunks = held.follow(max(0, size - FIRST_BYTES))
                tasks.start_soon(self._follow, chunks, said, size > FIRST_BYTES)
                yield _pieces(heard)
                tasks.cancel_scope.cancel()

    async def type(self, worker: Worker, given: PaneInput) -> None:  # noqa: ARG002 (as every terminal takes it)
        """There is no terminal to type into."""
        raise CannotDo(f"{worker.name} works without a terminal: its wire is shown, and takes no keys.")

    async def _newest(self, worker: Worker) -> str:
        """The newest life of what is held for the worker."""
        wanted = {name.format(hiring=worker.hiring_id) for name in NAMES}
        lives = [
            (int(life), name)
            for name in await self._holders.names()
            for owner, _, life in [name.rpartition(".")]
            if owner in wanted and life.isdecimal()
        ]
        return max(lives)[1] if lives else ""

    async def _follow(
        self, chunks: AsyncIterator[tuple[bytes, int]], said: MemoryObjectSendStream[bytes], cut: bool
    ) -> None:
        """What the agent writes, by the line; the stream ends with the agent."""
        rest = b""
        async with said:
            async for chunk, _ in chunks:
                *lines, rest = (rest + chunk).split(b"\n")
                if cut and lines:
                    # The first one began before what is shown.
                    lines, cut = lines[1:], False
                if shown := b"".join(self._shown(GOT, lines)):
                    await said.send(shown)
                rest = rest[:LONGEST_LINE]

    def _shown(self, mark: str, lines: Sequence[bytes]) -> Iterator[bytes]:
        secrets = self._secrets()
        for line in lines:
            found = secrets.found_in([line])
            yield log_line(f"({found} is not shown)".encode() if found else line, mark)


def _first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found = group.exceptions[0]
    return _first_error(found) if isinstance(found, BaseExceptionGroup) else found


async def _pieces(heard: MemoryObjectReceiveStream[bytes]) -> AsyncIterator[PanePiece]:
    yield as_piece(b"\x1b[0m\x1b[H\x1b[2J", COLUMNS, ROWS, reset=True)
    async for shown in heard:
        yield as_piece(shown)
        await anyio.sleep(BATCH_SECONDS)


def log_line(line: bytes, mark: str) -> bytes:
    """One line as a terminal may be shown it, behind a mark that says who wrote it: nothing in it is obeyed. Pure."""
    text = line.decode("utf-8", "replace").rstrip("\r")
    cut = f"{text[:LONGEST_LINE]}…" if len(text) > LONGEST_LINE else text
    return f"{mark} {for_terminal(cut)}".replace("\n", " ").encode() + b"\r\n" if cut.strip("\x00 ") else b""
