"""Runs native workers: an agent of the SDK in a holder, spoken to in the line protocol."""

import tomllib
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from farhand.drivers.native.translate import to_line, translate
from farhand.drivers.wires.held import HeldWire, Program, forget, open_wire, sentence
from farhand.model.facts import Noted
from farhand.model.ports import Batch, Can, Errand, Heard, Holders, NotTaken, Outcome
from farhand.model.present import Worker
from farhand.model.words import Mode

MANIFEST = Path(__file__).with_name("manifest.toml")


def model_variables(own: Mapping[str, str]) -> dict[str, str]:
    """What of the node's variables leads the agent to a model."""
    names = tomllib.loads(MANIFEST.read_text("utf-8"))["variables"]
    return {name: own[name] for name in names if name in own}


class NativeLink:
    """An open connection to one native worker."""

    def __init__(self, wire: HeldWire) -> None:
        self._wire = wire

    async def perform(self, errand: Errand) -> Outcome:
        """Writes it to the agent's input, once however often it is asked."""
        line = to_line(errand, uuid.uuid4().hex)
        if line is None:
            return NotTaken(why="A native agent takes a message when its turn is over.")
        return await self._wire.feed(*line)

    async def facts(self) -> AsyncIterator[Batch]:
        """What the agent says; at its end how it ended, with the cursor of its next life."""
        async for lines, cursor in self._wire.lines():
            yield Batch(heard=tuple(heard for line in lines for heard in translate(line)), cursor=cursor)
        ended = Noted(text=sentence(await self._wire.exit()))
        yield Batch(heard=(Heard(fact=ended),), cursor=self._wire.next_life)


class NativeDriver:
    """Runs the backend `native`."""

    def __init__(self, holders: Holders, *, python: str, environment: Mapping[str, str]) -> None:
        self._holders = holders
        self._python = python
        self._environment = {**environment}

    @property
    def backend(self) -> str:
        """As a worker's `backend` names it."""
        return "native"

    @property
    def can(self) -> Can:
        """Everything but a word into a running turn; its wire carries ids."""
        modes = tuple(mode.value for mode in Mode)
        return Can(interrupt=True, images=True, files=True, models=True, modes=modes, ids=True)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[NativeLink]:
        """Starts the worker's agent, or finds it alive and goes on after the cursor. A new life resumes the session."""
        program = Program(argv=self._argv(worker), directory=worker.directory, environment=self._environment)
        async with open_wire(self._holders, _name(worker), program, cursor) as wire:
            yield NativeLink(wire)

    def _argv(self, worker: Worker) -> tuple[str, ...]:
        # -P keeps what lies in the worker's folder from standing in for our own modules.
        command = (self._python, "-P", "-m", "farhand.drivers.native.agent", "--mode", worker.mode.value)
        model = ("--model", worker.model) if worker.model else ()
        return (*command, *model, *(("--resume", worker.session) if worker.session else ()))

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left; its session stays with the project's other sessions."""
        await forget(self._holders, _name(worker))


def _name(worker: Worker) -> str:
    return f"{worker.name}-{worker.since}"
