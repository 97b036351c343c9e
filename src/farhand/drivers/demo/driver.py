"""Runs demo workers: the demo agent in a holder, spoken to in the line protocol."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from farhand.drivers.demo.translate import to_line, translate
from farhand.drivers.wires.held import HeldWire, Program, forget, open_wire, sentence
from farhand.model.facts import Noted
from farhand.model.ports import Batch, Can, Errand, Heard, Holders, NotTaken, Outcome
from farhand.model.present import Worker

AGENT = Path(__file__).with_name("agent.py")


class DemoLink:
    """An open connection to one demo worker."""

    def __init__(self, wire: HeldWire) -> None:
        self._wire = wire

    async def perform(self, errand: Errand) -> Outcome:
        """Writes it to the agent's input, once however often it is asked."""
        line = to_line(errand)
        if line is None:
            return NotTaken(why="The demo agent cannot do that.")
        return await self._wire.feed(*line)

    async def facts(self) -> AsyncIterator[Batch]:
        """What the agent says; at its end how it ended, with the cursor of its next life."""
        async for lines, cursor in self._wire.lines():
            yield Batch(heard=tuple(heard for line in lines for heard in translate(line)), cursor=cursor)
        ended = Noted(text=sentence(await self._wire.exit()))
        yield Batch(heard=(Heard(fact=ended),), cursor=self._wire.next_life)


class DemoDriver:
    """Runs the backend `demo`, or another program that speaks the line protocol."""

    def __init__(
        self,
        holders: Holders,
        *,
        python: str,
        environment: Mapping[str, str],
        program: Path = AGENT,
        arguments: Sequence[str] = (),
        backend: str = "demo",
    ) -> None:
        self._holders = holders
        self._argv = (python, "-I", "-S", str(program), *arguments)
        self._environment = {**environment}
        self._backend = backend

    @property
    def backend(self) -> str:
        """As a worker's `backend` names it."""
        return self._backend

    @property
    def can(self) -> Can:
        """It can be stopped, takes files, and its wire carries ids."""
        return Can(interrupt=True, images=True, files=True, ids=True)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[DemoLink]:
        """Starts the worker's agent, or finds it alive and goes on after the cursor."""
        program = Program(argv=self._argv, directory=worker.directory, environment=self._environment)
        async with open_wire(self._holders, _name(worker), program, cursor) as wire:
            yield DemoLink(wire)

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left."""
        await forget(self._holders, _name(worker))


def _name(worker: Worker) -> str:
    return f"{worker.name}-{worker.since}"
