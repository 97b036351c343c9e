"""Runs demo workers: the demo agent in a holder, spoken to in the line protocol."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from farhand.drivers.demo.panes import DemoPanes
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.holder.process import Program, forget, open_wire
from farhand.drivers.wires.lines.link import LineLink
from farhand.drivers.wires.lines.translate import to_line, translate
from farhand.model.holder_ports import Holders
from farhand.model.ports import Can, Driver
from farhand.model.present import Worker

AGENT = Path(__file__).with_name("agent.py")


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
        self.panes = DemoPanes()

    wire = "headless"

    @property
    def backend(self) -> str:
        """As a worker's `backend` names it."""
        return self._backend

    @property
    def can(self) -> Can:
        """It can be stopped, takes files, and its wire carries ids."""
        return Can(interrupt=True, images=True, files=True, ids=True, reviews=True)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[LineLink]:
        """Starts the worker's agent, or finds it alive and goes on after the cursor."""
        program = Program(argv=self._argv, directory=worker.directory, environment=self._environment)
        async with open_wire(self._holders, worker.hiring_id, program, cursor) as process:
            yield LineLink(process, to_line, translate, "The demo has one way to work, and no model.")

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left."""
        await forget(self._holders, worker.hiring_id)


def build(context: DriverContext) -> list[Driver]:
    """The demo agent; it needs nothing of the node's variables."""
    return [DemoDriver(context.holders, python=context.python, environment=context.child({}))]
