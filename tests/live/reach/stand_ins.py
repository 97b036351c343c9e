"""Puts stand-ins for cloudflared and tailscale on a PATH of their own, and says how they behave."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


class StandIn:
    """One program that is not what it says it is."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        program = folder / name
        program.write_text(f"#!{sys.executable}\n" + (HERE / f"{name}_stand_in.py").read_text("utf-8"))
        program.chmod(0o755)

    def behave(self, how: str) -> None:
        """From now on."""
        (self.folder / "behaviour").write_text(how)

    @property
    def path(self) -> str:
        """A PATH with it in front."""
        return f"{self.folder}:{os.environ['PATH']}"


class Cloudflared(StandIn):
    """The tunnel."""

    def __init__(self, folder: Path) -> None:
        super().__init__("cloudflared", folder)

    @property
    def starts(self) -> list[tuple[int, str]]:
        """Every start: the process, and the words it was started with."""
        try:
            lines = (self.folder / "started").read_text().splitlines()
        except OSError:
            return []
        return [(int(pid), words) for pid, _, words in (line.partition(" ") for line in lines)]

    @property
    def alive(self) -> list[int]:
        """Those of them that run."""
        return [pid for pid, _ in self.starts if _runs(pid)]

    def end(self) -> None:
        """Ends what a failed test left."""
        for pid in self.alive:
            os.kill(pid, signal.SIGKILL)


class TailscaleCommand(StandIn):
    """The tailnet."""

    def __init__(self, folder: Path) -> None:
        super().__init__("tailscale", folder)

    @property
    def settings(self) -> dict[str, Any]:
        """What is served."""
        file = self.folder / "serve.json"
        return dict(json.loads(file.read_text())) if file.exists() else {}

    def serve_something_else(self, port: int) -> None:
        """As somebody who has other things on the tailnet."""
        web = {f"desk.tail1234.ts.net:{port}": {"Handlers": {"/": {"Proxy": "http://127.0.0.1:3000"}}}}
        (self.folder / "serve.json").write_text(json.dumps({"TCP": {str(port): {"HTTPS": True}}, "Web": web}))

    @property
    def calls(self) -> list[str]:
        """Every call."""
        file = self.folder / "called"
        return file.read_text().splitlines() if file.exists() else []


def _runs(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False
