"""Routes of reviews for devices: how the verdicts on a worker's work stand, and a merge that they let through."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.model.errors import UnknownWorker
from farhand.model.ports import Hub
from farhand.model.present import Worker
from farhand.model.review import MergeRequest
from farhand.model.wire import encode
from farhand.model.words import Sender
from farhand.server.callers import Callers
from farhand.server.http import body
from farhand.server.json_bodies import read_json

# Looks at a worker's folder, and marks the verdicts that no longer hold.
Refresh = Callable[[Worker], Awaitable[None]]
# Brings a branch up to what the worker has committed, for that sender; the commit that it is at now, or a refusal.
MergeInto = Callable[[Worker, str, Sender], Awaitable[str]]


def review_routes(hub: Hub, callers: Callers, refresh: Refresh, merge: MergeInto) -> list[BaseRoute]:
    """`GET /api/workers/{worker}/reviews` and `POST /api/workers/{worker}/merge`."""

    async def reviews(request: Request) -> Response:
        await callers.check(request)
        await refresh(await _worker(hub, request))
        return _json({"reviews": (await _worker(hub, request)).reviews})

    async def merged(request: Request) -> Response:
        await callers.check(request, writes=True)
        asked = read_json(await body(request), MergeRequest, "A merge names the branch as 'into'")
        caller = await callers.check(request, writes=True)
        return _json({"merged": await merge(await _worker(hub, request), asked.into, caller.sender)})

    return [
        Route("/api/workers/{worker}/reviews", reviews, methods=["GET"]),
        Route("/api/workers/{worker}/merge", merged, methods=["POST"]),
    ]


async def _worker(hub: Hub, request: Request) -> Worker:
    name, team = request.path_params["worker"], (await hub.look()).workers
    if name not in team:
        raise UnknownWorker(name, known=team)
    return team[name]


def _json(value: object) -> Response:
    return Response(encode(value), media_type="application/json", headers={"Cache-Control": "no-store"})
