"""The cookie of a browser without TLS: browsers bring it to every port of that address, so it is bound to its user.

What such a cookie holds is a device's key under a mask, which is made of the node's key and of who has the other end of
the connection. Another user's server on this machine that is brought the cookie has nothing: its owner gets another
mask, and with it no device's key. What comes through a relay of the right user's is not that user's word.
"""

import base64
import binascii
import hashlib
import hmac
import sys

from starlette.requests import HTTPConnection

from farhand.model.http_guard import is_loopback
from farhand.server.local import CONNECTION
from farhand.server.plain_http import is_direct
from farhand.server.tcp_peer import tcp_peer

# Who calls from elsewhere, over the node's own socket, or where the kernel does not tell of users.
ELSEWHERE, SOCKET, ANYBODY = "elsewhere", "socket", "anybody"
_USER = "cookie user"


class LocalCookies:
    """Masks keys, and takes the mask off for the same user alone."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def value(self, request: HTTPConnection, key: str) -> str:
        """What the cookie holds for whoever sent this request; empty when nobody knows who did."""
        return self._masked(request, key)

    def key(self, request: HTTPConnection, value: str) -> str:
        """The device's key, if whoever sent this request got the cookie."""
        return self._masked(request, value)

    def _masked(self, request: HTTPConnection, text: str) -> str:
        user = _user(request) if is_direct(request) else ""
        try:
            plain = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (binascii.Error, ValueError):
            return ""
        mask = hmac.new(self._secret, f"cookie of {user}".encode(), hashlib.sha256).digest()
        if not user or len(plain) != len(mask):
            return ""
        masked = bytes(one ^ other for one, other in zip(plain, mask, strict=True))
        return base64.urlsafe_b64encode(masked).rstrip(b"=").decode()


def _user(request: HTTPConnection) -> str:
    """Who has the other end; a connection has one user, so that the kernel is asked once for each."""
    known: dict[str, str] = request.scope.get("state", {}).get(CONNECTION, {})
    if _USER not in known:
        known[_USER] = _looked_up(request)
    return known[_USER]


def _looked_up(request: HTTPConnection) -> str:
    client, server = request.scope.get("client"), request.scope.get("server")
    if client is None:
        return SOCKET
    if not is_loopback(client[0]):
        # A browser brings it to every port of the node's machine: it is good from where it was given alone.
        return f"{ELSEWHERE} {client[0]}"
    if sys.platform != "linux":
        return ANYBODY
    peer = tcp_peer((client[0], client[1]), (server[0], server[1])) if server and server[1] else None
    if peer is None:
        return ""
    return f"user {peer.user}"
