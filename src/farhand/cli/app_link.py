"""The links that open the phone app and pair the browser that opens them: on this machine, and on a phone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from farhand.config.launch import read_launch
from farhand.node import Node
from farhand.server.web_app import NOT_BUILT, WebApp

# For a link that is printed when a node starts: whoever reads it is about to open it.
LINK_SECONDS = 900.0
NO_WAY_IN = "A phone cannot reach this node yet: farhand run --reach, see docs/how-to/reach.md."


def app_link(address: str, code: str) -> str:
    """The code stands behind the #: no server, no proxy and no log ever gets it from a browser."""
    return f"{address.rstrip('/')}/app/#pair={code}"


def greeting(running: Node) -> tuple[str, ...]:
    """What a terminal shows when its node is ready: the app for this machine's browser, and a QR code for a phone."""
    if running.devices is None:
        return ()
    if not WebApp().files():
        return (NOT_BUILT.strip(),)
    code = running.devices.invite(seconds=LINK_SECONDS).code
    local = f"http://127.0.0.1:{running.port}"
    here = f"Open the app in your browser: {app_link(local, code)}"
    address = running.settings.public_url
    if not address:
        return (here,)
    return (here, *_for_phone(address, running.devices.invite(seconds=LINK_SECONDS).code))


def links(status: Mapping[str, Any], code: str) -> tuple[str, ...]:
    """Both links for a code, by what a node says of itself; without a way in, how to get one."""
    local = f"http://127.0.0.1:{status['port']}"
    here = f"In the browser of this machine: {app_link(local, code)}"
    address = outside(status)
    return (here, *(_for_phone(address, code) if address else (NO_WAY_IN,)))


def outside(status: Mapping[str, Any]) -> str:
    """Where the node is found from outside; empty when it is not, as far as anybody can tell."""
    reach = status.get("reach")
    return str(reach["url"]) if reach else read_launch(Path(status["folder"]), status["node"]).public_url


def _for_phone(address: str, code: str) -> tuple[str, ...]:
    from farhand.channels.kit.who_may_speak import as_qr

    link = app_link(address, code)
    return (f"On a phone: {link}", as_qr(link))
