"""Runs workers of any ACP agent: its connection is owned by a relay in a holder, spoken to in the line protocol."""

import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import structlog

from farhand.drivers.acp.schema import AcpAgent, read_agent
from farhand.drivers.native.translate import to_line, translate
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.holder.process import HeldProcess, Program, forget, open_wire
from farhand.drivers.wires.lines.link import LineLink, Translate
from farhand.model.errors import DriverError
from farhand.model.facts import AskRaised
from farhand.model.ports import Can, Change, Driver, Errand, Heard, Holders, NotTaken, Outcome
from farhand.model.present import Worker
from farhand.model.words import Mode, replace

log = structlog.get_logger("acp")


def to_fresh_line(errand: Errand) -> tuple[str, bytes] | None:
    """The line of an errand; the same change may be wanted twice."""
    return to_line(errand, uuid.uuid4().hex)


def translate_asking(ask_seconds: float | None, line: bytes) -> tuple[Heard, ...]:
    """What one line means; an ask that nobody answers in this time is a no."""
    return tuple(
        replace(one, fact=replace(one.fact, deadline_seconds=ask_seconds)) if isinstance(one.fact, AskRaised) else one
        for one in translate(line)
    )


class AcpLink(LineLink):
    """An open connection to one worker; what its agent's file rules out is refused before it is sent."""

    def __init__(self, wire: HeldProcess, agent: AcpAgent, translate: Translate) -> None:
        super().__init__(wire, to_fresh_line, translate, "This agent takes a message when its turn is over.")
        self._agent = agent

    async def perform(self, errand: Errand) -> Outcome:
        """Writes it to the relay's input, once however often it is asked."""
        if isinstance(errand, Change):
            refusal = self._refusal(errand)
            if refusal:
                return NotTaken(why=refusal)
            errand = replace(errand, mode=self._agent.modes[Mode(errand.mode)] if errand.mode else None)
        return await super().perform(errand)

    def _refusal(self, change: Change) -> str:
        known = ", ".join(mode.value for mode in self._agent.modes) or "none"
        if change.mode and change.mode not in self._agent.modes:
            return f"{self._agent.title or self._agent.backend} has no mode '{change.mode}'. Known: {known}."
        if change.model and not self._agent.models:
            return f"{self._agent.title or self._agent.backend} cannot change its model."
        return ""


class AcpDriver:
    """Runs the backend that an agent's file describes."""

    def __init__(
        self,
        holders: Holders,
        agent: AcpAgent,
        *,
        python: str,
        environment: Mapping[str, str],
        ask_seconds: float | None = None,
    ) -> None:
        self._ask_seconds = ask_seconds
        self._holders = holders
        self._agent = agent
        self._python = python
        self._environment = {**environment, **agent.environment}

    wire = "headless"

    @property
    def backend(self) -> str:
        """As a worker's `backend` names it."""
        return self._agent.backend

    @property
    def can(self) -> Can:
        """What the agent's file says; its wire carries ids."""
        modes = tuple(mode.value for mode in self._agent.modes)
        images, models = self._agent.images, self._agent.models
        return Can(interrupt=True, images=images, files=True, models=models, modes=modes, ids=True)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[AcpLink]:
        """Starts the worker's agent, or finds it alive and goes on after the cursor. A new life loads the session."""
        program = Program(argv=self._argv(worker), directory=worker.directory, environment=self._environment)
        async with open_wire(self._holders, _name(worker), program, cursor) as wire:
            yield AcpLink(wire, self._agent, self.translate)

    def translate(self, line: bytes) -> tuple[Heard, ...]:
        """What one line of the relay means."""
        return translate_asking(self._ask_seconds, line)

    def _argv(self, worker: Worker) -> tuple[str, ...]:
        # -P keeps what lies in the worker's folder from standing in for our own modules.
        command = (self._python, "-P", "-m", "farhand.drivers.acp.agent")
        # The mode that an agent starts in is its own default.
        mode = self._agent.modes.get(worker.mode, "") if worker.mode is not Mode.DEFAULT else ""
        wanted = {"--mode": mode, "--model": worker.model, "--resume": worker.session}
        options = tuple(word for name, value in wanted.items() if value for word in (name, value))
        return (*command, *options, "--", *self._agent.command)

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left; its session stays where the agent keeps its sessions."""
        await forget(self._holders, _name(worker))


def build(given: DriverContext) -> list[Driver]:
    """The agents that files in the node's folder describe; a file that describes none costs that agent alone."""
    found: list[Driver] = []
    for path in sorted((given.folder / "acp").glob("*.toml")):
        try:
            found.append(of_agent(given, read_agent(path)))
        except DriverError as error:
            log.error("no ACP agent", file=str(path), error=str(error))
    return found


def of_agent(given: DriverContext, agent: AcpAgent) -> AcpDriver:
    """The driver of one agent, with those of the node's variables that it names."""
    named = {name: given.variables[name] for name in agent.variables if name in given.variables}
    return AcpDriver(
        given.holders,
        agent,
        python=given.python,
        environment=given.child(named),
        ask_seconds=given.ask_seconds,
    )


def _name(worker: Worker) -> str:
    return f"{worker.name}-{worker.since}"
