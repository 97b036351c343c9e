"""The command that runs an agent in a container of Docker or podman. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from farhand.model.http_guard import HOST_NAME
from farhand.model.sandbox import SandboxEngine, SandboxLimits
from farhand.sandbox.plan import SandboxPlan, outermost_first

# Keys that nobody presses: with the usual ones a Ctrl-P would be kept from the agent.
DETACH_KEYS: Final = "ctrl-@,ctrl-^,ctrl-@"
# The program that the container begins with is the first of its processes.
AGENT_PID: Final = 1


@dataclass(frozen=True)
class ContainerEngine:
    """An engine that runs here."""

    kind: SandboxEngine
    program: str
    # Whether it runs as this user alone, who is then root inside unless told otherwise.
    rootless: bool = False
    # This machine, as its containers see it.
    host_address: str = "host-gateway"


def container_argv(engine: ContainerEngine, image: str, plan: SandboxPlan, user: tuple[int, int]) -> list[str]:
    """The engine's command line; values of variables are not in it, for everybody can read command lines."""
    words = [engine.program, "run", "--rm", "--pull=never", "--name", plan.name, "--interactive"]
    words += ["--tty", f"--detach-keys={DETACH_KEYS}"] if plan.terminal else []
    words += [f"--label={name}={value}" for name, value in plan.labels.items()]
    words += ["--workdir", plan.directory, f"--user={user[0]}:{user[1]}"]
    words += ["--userns=keep-id"] if engine.rootless and engine.kind is SandboxEngine.PODMAN else []
    words += ["--cap-drop=all", "--security-opt=no-new-privileges", "--security-opt=label=disable"]
    words += [*_limits(plan.limits), *_network(plan.limits.network, engine.host_address)]
    words += [f"--tmpfs={folder}:rw,mode=0755,size=16m" for folder in plan.hidden]
    words += [_mount(one.source, one.target, read_only=one.read_only) for one in outermost_first(plan.mounts)]
    words += [f"--env={name}" for name in plan.variables]
    return [*words, image, *plan.argv]


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
