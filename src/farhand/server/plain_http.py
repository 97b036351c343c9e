"""Whether others can read along between a caller and the node: over plain http they can, but for this machine's own."""

from starlette.requests import HTTPConnection

from farhand.model.errors import NotAllowed
from farhand.model.http_guard import forwarding_header, is_local_host, is_loopback


class PlainHttp(NotAllowed):
    """A key would go over a network where others can read along."""

    code = "plain_http"

    def __init__(self) -> None:
        super().__init__(
            "Over plain http whoever reads along in the network would have this device's key. Open the app over https "
            "(farhand run --reach tailscale, or cloudflared) or on the node's own machine, and ask for a new code: "
            "farhand pair. FARHAND_PLAIN_HTTP=1 allows it all the same."
        )


def is_secure(request: HTTPConnection) -> bool:
    """Whether the caller speaks TLS, to the node or to a proxy that says so."""
    return request.url.scheme in ("https", "wss") or request.headers.get("x-forwarded-proto", "") == "https"


def is_direct(request: HTTPConnection) -> bool:
    """Whether the caller speaks for itself. A tunnel and a proxy on this machine pass on what anybody says: asked for
    each request, since one connection of theirs brings those of many."""
    client, headers = request.scope.get("client"), request.headers
    if client is not None and not is_loopback(client[0]):
        return True
    return not forwarding_header(headers) and (client is None or is_local_host(headers.get("host", "")))


def is_readable_by_others(request: HTTPConnection) -> bool:
    """Whether it came over a network without TLS, as far as anybody here can tell."""
    client = request.scope.get("client")
    is_here = client is None or is_loopback(client[0])
    return not is_secure(request) and not (is_here and is_direct(request))
