"""Which agents a node can run: every driver package is found by its manifest and builds its drivers itself."""

import tomllib
from collections.abc import Iterable, Mapping
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import structlog

from farhand.config.settings import Settings
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.oneshot.runner import FOLDER, OneshotRunner
from farhand.drivers.wires.tmux.host import TmuxHost, TmuxHostOptions
from farhand.model.errors import UnknownBackend
from farhand.model.ports import Driver

log = structlog.get_logger("roster")


def drivers(settings: Settings) -> dict[str, Driver]:
    """Everything that can run an agent here."""
    return keyed(built(given(settings)))


def given(settings: Settings) -> DriverContext:
    """What drivers are built from."""
    import sys

    from farhand.sandbox.environment import child_environment
    from farhand.sandbox.holders import LocalHolders

    def child(added: Mapping[str, str]) -> dict[str, str]:
        return child_environment(settings.environment, added)

    return DriverContext(
        folder=settings.folder,
        holders=LocalHolders(settings.holders),
        tmux_host=tmux_host(settings, child({})),
        python=sys.executable,
        variables=settings.environment,
        child=child,
        ask_seconds=settings.ask_deadline_seconds,
    )


def tmux_host(settings: Settings, environment: Mapping[str, str]) -> TmuxHost:
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
        session_variables={
            "BRIDGE_URL": settings.bridge_url(settings.port),
            "PORT": str(settings.port),
            "SESSIONS_DIR": str(settings.sessions),
            "TMUX_PREFIX": settings.tmux_prefix,
        },
        ask_seconds=settings.ask_deadline_seconds,
    )
    server = ("tmux", "-S", settings.tmux_socket) if settings.tmux_socket else ("tmux",)
    return TmuxHost(options, Tmux(server, f"farhand-{settings.node}", environment))


def packages() -> list[str]:
    """The driver packages: those with a manifest and a driver."""
    found = (entry for entry in resources.files("farhand.drivers").iterdir() if entry.is_dir())
    parts = ("manifest.toml", "driver.py")
    return sorted(entry.name for entry in found if all(entry.joinpath(part).is_file() for part in parts))


def asking_events() -> dict[str, frozenset[str]]:
    """At which events the hooks of a backend wait for a person, as its manifest says."""
    found: dict[str, frozenset[str]] = {}
    for name in packages():
        text = resources.files("farhand.drivers").joinpath(name, "manifest.toml").read_text("utf-8")
        manifest = tomllib.loads(text)
        hooks = manifest.get("hooks", {})
        modes = hooks.items() if isinstance(hooks, dict) else ()
        found[manifest.get("backend", name)] = frozenset(event for event, mode in modes if mode == "ask")
    return found


def hooks_of(backend: str) -> ModuleType:
    """What puts hooks into the settings of that backend's CLI; raises UnknownBackend with those that have any."""
    known = {name: f"farhand.drivers.{name}.hook_settings" for name in packages()}
    able = {name: module for name, module in known.items() if find_spec(module) is not None}
    if backend not in able:
        raise UnknownBackend(backend, known=sorted(able))
    return import_module(able[backend])


def calls_of(backend: str, folder: Path, environment: Mapping[str, str]) -> tuple[str, OneshotRunner]:
    """The source and the calls of that backend's CLI for the worker of this folder; raises UnknownBackend."""
    from farhand.sandbox.holders import LocalHolders

    found = (entry for entry in resources.files("farhand.drivers").iterdir() if entry.is_dir())
    able = sorted(entry.name for entry in found if entry.joinpath("oneshot.py").is_file())
    if backend not in able:
        raise UnknownBackend(backend, known=able)
    adapter = import_module(f"farhand.drivers.{backend}.oneshot").ADAPTER
    return adapter.source, OneshotRunner(adapter, folder, LocalHolders(folder / FOLDER), environment)


def built(parts: DriverContext, names: Iterable[str] | None = None) -> list[Driver]:
    """The drivers of these packages, or of all; one that cannot be built costs nobody else."""
    everyone: list[Driver] = []
    for name in packages() if names is None else names:
        try:
            everyone += import_module(f"farhand.drivers.{name}.driver").build(parts)
        except Exception:
            log.exception("no driver", package=name)
    return everyone


def keyed(everyone: Iterable[Driver]) -> dict[str, Driver]:
    """The drivers as a worker's `kind` names them: `<backend>` for the usual one, `<backend>/<wire>` for each."""
    found: dict[str, Driver] = {}
    for driver in everyone:
        found.setdefault(driver.backend, driver)
        found[f"{driver.backend}/{driver.wire}"] = driver
        found.update(dict.fromkeys(getattr(driver, "formerly", ()), driver))
    return found
