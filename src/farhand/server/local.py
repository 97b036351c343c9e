"""Routes for callers on this machine: the node's own user, and workers with keys of their own."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.model.http_guard import bearer, has_bearer, why_not_direct, why_refused
from farhand.model.logger import get_logger
from farhand.model.worker_keys import SCOPE_NODE_KEY, SCOPE_WORKER
from farhand.server.tcp_peer import is_own_user

log = get_logger("http")
Endpoint = Callable[[Request], Awaitable[Response]]
# Whether the caller at the other end of a TCP connection runs as the node's own user.
OwnUser = Callable[[tuple[str, int], tuple[str, int | None] | None], bool]
# Where the listener leaves room for what is known of a connection.
CONNECTION = "connection"
# There: cuts it off where what was sent is not read.
CUT_UNREAD = "cut unread"
_OWN = "own user"
# The headers with which a keyless request was let in, over this very connection.
_ADMITTED = "admitted"


def nobody(_: str) -> str:
    """No key is a worker's."""
    return ""


@dataclass(frozen=True)
class RouteGuard:
    """Who may call a route of this machine alone."""

    # The node's own key: whoever has it may come from anywhere.
    key: str
    # The worker whose key that is; empty for none.
    worker_of: Callable[[str], str] = nobody
    # Whether the node's own user needs no key over TCP; nobody on the unix socket needs one.
    keyless_tcp: bool = True
    # Whether workers in containers may come over this machine's inner networks, with keys of their own.
    from_containers: bool = False
    own_user: OwnUser = is_own_user

    def why_refused(self, request: Request, *, has_own_key: bool) -> str:
        """Why this caller may not; empty for one who may. A route with keys of its own checks those itself."""
        headers, caller = headers_of(request), request.scope.get("client")
        if given := bearer(headers):
            if has_bearer(headers, self.key):
                request.scope[SCOPE_NODE_KEY] = True
                return ""
            if worker := self.worker_of(given):
                request.scope[SCOPE_WORKER] = worker
                address = caller[0] if caller else None
                return why_not_direct(headers, address, from_containers=self.from_containers)
        why = why_refused(headers, caller[0] if caller else None, self.key)
        if why or not caller or has_own_key:
            return why
        if not self.keyless_tcp:
            return "no key"
        return "" if _is_own(request, caller, self.own_user) else "another user"


def closed(routes: Iterable[BaseRoute], guard: RouteGuard, *, has_own_key: bool = False) -> list[BaseRoute]:
    """The routes, for callers on this machine alone; everybody else gets 403 and a line in the log."""
    return [_closed(route, guard, has_own_key=has_own_key) for route in routes if isinstance(route, Route)]


def _closed(route: Route, guard: RouteGuard, *, has_own_key: bool) -> Route:
    endpoint: Endpoint = route.endpoint

    async def guarded(request: Request) -> Response:
        known, given = _known(request), request.scope["headers"]
        if known.get(_ADMITTED) == (given, has_own_key):
            return await endpoint(request)
        if why := guard.why_refused(request, has_own_key=has_own_key):
            client = request.client.host if request.client else "socket"
            log.warning("refused", path=route.path, why=why, client=client)
            return Response("Forbidden", 403)
        if not any(name == b"authorization" for name, _ in given):
            # Nothing else decides but the connection itself, and it stays the same; a key may end at any time.
            known[_ADMITTED] = (given, has_own_key)
        return await endpoint(request)

    return Route(route.path, guarded, methods=list(route.methods or ()))


def headers_of(request: Request) -> dict[str, str]:
    """The headers by their names, read once; of one that comes twice the first counts, as everywhere."""
    given: list[tuple[bytes, bytes]] = request.scope["headers"]
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(given)}


def _is_own(request: Request, caller: tuple[str, int], own_user: OwnUser) -> bool:
    """Whether the caller is the node's own user. A connection has one user: the kernel is asked once for each."""
    known = _known(request)
    if _OWN not in known:
        known[_OWN] = own_user((caller[0], caller[1]), request.scope.get("server"))
    return bool(known[_OWN])


def _known(request: Request) -> dict[str, object]:
    """What is known of the request's connection."""
    known: dict[str, object] = request.scope.get("state", {}).get(CONNECTION, {})
    return known
