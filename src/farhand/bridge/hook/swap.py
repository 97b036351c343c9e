"""Puts a new file in the place of another and brings the old one back, in one step, so that no foreign write is lost.

A copy of this module runs inside an agent CLI's hooks: it imports the standard library alone.
"""

from __future__ import annotations

import os
import sys

_HERE = -100
_EXCHANGE = 2


def exchange(fresh: str, target: str) -> bool:
    """Swaps two files of one folder atomically; False where the system or the file system cannot."""
    # It takes as long to load as all the rest; a first message needs no exchange.
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(fresh), os.fsencode(target)
    try:
        if sys.platform == "darwin":
            return bool(library.renamex_np(first, second, _EXCHANGE) == 0)
        return bool(library.renameat2(_HERE, first, _HERE, second, _EXCHANGE) == 0)
    except AttributeError:
        return False
