"""Takes pictures of notifications as a system draws them: Chromium under Xvfb, the app's worker, light and dark.

The messages are those that the node would send; Chromium hands them to the worker, and draws what that shows itself or
gives it to the desktop's notification daemon (`--daemon`, a program that owns org.freedesktop.Notifications).
"""

from __future__ import annotations

import argparse
import functools
import http.server
import os
import shutil
import struct
import subprocess
import tempfile
import threading
import time
import zlib
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, sync_playwright

from farhand.channels.push.notification import open_payload
from farhand.model.action import Action, ActionKind, files, headline, run
from farhand.model.ask_text import as_shown
from farhand.model.attention import AttentionKind, LockScreen
from farhand.model.attention_rules import Buzz, Matter
from farhand.model.facts import AskRaised
from farhand.model.phrases import choice, phrase
from farhand.model.present import Ask, raised_ask
from farhand.model.push import PushKeys, PushSubscription

ROOT = Path(__file__).resolve().parent.parent
APP_FILES = ROOT / "src" / "farhand" / "server" / "app_files"
WIDTH, HEIGHT = 520, 260
FOLDER = "~/shop"
CHOICES = (
    choice("allow", phrase("label_allow_once")),
    choice("deny", phrase("label_deny"), allows=False, words=True),
)


def _ask(action: Action) -> Ask:
    asked = AskRaised(
        ask="a1", question=headline(action), detail=action.target, action=action, choices=CHOICES, digest="d1"
    )
    return raised_ask(as_shown(asked, FOLDER), "ann", "t1", 1, None)


def messages(origin: str, language: str) -> dict[str, bytes]:
    """What the node sends for questions, a finished turn, and several matters at once.

    A question that has room has both buttons; one whose risks are cut off is not allowed from there."""
    to = PushSubscription(
        device="d1",
        endpoint="https://push.invalid/1",
        keys=PushKeys(p256dh="", auth=""),
        origin=origin,
        language=language,
    )
    at = time.time()
    asks = Matter(key="ask:a1", kind=AttentionKind.ASK, at=at, worker="ann", text="Write notes.md")
    done = Matter(
        key="turn:t2", kind=AttentionKind.FINISHED, at=at, worker="cora", text="All 212 tests pass. The fix is pushed."
    )
    failed = Matter(key="turn:t3", kind=AttentionKind.FAILED, at=at, worker="gus", text="The model refused to go on.")
    every: dict[str, tuple[tuple[Matter, ...], Ask | None]] = {
        "question": ((asks,), _ask(files(ActionKind.WRITE, "notes.md"))),
        "question-cut": ((asks,), _ask(run("git push origin main"))),
        "finished": ((done,), None),
        "digest": ((asks, done, failed), None),
    }
    return {
        name: open_payload(
            Buzz(place="web-d1", matters=matters), to, ask, badge=1, shows=LockScreen.ALL, sign=lambda *_: "signed"
        )
        for name, (matters, ask) in every.items()
    }


class _Served(http.server.SimpleHTTPRequestHandler):
    """The built app under /app/."""

    def translate_path(self, path: str) -> str:
        inner = path.partition("?")[0].removeprefix("/app/")
        return str(APP_FILES / (inner or "index.html"))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as its base names it
        del format, args


@contextmanager
def served() -> Generator[str]:
    """Where the app is, on loopback."""
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Served, directory=str(APP_FILES))
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def ended(process: subprocess.Popen[bytes]) -> Generator[None]:
    """Ends the process afterwards."""
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def display(folder: Path) -> Generator[str]:
    """An X display that keeps its picture in a file."""
    reading, writing = os.pipe()
    screen = f"{WIDTH}x{HEIGHT}x24"
    command = [
        "Xvfb",
        "-displayfd",
        str(writing),
        "-screen",
        "0",
        screen,
        "-fbdir",
        str(folder),
        "-nolisten",
        "tcp",
        "-nocursor",
    ]
    process = subprocess.Popen(command, pass_fds=(writing,), stderr=subprocess.DEVNULL)
    os.close(writing)
    with ended(process), os.fdopen(reading) as told:
        yield f":{told.readline().strip()}"


@contextmanager
def desktop(daemon: str, environment: Mapping[str, str]) -> Generator[dict[str, str]]:
    """A session bus with the notification daemon on it; without a daemon no bus, so that Chromium draws by itself."""
    if not daemon:
        yield {"DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        return
    command = ["dbus-daemon", "--session", "--nofork", "--print-address=1"]
    bus = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**environment})
    with ended(bus):
        assert bus.stdout is not None
        address = {"DBUS_SESSION_BUS_ADDRESS": bus.stdout.readline().decode().strip()}
        with ended(subprocess.Popen([daemon], env={**environment, **address}, stderr=subprocess.DEVNULL)):
            yield address


def deliver(context: BrowserContext, origin: str, message: bytes) -> None:
    """Has the browser hand the message to the app's service worker, as if it had come by push."""
    page = context.pages[0]
    found: list[dict[str, Any]] = []
    session = context.new_cdp_session(page)
    session.on("ServiceWorker.workerRegistrationUpdated", lambda told: found.extend(told["registrations"]))
    session.send("ServiceWorker.enable")
    while not found:
        page.wait_for_timeout(20)
    registration = found[-1]["registrationId"]
    text = message.decode()
    session.send("ServiceWorker.deliverPushMessage", {"origin": origin, "registrationId": registration, "data": text})
    page.wait_for_function("async () => (await (await navigator.serviceWorker.ready).getNotifications()).length > 0")


def png(dump: bytes) -> bytes:
    """The picture of an X window dump (24 bits in 32, as Xvfb keeps it)."""
    header = struct.unpack(">25I", dump[:100])
    size, width, height, line, colours = header[0], header[4], header[5], header[12], header[19]
    start = size + colours * 12
    rows = []
    for row in range(height):
        data = dump[start + row * line : start + row * line + width * 4]
        plain = bytearray(width * 3)
        plain[0::3], plain[1::3], plain[2::3] = data[2::4], data[1::4], data[0::4]
        rows.append(b"\0" + bytes(plain))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"".join(rows))),
        (b"IEND", b""),
    )
    packed = (
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def steady_picture(screen: Path, context: BrowserContext, blank: bytes) -> bytes:
    """The screen once something is shown on it and no longer moves."""
    before = b""
    while (now := screen.read_bytes()) == blank or now != before:
        before = now
        context.pages[0].wait_for_timeout(400)
    return now


def draw(into: Path, daemon: str, language: str) -> None:
    """All pictures of one drawer."""
    by = Path(daemon).name or "chromium"
    with served() as origin, sync_playwright() as playwright:
        for theme in ("light", "dark"):
            for name, message in messages(origin, language).items():
                with ExitStack() as stack:
                    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-")))
                    dark = theme == "dark"
                    environment = {
                        "PATH": os.environ["PATH"],
                        "HOME": str(folder),
                        "GTK_THEME": "Adwaita:dark" if dark else "Adwaita",
                        "DISPLAY": stack.enter_context(display(folder)),
                    }
                    environment |= stack.enter_context(desktop(daemon, environment))
                    arguments = ["--no-sandbox", "--window-size=300,200", "--window-position=2000,0"]
                    context = playwright.chromium.launch_persistent_context(
                        folder / "profile",
                        executable_path=shutil.which("chromium"),
                        headless=False,
                        args=[*arguments, *(["--force-dark-mode"] if dark else [])],
                        env={**environment},
                    )
                    context.grant_permissions(["notifications"], origin=origin)
                    page = context.pages[0]
                    page.goto(f"{origin}/app/")
                    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
                    screen = folder / "Xvfb_screen0"
                    blank = screen.read_bytes()
                    deliver(context, origin, message)
                    picture = into / f"notification-{name}-{language}-{by}-{theme}.png"
                    picture.write_bytes(png(steady_picture(screen, context, blank)))
                    print(picture.relative_to(ROOT) if picture.is_relative_to(ROOT) else picture)
                    context.close()


def main() -> None:
    """Draws them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--daemon", default="", help="the program that draws notifications; Chromium itself without one"
    )
    parser.add_argument("--language", default="en")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "screenshots")
    given = parser.parse_args()
    if shutil.which("Xvfb") is None:
        raise SystemExit("There is no Xvfb: install the package xvfb, which draws a display without a screen.")
    given.into.mkdir(parents=True, exist_ok=True)
    draw(given.into, given.daemon, given.language)


if __name__ == "__main__":
    main()
