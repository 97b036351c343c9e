"""Runs the Gemini CLI without a terminal, over ACP: both ways, every question asked over its connection."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import anyio.to_thread

from farhand.drivers.acp.driver import AcpDriver, AcpLink
from farhand.drivers.acp.schema import AcpAgent
from farhand.drivers.gemini import launch
from farhand.drivers.gemini.keeping import Keeping
from farhand.drivers.gemini.launch import MANIFEST, GeminiPaths
from farhand.drivers.gemini.limits import limited
from farhand.drivers.gemini.sessions import MINUTE, age
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.preflight import workplace
from farhand.model.ports import Can, Heard
from farhand.model.present import Worker
from farhand.model.words import Mode, replace


def described() -> AcpAgent:
    """The CLI as an ACP agent."""
    modes = {Mode(name): str(mode["acp"]) for name, mode in MANIFEST["modes"].items()}
    command = (MANIFEST["program"], "--acp")
    return AcpAgent(backend=MANIFEST["backend"], title=MANIFEST["title"], command=command, modes=modes)


class HeadlessGeminiDriver(Keeping, AcpDriver):
    """The usual one: no screen, every message and answer by its id."""

    def __init__(self, given: DriverContext) -> None:
        own = given.child(launch.passed_on(given.variables))
        self._own = own
        self.places = GeminiPaths.of(own, given.folder / "gemini" / "quiet")
        environment = {**own, **launch.variables(self.places)}
        super().__init__(
            given.holders, described(), python=given.python, environment=environment, ask_seconds=given.ask_seconds
        )

    @property
    def can(self) -> Can:
        """What ACP can, and its sessions can be listed."""
        return replace(super().can, sessions=True)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[AcpLink]:
        """Starts the worker's agent, or finds it alive and goes on after the cursor."""
        await anyio.to_thread.run_sync(self._prepare, worker)
        async with super().open(worker, cursor) as link:
            yield link

    def translate(self, line: bytes) -> tuple[Heard, ...]:
        """What one line of the relay means; a failure that is a limit is told as one."""
        return limited(super().translate(line), time.time())

    def _prepare(self, worker: Worker) -> None:
        launch.found(self._own)
        launch.prepare(self.places, workplace(worker), self._own, {})
        if worker.session:
            age(worker.session, self.places.kept, datetime.now(UTC).strftime(MINUTE))
