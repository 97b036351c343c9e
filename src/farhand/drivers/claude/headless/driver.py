"""Runs Claude Code without a terminal: JSON lines both ways, in a holder, so that the node may die."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio.to_thread

from farhand.drivers.claude import launch
from farhand.drivers.claude.headless.link import ClaudeHeadlessLink
from farhand.drivers.claude.headless.state import ClaudeStreamCursor
from farhand.drivers.claude.sessions import ClaudeSessions
from farhand.drivers.wires.asks.answers import PartAnswers
from farhand.drivers.wires.context import USUAL
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.folders.check import FolderGate
from farhand.drivers.wires.holder.process import Program, forget, open_wire
from farhand.drivers.wires.preflight import workplace
from farhand.drivers.wires.tmux.delivered_log import DeliveredLog, with_turn_of
from farhand.model.ask_limits import ASK_SECONDS
from farhand.model.facts import SessionKnown
from farhand.model.holder_ports import Holders
from farhand.model.ports import Heard, Link
from farhand.model.present import Worker
from farhand.model.words import replace


class HeadlessClaudeDriver(ClaudeSessions):
    """Claude Code without a terminal: every message and answer by its id."""

    backend: str = launch.MANIFEST["backend"]
    wire = "headless"
    # What its workers' backend was called when it was one of its own.
    formerly = ("claude-headless",)
    can = replace(USUAL, steer=True, models=True, modes=("default", "plan"), effort=launch.EFFORTS, ids=True)

    def __init__(
        self,
        holders: Holders,
        environment: Mapping[str, str],
        folder: Path,
        ask_seconds: float = ASK_SECONDS,
        program: str = "claude",
        gate: FolderGate | None = None,
    ) -> None:
        super().__init__(environment)
        self._gate = gate
        self._folder = folder
        self._holders = holders
        self._ask_seconds = ask_seconds
        self._program = program

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Starts the worker's Claude Code, or finds it alive and goes on after the cursor."""
        position, folder = read_cursor(cursor, ClaudeStreamCursor), self._folder / worker.hiring_id
        chosen = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{worker.name}/{worker.since}"))
        session = position.session or worker.session or chosen
        delivered = DeliveredLog(folder / "handed")
        # The cursor may be older than the last delivery: the node was killed before the agent's next line.
        known = position.state.expected if cursor else delivered.all()
        expected = with_turn_of(worker, known, (position.state.turn,))
        position = replace(position, session=session, state=replace(position.state, session=session, expected=expected))
        first = [] if worker.session == session else [Heard(fact=SessionKnown(session=session))]
        program, answers = self._program_for(worker, session), PartAnswers(folder / "picks")
        may_start = partial(self._gate.pass_through, worker) if self._gate else None
        async with open_wire(self._holders, worker.hiring_id, program, position.wire, may_start) as process:
            yield ClaudeHeadlessLink(process, position, self._ask_seconds, first, delivered, answers)

    def _program_for(self, worker: Worker, session: str) -> Program:
        directory = str(workplace(worker))
        program = launch.found(self._program, self._environment)
        resume = launch.has_conversation(self._places.transcript(directory, session))
        words = launch.headless_line(program, worker.mode, worker.model, session, resume=resume, effort=worker.effort)
        chosen = launch.variables(worker.mode, self._environment, root=os.geteuid() == 0)
        variables = {**chosen, **launch.ALWAYS_IN_FOLDER}
        return Program(argv=tuple(words), directory=worker.directory, environment={**self._environment, **variables})

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left."""
        await forget(self._holders, worker.hiring_id)
        folder = self._folder / worker.hiring_id
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))
