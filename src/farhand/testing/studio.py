"""A place for the real Claude Code: a fresh HOME, a real tmux, a fake model, and a node that can be opened again."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from struct import pack

import anyio

from farhand.app import Channels
from farhand.core.clock import SystemClock
from farhand.drivers.wires.given import Given
from farhand.drivers.wires.station import Signs, Station
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.hooks.install import interpreter, place_program
from farhand.model.ports import Driver
from farhand.roster import built, keyed
from farhand.sandbox.holders import LocalHolders
from farhand.testing.house import House, open_house, settings_in
from farhand.testing.models.anthropic import FakeAnthropic


class Studio:
    """A folder with everything in it: HOME, project, node, tmux. A node can be opened in it again and again."""

    package = "claude"

    def __init__(
        self, folder: Path, server: tuple[str, ...], model: FakeAnthropic, address: str, programs: Path
    ) -> None:
        self.folder = folder
        self.server = server
        self.model = model
        self.project = folder / "project"
        self.project.mkdir()
        self.environment = {
            "HOME": str(folder / "home"),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/sh",
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": "sk-ant-fake-" + "0" * 60,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        }
        (folder / "home").mkdir()
        self.tmux = Tmux(server, "farhand-test", self.environment)

    def agents(self, name: str = "claude") -> list[int]:
        """The processes of that name that have this studio for a home."""
        home = f"HOME={self.folder}/home".encode()
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                ours = entry.name.isdecimal() and home in (entry / "environ").read_bytes().split(b"\0")
                if ours and (entry / "comm").read_text().strip() == name:
                    found.append(int(entry.name))
        return found

    async def tidy(self) -> None:
        """Ends every held agent that a test has left in this studio; tmux ends with its own fixture."""
        holders = LocalHolders(settings_in(self.folder).holders)
        for name in await holders.names():
            await holders.forget(name)

    def drivers(self, ask_seconds: float = 600.0) -> dict[str, Driver]:
        """Claude Code with its terminal and without."""
        self.tmux = Tmux(self.server, "farhand-test", self.environment)
        node = settings_in(self.folder)
        signs = Signs(
            node="test",
            tmux_prefix="claude-test-",
            folder=self.folder / "node",
            socket=node.hooks,
            interpreter=interpreter(),
            hook_program=place_program(self.folder / "hooks"),
            ask_seconds=ask_seconds,
        )
        given = Given(
            folder=self.folder / "node",
            holders=LocalHolders(node.holders),
            station=Station(signs, self.tmux),
            python=sys.executable,
            variables=self.environment,
            child=lambda added: {**self.environment, **added},
            ask_seconds=ask_seconds,
        )
        return keyed(built(given, [self.package]))

    @asynccontextmanager
    async def open(self, ask_seconds: float = 600.0, channels: Channels | None = None) -> AsyncIterator[House]:
        """The node, from its start to its end; its agents live on."""
        drivers, clock = self.drivers(ask_seconds), SystemClock()
        async with open_house(self.folder, clock=clock, channels=channels, drivers=drivers) as house:
            yield house


async def until(studio: Studio, pane: Pane, words: str) -> str:
    """Waits until the pane shows these words; the whole screen."""
    with anyio.fail_after(20):
        while words not in (screen := await studio.tmux.capture(pane)):  # noqa: ASYNC110
            await anyio.sleep(0.05)
    return screen


def red_pixel() -> bytes:
    """A PNG of one red pixel."""
    size = pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", size) + _chunk(b"IDAT", pixel) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))
