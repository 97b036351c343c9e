"""Runs native workers: an agent of the SDK in a holder, spoken to in the line protocol."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.holder.process import Program, forget, open_wire
from farhand.drivers.wires.lines.link import LineLink, line_or_change
from farhand.drivers.wires.lines.start import start_problem
from farhand.drivers.wires.lines.translate import translate
from farhand.drivers.wires.manifest import read_manifest
from farhand.model.errors import AgentNotStarted
from farhand.model.holder_ports import Holders
from farhand.model.ports import Can, Driver
from farhand.model.present import AGENT, Worker
from farhand.model.words import Mode

MANIFEST = read_manifest("farhand.drivers.native")
BUSY = "A native agent takes a message when its turn is over."


def build(context: DriverContext) -> list[Driver]:
    """The SDK's agent, with the variables that lead it to a model."""
    environment = context.child(model_variables(context.variables))
    return [NativeDriver(context.holders, python=context.python, environment=environment)]


def model_variables(own: Mapping[str, str]) -> dict[str, str]:
    """What of the node's variables leads the agent to a model."""
    return {name: own[name] for name in MANIFEST["variables"] if name in own}


class NativeDriver:
    """Runs the backend `native`."""

    backend = "native"
    wire = "headless"
    # Everything but a word into a running turn; its wire carries ids.
    can = Can(
        interrupt=True,
        images=True,
        files=True,
        models=True,
        modes=tuple(mode.value for mode in Mode),
        ids=True,
        reviews=True,
    )

    def __init__(self, holders: Holders, *, python: str, environment: Mapping[str, str]) -> None:
        self._holders = holders
        self._python = python
        self._environment = {**environment}

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[LineLink]:
        """Starts the worker's agent, or finds it alive and goes on after the cursor. A new life resumes the session."""
        program = Program(argv=self._argv(worker), directory=worker.directory, environment=self._environment)
        async with open_wire(self._holders, worker.hiring_id, program, cursor) as process:
            problem = await start_problem(process)
            if not problem:
                yield LineLink(process, line_or_change, translate, BUSY)
                return
        # The next start is a start, and no look at what is left of this one.
        await forget(self._holders, worker.hiring_id)
        raise AgentNotStarted(f"{worker.options.get(AGENT) or 'The native agent'} did not start ({problem}).")

    def _argv(self, worker: Worker) -> tuple[str, ...]:
        # -P keeps what lies in the worker's folder from standing in for our own modules.
        command = (self._python, "-P", "-m", "farhand.drivers.native.agent", "--mode", worker.mode.value)
        model = ("--model", worker.model) if worker.model else ()
        # In one word, so that no name can be taken for another option.
        agent = (f"--agent={worker.options[AGENT]}",) if worker.options.get(AGENT) else ()
        return (*command, *model, *agent, *(("--resume", worker.session) if worker.session else ()))

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left; its session stays with the project's other sessions."""
        await forget(self._holders, worker.hiring_id)
