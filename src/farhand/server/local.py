"""Routes that need no key, for callers on this machine that run as the node's own user."""

from collections.abc import Awaitable, Callable, Iterable

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.model.http_guard import has_bearer, why_refused
from farhand.server.tcp_peer import is_own_user

log = structlog.get_logger("http")
Endpoint = Callable[[Request], Awaitable[Response]]
# Whether the caller at the other end of a TCP connection runs as the node's own user.
OwnUser = Callable[[tuple[str, int], tuple[str, int | None] | None], bool]


def closed(routes: Iterable[BaseRoute], key: str, own_user: OwnUser = is_own_user) -> list[BaseRoute]:
    """The routes, for callers on this machine alone; everybody else gets 403 and a line in the log."""
    return [_closed(route, key, own_user) for route in routes if isinstance(route, Route)]


def _closed(route: Route, key: str, own_user: OwnUser) -> Route:
    endpoint: Endpoint = route.endpoint

    async def guarded(request: Request) -> Response:
        client = request.client.host if request.client else None
        why = why_refused(request.headers, client, key)
        if not why and request.client is not None and not has_bearer(request.headers, key):
            address = (request.client.host, request.client.port)
            why = "" if own_user(address, request.scope.get("server")) else "another user"
        if why:
            log.warning("refused", path=route.path, why=why, client=client or "socket")
            return Response("Forbidden", 403)
        return await endpoint(request)

    return Route(route.path, guarded, methods=list(route.methods or ()))
