"""The phone app in a real Chromium, as a person holds it, and the node that it belongs to."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from playwright.sync_api import TimeoutError as NotInTime
from tests.live.app.net import until
from tests.live.loaded_farhand import loaded_farhand
from tests.live.nodes import SAFETY_SECONDS, Home

from farhand.testing.ports import lasting_port

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
# The same engine without a desktop browser's windows, profiles and services, which nobody sees here: a page costs it
# three fifths. Push needs the whole browser.
SHELL = Path("/usr/lib/chromium/chromium-headless-shell")
HEADLESS = str(SHELL) if SHELL.is_file() else CHROMIUM
# The microphone beeps, and nobody is asked for leave to hear it.
MICROPHONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", *MICROPHONE]
PHONE = {"width": 390, "height": 844}
SMALL = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 800}
NODE = "app"


class AppNode:
    """A node with a demo worker on a port that stays the same over kills."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.port = lasting_port()
        # Where phones find it: its own port, or that of a cable to it.
        self.reached_at = self.port
        self.process = self.start()

    def start(self) -> "subprocess.Popen[bytes]":
        """Starts the node, again after a kill."""
        self.process = self.home.start(NODE, "--demo", "-p", str(self.port))
        return self.process

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait()

    def farhand(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """A command at the desk, to its end."""
        return loaded_farhand().run(*words, "--node", NODE, folder=self.home.folder, environment=self.home.environment)

    def done(self, *words: str) -> str:
        """A command that is done as it is told; what it says."""
        told = self.farhand(*words)
        assert told.returncode == 0, told.stderr
        return told.stdout

    def facts(self) -> list[dict[str, Any]]:
        """What the node has written down, in order."""
        return [json.loads(line)["fact"] for line in self.done("events").splitlines() if line.startswith("{")]

    def code(self) -> str:
        """A code that pairs one device."""
        return self.done("pair").splitlines()[0].removeprefix("Code: ")

    def address(self, code: str = "") -> str:
        """Where the app is; with a code, a link that pairs."""
        return f"http://127.0.0.1:{self.reached_at}/app/" + (f"#pair={code}" if code else "")

    def said(self) -> list[str]:
        """Every message that reached the node, in order."""
        return [fact["text"] for fact in self.facts() if fact["type"] == "queued"]


@contextmanager
def running(home: Home) -> Iterator[AppNode]:
    """A node in that home, ended with all its agents."""
    try:
        yield AppNode(home)
    finally:
        # In a thread of its own: the browser's driver has an event loop in this one.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(home.end_agents).result()


class Phone:
    """One browser with the app: what is read off its screen, and what is tapped and typed."""

    def __init__(self, browser: Browser, node: AppNode, size: dict[str, int] = PHONE, language: str = "en") -> None:
        # Whether fingers tap it.
        self.is_touch = touch = size["width"] < 700
        self.node = node
        self.context: BrowserContext = browser.new_context(
            viewport={"width": size["width"], "height": size["height"]},
            has_touch=touch,
            is_mobile=touch,
            locale=language,
        )
        self.context.set_default_timeout(SAFETY_SECONDS * 1000)
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda line: self._console(line.type, line.text))

    def _console(self, kind: str, text: str) -> None:
        # The network is cut on purpose here and there; a policy that is broken never is.
        if kind == "error" and ("Content Security Policy" in text or "Refused to" in text):
            self.problems.append(text)

    def pair(self) -> None:
        """Opens the link that pairs, and leaves the tour."""
        self.page.goto(self.node.address(self.node.code()))
        self.tap(self.button("Skip"))
        self.is_live()

    def tap(self, what: Locator) -> None:
        """With a finger, or with a mouse."""
        what.tap() if self.is_touch else what.click()

    def button(self, name: str) -> Locator:
        """A button by what it says."""
        return self.page.get_by_role("button", name=name, exact=True)

    def is_live(self) -> None:
        """Waits until what is shown is what is."""
        expect(self.page.locator(".team-link", has_text="live")).to_be_visible()

    def open_worker(self, name: str) -> None:
        """Opens a conversation from the team."""
        self.tap(self.page.locator(f'a[href="#/w/{name}"]'))
        expect(self.composer(name)).to_be_visible()

    def composer(self, name: str) -> Locator:
        """Where one writes to that worker."""
        return self.page.get_by_role("textbox", name=f"Message {name}…")

    def say(self, name: str, text: str) -> None:
        """Writes and sends."""
        self.composer(name).fill(text)
        self.tap(self.button("Send"))

    def receipt(self, text: str) -> Locator:
        """What is told of the message that says this."""
        message = self.page.get_by_role("article", name="Message of you").filter(has_text=text)
        return message.locator(".receipt").first

    def answer(self, name: str) -> Locator:
        """The worker's newest answer."""
        return self.page.get_by_role("article", name=f"{name}’s answer").last

    def answer_ask(self, choice: str) -> None:
        """Taps until it counts: a tap on what has just come is taken for one that was meant for something else."""
        self.tap_until_gone(self.button(choice).last)

    @property
    def sheet(self) -> Locator:
        """The sheet that is open."""
        return self.page.get_by_role("dialog")

    def tap_until_gone(self, what: Locator) -> None:
        """Taps until it counts, and what was tapped is gone."""
        self.tap_until(what, what)

    def tap_until(self, what: Locator, gone: Locator) -> None:
        """Taps until what is to go is gone."""
        expect(what).to_be_visible()

        def tapped() -> bool:
            # It may be gone before the finger is down.
            with suppress(NotInTime):
                what.tap(timeout=2000) if self.is_touch else what.click(timeout=2000)
            return not gone.is_visible()

        until(f"{gone} is still there", lambda: not gone.is_visible() or tapped())

    def is_paired_with(self, devices: int) -> None:
        """Waits until the screen of devices shows that many."""
        expect(self.page.locator("li.worker", has=self.page.locator(".chip, .button"))).to_have_count(devices)
