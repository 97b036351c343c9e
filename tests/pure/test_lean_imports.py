"""What is not installed is looked for once, however often a library asks for it."""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

import pytest

from farhand.model.lean_imports import remember_missing


class CountingFinder(MetaPathFinder):
    """Finds nothing, and notes what was looked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Never found."""
        self.asked.append(fullname)
        return None


def test_a_missing_module_is_looked_for_once() -> None:
    finder = CountingFinder()
    sys.meta_path.insert(0, finder)
    try:
        remember_missing("farhand_has_no_such_module")
        for _ in range(3):
            with pytest.raises(ModuleNotFoundError):
                __import__("farhand_has_no_such_module")
        assert finder.asked == ["farhand_has_no_such_module"]
    finally:
        sys.meta_path.remove(finder)
        del sys.modules["farhand_has_no_such_module"]


def test_a_module_that_is_there_stays() -> None:
    remember_missing("json")
    assert __import__("json").loads("1") == 1
