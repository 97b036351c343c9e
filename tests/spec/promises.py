"""Marks a test with the promises of spec 2 that it keeps; `scripts/spec_2.py` makes the list of both."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])


def promise(*promises: str) -> Callable[[Test], Test]:
    """The test keeps these promises, named as in `spec_2.txt`."""

    def marked(test: Test) -> Test:
        kept: Test = pytest.mark.promise(*promises)(test)
        return kept

    return marked
