"""Routes that need no key, for callers on this machine alone."""

from collections.abc import Awaitable, Callable, Iterable

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.model.http_guard import why_refused

log = structlog.get_logger("http")
Endpoint = Callable[[Request], Awaitable[Response]]


def closed(routes: Iterable[BaseRoute], key: str) -> list[BaseRoute]:
    """The routes, for callers on this machine alone; everybody else gets 403 and a line in the log."""
    return [_closed(route, key) for route in routes if isinstance(route, Route)]


def _closed(route: Route, key: str) -> Route:
    endpoint: Endpoint = route.endpoint

    async def guarded(request: Request) -> Response:
        client = request.client.host if request.client else None
        why = why_refused(request.headers, client, key)
        if why:
            log.warning("refused", path=route.path, why=why, client=client or "socket")
            return Response("Forbidden", 403)
        return await endpoint(request)

    return Route(route.path, guarded, methods=list(route.methods or ()))
