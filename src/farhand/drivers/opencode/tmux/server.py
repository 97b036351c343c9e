"""The server inside an OpenCode that runs in a terminal: its address, its end, and how its process is ended."""

from __future__ import annotations

import os
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
import msgspec

from farhand.disk.atomic import write_private
from farhand.drivers.opencode.headless.api import OpenCodeAddress
from farhand.drivers.opencode.headless.state import OpenCodeState, OtherSession
from farhand.drivers.opencode.launch import LOOPBACK
from farhand.drivers.opencode.tmux import translate
from farhand.drivers.wires.tmux import Pane, Tmux, TmuxError
from farhand.model.words import Word

EXIT_TIMEOUT_SECONDS = 3.0
ADDRESS_FILE = "sign"


class TerminalAddress(Word):
    """How the server inside a terminal is reached, for its owner alone."""

    port: int
    password: str

    @property
    def address(self) -> OpenCodeAddress:
        """The same as a URL."""
        return OpenCodeAddress(url=f"http://{LOOPBACK}:{self.port}", password=self.password)


def new_address(folder: Path) -> TerminalAddress:
    """A free port and a fresh password, stored in the worker's folder."""
    made = TerminalAddress(port=_free_port(), password=secrets.token_urlsafe(32))
    write_private(folder / ADDRESS_FILE, msgspec.json.encode(made))
    return made


def stored_address(folder: Path) -> TerminalAddress | None:
    """The address that was stored for the worker's terminal; None if it cannot be read."""
    try:
        return msgspec.json.decode((folder / ADDRESS_FILE).read_bytes(), type=TerminalAddress)
    except (OSError, msgspec.MsgspecError):
        return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


class TerminalServer:
    """OpenCode in a pane, as one of the processes that serve a session; a person may sit at it."""

    def __init__(self, tmux: Tmux, pane: Pane, address: OpenCodeAddress) -> None:
        self._tmux = tmux
        self._pane = pane
        self.address = address
        self.life = f"{pane.id}/{pane.pid}"

    def other_session(self, event: bytes, state: OpenCodeState, known: OtherSession | None) -> OtherSession | None:
        """The session that a person at the terminal speaks in after this event, if it is not the worker's."""
        return translate.other_session(event, state, known)

    async def wait_exit(self) -> str:
        """Returns when the pane's process has ended."""
        try:
            death = await self._tmux.died(self._pane)
        except TmuxError as error:
            return f"{error} OpenCode is started again and keeps its memory."
        return f"OpenCode ended in its terminal (status {death.status})."


@contextmanager
def killed_after(process: int) -> Iterator[Callable[[], Awaitable[None]]]:
    """Gives a function that waits for the process to end, and kills it after a time-out.

    In its first moments OpenCode does not react to the hangup of its terminal. Process 0 is none.
    """
    try:
        descriptor = os.pidfd_open(process) if process else -1
    except OSError:
        descriptor = -1

    async def wait_or_kill() -> None:
        if descriptor < 0:
            return
        with anyio.move_on_after(EXIT_TIMEOUT_SECONDS):
            await anyio.wait_readable(descriptor)
            return
        with suppress(OSError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)

    try:
        yield wait_or_kill
    finally:
        if descriptor >= 0:
            os.close(descriptor)
