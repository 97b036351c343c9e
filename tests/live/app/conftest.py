"""A Chromium a file, a node a test, and phones that complain when their page does."""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.live.app import net
from tests.live.app.phone import ARGUMENTS, HEADLESS, PHONE, AppNode, Phone, running
from tests.live.nodes import SAFETY_SECONDS, Home

from farhand.server.web_app import NOT_BUILT, WebApp

Opens = Callable[..., Phone]
expect.set_options(timeout=SAFETY_SECONDS * 1000)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """No test here waits for ever, nor does what it needs before and after."""
    with net.ends(item.name):
        return (yield)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a file; each has a profile of its own."""
    assert WebApp().files(), NOT_BUILT
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=HEADLESS, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def node() -> Iterator[AppNode]:
    with (
        TemporaryDirectory(prefix="farhand-", ignore_cleanup_errors=True) as folder,
        running(Home(Path(folder))) as made,
    ):
        yield made


@pytest.fixture
def phone(browser: Browser, node: AppNode) -> Iterator[Opens]:
    """Opens phones; whatever a page complained about fails the test."""
    opened: list[Phone] = []

    def opens(size: dict[str, int] = PHONE) -> Phone:
        opened.append(Phone(browser, node, size))
        return opened[-1]

    yield opens
    for one in opened:
        assert one.problems == []
        one.context.close()
