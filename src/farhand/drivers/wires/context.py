"""What a driver is built from: the same for every driver, so that whoever builds a node need not know one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from farhand.drivers.wires.folders.check import FolderCheck, FolderGate
from farhand.drivers.wires.folders.reads import reads_of, reads_of_every_driver
from farhand.drivers.wires.hooks.bridge import BridgeHooks
from farhand.drivers.wires.tmux.host import TmuxHost
from farhand.model.ask_limits import ASK_SECONDS
from farhand.model.bridge import OpensBridges
from farhand.model.holder_ports import Holders
from farhand.model.ports import Can
from farhand.model.sandbox import Sandboxes

# What every agent CLI can do here; a driver adds what is its own.
USUAL = Can(interrupt=True, images=True, files=True, sessions=True, reviews=True)


@dataclass(frozen=True)
class DriverContext:
    """Each driver package has a `driver.py` with `build(context)`, which returns its drivers, the usual one first."""

    # The node's own folder: a worker's things are under `<backend>/<name>-<since>` in it.
    folder: Path
    holders: Holders
    tmux_host: TmuxHost
    # The interpreter for programs of our own.
    python: str
    # The node's own variables, to choose from.
    variables: Mapping[str, str]
    # An agent's environment: what every program needs, and these on top; never a secret of the node.
    child: Callable[[Mapping[str, str]], dict[str, str]]
    ask_seconds: float = ASK_SECONDS
    # Builds sandboxes for those workers that run in one.
    sandboxes: Sandboxes | None = None
    # Where it is remembered which folders are trusted, if not in the node's own folder.
    trust_folder: Path | None = None
    # Opens the two files of a bridged project.
    bridges: OpensBridges | None = None
    # The CLIs that can be bridged.
    bridge_hooks: tuple[BridgeHooks, ...] = ()

    def folder_gate(self, manifest: Mapping[str, object] | None = None) -> FolderGate:
        """What asks before an agent with that manifest is started in a folder that configures it; without a manifest
        nobody knows which CLI it is, and what any of them reads counts."""
        reads = reads_of(manifest) if manifest is not None else reads_of_every_driver()
        home = self.child({}).get("HOME")
        return FolderGate(
            FolderCheck(self.trust_folder or self.folder, self.ask_seconds, Path(home) if home else None), reads
        )
