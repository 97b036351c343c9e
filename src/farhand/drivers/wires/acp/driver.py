"""Runs workers of an ACP agent: a relay in a holder owns the connection, and is spoken to in the line protocol."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeAlias

from farhand.drivers.wires.acp.schema import AcpAgent
from farhand.drivers.wires.folders.check import FolderGate
from farhand.drivers.wires.holder.process import Program, forget, open_wire
from farhand.drivers.wires.lines.link import LineLink, line_or_change
from farhand.drivers.wires.lines.start import start_problem
from farhand.drivers.wires.lines.translate import KeyedLine, translate
from farhand.model.errors import AgentNotStarted, DriverError
from farhand.model.facts import AskRaised
from farhand.model.holder_ports import Holders
from farhand.model.ports import Can, Change, Errand, Heard, NotTaken, Settle
from farhand.model.present import Worker
from farhand.model.review import is_reviewer
from farhand.model.words import HowSettled, Mode, replace

BUSY = "This agent takes a message when its turn is over."
# What a backend makes of the facts of one line.
AmendUpdate: TypeAlias = Callable[[tuple[Heard, ...]], tuple[Heard, ...]]


def with_deadline(heard: tuple[Heard, ...], ask_seconds: float | None) -> tuple[Heard, ...]:
    """The same facts; an ask that nobody answers in this time is a no."""
    return tuple(
        replace(one, fact=replace(one.fact, deadline_seconds=ask_seconds)) if isinstance(one.fact, AskRaised) else one
        for one in heard
    )


def errand_line(agent: AcpAgent, errand: Errand) -> KeyedLine | NotTaken | None:
    """The line of an errand; a change that the agent's file rules out is refused before it is sent."""
    if isinstance(errand, Settle):
        return line_or_change(_with_words_of_a_person(errand))
    if not isinstance(errand, Change):
        return line_or_change(errand)
    name = agent.title or agent.backend
    if errand.mode and errand.mode not in agent.modes:
        known = ", ".join(mode.value for mode in agent.modes) or "none"
        return NotTaken(why=f"{name} has no mode '{errand.mode}'. Known: {known}.")
    if errand.model and not agent.models:
        return NotTaken(why=f"{name} cannot change its model.")
    return line_or_change(replace(errand, mode=agent.modes[Mode(errand.mode)] if errand.mode else None))


def _with_words_of_a_person(errand: Settle) -> Settle:
    """Words beside an answer become a prompt, which only a person may write: the node's own reasons are left out."""
    settled = errand.ask.settled
    if settled is None or (settled.how is HowSettled.ANSWERED and settled.by is not None and settled.by.via != "node"):
        return errand
    return replace(errand, ask=replace(errand.ask, settled=replace(settled, note="")))


class AcpDriver:
    """Runs the backend that an `AcpAgent` describes."""

    wire = "headless"

    def __init__(
        self,
        holders: Holders,
        agent: AcpAgent,
        *,
        python: str,
        environment: Mapping[str, str],
        ask_seconds: float | None = None,
        amends: Callable[[Worker], AmendUpdate] | None = None,
        gate: FolderGate | None = None,
    ) -> None:
        self._gate = gate
        self._holders = holders
        self._agent = agent
        self._python = python
        self._environment = {**environment, **agent.environment}
        self._ask_seconds = ask_seconds
        self._amends = amends

    @property
    def backend(self) -> str:
        """As a worker's `backend` names it."""
        return self._agent.backend

    @property
    def can(self) -> Can:
        """What the agent's file says; its wire carries ids."""
        modes = tuple(mode.value for mode in self._agent.modes)
        images, models = self._agent.images, self._agent.models
        asks = self._agent.asks
        return Can(interrupt=True, images=images, files=True, models=models, modes=modes, ids=True, reviews=asks)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[LineLink]:
        """Starts the worker's agent, or finds it alive and goes on after the cursor. A new life loads the session."""
        if not self._agent.asks and worker.mode is not Mode.YOLO:
            name = self._agent.title or self._agent.backend
            raise DriverError(f"{name} does not ask before it acts: hire it with --mode yolo, if you mean that.")
        environment = {**self._environment, **(self._agent.review_environment if is_reviewer(worker.name) else {})}
        program = Program(argv=self._argv(worker), directory=worker.directory, environment=environment)
        may_start = partial(self._gate.pass_through, worker) if self._gate else None
        async with open_wire(self._holders, worker.hiring_id, program, cursor, may_start) as process:
            problem = await start_problem(process)
            if not problem:
                translated = partial(self._translate, self._amends(worker) if self._amends else _as_it_is)
                yield LineLink(process, partial(errand_line, self._agent), translated, BUSY)
                return
        # The next start is a start, and no look at what is left of this one.
        await forget(self._holders, worker.hiring_id)
        raise AgentNotStarted(f"{self._agent.title or self._agent.backend} did not start ({problem}).")

    def _translate(self, amend: AmendUpdate, line: bytes) -> tuple[Heard, ...]:
        return amend(with_deadline(translate(line), self._ask_seconds))

    def _argv(self, worker: Worker) -> tuple[str, ...]:
        # -P keeps what lies in the worker's folder from standing in for our own modules.
        command = (self._python, "-P", "-m", "farhand.drivers.wires.acp.agent")
        # The mode that most agents start in is our default.
        is_set = worker.mode is not Mode.DEFAULT or self._agent.sets_default
        mode = self._agent.modes.get(worker.mode, "") if is_set else ""
        wanted = {"--mode": mode, "--model": worker.model, "--resume": worker.session}
        options = tuple(word for name, value in wanted.items() if value for word in (name, value))
        if worker.mode is Mode.PLAN and not mode:
            options += ("--read-only",)
        return (*command, *options, "--", *self._agent.command)

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left; its session stays where the agent keeps its sessions."""
        await forget(self._holders, worker.hiring_id)


def _as_it_is(heard: tuple[Heard, ...]) -> tuple[Heard, ...]:
    return heard
