"""Runs the Gemini CLI without a terminal, over ACP: both ways, every question asked over its connection."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial

import anyio.to_thread

from farhand.drivers.gemini import launch
from farhand.drivers.gemini.context import GeminiContext
from farhand.drivers.gemini.launch import MANIFEST, GeminiPaths
from farhand.drivers.gemini.limits import limit
from farhand.drivers.gemini.sessions import MINUTE, GeminiSessions, age, remove_empty_twins
from farhand.drivers.wires.acp.driver import AcpDriver, AmendUpdate
from farhand.drivers.wires.acp.schema import AcpAgent
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.lines.translate import with_limit
from farhand.drivers.wires.preflight import workplace
from farhand.model.facts import SessionKnown
from farhand.model.ports import Can, Heard, Link
from farhand.model.present import Worker
from farhand.model.words import Mode, replace


def described() -> AcpAgent:
    """The CLI as an ACP agent."""
    modes = {Mode(name): str(mode["acp"]) for name, mode in MANIFEST["modes"].items()}
    command = (MANIFEST["program"], "--acp")
    return AcpAgent(backend=MANIFEST["backend"], title=MANIFEST["title"], command=command, modes=modes)


class HeadlessGeminiDriver(GeminiSessions):
    """The usual one: no screen, every message and answer by its id."""

    backend: str = MANIFEST["backend"]
    wire = "headless"

    def __init__(self, context: DriverContext) -> None:
        self._own = context.child(launch.agent_variables(context.variables))
        self.places = GeminiPaths.of(self._own, context.folder / "gemini" / "quiet")
        self._acp = AcpDriver(
            context.holders,
            described(),
            python=context.python,
            environment={**self._own, **launch.variables(self.places)},
            ask_seconds=context.ask_seconds,
            gate=context.folder_gate(MANIFEST),
            amends=self._amends,
        )

    @property
    def can(self) -> Can:
        """What ACP can, and its sessions can be listed."""
        return replace(self._acp.can, sessions=True)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Starts the worker's agent, or finds it alive and goes on after the cursor."""
        await anyio.to_thread.run_sync(self._prepare, worker)
        async with self._acp.open(worker, cursor) as link:
            yield link

    def _prepare(self, worker: Worker) -> None:
        launch.found(self._own)
        launch.prepare(self.places, workplace(worker), self._own, {})
        remove_empty_twins(self.places.kept)
        if worker.session:
            age(worker.session, self.places.kept, datetime.now(UTC).strftime(MINUTE))

    def _amends(self, worker: Worker) -> AmendUpdate:
        return partial(self._amended, GeminiContext(worker.session, self.places.kept))

    def _amended(self, context: GeminiContext, heard: tuple[Heard, ...]) -> tuple[Heard, ...]:
        if any(isinstance(one.fact, SessionKnown) for one in heard):
            # It is loaded: whoever starts the CLI at the desk from now on finds one file of it.
            remove_empty_twins(self.places.kept)
        return with_limit(context.counted(heard), lambda error: limit(error, time.time()))

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left; its session stays where the CLI keeps its sessions."""
        await self._acp.end(worker)
