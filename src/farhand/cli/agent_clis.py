"""The agents' CLIs on this machine, as their drivers' manifests describe them: found, version, logged in."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from farhand.cli.global_flags import nearest
from farhand.config import run_as
from farhand.drivers.acp.schema import catalogue, is_here, own_agents
from farhand.drivers.wires.acp.schema import AcpAgent
from farhand.manifests import DRIVERS, channel_secrets, manifest, packages
from farhand.model.errors import SettingWrong
from farhand.model.lazy_pattern import lazy_pattern
from farhand.sandbox.environment import without_secrets

VERSION_SECONDS = 20.0
NOT_LOGGED_IN = ", not logged in"
_VERSION = lazy_pattern(r"\d+\.\d+(?:\.\d+)*")


@dataclass(frozen=True)
class AgentCli:
    """One CLI: where it is, what it says of its version, and whether its files or variables show a log-in."""

    backend: str
    program: str
    install: str = ""
    tested: str = ""
    path: str = ""
    version: str = ""
    # None when its manifest does not say how that can be seen.
    logged_in: bool | None = None
    how_to_log_in: str = ""
    title: str = ""
    about: str = ""
    # What it may do unasked can be chosen; whether it asks at all.
    modes: tuple[str, ...] = ()
    asks: bool = True

    @property
    def line(self) -> str:
        """What a person reads of it."""
        if not self.path:
            return "not installed"
        version = self.version or "version unknown"
        tested = f" (tested with {self.tested})" if self.tested and self.version != self.tested else ""
        login = {True: ", logged in", False: NOT_LOGGED_IN, None: ""}[self.logged_in]
        return f"{version}{tested}{login}"


def agent_clis(environ: Mapping[str, str] | None = None, *, versions: bool = True) -> list[AgentCli]:
    """Every CLI that a driver here can run, found or not."""
    environ = os.environ if environ is None else environ
    abouts = [manifest(DRIVERS, name) for name in packages()]
    return [_look(about, environ, versions=versions) for about in abouts if about.get("tested")]


def catalogue_clis(folder: Path, environ: Mapping[str, str] | None = None, *, versions: bool = True) -> list[AgentCli]:
    """The agents of the ACP catalogue, found or not, and before them those of the node's own files."""
    environ = os.environ if environ is None else environ
    own = [agent for agent in own_agents(folder) if isinstance(agent, AcpAgent)]
    names = {agent.backend for agent in own}
    everyone = [*own, *(agent for agent in catalogue() if agent.backend not in names)]
    return [_look_for(agent, environ, versions=versions) for agent in everyone]


def check_backend(name: str, folder: Path, setting: str) -> None:
    """Raises for an agent that no driver here runs, installed or not, with what was probably meant."""
    # One without a program is hired in a way of its own, or stands for many.
    drivers = {
        str(about["backend"]) for about in (manifest(DRIVERS, one) for one in packages()) if about.get("program")
    }
    own = {agent.backend for agent in own_agents(folder) if isinstance(agent, AcpAgent)}
    known = sorted({*drivers, *own, *(agent.backend for agent in catalogue())})
    # A wire may be named with it.
    if name.partition("/")[0] in known:
        return
    meant = nearest(name, known)
    hints = (*([f"did you mean: {meant}?"] if meant else []), "farhand agents lists what is here")
    raise SettingWrong(f"No backend called '{name}'. Known: {', '.join(known)}.", name=setting, hints=hints)


def _look_for(agent: AcpAgent, environ: Mapping[str, str], *, versions: bool) -> AgentCli:
    path = shutil.which(agent.command[0], path=environ.get("PATH")) or ""
    path = path if is_here(agent, environ.get("PATH")) else ""
    login = {"files": agent.login.files, "variables": agent.login.variables}
    return AgentCli(
        backend=agent.backend,
        program=agent.command[0],
        install=agent.install,
        tested=agent.tested,
        path=path,
        version=_version(path, environ) if path and versions else "",
        logged_in=is_logged_in(login, environ) if path and any(login.values()) else None,
        how_to_log_in=agent.login.how,
        title=agent.title,
        about=agent.about,
        modes=tuple(mode.value for mode in agent.modes),
        asks=agent.asks,
    )


def _look(about: Mapping[str, Any], environ: Mapping[str, str], *, versions: bool) -> AgentCli:
    program = str(about["program"])
    path = shutil.which(program, path=environ.get("PATH")) or ""
    login = about.get("login", {})
    return AgentCli(
        backend=str(about["backend"]),
        program=program,
        install=str(about.get("install", "")),
        tested=str(about["tested"]),
        path=path,
        version=_version(path, environ) if path and versions else "",
        logged_in=is_logged_in(login, environ) if path and login else None,
        how_to_log_in=str(login.get("how", "")),
        title=str(about.get("title", "")),
        modes=tuple(about.get("modes", ())),
    )


def _version(path: str, environ: Mapping[str, str]) -> str:
    """What `--version` says; the CLI gets neither the bot's token nor anything to read.

    Root runs it as whoever could put something else in its place."""
    given, words = without_secrets(environ, channel_secrets()), [path, "--version"]
    try:
        user = _user(path, environ) if os.geteuid() == 0 else None
        if user is not None:
            printed = user.run(words, user.environment(given)).stdout
        else:
            printed = subprocess.run(
                words,
                env=given,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=VERSION_SECONDS,
                check=False,
                text=True,
                errors="replace",
            ).stdout
    except (OSError, subprocess.SubprocessError, SettingWrong, KeyError):
        return ""
    match = _VERSION.search(printed)
    return match[0] if match else ""


def _user(path: str, environ: Mapping[str, str]) -> run_as.AgentUser | None:
    return run_as.agent_user(environ.get(run_as.NAME, "").strip()) or run_as.owner_of(Path(path))


def is_logged_in(login: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Whether one of its variables is set or one of its files is there."""
    at = Path(environ.get("HOME") or Path.home())
    return _any_set(login.get("variables", ()), environ) or any((at / one).exists() for one in login.get("files", ()))


def _any_set(names: Iterable[str], environ: Mapping[str, str]) -> bool:
    return any(environ.get(name, "").strip() for name in names)
