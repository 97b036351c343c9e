"""The command that runs an agent in a sandbox of bubblewrap: this system's own programs, read-only. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from farhand.model.container import SandboxPlan, outermost_first
from farhand.model.errors import SettingWrong
from farhand.model.sandbox import Mount, SandboxLimits
from farhand.sandbox.plan import hidden_folders, same

# What programs of this system need; what is not there is left out.
SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/run/systemd/resolve")
# bubblewrap itself is the first process inside, and takes care of orphans.
AGENT_PID: Final = 2


def check_limits(limits: SandboxLimits) -> None:
    """Raises for what only an engine can do: a limit that does not hold is none."""
    if limits.memory or limits.pids or limits.cpus or limits.network not in ("", "host", "none"):
        raise SettingWrong(
            "bubblewrap limits neither memory, processes nor processors, and has no networks but host and none: "
            "install Docker or podman, or unset FARHAND_SANDBOX_MEMORY, _PIDS, _CPUS and _NETWORK.",
            name="FARHAND_SANDBOX_ENGINE",
        )


def hidden_in_bwrap(secret: Iterable[str], mounts: Iterable[Mount]) -> list[str]:
    """Where the secret folders would show through the mounts, or through this system's own folders."""
    return hidden_folders(secret, [*(same(folder) for folder in SYSTEM), *mounts])


def bwrap_argv(program: str, plan: SandboxPlan, launcher: Sequence[str] = ()) -> list[str]:
    """The command line. Everything but the mounts is read-only or its own; the launcher becomes the agent inside."""
    check_limits(plan.limits)
    words = [program, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--unshare-net"] if plan.limits.network == "none" else []
    words += ["--cap-drop", "ALL"]
    words += [word for folder in SYSTEM for word in ("--ro-bind-try", folder, folder)]
    words += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run/user"]  # noqa: S108
    # To root its files are writable without any capability, and one of them names a program that the kernel runs.
    words += ["--ro-bind-try", "/proc/sys", "/proc/sys"]
    for depth, kind, source, target in sorted(_steps(plan)):
        del depth
        words += [kind, source, target] if source else [kind, target]
    return [*words, "--chdir", plan.directory, "--", *launcher, *plan.argv]


def _steps(plan: SandboxPlan) -> list[tuple[int, str, str, str]]:
    """Each with its depth: what is nearer to the root comes first, as an engine does it."""
    steps = [
        (one.target.rstrip("/").count("/"), "--ro-bind" if one.read_only else "--bind", one.source, one.target)
        for one in outermost_first(plan.mounts)
    ]
    return steps + [(folder.count("/"), "--tmpfs", "", folder) for folder in plan.hidden]
