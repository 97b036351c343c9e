"""A WebKit, driven over WebDriver's own HTTP: what Safari is made of, as far as Debian has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
from tests.live.nodes import SAFETY_SECONDS

from farhand.testing.ports import lasting_port

DRIVER = shutil.which("WebKitWebDriver")
# It needs xauth beside itself.
DISPLAY = shutil.which("xvfb-run") if shutil.which("xauth") else None
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_NOT_YET = (
    "element click intercepted", "element not interactable", "no such element", "stale element reference",
)  # fmt: skip

# A sheet that still slides in is elsewhere by the time of the click.
_STANDS_STILL = """
const found = document.querySelector(arguments[0]);
for (let one = found; one; one = one.parentElement)
  if (one.getAnimations().some((moving) => moving.playState === "running")) return false;
return found !== null;
"""
# Where it is, how large the page and the app are, and what lies over it.
_PLACE = """
const place = (one) => JSON.parse(JSON.stringify(one?.getBoundingClientRect() ?? null));
const found = place(document.querySelector(arguments[0]));
const over = found && document.elementFromPoint(found.x + found.width / 2, found.y + found.height / 2);
return JSON.stringify([
  found, place(document.querySelector("#app")), [innerWidth, innerHeight],
  [visualViewport?.width, visualViewport?.height],
  document.documentElement.style.cssText, over && over.outerHTML.slice(0, 200), document.body.innerText.slice(0, 300),
]);
"""


def mini_browser() -> str:
    """WebKitGTK's own small browser; empty where there is none."""
    return next((str(path) for path in Path("/usr/lib").glob("*/webkit2gtk-4*/MiniBrowser")), "")


class WebKit:
    """One window."""

    def __init__(self, client: httpx2.Client, session: str) -> None:
        self._client = client
        self._session = f"/session/{session}"

    def _post(self, path: str, **body: object) -> Any:
        answer = self._client.post(self._session + path, json=body)
        answer.raise_for_status()
        return answer.json()["value"]

    def goto(self, address: str) -> None:
        """Opens that address."""
        self._post("/url", url=address)

    def evaluate(self, script: str, *arguments: object) -> Any:
        """What a script returns."""
        return self._post("/execute/sync", script=script, args=list(arguments))

    def wait(self, script: str, *arguments: object) -> Any:
        """Waits until a script returns something."""
        deadline = time.monotonic() + SAFETY_SECONDS
        while not (found := self.evaluate(script, *arguments)):
            assert time.monotonic() < deadline, f"it never came: {script}"
        return found

    def click(self, css: str) -> None:
        """Clicks what that selector finds, once it is there, stands still and nothing lies over it."""
        self._act(css, "click")

    def type(self, css: str, text: str) -> None:
        """Types into what that selector finds."""
        self._act(css, "value", text=text)

    def _act(self, css: str, what: str, **body: object) -> None:
        deadline = time.monotonic() + SAFETY_SECONDS
        while True:
            self.wait(_STANDS_STILL, css)
            element = self._client.post(f"{self._session}/element", json={"using": "css selector", "value": css})
            found = element.json()["value"]
            if _ELEMENT in found:
                answer = self._client.post(f"{self._session}/element/{found[_ELEMENT]}/{what}", json=body)
                found = answer.json()["value"] or {}
            if "error" not in found:
                return
            # It was drawn anew in between, or something moves over it.
            assert found["error"] in _NOT_YET, found
            assert time.monotonic() < deadline, f"{what} on {css}: {found} {self.evaluate(_PLACE, css)}"


@contextmanager
def webkit(folder: Path) -> Iterator[WebKit]:
    """A window with a profile of its own, on a display that nobody sees."""
    assert DRIVER is not None
    assert DISPLAY is not None
    port = lasting_port()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder),
        "LANG": "C.UTF-8",
        "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "NO_AT_BRIDGE": "1",
    }
    order = [DISPLAY, "-a", DRIVER, f"--port={port}", "--host=127.0.0.1"]
    process = subprocess.Popen(
        order, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=SAFETY_SECONDS, trust_env=False) as client:
            session = _session(client, process)
            yield WebKit(client, session)
            client.delete(f"/session/{session}")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 15)
        process.wait()


def _session(client: httpx2.Client, process: subprocess.Popen[bytes]) -> str:
    options = {"binary": mini_browser(), "args": ["--automation"]}
    wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
    deadline = time.monotonic() + SAFETY_SECONDS
    while True:
        assert process.poll() is None, "the driver of WebKit ended"
        assert time.monotonic() < deadline, "the driver of WebKit cannot be reached"
        with suppress(httpx2.ConnectError):
            answer = client.post("/session", json=wanted)
            answer.raise_for_status()
            return str(answer.json()["value"]["sessionId"])
        time.sleep(0.05)
