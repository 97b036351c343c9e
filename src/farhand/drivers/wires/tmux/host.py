"""The node's tmux, shared by its interactive agents: how one is found, started, waited for and ended."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread
import msgspec
from starlette.routing import Route

from farhand.disk.watch import FolderWatcher
from farhand.drivers.wires.hooks.endpoint import HookEndpoint
from farhand.drivers.wires.hooks.public_route import PublicHookRoute, Whose
from farhand.drivers.wires.tmux import Pane, Size, Tmux, TmuxError, TmuxGone, TmuxRefused, TmuxUnreachable
from farhand.drivers.wires.tmux.death import is_over, watched
from farhand.drivers.wires.tmux.panes import TmuxPanes
from farhand.model.ask_limits import ASK_SECONDS
from farhand.model.errors import AgentNotStarted, DriverError
from farhand.model.logger import get_logger
from farhand.model.present import Worker
from farhand.model.sandbox import SPOOL, SandboxEngine, Sandboxes
from farhand.model.worker_keys import KEY_VARIABLE

log = get_logger("tmux")
# So long an agent whose terminal is closed may write what it has not written yet.


class TmuxHostOptions(msgspec.Struct, frozen=True):
    """What a host must be told by whoever builds the node."""

    node: str
    tmux_prefix: str
    # The node's own folder: what is kept for a worker is under it.
    folder: Path
    # The socket that hooks connect to, and what runs them.
    socket: Path
    interpreter: str
    hook_program: Path
    # What channels sign in with: in no agent's environment, whatever the tmux server has in its own.
    secrets: tuple[str, ...] = ()
    # What a session carries for programs that look for it there.
    session_variables: Mapping[str, str] = {}
    # Where its programs find the node, if that is set; else it is the port on which the node turns out to listen.
    bridge_url: str = ""
    # The key of a hiring, with which its programs speak for that worker alone.
    worker_key: Callable[[str], str] | None = None
    # Whether an agent's CLI may post its hooks to the node's port, where anybody can answer while the node is down.
    posts: bool = True
    ask_seconds: float = ASK_SECONDS
    # Builds sandboxes for those workers that run in one.
    sandboxes: Sandboxes | None = None
    # What a person wrote behind the CLI's name, where the host is there for one agent alone.
    arguments: tuple[str, ...] = ()
    # The size of terminals, where somebody is before them from the beginning.
    size: Size | None = None
    # So long an agent may go on writing after its terminal is gone.
    grace_seconds: float = 5.0


class HookCommand(msgspec.Struct, frozen=True):
    """What runs hooks: an interpreter and its program; the address to which a CLI may post them itself, if it can."""

    interpreter: str
    program: Path
    address: str


class TmuxHost:
    """One for a node: one tmux client, one inotify and one hook endpoint, whichever drivers its workers have."""

    def __init__(self, options: TmuxHostOptions, tmux: Tmux) -> None:
        self.options = options
        self.tmux = tmux
        self.hook_endpoint = HookEndpoint()
        self.folders = FolderWatcher()
        # Its workers' terminals, for whoever watches.
        self.panes = TmuxPanes(self)
        # Where the node's HTTP listener is, once it listens.
        self.address = ""

    def routes(self) -> list[Route]:
        """What the node's own socket must serve, so that hooks find their way."""
        return self.hook_endpoint.routes()

    def open_routes(self, address: str) -> list[Route]:
        """What the node's HTTP listener must serve, and from now on where it listens."""
        self.address = address
        return self.hook_endpoint.open_routes()

    def intake_routes(self, whose: Whose, asking: Mapping[str, frozenset[str]]) -> list[Route]:
        """What the node's HTTP listener must serve for hooks that know no more than their session."""
        return PublicHookRoute(self.hook_endpoint, whose, asking).routes()

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Keeps what all workers share open until it is cancelled."""
        async with self.tmux.opened(), self.folders.opened():
            task_status.started()
            await anyio.sleep_forever()

    @property
    def sandboxes(self) -> Sandboxes | None:
        """Who builds sandboxes for its workers."""
        return self.options.sandboxes

    def folder(self, worker: Worker) -> Path:
        """What is kept for this worker, of this hiring."""
        return self.options.folder / worker.backend / worker.hiring_id

    def spool(self, worker: Worker) -> Path:
        """Where its hooks leave what they report."""
        return self.folder(worker) / SPOOL

    async def pane_of(self, worker: Worker) -> Pane | None:
        """The pane in which the worker's agent lives, or has ended."""
        return await self.tmux.tagged(pane_tag(self.options.node, worker))

    async def found(self, worker: Worker) -> Pane | None:
        """The pane in which the worker's agent lives. One whose agent is over is cleared away."""
        try:
            pane = await self.tmux.tagged(pane_tag(self.options.node, worker))
            if pane is not None and is_over(pane.pid):
                await self.tmux.kill(pane)
                await self._clear_sandbox(worker)
                pane = None
        except TmuxError as error:
            raise DriverError(str(error)) from error
        return pane

    async def earlier(self, worker: Worker) -> Pane | None:
        """The pane that another bridge of this node's name has started for a worker of that name: its session carries
        this node's own folder and prefix, and is not marked as ours."""
        name = f"{self.options.tmux_prefix}{worker.name}"
        pane = (await self.tmux.find(name)).get(name)
        if pane is None or await self.tmux.told(pane, "#{@farhand}"):
            return None
        for variable, value in self.options.session_variables.items():
            if await self.tmux.variable(pane, variable) != value:
                return None
        return pane

    async def spawn(self, worker: Worker, words: Sequence[str], variables: Mapping[str, str]) -> Pane:
        """Starts the words in a tmux session of the worker's own, in its directory."""
        name = f"{self.options.tmux_prefix}{worker.name}"
        unset = [word for name in self.options.secrets for word in ("-u", name)]
        words = [*(["env", *unset] if unset else ()), *words, *self.options.arguments]
        words, variables = await self._sandboxed(worker, words, self._variables(worker, variables))
        try:
            tag, directory = pane_tag(self.options.node, worker), Path(worker.directory)
            return await self.tmux.start(name, words, directory, variables, self.options.size, tag)
        except TmuxRefused as error:
            if "duplicate session" in error.answer:
                raise DriverError(f"There is a tmux session '{name}' that is not ours; end it or rename it.") from error
            raise DriverError(str(error)) from error
        except TmuxError as error:
            raise DriverError(str(error)) from error

    async def _sandboxed(
        self, worker: Worker, words: Sequence[str], variables: Mapping[str, str]
    ) -> tuple[Sequence[str], Mapping[str, str]]:
        sandboxes = self.options.sandboxes
        if sandboxes is None:
            return words, variables
        if not sandboxes.is_for(worker):
            sandboxes.not_wrapped(worker)
            return words, variables
        start = await sandboxes.wrapped(worker, words, variables, terminal=True)
        return start.argv, start.environment

    async def hook_command(self, worker: Worker) -> HookCommand:
        """What the agent runs at its events, where it is going to be."""
        options, kind = self.options, None
        if options.sandboxes is not None:
            kind = await options.sandboxes.kind(worker)
        if kind is None or kind is SandboxEngine.BWRAP:
            return HookCommand(options.interpreter, options.hook_program, self.address if options.posts else "")
        # An image has its own Python, which may not know our compiled form, and no way to our loopback address.
        return HookCommand("python3", options.hook_program.with_suffix(".py"), "")

    def agent_pid(self, worker: Worker, pane: Pane) -> int:
        """The number that the worker's agent has for itself."""
        sandboxes = self.options.sandboxes
        return pane.pid if sandboxes is None else sandboxes.agent_pid(worker, pane.pid)

    def outside(self, worker: Worker, path: Path) -> Path:
        """Where we find a file that the worker's agent writes at that path."""
        sandboxes = self.options.sandboxes
        return path if sandboxes is None else sandboxes.outside(worker, path)

    def _variables(self, worker: Worker, own: Mapping[str, str]) -> dict[str, str]:
        options = self.options
        return {
            **own,
            **options.session_variables,
            **self._ways(worker),
            "WORKER_BACKEND": worker.backend,
            "FARHAND_SOCKET": str(options.socket),
            "FARHAND_WORKER": worker.name,
            "FARHAND_SPOOL": str(self.spool(worker)),
            "FARHAND_ASK_SECONDS": f"{options.ask_seconds:g}",
            "FARHAND_HOOKS": "session",
        }

    def _ways(self, worker: Worker) -> dict[str, str]:
        """How the worker's programs reach the node, and what they are known by."""
        port = self.address.rpartition(":")[2]
        address = self.options.bridge_url or (f"http://localhost:{port}" if port else "")
        found = {"BRIDGE_URL": address, "PORT": port} if address else {}
        make = self.options.worker_key
        return found if make is None else {**found, KEY_VARIABLE: make(worker.hiring_id)}

    async def ready(self, pane: Pane, title: str, arrive: Callable[[], Awaitable[str | None]]) -> None:
        """Waits until the agent has arrived at its prompt. `arrive` gives None then, or what went wrong."""
        problem: str | None = ""
        async with anyio.create_task_group() as tasks:

            async def died() -> None:
                nonlocal problem
                death = await self.tmux.died(pane)
                problem = f"status {death.status}: {death.screen}"
                tasks.cancel_scope.cancel()

            tasks.start_soon(died)
            problem = await arrive()
            tasks.cancel_scope.cancel()
        if problem is not None:
            await self.tmux.kill(pane)
            raise AgentNotStarted(f"{title} did not start ({problem or 'no reason given'}).")
        log.info("agent started", agent=title, pane=pane.id)

    async def end(self, worker: Worker) -> None:
        """Ends the worker's session, if there is one; returns when its agent can write to its files no more."""
        try:
            found = await self.tmux.tagged(pane_tag(self.options.node, worker))
            if found is not None:
                # Known from before its end: afterwards its number may be another's.
                with watched(found.pid) as process:
                    await self.tmux.kill(found)
                    await process.wait_or_kill(self.options.grace_seconds)
        except TmuxUnreachable as error:
            raise DriverError(str(error)) from error
        except TmuxGone:
            log.info("tmux was gone already", worker=worker.name)
        except TmuxError as error:
            raise DriverError(str(error)) from error
        await self._clear_sandbox(worker)

    async def _clear_sandbox(self, worker: Worker) -> None:
        if self.options.sandboxes is not None:
            await self.options.sandboxes.clear(worker)

    async def dismiss(self, worker: Worker) -> None:
        """Ends the worker's session and removes what was kept for it."""
        await self.end(worker)
        folder = self.folder(worker)
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


def pane_tag(node: str, worker: Worker) -> str:
    """What the pane of that node's worker is marked with."""
    return f"{node}/{worker.name}/{worker.since}"
