"""The logger of every module: structlog, loaded without rich, which it would load at every start and never use."""

from __future__ import annotations

from typing import Any

from farhand.model.lean_imports import without

# That is a fifth of the start of a node, whose tracebacks are text before any renderer sees them.
with without("rich"):
    import structlog

__all__ = ["get_logger", "structlog"]


def get_logger(name: str) -> Any:
    """The logger of that name."""
    return structlog.get_logger(name)
