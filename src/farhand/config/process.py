"""The node's process: memory and variables kept from others of the same user, the garbage collector's pauses short."""

import ctypes
import gc
import sys

PR_SET_DUMPABLE = 4


def make_undumpable() -> bool:
    """No core dump, and no reading of the process's memory or environment by others than root; whether that worked."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)


def start_without_pauses() -> None:
    """Holds the collector back while the node starts: what a start makes stays, and its rounds find nothing."""
    gc.disable()


def keep_pauses_short() -> None:
    """Lets the collector work again, without what the start has made: a full round over all of it stops the node for
    tens of milliseconds, and connections that come and go bring about one after the other."""
    gc.freeze()
    gc.enable()
