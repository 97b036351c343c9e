"""The links that open the phone app and pair the browser that opens them: on this machine, and on a phone."""

from farhand.config.settings import Settings
from farhand.node import Node
from farhand.server.web_app import NOT_BUILT, WebApp

# For a link that is printed when a node starts: whoever reads it is about to open it.
LINK_SECONDS = 900.0


def app_link(address: str, code: str) -> str:
    """The code stands behind the #: no server, no proxy and no log ever gets it from a browser."""
    return f"{address.rstrip('/')}/app/#pair={code}"


def phone_address(settings: Settings) -> str:
    """Where a phone finds the node; empty when it listens on this machine alone."""
    return settings.public_url


def greeting(running: Node) -> tuple[str, ...]:
    """What a terminal shows when its node is ready: the app for this machine's browser, and a QR code for a phone."""
    if running.devices is None:
        return ()
    if not WebApp().files():
        return (NOT_BUILT.strip(),)
    code = running.devices.invite(seconds=LINK_SECONDS).code
    here = app_link(f"http://127.0.0.1:{running.port}", code)
    return (f"Open the app in your browser: {here}", *_for_phone(running))


def _for_phone(running: Node) -> tuple[str, ...]:
    from farhand.channels.kit.who_may_speak import as_qr

    address = phone_address(running.settings)
    if running.devices is None or not address:
        return ()
    link = app_link(address, running.devices.invite(seconds=LINK_SECONDS).code)
    return (f"and on your phone: {link}", as_qr(link))
