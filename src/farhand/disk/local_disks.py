"""Which folders are on disks of this machine: a look at these never waits for a network."""

import os
from functools import cache
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_LOCAL = frozenset(("devtmpfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"))


def is_local(folder: Path) -> bool:
    """Whether the folder and all above it are, on the way that was named and on the real one; False where in doubt.

    It may wait for a network itself."""
    try:
        ways = (folder.absolute(), folder.resolve(strict=True))
        devices = {one.stat().st_dev for way in ways for one in (way, *way.parents)}
        return all(_kind(device) in _LOCAL for device in devices)
    except (OSError, RuntimeError, ValueError):
        return False


@cache
def _kind(device: int) -> str:
    """What kind of filesystem has that number; empty where nobody tells."""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
        fields, _, rest = line.partition(" - ")
        if fields.split()[2] == wanted:
            return rest.split()[0]
    return ""
