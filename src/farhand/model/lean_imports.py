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


def remember_absent(*modules: str) -> None:
    """Those of them that are not installed are not looked for again: Python would search the whole path every time."""
    sys.modules.update({name: None for name in modules if find_spec(name) is None})  # type: ignore[misc]
