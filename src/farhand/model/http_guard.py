"""Who sent an HTTP request, by its headers alone: forwarding headers, keys, Host and Origin. Pure.

Header names are lower case, as every server of ours hands them in."""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Mapping
from functools import lru_cache

# Whatever passes a request on (a proxy, a tunnel) says so in one of these; no program on this machine does.
from farhand.model.lazy_pattern import lazy_pattern

_FORWARDING = frozenset(
    (
        "forwarded via client-ip x-real-ip x-client-ip x-cluster-client-ip true-client-ip fastly-client-ip "
        "x-rewrite-url x-proxyuser-ip x-envoy-external-address x-appengine-user-ip cdn-loop x-host"
    ).split()
)
_FORWARDING_PREFIXES = (
    "x-forwarded",
    "x-original-",
    "x-vercel-",
    "cf-",
    "ngrok-",
    "x-ngrok",
    "fly-",
    "x-amz-cf",
    "tailscale-",
    "x-tunnel",
    "x-azure-",
)
# What containers call the machine that they run on.
HOST_NAME = "host.docker.internal"
# Nothing before, between or behind: what a parser of addresses would drop or turn round is no name of this machine.
_LOCAL_HOST = lazy_pattern(r"(?:localhost\.?|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE | re.ASCII)


def forwarding_header(headers: Mapping[str, str]) -> str:
    """The header by which a proxy or tunnel shows that it passed the request on; empty when there is none."""
    for name in headers:
        if name in _FORWARDING or name.startswith(_FORWARDING_PREFIXES):
            return name
    return ""


def is_secret(given: str, expected: str) -> bool:
    """Compares in constant time. An empty secret is known to nobody."""
    return bool(expected) and hmac.compare_digest(given.encode(), expected.encode())


def bearer(headers: Mapping[str, str]) -> str:
    """The key of `Authorization: Bearer <key>`; empty when there is none."""
    given = headers.get("authorization", "")
    return given.removeprefix("Bearer ") if given.startswith("Bearer ") else ""


def has_bearer(headers: Mapping[str, str], key: str) -> bool:
    """Whether the request has `Authorization: Bearer <key>`."""
    return is_secret(bearer(headers), key)


@lru_cache(maxsize=256)
def is_loopback(address: str) -> bool:
    """Whether the address is one of this machine's own."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped.is_loopback
    return found.is_loopback


def is_private(address: str) -> bool:
    """Whether the address is one of an inner network, or of this machine."""
    try:
        return ipaddress.ip_address(address).is_private
    except ValueError:
        return False


def is_local_host(host: str) -> bool:
    """Whether the Host header names this machine, with any port: a rebound DNS name does not."""
    return _LOCAL_HOST.fullmatch(host) is not None


def is_own_origin(origin: str, host: str) -> bool:
    """Whether the page came from this very listener; another port is another program."""
    return origin.lower() in {f"http://{host.lower()}", f"https://{host.lower()}"} and is_local_host(host)


def is_same_site(headers: Mapping[str, str]) -> bool:
    """Whether the request comes from a page of this very listener, or from no page at all."""
    host, origin = headers.get("host", "").lower(), headers.get("origin")
    if origin is not None and origin.lower() not in {f"http://{host}", f"https://{host}"}:
        return False
    return headers.get("sec-fetch-site", "none") in {"none", "same-origin"}


def why_not_direct(headers: Mapping[str, str], client: str | None, *, from_containers: bool = False) -> str:
    """Why a caller with a worker's key may not: it must be on this machine, and come through no tunnel or browser.

    `client` is the caller's address, None for one on the unix socket. A container has a private address, and a name of
    its own for this machine."""
    host = headers.get("host", "")
    is_here = client is None or (is_loopback(client) and is_local_host(host))
    if not is_here and not (from_containers and is_private(client or "") and host.partition(":")[0] == HOST_NAME):
        return "another address"
    if name := forwarding_header(headers):
        return f"forwarded ({name})"
    return "from a web page" if "origin" in headers or "sec-fetch-site" in headers else ""


def why_refused(headers: Mapping[str, str], client: str | None, key: str) -> str:
    """Why the caller may not use a route of this machine alone; empty for one on it, and for whoever has the key.

    `client` is the caller's address, None for one on the unix socket."""
    if has_bearer(headers, key):
        return ""
    if name := forwarding_header(headers):
        return f"forwarded ({name})"
    host, origin = headers.get("host", ""), headers.get("origin")
    if client is not None and not is_loopback(client):
        return "another address"
    if client is not None and not is_local_host(host):
        return "foreign Host"
    if origin is not None and not is_own_origin(origin, host):
        return "foreign Origin"
    return "another site" if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"} else ""
