"""What workers used, day by day, for devices: the agents' own numbers, added up."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.model.errors import BadInput
from farhand.model.history import LONGEST_USAGE_DAYS, DayUsage
from farhand.model.ports import Hub
from farhand.model.wire import encode
from farhand.server.callers import Callers
from farhand.server.http import number

DAYS = 7
# What was used since so many midnights ago.
ReadUsage = Callable[[int], Awaitable[list[DayUsage]]]


def usage_routes(callers: Callers, usage: ReadUsage, hub: Hub) -> list[BaseRoute]:
    """`GET /api/usage?days=7`: finished turns of every worker, also of those who left; and of those who are there how
    much of their usage windows is used, as far as their agents told."""

    async def read(request: Request) -> Response:
        await callers.check(request)
        days = number(request.query_params.get("days"), "days")
        if days is not None and not 1 <= days <= LONGEST_USAGE_DAYS:
            raise BadInput(f"'days' takes 1 to {LONGEST_USAGE_DAYS}.")
        found = await usage(DAYS if days is None else days)
        workers = (await hub.look()).workers.values()
        windows = {one.name: told for one in workers if (told := one.spent.total.windows)}
        body = encode({"usage": found, "windows": windows})
        return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})

    return [Route("/api/usage", read, methods=["GET"])]
