"""Imports of a library without the optional parts that it would load wherever they are installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def without(*modules: str) -> Iterator[None]:
    """What is imported in the block finds these modules not installed; whoever wants them later gets them.

    One that is loaded already costs nothing more, and stays."""
    absent = [name for name in modules if name not in sys.modules]
    # What is None here cannot be imported.
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


def remember_missing(module: str) -> None:
    """A module that is not installed is not looked for again: a library that tries to import it at every call would
    search all of `sys.path` each time."""
    if module not in sys.modules and find_spec(module) is None:
        sys.modules[module] = None  # type: ignore[assignment]
