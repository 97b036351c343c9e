"""The links that open the phone app and pair the browser that opens them: on this machine, and on a phone."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from farhand.config.launch import read_launch
from farhand.disk.atomic import write_private

if TYPE_CHECKING:
    from farhand.node import Node

# For a link that is printed when a node starts: whoever reads it is about to open it.
LINK_SECONDS = 900.0
# Not `auto`: that opens a tunnel only for a chat service that calls the node.
NO_WAY_IN = (
    "The app on a phone cannot reach this node yet. This opens a way in: "
    "farhand restart --node {node} --reach cloudflared "
    "(in a checkout: make run REACH=cloudflared; docs/how-to/reach.md)."
)


def app_link(address: str, code: str) -> str:
    """The code stands behind the #: no server, no proxy and no log ever gets it from a browser."""
    return f"{address.rstrip('/')}/app/#pair={code}"


class Greeting(NamedTuple):
    """What a terminal shows when its node is ready, and the link among it that this machine's browser opens."""

    lines: tuple[str, ...] = ()
    link: str = ""


def greeting(running: "Node") -> Greeting:
    """The app for this machine's browser."""
    from farhand.server.web_app import NOT_BUILT, WebApp

    if running.devices is None:
        return Greeting()
    if not WebApp().files():
        return Greeting((NOT_BUILT.strip(),))
    link = app_link(f"http://127.0.0.1:{running.port}", running.devices.invite(seconds=LINK_SECONDS).code)
    return Greeting((f"Open the app in your browser: {link}",), link)


def greet_phone(running: "Node", tell: Callable[[str], None]) -> None:
    """Shows a QR code for a phone now or as soon as a way in is open, at each new address anew; and how to get a way in
    once it is known that there is none."""
    shown: set[str] = set()

    def show(address: str) -> None:
        if address in shown or running.devices is None:
            return
        shown.add(address)
        code = running.devices.invite(seconds=LINK_SECONDS).code if address else ""
        for line in for_phone(address, code, running.settings.node):
            tell(line)

    known = running.settings.public_url or running.way_in
    if known is not None:
        show(known)
    running.way_listeners.append(show)


def open_in_browser(link: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Opens the link in a window of the desktop, where there is one; never a browser that would take the terminal.

    By way of a file for the owner alone: everybody on the machine sees the arguments of a program, the code among them.
    """
    is_mac = sys.platform == "darwin"
    program = shutil.which("open" if is_mac else "xdg-open", path=environment.get("PATH"))
    if program is None or not (is_mac or environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
        return
    page = folder / "open-app.html"
    write_private(page, f'<!doctype html><meta http-equiv="refresh" content="0; url={link}">\n')
    silent = subprocess.DEVNULL
    subprocess.Popen([program, str(page)], stdin=silent, stdout=silent, stderr=silent, start_new_session=True)


def links(status: Mapping[str, Any], code: str) -> tuple[str, ...]:
    """Both links for a code, by what a node says of itself; without a way in, how to get one."""
    local = f"http://127.0.0.1:{status['port']}"
    here = f"In the browser of this machine: {app_link(local, code)}"
    return (here, *for_phone(outside(status), code, str(status["node"])))


def outside(status: Mapping[str, Any]) -> str:
    """Where the node is found from outside; empty when it is not, as far as anybody can tell."""
    reach = status.get("reach")
    return str(reach["url"]) if reach else read_launch(Path(status["folder"]), status["node"]).public_url


def for_phone(address: str, code: str, node: str) -> tuple[str, ...]:
    """The link for a phone and its QR code; without an address, how to get one."""
    if not address:
        return (NO_WAY_IN.format(node=node),)
    from farhand.channels.kit.who_may_speak import as_qr

    link = app_link(address, code)
    return (f"On a phone: {link}", as_qr(link))
