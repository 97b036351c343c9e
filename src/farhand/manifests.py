"""Which packages of drivers and channels there are, and what their manifests say; none of them is loaded for it."""

import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module, resources
from importlib.util import find_spec
from typing import Any

from farhand.drivers.wires.hooks.bridge import BridgeHooks
from farhand.drivers.wires.hooks.person import PersonHooks
from farhand.drivers.wires.manifest import parse_manifest

DRIVERS = "farhand.drivers"
CHANNELS = "farhand.channels"
MANIFEST = "manifest.toml"
DEMO = "demo"


def packages(root: str = DRIVERS, module: str = "driver") -> list[str]:
    """The packages under that root that have a manifest and that module."""
    return list(_packages(root, module))


@cache
def _packages(root: str, module: str) -> tuple[str, ...]:
    found = (entry for entry in resources.files(root).iterdir() if entry.is_dir())
    parts = (MANIFEST, f"{module}.py")
    return tuple(sorted(entry.name for entry in found if all(entry.joinpath(part).is_file() for part in parts)))


# A start asks for each several times, and to find and parse the file is what takes long.
@cache
def manifest(root: str, package: str) -> dict[str, Any]:
    """What that package says of itself, to be read only."""
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


def how_to_sign_in() -> dict[str, str]:
    """What a person does at the desk to sign in to the agents of each backend, as the manifests say."""
    abouts = [manifest(DRIVERS, name) for name in packages()]
    kinds = [(str(about.get("backend", "")), about) for about in abouts]
    catalogues = [about["agents"] for about in abouts if isinstance(about.get("agents"), dict)]
    kinds += [one for catalogue in catalogues for one in catalogue.items()]
    logins = {name: about.get("login", {}) for name, about in kinds}
    return {name: str(login["how"]) for name, login in logins.items() if login.get("how")}


def person_hooks() -> dict[str, PersonHooks]:
    """How our hooks get into a person's own settings, for each backend whose CLI can have them."""
    known = {name: f"farhand.drivers.{name}.hook_settings" for name in packages()}
    return {name: import_module(module).HOOKS for name, module in known.items() if find_spec(module) is not None}


def bridge_hooks() -> dict[str, BridgeHooks]:
    """How the CLI of each backend that can be bridged wants the file bridge's hooks."""
    known = {name: f"farhand.drivers.{name}.bridge_hooks" for name in packages()}
    return {name: import_module(module).HOOKS for name, module in known.items() if find_spec(module) is not None}


def installed_backends(backends: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Those of these backends whose programs are here; the demo when no other is.

    One without a manifest of ours was set up by a person, who knows why."""
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


def channel_tokens(root: str = CHANNELS) -> list[str]:
    """The variables of which a node must have one: each switches a chat on."""
    found = (manifest(root, package).get("token", "") for package in packages(root, "channel"))
    return [name for name in found if name]


def own_variables(about: Mapping[str, Any], variables: Mapping[str, str]) -> dict[str, str]:
    """Those of the variables that a channel's manifest names."""
    names = {*about.get("settings", {}), *about.get("secrets", ())}
    return {name: value for name, value in variables.items() if name in names}
