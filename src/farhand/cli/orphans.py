"""Finds bridges and tunnels that no node of this home knows: left behind by a kill, or started by hand."""

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from farhand.config.places import home
from farhand.disk.processes import ProcessSeen, read_identity, read_processes
from farhand.model import compat

_PORT = re.compile(r"https?://[^/]*:(\d+)")
PID_FILES = (compat.PID_FILE, compat.BRIDGE_PID_FILE, compat.TUNNEL_PID_FILE)


class Orphan(NamedTuple):
    """A process that nobody owns: what it is, its number, and the port that a tunnel leads to."""

    kind: str
    pid: int
    port: str = ""

    @property
    def line(self) -> str:
        """As the status tells it."""
        port = f" (port {self.port})" if self.port else ""
        return f"  {self.kind}: PID {self.pid}{port} - kill {self.pid}"


def find_orphans(folders: Iterable[Path], own_home: Path) -> list[Orphan]:
    """Those that run now, beside the nodes of these folders."""
    owned = {os.getpid(), os.getppid()}
    for folder in folders:
        owned |= {pid for name in PID_FILES if (pid := read_identity(folder / name)) is not None}
    return orphans(read_processes(), owned, own_home)


def orphans(processes: Iterable[ProcessSeen], owned: Collection[int], own_home: Path) -> list[Orphan]:
    """The bridges and tunnels of this home that are not owned. One whose home cannot be read is left alone."""
    found = []
    for process in processes:
        kind = kind_of_process(process.words)
        if not kind or process.pid in owned or process.environ is None or home(process.environ) != own_home:
            continue
        found.append(Orphan(kind, process.pid, _port(process.words) if kind == "tunnel" else ""))
    return sorted(found, key=lambda one: (one.kind != "tunnel", one.pid))


def kind_of_process(words: tuple[str, ...]) -> str:
    """`tunnel`, `bridge`, or nothing of ours. A shell or an editor that only names such a program is neither."""
    program, rest = Path(words[0]).name, words[1:]
    if program == "cloudflared":
        return "tunnel" if "tunnel" in rest else ""
    if program.startswith("python"):
        if rest and Path(rest[0]).name == "cloudflared":
            return "tunnel" if "tunnel" in rest else ""
        script = Path(rest[0]).name if rest else ""
        is_ours = rest[:3] == ("-m", "farhand", "run") or (script == "farhand" and rest[1:2] == ("run",))
        return "bridge" if is_ours or script == "bridge.py" else ""
    return ""


def _port(words: tuple[str, ...]) -> str:
    return next((match[1] for word in words if (match := _PORT.match(word))), "")


def orphan_lines(found: list[Orphan]) -> list[str]:
    """What stands below the status when there are any."""
    if not found:
        return []
    fix = "  Fix: kill orphan processes or restart node"
    return ["⚠ ORPHAN PROCESSES DETECTED", *[one.line for one in found], fix]
