"""Which processes above this one still carry a secret in their environment, where programs of the same user read it."""

import os
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")
MOST = 64


def carriers(secrets: Iterable[str], start: int | None = None) -> list[str]:
    """The parents that carry one, each by its name and number, the nearest first; never the secret itself."""
    wanted = [secret.encode() for secret in secrets if secret]
    found: list[str] = []
    process = os.getppid() if start is None else start
    for _ in range(MOST):
        if process <= 0 or not wanted:
            break
        folder = PROC / str(process)
        try:
            block = (folder / "environ").read_bytes()
        except OSError:
            # Not ours to read: then it is not for our agents either.
            block = b""
        if any(secret in block for secret in wanted):
            found.append(f"{_name(folder)} (pid {process})")
        process = _parent(folder)
    return found


def _name(folder: Path) -> str:
    try:
        return (folder / "comm").read_text("utf-8", "replace").strip()
    except OSError:
        return "a process"


def _parent(folder: Path) -> int:
    try:
        return int((folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def warning(found: list[str]) -> str:
    """What to tell the person; empty when nobody carries it."""
    if not found:
        return ""
    return (
        f"A secret of the node is still in the environment of {', '.join(found)}, where every program of this user, "
        "agents included, can read it. Keep it in a file instead, named by the same variable with _FILE at its end."
    )
