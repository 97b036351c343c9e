"""The sandboxes of one node's workers: planned, wrapped around an agent's command, remembered and taken away."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from farhand.disk.atomic import write_private
from farhand.model import container
from farhand.model.container import ContainerEngine, SandboxPlan
from farhand.model.errors import DriverError, ProgramMissing
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.logger import get_logger
from farhand.model.present import Worker
from farhand.model.sandbox import MOUNTED, PRIVATE, SOCKET, Mount, SandboxedStart, SandboxEngine, SandboxOptions
from farhand.model.words import Word
from farhand.model.worker_keys import KEY_VARIABLE, NAME_VARIABLE
from farhand.sandbox import bwrap, engine, inside_start, own_python, plan
from farhand.sandbox.known_places import RECORDS, KnownPlaces
from farhand.sandbox.mount_sources import MountSources, bring_over, make_folder
from farhand.sandbox.plan import SandboxPlaces
from farhand.sandbox.tmux_sockets import tmux_in_mounts

log = get_logger("sandbox")
# The name under which a hiring's agent is held: its wire may add a word, and each life or run has a number.
_HELD = lazy_pattern(r"(?P<hiring>[a-z0-9-]+-[0-9]+)(-[a-z]+)?\.[0-9a-f]+")
SHARED = (
    "This agent is one process for several workers, which cannot be in one worker's sandbox. Hire with another wire, "
    "such as --wire exec, or with --no-sandbox."
)

NO_LOOPBACK = (
    "This agent is spoken to over this machine's loopback address, which a container does not have. Hire with "
    "--wire exec, or set FARHAND_SANDBOX_NETWORK=host."
)


class PrivateFolder(Word):
    """A folder of an agent's own that is named after its process, whose number is the same in every sandbox."""

    variable: str
    home: str
    folder: str

    def path(self, environment: Mapping[str, str]) -> Path:
        """Where the agent has it."""
        given = environment.get(self.variable)
        return (Path(given) if given else Path(environment.get("HOME", "/")) / self.home) / self.folder


class SandboxRecord(Word):
    """How the agent of a hiring was started last."""

    kind: str
    pid: int
    # What the agent has under the first path is under the second one outside.
    private: dict[str, str] = {}


class LocalSandboxes:
    """Sandboxes on this machine. The engine is looked for when the first worker needs one."""

    def __init__(
        self,
        options: SandboxOptions,
        places: SandboxPlaces,
        environment: Mapping[str, str],
        private: Mapping[str, Sequence[PrivateFolder]] | None = None,
    ) -> None:
        self._options = options
        self._places = places
        self._environment = environment
        self._private = private or {}
        records = Path(places.folder) / RECORDS
        self._known = KnownPlaces(records, places.nodes, places.home, options.mounts)
        given = [one.source for one in options.mounts]
        known = [places.home, places.nodes, places.folder, places.hooks, places.sessions, places.temporary, *given]
        self._sources = MountSources([*known, *_interpreter_folders()])
        self._find: Callable[[str], Worker | None] = lambda _: None
        self._port = 0
        self._found: ContainerEngine | None = None
        self._finding = anyio.Lock()
        # The pipes of all nodes of this person, under each name: whoever writes there is nobody in particular.
        pipes = str(Path(places.temporary).parent)
        self._team_pipes = list(dict.fromkeys([pipes, os.path.realpath(pipes)]))
        self._hash = hashlib.sha256(places.folder.encode()).hexdigest()[:8]

    def join(self, find: Callable[[str], Worker | None], port: int) -> None:
        """The node runs: this finds its workers by their hiring, and there it listens."""
        self._find, self._port = find, port

    def is_for(self, worker: Worker) -> bool:
        """Whether this worker's agent runs in one."""
        return self._options.wraps(worker.options)

    def socket(self, worker: Worker) -> Path:
        """The socket that this worker alone has."""
        return self._folder(worker) / SOCKET

    def refuse_shared(self, worker: Worker) -> None:
        """Raises for a sandboxed worker whose agent others share."""
        if self.is_for(worker):
            raise DriverError(SHARED)

    async def need_loopback(self, worker: Worker) -> None:
        """Raises for a sandboxed worker whose agent we could not reach on this machine's loopback address."""
        if await self.kind(worker) in (None, SandboxEngine.BWRAP) or self._options.limits.network == "host":
            return
        raise DriverError(NO_LOOPBACK)

    # --- what drivers must know

    async def kind(self, worker: Worker) -> SandboxEngine | None:
        """Which engine the worker's next start has; None without a sandbox."""
        return (await self._engine()).kind if self.is_for(worker) else None

    def record(self, worker: Worker) -> SandboxRecord | None:
        """How its agent was started; None for one that is in no sandbox."""
        try:
            return msgspec.json.decode(self._record(worker.hiring_id).read_bytes(), type=SandboxRecord)
        except (OSError, msgspec.MsgspecError):
            return None

    def agent_pid(self, worker: Worker, outside: int) -> int:
        """The number that the agent's process has for itself."""
        record = self.record(worker)
        return outside if record is None else record.pid

    def outside(self, worker: Worker, path: Path) -> Path:
        """Where a file is outside that the agent writes at that path."""
        record = self.record(worker)
        for target, source in record.private.items() if record else ():
            if path.is_relative_to(target):
                return Path(source) / path.relative_to(target)
        return path

    # --- starting and ending

    async def wrapped(
        self, worker: Worker, argv: Sequence[str], environment: Mapping[str, str], *, terminal: bool, name: str = ""
    ) -> SandboxedStart:
        """How the agent is started in its sandbox; what an earlier one has left is removed."""
        found = await self._engine()
        return await anyio.to_thread.run_sync(self._wrap, found, worker, tuple(argv), environment, terminal, name)

    def not_wrapped(self, worker: Worker) -> None:
        """The agent is started without a sandbox."""
        self._record(worker.hiring_id).unlink(missing_ok=True)

    async def clear(self, worker: Worker) -> None:
        """Removes the worker's sandboxes, whatever still runs in them."""
        record = self.record(worker)
        if record is None:
            return
        if record.kind != SandboxEngine.BWRAP:
            found = await self._engine()
            await anyio.to_thread.run_sync(self._remove_labelled, found, self._label(worker.hiring_id))
        self.not_wrapped(worker)

    # --- held agents, which are known by their names

    async def wrap_held(
        self, name: str, argv: Sequence[str], environment: Mapping[str, str]
    ) -> tuple[Sequence[str], Mapping[str, str]]:
        """What a holder runs under that name, and with which variables."""
        held = _HELD.fullmatch(name)
        worker = self._find(held["hiring"]) if held else None
        if worker is None:
            if self._options.enabled:
                raise DriverError(SHARED)
            return argv, environment
        if not self.is_for(worker):
            self.not_wrapped(worker)
            return argv, environment
        start = await self.wrapped(worker, argv, environment, terminal=False, name=name)
        return start.argv, start.environment

    async def held_ended(self, name: str) -> None:
        """What a holder ran under that name is over: nothing of it may be left."""
        held = _HELD.fullmatch(name)
        if held is None or not self._record(held["hiring"]).exists():
            return
        with suppress(DriverError):
            found = await self._engine()
            if found.kind is not SandboxEngine.BWRAP:
                names = [self._name(name)]
                await anyio.to_thread.run_sync(engine.remove, found, names, self._environment)

    # --- inside

    def _wrap(
        self,
        found: ContainerEngine,
        worker: Worker,
        argv: tuple[str, ...],
        environment: Mapping[str, str],
        terminal: bool,
        name: str,
    ) -> SandboxedStart:
        is_container = found.kind is not SandboxEngine.BWRAP
        bridge = plan.bridge_variables(self._places, worker.name, self._port, container=is_container)
        inside = {**environment, **bridge, "FARHAND_SOCKET": str(self.socket(worker)), "FARHAND_HOOKS": "session"}
        made, private = self._plan(worker, argv, inside, self._name(name or worker.hiring_id), terminal=terminal)
        pid = container.AGENT_PID if is_container else bwrap.AGENT_PID
        if is_container:
            inside["PATH"] = plan.inside_path(inside.get("PATH", ""), made.mounts)
            engine.need_image(found, self._options.image, self._environment)
            engine.remove(found, [made.name], self._environment)
            words = container.container_argv(found, self._options.image, made, engine.user_ids())
        else:
            words = bwrap.bwrap_argv(found.program, made, self._launcher())
        record = SandboxRecord(kind=found.kind.value, pid=pid, private=private)
        write_private(self._record(worker.hiring_id), msgspec.json.encode(record))
        log.info("sandbox", worker=worker.name, kind=record.kind, name=made.name)
        client = {name: value for name, value in self._environment.items() if name in container.CLIENT_VARIABLES}
        return SandboxedStart(argv=tuple(words), environment={**inside, **client}, kind=record.kind, pid=record.pid)

    def _launcher(self) -> Sequence[str]:
        """What keeps an agent from namespaces of its own, and from the abstract sockets of this machine where that can
        be and it shares this machine's network."""
        own_sockets = self._options.limits.network == "none" or not inside_start.knows_scopes()
        words = (inside_start.SHARES_SOCKETS,) if own_sockets else ()
        return (sys.executable, "-IS", inside_start.__file__, *words)

    def _plan(
        self, worker: Worker, argv: tuple[str, ...], environment: Mapping[str, str], name: str, *, terminal: bool
    ) -> tuple[SandboxPlan, dict[str, str]]:
        places, options, own = self._places, self._options, self._folder(worker)
        directory = self._known.checked(worker, lambda hiring: self._find(hiring) is not None)
        shared = plan.shared_mounts(places, directory, options.mounts, home=options.home)
        if self._is_bwrap:
            shared += [
                plan.same(one, read_only=True) for one in _interpreter_folders() if not plan.is_mounted(one, shared)
            ]
        elif own_python.is_own(argv) and not own_python.is_inside(shared):
            shared.append(own_python.package_mount())
            argv = own_python.inside_argv(argv)
        engines = [str(Path(places.home) / one) for one in plan.ENGINE_FOLDERS if (Path(places.home) / one).is_dir()]
        hidden_folders = bwrap.hidden_in_bwrap if self._is_bwrap else plan.hidden_folders
        seen = [*shared, *(plan.same(one, read_only=True) for one in bwrap.SYSTEM if self._is_bwrap)]
        tmux = tmux_in_mounts(places.tmux, directory, seen, worker.name)
        secret = [places.nodes, *engines, *self._team_pipes, *tmux]
        hidden = hidden_folders(secret, shared)
        shared += plan.pinned_mounts(secret, directory, shared)
        named = plan.named_paths([*argv, *environment.values()], str(Path(places.folder) / worker.backend))
        mounts = [
            *shared,
            *plan.own_mounts(places, worker, str(own), [one for one in named if Path(one).exists()]),
        ]
        private = self._private_folders(worker, own, environment)
        mounts += [Mount(source=source, target=target) for target, source in private.items()]
        # Before, for nothing is made behind a link; and once more when all of it is there.
        self._sources.check(mounts, worker.name)
        self._make_folders(worker, own, private)
        self._sources.check(mounts, worker.name)
        made = SandboxPlan(
            name=name,
            argv=tuple(self._inside_word(word, mounts) for word in argv),
            directory=directory,
            mounts=tuple(mounts),
            hidden=tuple(hidden),
            variables=tuple(sorted({*environment, KEY_VARIABLE, NAME_VARIABLE} - container.CLIENT_VARIABLES)),
            limits=options.limits,
            terminal=terminal,
            labels={"farhand.node": places.folder, "farhand.hiring": self._label(worker.hiring_id)},
        )
        return made, private

    @property
    def _is_bwrap(self) -> bool:
        return self._found is not None and self._found.kind is SandboxEngine.BWRAP

    def _private_folders(self, worker: Worker, own: Path, environment: Mapping[str, str]) -> dict[str, str]:
        """Where the agent has them, and their sources: beside what it can write, never in it."""
        folders = self._private.get(worker.backend, ())
        return {str(one.path(environment)): str(own / MOUNTED / one.folder) for one in folders}

    def _make_folders(self, worker: Worker, own: Path, private: Mapping[str, str]) -> None:
        for folder in plan.made_folders(self._places, worker, str(own)):
            make_folder(Path(folder))
        for target, source in private.items():
            make_folder(Path(source).parent)
            bring_over(own / PRIVATE / Path(source).name, Path(source))
            make_folder(Path(source))
            make_folder(Path(target))

    def _inside_word(self, word: str, mounts: Sequence[Mount]) -> str:
        """A program of this machine that is not inside is looked for by its name there."""
        if self._found is None or self._found.kind is SandboxEngine.BWRAP or not word.startswith("/"):
            return word
        if plan.is_mounted(os.path.realpath(word), mounts) and plan.is_mounted(word, mounts):
            return word
        if word == sys.executable:
            return "python3"
        return Path(word).name if Path(word).is_file() and os.access(word, os.X_OK) else word

    async def _engine(self) -> ContainerEngine:
        async with self._finding:
            if self._found is None:
                try:
                    self._found = await anyio.to_thread.run_sync(
                        engine.find_engine, self._options.engine, self._environment
                    )
                except ProgramMissing as error:
                    raise DriverError(str(error)) from error
                log.info("engine found", kind=self._found.kind.value, program=self._found.program)
            return self._found

    def _remove_labelled(self, found: ContainerEngine, label: str) -> None:
        names = engine.labelled(found, f"farhand.hiring={label}", self._environment)
        engine.remove(found, names, self._environment)

    def _folder(self, worker: Worker) -> Path:
        return Path(self._places.folder) / worker.backend / worker.hiring_id

    def _record(self, hiring: str) -> Path:
        return Path(self._places.folder) / RECORDS / f"{hiring}.json"

    def _name(self, name: str) -> str:
        return f"farhand-{self._hash}-{name}"

    def _label(self, hiring: str) -> str:
        return f"{self._hash}/{hiring}"


def _interpreter_folders() -> list[str]:
    """Where this Python and this package are: agents of our own run in them."""
    found = {sys.prefix, sys.base_prefix, str(Path(own_python.PACKAGE).parent)}
    return sorted(one for one in found if one not in ("/", "/usr"))
