"""What can be chosen at a node: the agents that it can run, each with its version, models and modes, and folders."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from farhand.cli.agent_clis import AgentCli, agent_clis
from farhand.manifests import model_names
from farhand.model.abilities import BackendChoice, HireChoices, WireChoice, WorkerAbilities
from farhand.model.bridge import BACKEND as BRIDGE
from farhand.model.driver_ports import HasPanes, HasTmuxHost
from farhand.model.ports import Can, Driver
from farhand.model.present import Worker
from farhand.model.words import Mode
from farhand.node import Node

VERSIONS_SECONDS = 600.0
MOST_FOLDERS = 20


@dataclass
class NodeChoices:
    """Asks drivers what they can do, and the agents' programs for their versions, which is remembered for a while."""

    node: Node
    drivers: Mapping[str, Driver]
    _models: dict[str, tuple[str, ...]] = field(default_factory=model_names)
    _clis: dict[str, AgentCli] = field(default_factory=dict)
    _asked_at: float = -VERSIONS_SECONDS
    _asking: anyio.Lock = field(default_factory=anyio.Lock)

    def abilities(self, worker: Worker) -> WorkerAbilities:
        """What that worker's agent can do."""
        driver = self.drivers.get(worker.kind)
        if driver is None:
            # Hired by a node that could run it; this one can only tell of it.
            return WorkerAbilities(worker=worker.name, backend=worker.backend, wire="", can=Can())
        return WorkerAbilities(
            worker=worker.name,
            backend=worker.backend,
            wire=driver.wire,
            can=driver.can,
            pane=isinstance(driver, HasTmuxHost | HasPanes),
            models=self._models.get(worker.backend, ()) if driver.can.models else (),
            modes=self._modes(driver),
            effort=driver.can.effort,
            context_window=worker.spent.of_turn.context_window or None,
        )

    async def hire(self, *, versions: bool = True) -> HireChoices:
        """What can be chosen at a hiring; versions that are known already are told in any case."""
        settings = self.node.settings
        clis = await self._agent_clis() if versions or self._is_fresh else self._found_clis()
        # An agent that somebody started elsewhere comes last: nobody means it who does not say so.
        named = dict.fromkeys(driver.backend for driver in self.drivers.values())
        backends = sorted(named, key=lambda name: name == BRIDGE)
        return HireChoices(
            backend=settings.hire_backend,
            directory=str(settings.working_directory),
            mode=settings.usual_mode,
            backends=tuple(self._backend(name, clis.get(name)) for name in backends),
            folders=await self._folders(),
        )

    def _backend(self, name: str, cli: AgentCli | None) -> BackendChoice:
        usual = self.drivers[name]
        others = (driver for driver in self.drivers.values() if driver.backend == name and driver is not usual)
        wires = tuple(
            WireChoice(wire=driver.wire, can=driver.can, modes=self._modes(driver))
            for driver in dict.fromkeys((usual, *others))
        )
        made = BackendChoice(backend=name, wires=wires, models=self._models.get(name, ()))
        return made if cli is None else _with_cli(made, cli)

    def _modes(self, driver: Driver) -> tuple[Mode, ...]:
        able = [mode for mode in Mode if mode.value in driver.can.modes]
        return tuple(mode for mode in able if mode is not Mode.YOLO or not self.node.settings.no_yolo)

    @property
    def _is_fresh(self) -> bool:
        return time.monotonic() - self._asked_at <= VERSIONS_SECONDS

    def _found_clis(self) -> dict[str, AgentCli]:
        return {cli.backend: cli for cli in agent_clis(self.node.settings.environment, versions=False)}

    async def _agent_clis(self) -> dict[str, AgentCli]:
        async with self._asking:
            if not self._is_fresh:
                found = await anyio.to_thread.run_sync(agent_clis, self.node.settings.environment)
                self._clis = {cli.backend: cli for cli in found}
                self._asked_at = time.monotonic()
        return self._clis

    async def _folders(self) -> tuple[str, ...]:
        """Where workers are, where the node was started, where agents have conversations."""
        settings = self.node.settings
        workers = sorted(self.node.hub.present.workers.values(), key=lambda worker: -worker.since)
        sessions = await self.node.hub.sessions()
        named = [worker.directory for worker in workers]
        found = dict.fromkeys([*named, str(settings.working_directory), *(one.directory for one in sessions)])
        return await anyio.to_thread.run_sync(_existing, [name for name in found if name])


def _existing(folders: Iterable[str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in folders:
        if len(found) < MOST_FOLDERS and Path(name).is_dir():
            found.append(name)
    return tuple(found)


def _with_cli(made: BackendChoice, cli: AgentCli) -> BackendChoice:
    return BackendChoice(
        backend=made.backend,
        wires=made.wires,
        models=made.models,
        found=bool(cli.path),
        version=cli.version,
        tested=cli.tested,
        install=cli.install,
        logged_in=cli.logged_in,
        how_to_log_in=cli.how_to_log_in,
    )
