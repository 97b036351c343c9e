"""Runs the Gemini CLI a process a turn: it reads, and writes where its mode lets it, but it cannot ask."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import anyio.to_thread

from farhand.drivers.gemini import launch
from farhand.drivers.gemini.context import GeminiContext
from farhand.drivers.gemini.launch import MANIFEST, GeminiPaths
from farhand.drivers.gemini.limits import limit
from farhand.drivers.gemini.sessions import GeminiSessions, remove_empty_twins
from farhand.drivers.wires.context import USUAL, DriverContext
from farhand.drivers.wires.holder.process import Program, forget, open_wire
from farhand.drivers.wires.lines.link import LineLink, line_or_change
from farhand.drivers.wires.lines.translate import KeyedLine, translate, with_limit
from farhand.drivers.wires.preflight import workplace
from farhand.model.ports import Change, Errand, Heard
from farhand.model.present import Worker
from farhand.model.words import Mode, replace

BUSY = "This agent takes a message when its turn is over."


def translate_turn(context: GeminiContext, line: bytes) -> tuple[Heard, ...]:
    """The facts of one line; before a turn that failed because of a usage limit comes the limit."""
    return with_limit(context.counted(translate(line)), lambda error: limit(error, time.time()))


def errand_line(errand: Errand) -> KeyedLine | None:
    """The line of an errand; a mode goes by the name that the command line has for it."""
    if isinstance(errand, Change) and errand.mode:
        errand = replace(errand, mode=launch.argument(Mode(errand.mode)))
    return line_or_change(errand)


class ExecGeminiDriver(GeminiSessions):
    """One process for each message, its session taken up again; in the mode `default` it has no tool that writes."""

    backend: str = MANIFEST["backend"]
    wire = "exec"
    can = replace(USUAL, models=True, modes=tuple(MANIFEST["modes"]), ids=True)

    def __init__(self, context: DriverContext) -> None:
        self._holders = context.holders
        self._gate = context.folder_gate(MANIFEST)
        self._python = context.python
        self._own = context.child(launch.agent_variables(context.variables))
        self.places = GeminiPaths.of(self._own, context.folder / "gemini" / "turns")

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[LineLink]:
        """Starts the program that runs the worker's turns, or finds it and goes on after the cursor."""
        program = await anyio.to_thread.run_sync(self._plan, worker)
        may_start = partial(self._gate.pass_through, worker)
        async with open_wire(self._holders, self._process_name(worker), program, cursor, may_start) as process:
            translated = partial(translate_turn, GeminiContext(worker.session, self.places.kept))
            yield LineLink(process, errand_line, translated, BUSY, may_start)

    def _plan(self, worker: Worker) -> Program:
        program = launch.found(self._own)
        launch.prepare(self.places, workplace(worker), self._own, {}, MANIFEST["exec_excluded"])
        remove_empty_twins(self.places.kept)
        options = ["--folder", str(self.places.kept), "--mode", launch.argument(worker.mode)]
        options += ["--session", worker.session] if worker.session else []
        options += ["--model", worker.model] if worker.model else []
        argv = (self._python, "-P", "-m", "farhand.drivers.gemini.exec.agent", *options, "--", program)
        environment = {**self._own, **launch.variables(self.places)}
        return Program(argv=argv, directory=worker.directory, environment=environment)

    def _process_name(self, worker: Worker) -> str:
        return f"{worker.hiring_id}-turns"

    async def end(self, worker: Worker) -> None:
        """Ends what runs; the session stays where the CLI keeps its sessions."""
        await forget(self._holders, self._process_name(worker))
