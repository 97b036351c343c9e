"""The logger of every module: structlog, loaded without rich, which it would load at every start and never use."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

__all__ = ["get_logger", "structlog"]
RICH = "rich"


if RICH in sys.modules or TYPE_CHECKING:
    import structlog
else:
    # That is a fifth of the start of a node, whose tracebacks are text before any renderer sees them.
    # What is None here cannot be imported, as if it were not installed; whoever wants it later gets it.
    sys.modules[RICH] = None
    try:
        import structlog
    finally:
        del sys.modules[RICH]


def get_logger(name: str) -> Any:
    """The logger of that name."""
    return structlog.get_logger(name)
