"""The app in WebKit, which every browser on an iPhone is made of: it pairs, streams, asks and remembers."""

from pathlib import Path

import pytest
from tests.live.app.phone import AppNode
from tests.live.app.webkit import DISPLAY, DRIVER, mini_browser, webkit

pytestmark = pytest.mark.skipif(
    not (DRIVER and DISPLAY and mini_browser()),
    reason="Debian's webkit2gtk-driver, xvfb and xauth are not installed",
)
SKIP = ".sheet-foot .button:not(.primary)"
HAS_TEXT = "return document.body.innerText.includes(arguments[0])"


def test_pair_say_stream_and_approve(node: AppNode, short_folder: Path) -> None:
    with webkit(short_folder) as browser:
        browser.goto(node.address(node.code()))
        browser.click(SKIP)
        # A click in the moment in which the sheet begins to slide in is at the place where the button stood before.
        browser.wait("document.querySelector(arguments[0])?.click(); return !document.querySelector('.sheet')", SKIP)
        browser.click('a[href="#/w/demo"]')
        browser.type(".composer-field", "stream")
        browser.click("button.send")
        browser.wait(HAS_TEXT, "as I would write code for you.")
        browser.type(".composer-field", "ask")
        browser.click("button.send")
        browser.wait("return document.querySelector('.ask-card .button.primary') !== null")
        # A tap on what has just come does not count.
        browser.wait("document.querySelector('.ask-card .button.primary')?.click();" + HAS_TEXT, "The note is written")
        # What the phone keeps is there after a reload, and so is what was typed the moment before.
        browser.type(".composer-field", "half a thought")
        browser.evaluate("location.reload()")
        browser.wait("return document.querySelector('.composer-field')?.value === arguments[0]", "half a thought")
        browser.wait(HAS_TEXT, "as I would write code for you.")
        assert node.said() == ["stream", "ask"]
