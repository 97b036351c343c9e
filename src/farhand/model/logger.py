"""The logger of every module: structlog, loaded without rich and greenlet, which no start of ours ever uses."""

from __future__ import annotations

from typing import Any

from farhand.model.lean_imports import without

# That is a fifth of the start of a node, whose tracebacks are text before any renderer sees them.
with without("rich", "greenlet"):
    import structlog

__all__ = ["get_logger", "structlog"]


def get_logger(name: str) -> Any:
    """The logger of that name."""
    return structlog.get_logger(name)
