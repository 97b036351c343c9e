"""Keeps the node's memory and environment from other programs of the same user, as far as the system can."""

import ctypes
import sys

PR_SET_DUMPABLE = 4


def make_undumpable() -> bool:
    """No core dump, and no reading of the process's memory or environment by others than root; whether that worked."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
