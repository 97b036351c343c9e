"""Runs the Gemini CLI a process a turn: it reads, and writes where its mode lets it, but it cannot ask."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread

from farhand.drivers.acp.driver import to_fresh_line
from farhand.drivers.gemini import launch
from farhand.drivers.gemini.keeping import Keeping
from farhand.drivers.gemini.launch import MANIFEST, GeminiPaths
from farhand.drivers.gemini.limits import limited
from farhand.drivers.native.translate import translate
from farhand.drivers.wires.context import USUAL, DriverContext
from farhand.drivers.wires.holder.process import Program, forget, open_wire
from farhand.drivers.wires.lines.link import LineLink
from farhand.drivers.wires.preflight import workplace
from farhand.model.ports import Change, Errand, Heard, Outcome
from farhand.model.present import Worker
from farhand.model.words import Mode, replace


def translate_turn(line: bytes) -> tuple[Heard, ...]:
    """What one line of the relay means; a failure that is a limit is told as one."""
    return limited(translate(line), time.time())


class TurnsLink(LineLink):
    """An open connection to one worker; a mode goes by the name that the command line has for it."""

    async def perform(self, errand: Errand) -> Outcome:
        """Writes it to the relay's input, once however often it is asked."""
        if isinstance(errand, Change) and errand.mode:
            errand = replace(errand, mode=launch.argument(Mode(errand.mode)))
        return await super().perform(errand)


class ExecGeminiDriver(Keeping):
    """One process for each message, its session taken up again; in the mode `default` it has no tool that writes."""

    backend: str = MANIFEST["backend"]
    wire = "exec"
    can = replace(USUAL, models=True, modes=tuple(MANIFEST["modes"]), ids=True)

    def __init__(self, given: DriverContext) -> None:
        self._holders = given.holders
        self._python = given.python
        self._own = given.child(launch.passed_on(given.variables))
        self.places = GeminiPaths.of(self._own, given.folder / "gemini" / "quiet")

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[TurnsLink]:
        """Starts the relay that runs the worker's turns, or finds it and goes on after the cursor."""
        program = await anyio.to_thread.run_sync(self._plan, worker)
        async with open_wire(self._holders, _name(worker), program, cursor) as wire:
            yield TurnsLink(wire, to_fresh_line, translate_turn, "This agent takes a message when its turn is over.")

    def _plan(self, worker: Worker) -> Program:
        program = launch.found(self._own)
        launch.prepare(self.places, workplace(worker), self._own, {})
        options = ["--kept", str(self.places.kept), "--mode", launch.argument(worker.mode)]
        options += ["--session", worker.session] if worker.session else []
        options += ["--model", worker.model] if worker.model else []
        argv = (self._python, "-P", "-m", "farhand.drivers.gemini.exec.agent", *options, "--", program)
        environment = {**self._own, **launch.variables(self.places)}
        return Program(argv=argv, directory=worker.directory, environment=environment)

    async def end(self, worker: Worker) -> None:
        """Ends what runs; the session stays where the CLI keeps its sessions."""
        await forget(self._holders, _name(worker))


def _name(worker: Worker) -> str:
    return f"{worker.name}-{worker.since}-turns"
