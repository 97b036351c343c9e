"""Who is on this machine: the routes that need no key answer nobody else."""

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Iterable
from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

log = structlog.get_logger("http")

# Whatever passes a request on says so in one of these; nobody on this machine does.
FORWARDING = frozenset(
    (
        "forwarded via x-real-ip x-client-ip x-cluster-client-ip true-client-ip fastly-client-ip x-original-host "
        "x-original-url x-rewrite-url x-proxyuser-ip x-envoy-external-address x-appengine-user-ip cdn-loop x-host"
    ).split()
)
FORWARDING_PREFIXES = ("x-forwarded", "cf-", "ngrok-", "x-ngrok", "fly-", "x-amz-cf", "tailscale-", "x-tunnel")
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
Endpoint = Callable[[Request], Awaitable[Response]]


def holds_key(headers: Headers, key: str) -> bool:
    """Whether the caller knows the node's key."""
    given = headers.get("authorization", "")
    return given.startswith("Bearer ") and hmac.compare_digest(given.removeprefix("Bearer ").encode(), key.encode())


def stranger(headers: Headers, client: str | None, key: str) -> str:
    """Why the caller is none of ours; empty for one on this machine, and for whoever holds the key. Pure.

    `client` is the caller's address, None for one on the unix socket."""
    if holds_key(headers, key):
        return ""
    for name in headers:
        if name in FORWARDING or name.startswith(FORWARDING_PREFIXES):
            return f"forwarded ({name})"
    if client is not None and not _is_here(client):
        return "another address"
    host = _host_name(headers.get("host", ""))
    if client is not None and host not in LOCAL_NAMES:
        return "foreign Host"
    origin = headers.get("origin")
    if origin is not None and not _is_own(origin, headers.get("host", "")):
        return "foreign Origin"
    return "another site" if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"} else ""


def _is_here(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return bool((getattr(found, "ipv4_mapped", None) or found).is_loopback)


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower().rstrip(".")
    except ValueError:
        return ""


def _is_own(origin: str, host: str) -> bool:
    """A page that this very listener served; another port is another program."""
    return origin.lower() in {f"http://{host.lower()}", f"https://{host.lower()}"} and _host_name(host) in LOCAL_NAMES


def closed(routes: Iterable[BaseRoute], key: str) -> list[BaseRoute]:
    """The routes, for callers on this machine alone; everybody else gets 403 and a line in the log."""
    return [_closed(route, key) for route in routes if isinstance(route, Route)]


def _closed(route: Route, key: str) -> Route:
    endpoint: Endpoint = route.endpoint

    async def guarded(request: Request) -> Response:
        client = request.client.host if request.client else None
        why = stranger(request.headers, client, key)
        if why:
            log.warning("refused", path=route.path, why=why, client=client or "socket")
            return Response("Forbidden", 403)
        return await endpoint(request)

    return Route(route.path, guarded, methods=list(route.methods or ()))
