"""Runs Codex a process a turn: it reads, and writes where its mode lets it, but it cannot ask."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from farhand.drivers.codex import launch
from farhand.drivers.codex.limits import limit
from farhand.drivers.codex.sessions import CodexSessions
from farhand.drivers.wires.context import USUAL, DriverContext
from farhand.drivers.wires.holder.process import Program, forget, open_wire
from farhand.drivers.wires.lines.link import LineLink, line_or_change
from farhand.drivers.wires.lines.translate import translate, with_limit
from farhand.model.ports import Heard
from farhand.model.present import Worker
from farhand.model.words import replace

BUSY = "Codex takes a message when its turn is over."


def translate_turn(line: bytes) -> tuple[Heard, ...]:
    """The facts of one line; before a turn that failed because of a usage limit comes the limit."""
    return with_limit(translate(line), lambda error: limit(error, "", None, time.time()))


class ExecCodexDriver(CodexSessions):
    """One process for each message, its session taken up again; in the mode `default` it only reads."""

    backend: str = launch.MANIFEST["backend"]
    wire = "exec"
    can = replace(USUAL, models=True, modes=launch.MODES, effort=launch.EFFORTS, ids=True)

    def __init__(self, context: DriverContext, program: str = launch.MANIFEST["program"]) -> None:
        super().__init__(context)
        self._program = program
        self._gate = context.folder_gate(launch.MANIFEST)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[LineLink]:
        """Starts the program that runs the worker's turns, or finds it and goes on after the cursor."""
        environment = self.environment
        launch.workplace(worker)
        options = ["--mode", worker.mode.value]
        options += ["--session", worker.session] if worker.session else []
        options += ["--model", worker.model] if worker.model else []
        options += ["--effort", worker.effort] if worker.effort else []
        # -P keeps what lies in the worker's folder from standing in for our own modules.
        command = (self._context.python, "-P", "-m", "farhand.drivers.codex.exec.agent")
        argv = (*command, *options, "--", launch.found(self._program, environment))
        program = Program(argv=argv, directory=worker.directory, environment=environment)
        name, may_start = self._process_name(worker), partial(self._gate.pass_through, worker)
        async with open_wire(self._context.holders, name, program, cursor, may_start) as process:
            yield LineLink(process, line_or_change, translate_turn, BUSY, may_start)

    def _process_name(self, worker: Worker) -> str:
        return f"{worker.hiring_id}-turns"

    async def end(self, worker: Worker) -> None:
        """Ends what runs; the session stays where Codex keeps its sessions."""
        await forget(self._context.holders, self._process_name(worker))
