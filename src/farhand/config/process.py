"""The node's process: its memory and environment are kept from others of the same user, and its pauses short."""

import ctypes
import gc
import sys

PR_SET_DUMPABLE = 4


def make_undumpable() -> bool:
    """No core dump, and no reading of the process's memory or environment by others than root; whether that worked."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)


def keep_pauses_short() -> None:
    """Takes what the start has made out of the collector's rounds: a full one over all of it stops the node for tens of
    milliseconds, and connections that come and go bring about one after the other."""
    gc.freeze()
