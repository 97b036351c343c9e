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
    # Not `ctypes`, which takes four times as long to load; a first message needs neither.
    import _ctypes

    first, second = os.fsencode(fresh), os.fsencode(target)
    try:
        library = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]
        if sys.platform == "darwin":
            return bool(_ctypes.call_function(_ctypes.dlsym(library, "renamex_np"), (first, second, _EXCHANGE)) == 0)
        given = (_HERE, first, _HERE, second, _EXCHANGE)
        return bool(_ctypes.call_function(_ctypes.dlsym(library, "renameat2"), given) == 0)
    except (AttributeError, OSError):
        return False
