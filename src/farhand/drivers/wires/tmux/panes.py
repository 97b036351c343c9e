"""The panes of a tmux host, live: each watcher has a control client of its own that hears what the pane writes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import anyio

from farhand.drivers.wires.tmux import Pane, TmuxError
from farhand.model.errors import CannotDo
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.panes import PaneInput, PanePiece, as_piece

if TYPE_CHECKING:
    from farhand.drivers.wires.tmux import Tmux
    from farhand.drivers.wires.tmux.control import TmuxControl
    from farhand.drivers.wires.tmux.host import TmuxHost
    from farhand.drivers.wires.tmux.protocol import TmuxNotice
    from farhand.model.present import Worker

# A watcher who is behind by more gets the screen as it is instead.
MOST_BEHIND = 256 * 1024
BATCH_SECONDS = 0.016
# A screen that is read as text is read this often at the most, with so many lines that were on it before.
SCREEN_SECONDS = 0.1
LINES_ABOVE = 200
_OCTAL = lazy_pattern(rb"\\([0-7]{3})")
_SHAPE = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y}"


def written(text: str) -> bytes:
    """The bytes of a control client's `%output`: what is no plain character stands there as `\\ooo`."""
    data = text.encode("utf-8", "surrogateescape")
    return _OCTAL.sub(lambda found: bytes([int(found[1], 8)]), data)


def screen_bytes(lines: tuple[str, ...], column: int, row: int) -> bytes:
    """What makes an empty terminal show these lines, with its cursor there."""
    shown = "\r\n".join(lines).encode("utf-8", "surrogateescape")
    return b"\x1b[0m\x1b[H\x1b[2J" + shown + b"\x1b[0m\x1b[%d;%dH" % (row + 1, column + 1)


class PaneFollower:
    """Collects what one pane writes, until it is taken."""

    def __init__(self, pane: Pane) -> None:
        self._pane = pane
        self._written = bytearray()
        self._changed = anyio.Event()
        # The screen must be shown anew: too much was written, or it has another shape.
        self._stale = True

    async def on_notice(self, notice: TmuxNotice) -> None:
        """Takes what the pane wrote."""
        if notice.name == "output" and notice.arguments[:1] == (self._pane.id,):
            self._written += written(" ".join(notice.arguments[1:]))
            if len(self._written) > MOST_BEHIND:
                self._written.clear()
                self._stale = True
        elif notice.name == "layout-change":
            self._stale = True
        else:
            return
        self._changed.set()

    def wake(self) -> None:
        """Something else happened that a watcher must hear of."""
        self._changed.set()

    async def pieces(self, client: TmuxControl) -> AsyncIterator[PanePiece]:
        """The screen as it is, then all that is written."""
        while not client.ended.is_set():
            self._changed = anyio.Event()
            sent = anyio.current_time()
            piece = await self._next(client)
            if piece is not None:
                yield piece
            await self._changed.wait()
            # What comes in the time of one picture goes along.
            await anyio.sleep(max(0.0, sent + BATCH_SECONDS - anyio.current_time()))

    async def screens(self, client: TmuxControl) -> AsyncIterator[str]:
        """What the pane shows as text, now and after each change."""
        while not client.ended.is_set():
            self._changed = anyio.Event()
            self._written.clear()
            (lines,) = await client.commands(("capture-pane", "-p", "-S", str(-LINES_ABOVE), "-t", self._pane.id))
            yield "\n".join(lines)
            await self._changed.wait()
            await anyio.sleep(SCREEN_SECONDS)

    async def _next(self, client: TmuxControl) -> PanePiece | None:
        if self._stale:
            with suppress(TmuxError):
                return await self._screen(client)
            # The pane is gone, and the client will be.
            await client.ended.wait()
            return None
        data = bytes(self._written)
        self._written.clear()
        return as_piece(data) if data else None

    async def _screen(self, client: TmuxControl) -> PanePiece:
        self._stale = False
        # What was written before the reply is on the screen that it shows; what comes after it is not.
        shape, lines = await client.commands(
            ("display-message", "-p", "-t", self._pane.id, _SHAPE),
            ("capture-pane", "-p", "-e", "-t", self._pane.id),
            replied=self._written.clear,
        )
        columns, rows, column, row = (int(number) for number in shape[0].split(" "))
        return as_piece(screen_bytes(lines, column, row), columns, rows, reset=True)


class PaneTerminal:
    """One pane for whoever drives its program from outside: bytes in, its screen as text out."""

    def __init__(self, tmux: Tmux, find: Callable[[], Awaitable[Pane | None]]) -> None:
        self._tmux = tmux
        self._find = find

    async def write(self, keys: str) -> None:
        """Types the characters as they are; nothing else is typed at the same time."""
        try:
            pane = await self._find()
            if pane is None:
                raise CannotDo("There is no terminal right now.")
            async with self._tmux.typing_lock(pane):
                await self._tmux.write(pane, keys.encode("utf-8", "replace"))
        except TmuxError as error:
            raise CannotDo(f"The terminal took nothing: {error}") from None

    async def watch(self, shown: Callable[[str], None]) -> None:
        """Tells what the pane shows until it is gone."""
        with suppress(TmuxError):
            pane = await self._find()
            if pane is None:
                return
            async with self._tmux.watched(pane) as look:
                while True:
                    shown(await look.screen(colours=False))
                    await anyio.sleep(SCREEN_SECONDS)


class TmuxPanes:
    """The terminals of the workers of one host."""

    def __init__(self, host: TmuxHost) -> None:
        self._host = host

    @asynccontextmanager
    async def watched(self, worker: Worker) -> AsyncIterator[AsyncIterator[PanePiece]]:
        """What the worker's terminal shows, then what it writes."""
        pane = await self._pane(worker)
        follower = PaneFollower(pane)
        async with AsyncExitStack() as stack:
            try:
                client = await stack.enter_async_context(self._host.tmux.streamed(pane, follower.on_notice))
            except TmuxError as error:
                raise CannotDo(f"{worker.name}'s terminal is not shown: {error}", worker=worker.name) from None
            tasks = await stack.enter_async_context(anyio.create_task_group())

            async def wake_at_end() -> None:
                await client.ended.wait()
                follower.wake()

            tasks.start_soon(wake_at_end)
            yield follower.pieces(client)
            tasks.cancel_scope.cancel()

    def terminal(self, worker: Worker) -> PaneTerminal:
        """The worker's own terminal, wherever it is by then."""
        return PaneTerminal(self._host.tmux, partial(self._host.pane_of, worker))

    @asynccontextmanager
    async def screens(self, worker: Worker) -> AsyncIterator[AsyncIterator[str]]:
        """The text of the worker's screen and of what has just left it, whenever something was written there."""
        pane = await self._pane(worker)
        follower = PaneFollower(pane)
        try:
            async with self._host.tmux.streamed(pane, follower.on_notice) as client:
                yield follower.screens(client)
        except TmuxError as error:
            raise CannotDo(f"{worker.name}'s screen is not read: {error}", worker=worker.name) from None

    async def type(self, worker: Worker, given: PaneInput) -> None:
        """Types it while nothing else is typed there."""
        pane = await self._pane(worker)
        tmux = self._host.tmux
        try:
            async with tmux.typing_lock(pane):
                if given.text and given.paste:
                    await tmux.paste(pane, given.text)
                elif given.text:
                    await tmux.type(pane, given.text)
                if given.keys:
                    await tmux.press(pane, *given.keys)
        except TmuxError as error:
            raise CannotDo(f"{worker.name}'s terminal took nothing: {error}", worker=worker.name) from None

    async def _pane(self, worker: Worker) -> Pane:
        try:
            pane = await self._host.pane_of(worker)
        except TmuxError:
            pane = None
        if pane is None:
            raise CannotDo(f"{worker.name} has no terminal right now.", worker=worker.name)
        return pane
