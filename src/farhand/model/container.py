"""What runs in a container of Docker or podman, and the command that runs it there. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from farhand.model.http_guard import HOST_NAME
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.sandbox import Mount, SandboxEngine, SandboxLimits

# Keys that nobody presses: with the usual ones a Ctrl-P would be kept from the agent.
DETACH_KEYS: Final = "ctrl-@,ctrl-^,ctrl-@"
# The program that the container begins with is the first of its processes.
AGENT_PID: Final = 1
# What an engine's own command needs, and no agent.
CLIENT_VARIABLES = frozenset(
    "CONTAINERS_CONF CONTAINERS_STORAGE_CONF CONTAINER_HOST DOCKER_CERT_PATH DOCKER_CONFIG DOCKER_CONTEXT DOCKER_HOST "
    "DOCKER_TLS_VERIFY".split()
)
# What says whether an engine runs, and how.
PROBES: Final = {
    SandboxEngine.DOCKER: ("version", "--format", "{{.Server.Version}}"),
    SandboxEngine.PODMAN: ("info", "--format", "{{.Host.Security.Rootless}}"),
    SandboxEngine.BWRAP: ("--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"),
}
# What a person does who has no right to use an engine.
RIGHTS: Final = {
    SandboxEngine.DOCKER: "put this user into the group docker and sign in anew, or use podman",
    SandboxEngine.PODMAN: "HOME and XDG_RUNTIME_DIR must be folders of the user who runs podman",
}
# A line of an engine's log: its message is for people.
_LOGGED = lazy_pattern(r'time="[^"]*" level=\w+ msg="((?:[^"\\]|\\.)*)"')
_LONGEST = 240


def engine_problem(kind: SandboxEngine, said: str) -> tuple[str, str]:
    """Why an engine does not run, from what its probe said, and what to do about it if that is about rights."""
    last = (said.strip().splitlines() or ["no reason was given"])[-1]
    logged = _LOGGED.match(last)
    why = (re.sub(r"\\(.)", r"\1", logged[1]) if logged else last)[:_LONGEST]
    if "permission denied" not in last.lower():
        return f"{kind} does not run ({why})", ""
    return f"this user may not use {kind} ({why})", RIGHTS.get(kind, "")


@dataclass(frozen=True)
class ContainerEngine:
    """An engine that runs here."""

    kind: SandboxEngine
    program: str
    # Whether it runs as this user alone, who is then root inside unless told otherwise.
    rootless: bool = False
    # This machine, as its containers see it.
    host_address: str = "host-gateway"


@dataclass(frozen=True)
class SandboxPlan:
    """One start of an agent in its sandbox."""

    name: str
    argv: tuple[str, ...]
    directory: str
    mounts: tuple[Mount, ...]
    # Folders that are empty inside.
    hidden: tuple[str, ...] = ()
    # The names of variables that the agent gets from its command's environment.
    variables: tuple[str, ...] = ()
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    terminal: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


def container_argv(engine: ContainerEngine, image: str, plan: SandboxPlan, user: tuple[int, int]) -> list[str]:
    """The engine's command line; values of variables are not in it, for everybody can read command lines."""
    words = [engine.program, "run", "--rm", "--pull=never", "--name", plan.name, "--interactive"]
    words += ["--tty", f"--detach-keys={DETACH_KEYS}"] if plan.terminal else []
    words += [f"--label={name}={value}" for name, value in plan.labels.items()]
    words += ["--workdir", plan.directory, f"--user={user[0]}:{user[1]}"]
    words += ["--userns=keep-id"] if engine.rootless and engine.kind is SandboxEngine.PODMAN else []
    words += ["--cap-drop=all", "--security-opt=no-new-privileges", "--security-opt=label=disable"]
    words += [*_limits(plan.limits), *_network(plan.limits.network, engine.host_address)]
    words += [f"--tmpfs={folder}:rw,mode=0755,size=16m{_uncopied(engine)}" for folder in plan.hidden]
    words += [_mount(one.source, one.target, read_only=one.read_only) for one in outermost_first(plan.mounts)]
    words += [f"--env={name}" for name in plan.variables]
    return [*words, image, *plan.argv]


def _uncopied(engine: ContainerEngine) -> str:
    """Podman would fill the empty folder with a copy of all that it shall hide; Docker does not, nor knows the word."""
    return ",notmpcopyup" if engine.kind is SandboxEngine.PODMAN else ""


def _limits(limits: SandboxLimits) -> list[str]:
    words = [f"--memory={limits.memory}"] if limits.memory else []
    words += [f"--pids-limit={limits.pids}"] if limits.pids else []
    words += [f"--cpus={limits.cpus}"] if limits.cpus else []
    return words + (["--read-only", "--tmpfs=/tmp:rw,mode=1777"] if limits.read_only else [])


def _network(network: str, host_address: str) -> list[str]:
    words = [f"--network={network}"] if network else []
    if network == "none":
        return words
    return [*words, f"--add-host={HOST_NAME}:{'127.0.0.1' if network == 'host' else host_address}"]


def _mount(source: str, target: str, *, read_only: bool) -> str:
    # Written as CSV: a path may have a comma in it.
    fields = ["type=bind", f"source={source}", f"target={target}", *(["readonly"] if read_only else [])]
    quoted = ['"' + one.replace('"', '""') + '"' if "," in one or '"' in one else one for one in fields]
    return "--mount=" + ",".join(quoted)


def outermost_first(mounts: Iterable[Mount]) -> list[Mount]:
    """In the order in which they must be made; of two at the same place the later one counts."""
    last = {mount.target: mount for mount in mounts}
    return sorted(last.values(), key=lambda mount: len(PurePath(mount.target).parts))
