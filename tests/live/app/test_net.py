"""A test that waits for what never comes ends, says what was missing, and leaves the browser as it was."""

import subprocess
import sys

import pytest
from playwright.sync_api import Browser
from tests.live.app import net

NEVER = "() => new Promise(() => undefined)"


def test_a_script_that_never_ends_is_ended_and_named(browser: Browser) -> None:
    page = browser.new_page()
    ask = "a question that nobody asks"
    with net.ends("this test", 0.5), pytest.raises(AssertionError, match="this test still waits") as failed:
        page.evaluate(NEVER, ask)
    assert "“page.evaluate(NEVER, ask)” (test_net.py:" in str(failed.value)
    assert ask in str(failed.value)
    # The browser goes on, and what was given up does not come back.
    assert page.evaluate("1 + 1") == 2
    page.close()
    assert browser.is_connected()


def test_a_program_that_never_ends_is_ended_and_named() -> None:
    order = [sys.executable, "-c", "import signal; signal.pause()"]
    with net.ends("this test", 0.5), pytest.raises(AssertionError, match=r"“subprocess\.run\(order"):
        subprocess.run(order, check=True)


def test_looks_end_with_what_was_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net, "SAFETY_SECONDS", 0.1)
    with pytest.raises(AssertionError, match="the tick is still set, and 0 s did not change it"):
        net.until("the tick is still set", lambda: False)
