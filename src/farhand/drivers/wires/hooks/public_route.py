"""Where anybody's hooks on this machine may post: `/api/hooks/<backend>/<event>`, each known by its session's id.

Which worker a payload is for is never guessed from its folder: two agents in one folder do not mix. A session that no
worker has is answered `{}`, and nobody hears of it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from farhand.drivers.wires.hooks.endpoint import HookEndpoint, HookReport
from farhand.model.body_limits import read_bounded
from farhand.model.errors import TooLarge
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.worker_keys import SCOPE_WORKER

HOOKS_PATH = "/api/hooks/"
LONGEST_PAYLOAD = 8 * 1024 * 1024
# What the agents call the id of their conversation.
SESSION_FIELDS = ("session_id", "sessionId", "sessionID", "thread_id", "thread-id", "threadId")
NAME = lazy_pattern(r"[A-Za-z0-9-]{1,64}\Z")
KEBAB = lazy_pattern(r"[a-z0-9]+(-[a-z0-9]+)*\Z")

# Who has that session of that backend; empty when nobody has.
Whose = Callable[[str, str], str]


class PublicHookRoute:
    """Passes payloads on to the listener of their worker; those that ask wait for the answer."""

    def __init__(self, endpoint: HookEndpoint, whose: Whose, asking: Mapping[str, frozenset[str]]) -> None:
        self._endpoint = endpoint
        self._whose = whose
        # Which events of a backend wait for a person.
        self._asking = asking

    def routes(self) -> list[Route]:
        """For callers on this machine alone."""
        return [Route(HOOKS_PATH + "{backend}/{event}", self._take, methods=["POST"])]

    async def _take(self, request: Request) -> Response:
        backend, event = request.path_params["backend"], event_name(request.path_params["event"])
        if not event:
            return _wrong("An event is named in kebab case: before-tool, session-start.", 404)
        try:
            payload = await read_bounded(request.stream(), LONGEST_PAYLOAD)
        except TooLarge:
            return _wrong(f"A payload has {LONGEST_PAYLOAD:,} bytes at the most.", 413)
        session = session_of(payload)
        if session is None:
            return _wrong("A payload is one JSON object.", 400)
        worker = self._whose(backend, session) if session else ""
        if request.scope.get(SCOPE_WORKER, worker) != worker:
            return Response("That key is another worker's", 403)
        listener = self._endpoint.listener(worker) if worker else None
        if listener is None:
            return JSONResponse({})
        report = HookReport(id=_name(request), event=event, payload=payload, keyed=True)
        if event in self._asking.get(backend, frozenset()):
            # Without an answer it is as if nobody had that session: the agent's own dialog stays.
            return JSONResponse((await listener.ask(request, report)).given or {})
        await listener.receive(report)
        return JSONResponse({})


def _name(request: Request) -> str:
    """What the caller calls this event, so that a repeat is known; never the name of one that our own hooks brought."""
    given = request.headers.get("x-farhand-id", "")
    return f"posted-{given if NAME.match(given) else uuid.uuid4().hex}"


def event_name(kebab: str) -> str:
    """`before-tool` as agents write it, `BeforeTool`; empty for what is no such name. Pure."""
    return "".join(part.capitalize() for part in kebab.split("-")) if KEBAB.match(kebab) else ""


def session_of(payload: bytes) -> str | None:
    """The session that a payload is of; empty when it does not say, None when it is no JSON object. Pure."""
    try:
        fields = msgspec.json.decode(payload, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    for name in SESSION_FIELDS:
        if name in fields:
            try:
                return msgspec.json.decode(fields[name], type=str)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue
    return ""


def _wrong(text: str, status: int) -> Response:
    return JSONResponse({"error": {"code": "bad_input", "text": text}}, status_code=status)
