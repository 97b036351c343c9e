"""A worker's terminal, live, over a real tmux: written bytes come as they are, and one types at a time."""

from __future__ import annotations

import base64
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.live.tmux.typed import ENVIRONMENT, host_options

from farhand.drivers.wires.tmux import Tmux
from farhand.drivers.wires.tmux.host import TmuxHost
from farhand.drivers.wires.tmux.panes import MOST_BEHIND, PaneFollower, screen_bytes, written
from farhand.model.errors import CannotDo
from farhand.model.panes import PaneInput, PanePiece
from farhand.model.present import Worker

pytestmark = pytest.mark.anyio
SAFETY_SECONDS = 120
# Writes what it is told to, character by character of its bytes, and otherwise what it reads.
ECHO = r"""
import os, sys, tty
tty.setraw(0)
os.write(1, b'ready:')
while True:
    data = os.read(0, 4096)
    if data == b'u':
        for byte in 'grüß 🚀\n'.encode():
            os.write(1, bytes([byte]))
    elif data == b'f':
        for _ in range(200):
            os.write(1, b'x' * 4096)
        os.write(1, b'\r\nflooded')
    else:
        os.write(1, repr(data).encode())
"""


@asynccontextmanager
async def _host(tmux_server: tuple[str, ...], folder: Path) -> AsyncIterator[tuple[TmuxHost, Worker]]:
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as tmux:
        yield TmuxHost(host_options(folder), tmux), Worker(name="ann", since=1, backend="echo", directory=str(folder))


async def _until(pieces: AsyncIterator[PanePiece], text: bytes) -> tuple[bytes, list[PanePiece]]:
    """What comes until that has come; after a reset, from the reset on."""
    data, seen = b"", []
    with anyio.fail_after(SAFETY_SECONDS):
        async for piece in pieces:
            seen.append(piece)
            data = (b"" if piece.reset else data) + base64.b64decode(piece.data)
            if text in data:
                return data, seen
    raise AssertionError(f"the terminal ended after {data!r}")


async def test_what_is_shown_and_what_is_written_comes_byte_for_byte(
    tmux_server: tuple[str, ...], short_folder: Path
) -> None:
    async with _host(tmux_server, short_folder) as (host, worker):
        await host.spawn(worker, [sys.executable, "-IS", "-c", ECHO], {})
        async with host.panes.watched(worker) as pieces:
            _, seen = await _until(pieces, b"ready:")
            assert (seen[0].reset, seen[0].columns, seen[0].rows) == (True, 160, 50)
            await host.panes.type(worker, PaneInput(text="u"))
            # Characters whose bytes come one by one arrive whole.
            await _until(pieces, "grüß 🚀\n".encode())
            await host.panes.type(worker, PaneInput(keys=("Up", "C-c")))
            data, _ = await _until(pieces, rb"\x03")
            assert rb"\x1b[A" in data or rb"\x1bOA" in data


async def test_a_watcher_who_is_behind_gets_the_screen_as_it_is(
    tmux_server: tuple[str, ...], short_folder: Path
) -> None:
    async with _host(tmux_server, short_folder) as (host, worker):
        pane = await host.spawn(worker, [sys.executable, "-IS", "-c", ECHO], {})
        follower = PaneFollower(pane)
        async with host.tmux.streamed(pane, follower.on_notice) as client:
            pieces = follower.pieces(client)
            await _until(pieces, b"ready:")
            await host.panes.type(worker, PaneInput(text="f"))
            with anyio.fail_after(SAFETY_SECONDS):
                while "flooded" not in await host.tmux.capture(pane):
                    await anyio.lowlevel.checkpoint()
                # tmux replies after all that was written before: what the watcher has not taken is behind it now.
                await client.commands(("display-message", "-p", "x"))
            data, seen = await _until(pieces, b"flooded")
            assert any(piece.reset for piece in seen)
            assert len(data) < MOST_BEHIND


async def test_nobody_types_into_anothers_text(tmux_server: tuple[str, ...], short_folder: Path) -> None:
    async with _host(tmux_server, short_folder) as (host, worker):
        pane = await host.spawn(worker, [sys.executable, "-IS", "-c", ECHO], {})
        async with host.panes.watched(worker) as pieces:
            await _until(pieces, b"ready:")
            async with anyio.create_task_group() as tasks, host.tmux.typing_lock(pane):
                tasks.start_soon(host.panes.type, worker, PaneInput(text="second", keys=("Enter",)))
                await anyio.wait_all_tasks_blocked()
                await host.tmux.type(pane, "first")
            data, _ = await _until(pieces, b"second")
            assert data.index(b"first") < data.index(b"second")


async def test_a_paste_is_no_key_whatever_is_in_it(tmux_server: tuple[str, ...], short_folder: Path) -> None:
    async with _host(tmux_server, short_folder) as (host, worker):
        await host.spawn(worker, [sys.executable, "-IS", "-c", ECHO], {})
        async with host.panes.watched(worker) as pieces:
            await _until(pieces, b"ready:")
            await host.panes.type(worker, PaneInput(text="a\x1b[201~\x03b", paste=True))
            data, _ = await _until(pieces, b"b")
            assert rb"\x03" not in data
            assert rb"\x1b" not in data


async def test_a_terminal_that_ends_ends_its_stream_and_one_that_is_not_there_says_so(
    tmux_server: tuple[str, ...], short_folder: Path
) -> None:
    async with _host(tmux_server, short_folder) as (host, worker):
        with pytest.raises(CannotDo):
            await host.panes.type(worker, PaneInput(text="x"))
        with pytest.raises(CannotDo):
            async with host.panes.watched(worker):
                pass
        await host.spawn(worker, [sys.executable, "-IS", "-c", ECHO], {})
        async with host.panes.watched(worker) as pieces:
            await _until(pieces, b"ready:")
            await host.end(worker)
            with anyio.fail_after(SAFETY_SECONDS):
                assert [piece async for piece in pieces if piece.reset] == []


def test_octal_numbers_are_bytes() -> None:
    assert written(r"a\033[1m\134 \015\012ü") == b"a\x1b[1m\\ \r\n\xc3\xbc"
    assert written("\udcff") == b"\xff"
    assert screen_bytes(("one", "two"), 3, 1).endswith(b"one\r\ntwo\x1b[0m\x1b[2;4H")
