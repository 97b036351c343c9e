"""The garbage collector while somebody reads: what a start has loaded is not looked through again and again."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def short_collections(ready: Callable[[bool], None]) -> Generator[Callable[[bool], None]]:
    """From the moment that the app is ready, collects among what was made since: all the rest is no garbage,

    and to look through it is a pause that a person feels. Until then it collects nothing, for a start makes no garbage.
    Yields what the app is to tell when it is ready."""

    def told(is_ready: bool) -> None:
        if is_ready:
            gc.freeze()
            gc.enable()
        ready(is_ready)

    gc.disable()
    try:
        yield told
    finally:
        gc.unfreeze()
        gc.enable()
