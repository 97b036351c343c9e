"""A place for a real agent CLI: a fresh HOME, a real tmux, and a node that can be opened again and again."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from farhand.app import Channels
from farhand.core.clock import SystemClock
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.tmux import Tmux
from farhand.drivers.wires.tmux.host import TmuxHost, TmuxHostOptions
from farhand.hooks.install import interpreter, place_program
from farhand.model.ports import Driver
from farhand.roster import build_drivers, drivers_by_kind
from farhand.sandbox.holders import LocalHolders
from farhand.testing import cli_records
from farhand.testing.house import House, open_house, settings_in
from farhand.testing.models.script import ModelScript


class CliEnv:
    """A folder with everything in it: project, node, tmux; the HOME may be elsewhere."""

    # Whose drivers work here.
    package = ""
    # What the fake model plays, where it plays a script.
    script: ModelScript | None = None

    def __init__(
        self, folder: Path, home: Path, server: tuple[str, ...], programs: Path, variables: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.home = home
        self.server = server
        self.project = folder / "project"
        self.project.mkdir()
        self.environment = {
            "HOME": str(home),
            "PATH": f"{cli_records.recorded_programs(programs, self.package)}:{programs}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/sh",
            "FARHAND_ROOT_YOLO": "1",
            **variables,
        }
        home.mkdir(exist_ok=True)
        self.tmux = Tmux(server, "farhand-test", self.environment)

    def agents(self, name: str = "") -> list[int]:
        """The processes of that name that have this place for a home."""
        home = f"HOME={self.home}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                ours = entry.name.isdecimal() and home in (entry / "environ").read_bytes().split(b"\0")
                if ours and (entry / "comm").read_text().strip() == (name or self.package):
                    found.append(int(entry.name))
        return found

    def forget(self) -> None:
        """Drops what a test did not need of the model's script, where that matters."""
        if self.script is not None:
            self.script.forget()

    async def tidy(self) -> None:
        """Ends every held agent that a test has left here; tmux ends with its own fixture."""
        cli_records.keep(self.folder, *(() if self.home.is_relative_to(self.folder) else (self.home,)))
        holders = LocalHolders(settings_in(self.folder).holders)
        for name in await holders.names():
            await holders.forget(name)

    def drivers(self, ask_seconds: float = 600.0) -> dict[str, Driver]:
        """The agent's drivers, as a worker's kind names them."""
        self.tmux = Tmux(self.server, "farhand-test", self.environment)
        node = settings_in(self.folder)
        options = TmuxHostOptions(
            node="test",
            tmux_prefix="claude-test-",
            folder=self.folder / "node",
            socket=node.hooks,
            interpreter=interpreter(),
            hook_program=place_program(self.folder / "hooks"),
            ask_seconds=ask_seconds,
        )
        given = DriverContext(
            folder=self.folder / "node",
            holders=LocalHolders(node.holders),
            tmux_host=TmuxHost(options, self.tmux),
            python=sys.executable,
            variables=self.environment,
            child=lambda added: {**self.environment, **added},
            ask_seconds=ask_seconds,
        )
        return drivers_by_kind(build_drivers(given, [self.package]))

    @asynccontextmanager
    async def open(self, ask_seconds: float = 600.0, channels: Channels | None = None) -> AsyncIterator[House]:
        """The node, from its start to its end; its agents live on."""
        drivers, clock = self.drivers(ask_seconds), SystemClock()
        async with open_house(self.folder, clock=clock, channels=channels, drivers=drivers) as house:
            yield house
