"""Which drivers and channels a node has: each package is found by its manifest and builds its own."""

import os
import shutil
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec
import structlog

from farhand.config.settings import Settings
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.hooks.bridge import BridgeHooks
from farhand.drivers.wires.manifest import parse_manifest
from farhand.drivers.wires.oneshot.runner import FOLDER, OneshotRunner
from farhand.drivers.wires.tmux.host import TmuxHost, TmuxHostOptions
from farhand.model import compat
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.driver_ports import HasFormerKinds
from farhand.model.errors import FarhandError, UnknownBackend
from farhand.model.ports import Driver
from farhand.model.sandbox import Sandboxes
from farhand.model.worker_keys import held_variables, worker_key

if TYPE_CHECKING:
    from farhand.sandbox.sandboxes import LocalSandboxes

log = structlog.get_logger("roster")
DRIVERS = "farhand.drivers"
CHANNELS = "farhand.channels"
MANIFEST = "manifest.toml"
DEMO = "demo"


def drivers(settings: Settings) -> dict[str, Driver]:
    """Everything that can run an agent here."""
    everyone = build_drivers(driver_context(settings))
    if settings.agent_user is not None:
        # A terminal is the tmux of whoever sits at it: an agent of another user would have a way to that person.
        everyone = [driver for driver in everyone if not driver.can.terminal]
    return drivers_by_kind(everyone)


def driver_context(settings: Settings) -> DriverContext:
    """What drivers are built from."""
    from farhand.config import run_as
    from farhand.sandbox.environment import child_environment
    from farhand.sandbox.holders import LocalHolders

    user, sandboxes = settings.agent_user, sandboxes_of(settings)

    def child(added: Mapping[str, str]) -> dict[str, str]:
        environment = child_environment(settings.environment, added)
        return environment if user is None else user.environment(environment)

    return DriverContext(
        folder=settings.folder,
        holders=LocalHolders(
            settings.holders,
            variables=lambda name: held_variables(name, node_key(settings)),
            user=None if user is None else (user.uid, user.gid, user.groups),
            sandbox=sandboxes,
        ),
        tmux_host=tmux_host(settings, child({}), sandboxes),
        python=run_as.interpreter(user),
        variables=settings.environment,
        child=child,
        ask_seconds=settings.ask_deadline_seconds,
        sandboxes=sandboxes,
    )


def sandboxes_of(settings: Settings) -> "LocalSandboxes":
    """Builds sandboxes for those workers of the node that run in one."""
    from farhand.sandbox.environment import child_environment
    from farhand.sandbox.plan import CLIENT_VARIABLES, SandboxPlaces
    from farhand.sandbox.sandboxes import LocalSandboxes, PrivateFolder

    own = settings.environment
    places = SandboxPlaces(
        nodes=os.path.realpath(settings.folder.parent.parent),
        folder=str(settings.folder),
        hooks=str(settings.folder / "hooks"),
        sessions=str(settings.sessions),
        temporary=str(settings.temporary / compat.node_of_prefix(settings.tmux_prefix)),
        home=os.path.realpath(own.get("HOME") or Path.home()),
        tmux_prefix=settings.tmux_prefix,
        bridge_url=settings.given_bridge_url,
    )
    client = {name: value for name, value in own.items() if name in CLIENT_VARIABLES}
    private = {
        str(about.get("backend", "")): msgspec.convert(about["sandbox"]["private"], tuple[PrivateFolder, ...])
        for about in (manifest(DRIVERS, name) for name in packages())
        if "sandbox" in about
    }
    return LocalSandboxes(settings.sandbox, places, child_environment(own, client), private)


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
        session_variables={"SESSIONS_DIR": str(settings.sessions), "TMUX_PREFIX": settings.tmux_prefix},
        bridge_url=settings.given_bridge_url,
        worker_key=lambda hiring: worker_key(node_key(settings), hiring),
        posts=settings.keyless_tcp,
        ask_seconds=settings.ask_deadline_seconds,
        sandboxes=sandboxes,
    )
    return TmuxHost(options, Tmux(tmux_server(settings.tmux_socket), f"farhand-{settings.node}", environment))


def tmux_server(socket: str) -> tuple[str, ...]:
    """The words that reach a tmux server: by a path, by a name as `tmux -L` has it, or the person's own."""
    if not socket:
        return ("tmux",)
    return ("tmux", "-S", socket) if "/" in socket else ("tmux", "-L", socket)


def packages(root: str = DRIVERS, module: str = "driver") -> list[str]:
    """The packages under that root that have a manifest and that module."""
    found = (entry for entry in resources.files(root).iterdir() if entry.is_dir())
    parts = (MANIFEST, f"{module}.py")
    return sorted(entry.name for entry in found if all(entry.joinpath(part).is_file() for part in parts))


def manifest(root: str, package: str) -> dict[str, Any]:
    """What that package says of itself."""
    return parse_manifest(resources.files(root).joinpath(package).joinpath(MANIFEST).read_text("utf-8"))


# --- drivers


def asking_events() -> dict[str, frozenset[str]]:
    """At which events the hooks of a backend wait for a person, as its manifest says."""
    found: dict[str, frozenset[str]] = {}
    for name in packages():
        about = manifest(DRIVERS, name)
        hooks = about.get("hooks", {})
        modes = hooks.items() if isinstance(hooks, dict) else ()
        found[about.get("backend", name)] = frozenset(event for event, mode in modes if mode == "ask")
    return found


def model_names() -> dict[str, tuple[str, ...]]:
    """The models of each backend that are known by name, as its manifest says."""
    abouts = [manifest(DRIVERS, name) for name in packages()]
    return {str(about.get("backend", "")): tuple(map(str, about.get("models", ()))) for about in abouts}


def hook_settings_of(backend: str) -> ModuleType:
    """What puts hooks into the settings of that backend's CLI; raises UnknownBackend with those that have any."""
    known = {name: f"farhand.drivers.{name}.hook_settings" for name in packages()}
    able = {name: module for name, module in known.items() if find_spec(module) is not None}
    if backend not in able:
        raise UnknownBackend(backend, known=sorted(able))
    return import_module(able[backend])


def bridge_hooks() -> dict[str, BridgeHooks]:
    """How the CLI of each backend that can be bridged wants the file bridge's hooks."""
    known = {name: f"farhand.drivers.{name}.bridge_hooks" for name in packages()}
    return {name: import_module(module).HOOKS for name, module in known.items() if find_spec(module) is not None}


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


def installed_backends(kinds: Iterable[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """The backends among these kinds whose programs are here, in the order of their names; the demo when no other is.

    One without a manifest of ours was set up by a person, who knows why."""
    backends = sorted(kind for kind in kinds if "/" not in kind)
    ours = set(packages())
    abouts = {name: manifest(DRIVERS, name) if name in ours else {} for name in backends}
    found = [name for name in backends if _is_installed(abouts[name], environment)]
    return tuple(found) or tuple(name for name in backends if name == DEMO)


def _is_installed(about: Mapping[str, Any], environment: Mapping[str, str]) -> bool:
    """Whether its CLI is on PATH; an agent of our own needs a key for a model, and the demo is nobody's choice."""
    if about.get("tested"):
        return shutil.which(str(about["program"]), path=environment.get("PATH")) is not None
    keys = [name for name in about.get("variables", ()) if name.endswith("_KEY")]
    return not about or any(environment.get(name, "").strip() for name in keys)


# --- channels


def channel_names(root: str = CHANNELS) -> list[str]:
    """The names of all channels that there are, switched on or not."""
    return [str(manifest(root, package).get("name", package)) for package in packages(root, "channel")]


def channel_secrets(root: str = CHANNELS) -> list[str]:
    """The variables that channels sign in with, as their manifests say: nobody else may see them."""
    return [name for package in packages(root, "channel") for name in manifest(root, package).get("secrets", ())]


def own_variables(about: Mapping[str, Any], variables: Mapping[str, str]) -> dict[str, str]:
    """Those of the variables that a channel's manifest names."""
    names = {*about.get("settings", {}), *about.get("secrets", ())}
    return {name: value for name, value in variables.items() if name in names}


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
