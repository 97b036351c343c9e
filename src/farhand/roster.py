"""Builds the drivers and channels that a node has: each package is found by its manifest and builds its own."""

import os
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from farhand.config.places import tmux_server
from farhand.config.settings import Settings
from farhand.core.hire_policy import HirePolicy
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.oneshot.runner import FOLDER, OneshotRunner
from farhand.drivers.wires.tmux.host import TmuxHost, TmuxHostOptions
from farhand.manifests import (
    CHANNELS,
    DRIVERS,
    bridge_hooks,
    channel_secrets,
    installed_backends,
    manifest,
    own_variables,
    packages,
)
from farhand.model import compat
from farhand.model.bridge import BridgeFiles
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.driver_ports import HasFormerKinds
from farhand.model.errors import FarhandError, UnknownBackend
from farhand.model.logger import get_logger
from farhand.model.ports import Driver
from farhand.model.present import Worker
from farhand.model.sandbox import Sandboxes, sender_folder
from farhand.model.worker_keys import held_variables, worker_key

if TYPE_CHECKING:
    from farhand.sandbox.sandboxes import LocalSandboxes

log = get_logger("roster")


def drivers(settings: Settings) -> dict[str, Driver]:
    """Everything that can run an agent here."""
    everyone = build_drivers(driver_context(settings))
    if settings.agent_user is not None:
        # A terminal is the tmux of whoever sits at it: an agent of another user would have a way to that person.
        everyone = [driver for driver in everyone if not driver.can.terminal]
    return drivers_by_kind(everyone)


def driver_context(settings: Settings, owner: int | None = None) -> DriverContext:
    """What drivers are built from; held agents end with their owner, where there is one (see LocalHolders)."""
    from farhand.config import run_as
    from farhand.sandbox.environment import child_environment
    from farhand.sandbox.holders import LocalHolders

    user, sandboxes, secrets = settings.agent_user, sandboxes_of(settings), channel_secrets()

    def child(added: Mapping[str, str]) -> dict[str, str]:
        environment = child_environment(settings.environment, added, secrets)
        return environment if user is None else user.environment(environment)

    return DriverContext(
        folder=settings.folder,
        holders=LocalHolders(
            settings.holders,
            variables=lambda name: held_variables(name, node_key(settings)),
            user=None if user is None else (user.uid, user.gid, user.groups),
            sandbox=sandboxes,
            owner=owner,
        ),
        tmux_host=tmux_host(settings, child({}), sandboxes),
        python=run_as.interpreter(user),
        variables=settings.environment,
        child=child,
        ask_seconds=settings.ask_deadline_seconds,
        sandboxes=sandboxes,
        # What is at somebody's own desk is none of another user's.
        bridges=open_bridge if user is None else None,
        bridge_hooks=tuple(bridge_hooks().values()),
    )


def open_bridge(project: Path) -> BridgeFiles:
    """The two files of a bridged project."""
    from farhand.bridge.project import ProjectFiles

    return ProjectFiles(project / compat.FILE_BRIDGE_FOLDER)


def sandboxes_of(settings: Settings) -> "LocalSandboxes":
    """Builds sandboxes for those workers of the node that run in one."""
    from farhand.model.container import CLIENT_VARIABLES
    from farhand.sandbox.environment import child_environment
    from farhand.sandbox.plan import SandboxPlaces
    from farhand.sandbox.sandboxes import LocalSandboxes, PrivateFolder
    from farhand.sandbox.tmux_sockets import tmux_folders

    own = settings.own_environment
    places = SandboxPlaces(
        nodes=os.path.realpath(settings.folder.parent.parent),
        folder=str(settings.folder),
        hooks=str(settings.folder / "hooks"),
        sessions=str(settings.sessions),
        temporary=str(settings.temporary / compat.node_of_prefix(settings.tmux_prefix)),
        home=os.path.realpath(own.get("HOME") or Path.home()),
        tmux_prefix=settings.tmux_prefix,
        bridge_url=settings.given_bridge_url,
        tmux=tmux_folders(settings.tmux_socket, own),
    )
    client = {name: value for name, value in own.items() if name in CLIENT_VARIABLES}
    private = {
        str(about.get("backend", "")): msgspec.convert(about["sandbox"]["private"], tuple[PrivateFolder, ...])
        for about in (manifest(DRIVERS, name) for name in packages())
        if "sandbox" in about
    }
    return LocalSandboxes(settings.sandbox, places, child_environment(own, client), private)


def seen_in_sandbox(settings: Settings, worker: Worker) -> list[str] | None:
    """What a worker's agent sees of this machine in its sandbox; None for one that is in none."""
    from farhand.sandbox.known_places import RECORDS, first_directory

    options = settings.sandbox
    if not options.wraps(worker.options):
        return None
    own = first_directory(settings.folder / RECORDS, worker.hiring_id) or worker.directory
    home = [settings.environment.get("HOME") or str(Path.home())] if options.home else []
    inbox = settings.temporary / compat.node_of_prefix(settings.tmux_prefix) / worker.name / compat.WORKER_INBOX
    exchanged = [str(settings.sessions / worker.name), str(inbox)]
    return [os.path.realpath(one) for one in (own, *home, *exchanged, *(mount.source for mount in options.mounts))]


def sender_pipes(settings: Settings, worker: Worker) -> Path | None:
    """Where the pipes are that a worker in a sandbox writes to the others through; None for one that is in none.

    One that was started in a sandbox is in it still, whatever the node was told since."""
    from farhand.sandbox.known_places import RECORDS

    is_recorded = (settings.folder / RECORDS / f"{worker.hiring_id}.json").exists()
    if not settings.sandbox.wraps(worker.options) and not is_recorded:
        return None
    return sender_folder(settings.folder, worker.hiring_id)


def agent_sees(settings: Settings, worker: Worker, path: Path) -> bool:
    """Whether the worker's agent sees that file itself, which is resolved: in its sandbox, and as its user."""
    if settings.agent_user is not None and not settings.agent_user.can_read(path):
        return False
    seen = seen_in_sandbox(settings, worker)
    return seen is None or any(path.is_relative_to(one) for one in seen)


def node_key(settings: Settings) -> str:
    """The node's key, made at the first start."""
    from farhand.store import folder

    return folder.key(settings.key)


def tmux_host(settings: Settings, environment: Mapping[str, str], sandboxes: Sandboxes | None = None) -> TmuxHost:
    """Where interactive agents sit: the manager's own tmux, their hooks on the node's own socket."""
    from farhand.drivers.wires.tmux import Tmux
    from farhand.hooks.install import interpreter, place_program

    options = TmuxHostOptions(
        node=settings.node,
        tmux_prefix=settings.tmux_prefix,
        folder=settings.folder,
        socket=settings.hooks,
        interpreter=interpreter(),
        hook_program=place_program(settings.folder / "hooks"),
        secrets=tuple(channel_secrets()),
        session_variables={"SESSIONS_DIR": str(settings.sessions), "TMUX_PREFIX": settings.tmux_prefix},
        bridge_url=settings.given_bridge_url,
        worker_key=lambda hiring: worker_key(node_key(settings), hiring),
        posts=settings.keyless_tcp,
        ask_seconds=settings.ask_deadline_seconds,
        sandboxes=sandboxes,
    )
    return TmuxHost(options, Tmux(tmux_server(settings.tmux_socket), f"farhand-{settings.node}", environment))


# --- drivers


def oneshot_runner_of(backend: str, folder: Path, environment: Mapping[str, str]) -> tuple[str, OneshotRunner]:
    """The source and the calls of that backend's CLI for the worker of this folder; raises UnknownBackend."""
    from farhand.sandbox.holders import LocalHolders

    found = (entry for entry in resources.files(DRIVERS).iterdir() if entry.is_dir())
    able = sorted(entry.name for entry in found if entry.joinpath("oneshot.py").is_file())
    if backend not in able:
        raise UnknownBackend(backend, known=able)
    adapter = import_module(f"farhand.drivers.{backend}.oneshot").ADAPTER
    return adapter.source, OneshotRunner(adapter, folder, LocalHolders(folder / FOLDER), environment)


def build_drivers(context: DriverContext, names: Iterable[str] | None = None) -> list[Driver]:
    """The drivers of these packages, or of all; one that cannot be built costs nobody else."""
    everyone: list[Driver] = []
    for name in packages() if names is None else names:
        try:
            everyone += import_module(f"farhand.drivers.{name}.driver").build(context)
        except Exception:
            log.exception("no driver", package=name)
    return everyone


def drivers_by_kind(everyone: Iterable[Driver]) -> dict[str, Driver]:
    """The drivers as a worker's `kind` names them: `<backend>` for the usual one, `<backend>/<wire>` for each."""
    found: dict[str, Driver] = {}
    for driver in everyone:
        found.setdefault(driver.backend, driver)
        found[f"{driver.backend}/{driver.wire}"] = driver
        if isinstance(driver, HasFormerKinds):
            found.update(dict.fromkeys(driver.formerly, driver))
    return found


def backends_of(drivers: Mapping[str, Driver]) -> list[str]:
    """The backends of these drivers in the order of their names; neither wires nor names of earlier versions."""
    return sorted({driver.backend for driver in drivers.values()})


# --- channels


def build_channels(context: ChannelContext, root: str = CHANNELS, *, without: Container[str] = ()) -> list[Channel]:
    """The channels of all packages but those left out, each built with its own variables alone. A setting that is
    wrong is an error; a package that cannot be imported costs nobody else."""
    everyone: list[Channel] = []
    for package in packages(root, "channel"):
        about = manifest(root, package)
        if about["name"] in without:
            continue
        own = replace(context, variables=own_variables(about, context.variables))
        try:
            everyone += import_module(f"{root}.{package}.channel").build(own)
        except FarhandError:
            raise
        except Exception:
            log.exception("no channel", package=package)
    return everyone


def hire_policy(settings: Settings, drivers: Mapping[str, Driver]) -> HirePolicy:
    """Which agents there are, and what a hiring is taken to mean."""
    return HirePolicy(
        kinds=frozenset(drivers),
        directory=str(settings.working_directory),
        mode=settings.usual_mode,
        resumable=frozenset(kind for kind, driver in drivers.items() if driver.can.sessions),
        cannot_review=frozenset(kind for kind, driver in drivers.items() if not driver.can.reviews),
        former={kind for kind in drivers if "/" not in kind} - set(backends_of(drivers)),
        backend=settings.hire_backend,
        efforts={kind: driver.can.effort for kind, driver in drivers.items()},
        no_yolo=settings.no_yolo,
        home=str(settings.environment.get("HOME", "")),
        is_folder=os.path.isdir,
        installed=partial(installed_backends, backends_of(drivers), settings.environment),
    )
