"""No search for garbage while a worker reads all test files, and none among what it read: it stays to the end."""

import gc

import pytest


def pytest_configure() -> None:
    """The search would look through all that is there again and again."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """From here on only what the tests make is looked through."""
    gc.freeze()
    gc.enable()
