"""The remote control over HTTP: say, read, follow, stop and answer, for programs outside a live conversation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from farhand.model.answers import choices_made
from farhand.model.body_limits import read_bounded
from farhand.model.errors import (
    AskGone,
    BadInput,
    CannotDo,
    FarhandError,
    IdTaken,
    NotAllowed,
    NotReady,
    TooLarge,
    UnknownAsk,
    UnknownWorker,
)
from farhand.model.live_session import LiveSession
from farhand.model.present import Ask
from farhand.model.words import AskKind
from farhand.remote import events, shapes
from farhand.remote.guard import OwnUser, RemoteGuard, problem
from farhand.remote.openapi import document, page
from farhand.remote.past import read_back
from farhand.remote.upload import LARGEST_BYTES, keep_file, read_file

# The conversation that a request means; raises NotReady while there is none.
SessionOf: TypeAlias = Callable[[Request], LiveSession]
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
# By method and path.
Endpoints: TypeAlias = dict[tuple[str, str], Endpoint]
# Room for the escapes of JSON.
LONGEST_BODY = 6 * shapes.LONGEST_TEXT + 4096
LONGEST_KEY = 200
FORM_BYTES = 16 * 1024
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# A program that the agent runs is of the same user: without a key it could permit itself what it asks leave for.
NEEDS_KEY = (
    "To permit something from outside needs a key, which no agent has: set FARHAND_REMOTE_KEY. Denying needs none."
)
NEEDS_KEY_TO_TYPE = (
    "To press keys in the agent's own terminal needs a key, which no agent has: set FARHAND_REMOTE_KEY. "
    "A key press can permit what the agent asks leave for."
)
STATUSES: dict[type[FarhandError], int] = {
    NotAllowed: 403,
    NotReady: 503,
    TooLarge: 413,
    UnknownAsk: 404,
    UnknownWorker: 404,
    AskGone: 409,
    IdTaken: 409,
    CannotDo: 409,
}


class OpenedSession(NamedTuple):
    """A conversation for one caller: what it may do there, where its files go, and how long it may follow."""

    session: LiveSession
    # Permit what the agent asks leave for, and press keys in its terminal.
    may_allow: bool
    keep_file: Callable[[str, bytes], Path]
    follow: Callable[[AsyncIterator[bytes]], AsyncIterator[bytes]] = lambda pieces: pieces


# Opens the conversation that a request means, for whoever sent it; the flag says that it wants to change something.
OpenSession: TypeAlias = Callable[[Request, bool], Awaitable[OpenedSession]]


def routes(opened: OpenSession, prefix: str = "") -> list[BaseRoute]:
    """Every route of the API, for one conversation, or for each that the prefix names."""
    table = {**_reading(opened), **_acting(opened)}
    return [Route(prefix + path, _told(endpoint), methods=[method]) for (method, path), endpoint in table.items()]


def _acting(opened: OpenSession) -> Endpoints:
    """What changes something: says, stops, answers, takes back, gives a file."""

    async def with_body(request: Request, limit: int, what: str) -> tuple[OpenedSession, bytes]:
        await opened(request, True)
        body = await read_bounded(request.stream(), limit, what)
        # Who sent it may have been revoked while the rest of it came.
        return await opened(request, True), body

    async def post_message(request: Request) -> Response:
        (session, may_allow, *_), body = await with_body(request, LONGEST_BODY, "A message")
        posted = shapes.read_posted(body)
        if posted.raw:
            if not may_allow:
                raise NotAllowed(NEEDS_KEY_TO_TYPE)
            await session.raw(posted.text)
            return JSONResponse({"ok": True})
        said = await session.say(posted.text, _key(request))
        return JSONResponse({"ok": True, "id": said.id, "state": said.state.value})

    async def withdraw(request: Request) -> Response:
        text, session = request.path_params["message"], (await opened(request, True)).session
        taken = text.isascii() and text.isdigit() and await session.withdraw(int(text[:18]))
        if not taken:
            return _failed(404, "unknown_message", "No message of that id waits.")
        return JSONResponse({"ok": True})

    async def interrupt(request: Request) -> Response:
        session = (await opened(request, True)).session
        return JSONResponse({"ok": True, "interrupted": await session.interrupt()})

    async def answer(request: Request) -> Response:
        (session, may_allow, *_), body = await with_body(request, LONGEST_BODY, "An answer")
        given = shapes.read_object(body)
        choice, note = given.get("choice", ""), given.get("note", "")
        if not isinstance(choice, str) or not isinstance(note, str) or not (choice or note.strip()):
            raise BadInput('An answer is {"choice": "…"}, with a "note" where the choice takes words.')
        if not may_allow and _permits(session.log.asks, request.path_params["ask"], choice):
            raise NotAllowed(NEEDS_KEY)
        await session.answer(request.path_params["ask"], choice, note)
        return JSONResponse({"ok": True})

    async def upload(request: Request) -> Response:
        found, body = await with_body(request, LARGEST_BYTES + FORM_BYTES, "An upload")
        name, content = read_file(request.headers.get("content-type", ""), body)
        path = await anyio.to_thread.run_sync(found.keep_file, name, content)
        return JSONResponse({"ok": True, "filePath": str(path)})

    return {
        ("POST", "/message"): post_message,
        ("DELETE", "/messages/{message}"): withdraw,
        ("POST", "/interrupt"): interrupt,
        ("POST", "/asks/{ask:path}"): answer,
        ("POST", "/upload"): upload,
    }


def _reading(opened: OpenSession) -> Endpoints:
    """What tells how things stand."""

    async def history(request: Request) -> Response:
        session, limit = (await opened(request, False)).session, _limit(request)
        await read_back(session, limit)
        return JSONResponse(shapes.history(session.log.messages, limit))

    async def messages(request: Request) -> Response:
        session = (await opened(request, False)).session
        await read_back(session)
        said = [one for one in session.log.messages if shapes.is_said(one)]
        return JSONResponse({"messages": [shapes.message_json(one) for one in said]})

    async def status(request: Request) -> Response:
        log = (await opened(request, False)).session.log
        return JSONResponse(shapes.status_json(log.status, len(log.asks)))

    async def follow(request: Request) -> Response:
        found = await opened(request, False)
        if request.method == "HEAD":
            # A stream without a body would never end.
            return Response(media_type="text/event-stream", headers=events.HEADERS)
        pieces = events.stream(found.session, request.headers.get("last-event-id", ""))
        return StreamingResponse(found.follow(pieces), media_type="text/event-stream", headers=events.HEADERS)

    async def asks(request: Request) -> Response:
        log = (await opened(request, False)).session.log
        return JSONResponse({"asks": [shapes.ask_json(one) for one in log.asks]})

    async def openapi(request: Request) -> Response:
        with suppress(NotReady):
            await opened(request, False)
        return JSONResponse(document(request.url.path.removesuffix("/openapi.json")))

    async def docs(request: Request) -> Response:
        with suppress(NotReady):
            await opened(request, False)
        return HTMLResponse(page(), headers={"Content-Security-Policy": PAGE_POLICY})

    return {
        ("GET", "/history"): history,
        ("GET", "/messages"): messages,
        ("GET", "/status"): status,
        ("GET", "/events"): follow,
        ("GET", "/asks"): asks,
        ("GET", "/openapi.json"): openapi,
        ("GET", "/docs"): docs,
    }


def _told(endpoint: Endpoint) -> Endpoint:
    """The same, with what went wrong as an answer in this API's own form."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except FarhandError as error:
            status = next((number for kind, number in STATUSES.items() if isinstance(error, kind)), 400)
            return _failed(status, error.code, error.text)

    return answered


def application(session_of: SessionOf, uploads: Path, key: str, own_user: OwnUser) -> ASGIApp:
    """The API of one conversation at the root, with its own description, behind its guard."""

    async def opened(request: Request, _: bool) -> OpenedSession:
        return OpenedSession(session_of(request), bool(key), partial(keep_file, uploads))

    made = Starlette(routes=routes(opened), exception_handlers={HTTPException: _wrong_path})
    made.router.redirect_slashes = False
    return RemoteGuard(made, key, own_user)


def _permits(asks: tuple[Ask, ...], ask: str, choice: str) -> bool:
    """Whether that answer lets the agent do something."""
    found = next((one for one in asks if one.id == ask), None)
    if found is None or found.about is AskKind.CHOICE:
        return False
    made = choices_made(found, choice)
    return any(one.allows for one in found.choices if one.id in made)


async def _wrong_path(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    known = {
        404: f"There is no {request.url.path[:100]} here; /docs tells what there is.",
        405: "Not with that method.",
    }
    failed = _failed(error.status_code, "no_route", known.get(error.status_code, error.detail))
    failed.headers.update(error.headers or {})
    return failed


def _failed(status: int, code: str, text: str) -> Response:
    return JSONResponse(problem(status, text, code), status, media_type=shapes.PROBLEM)


def _key(request: Request) -> str:
    key = request.headers.get("idempotency-key", "")
    if len(key) > LONGEST_KEY:
        raise BadInput(f"An Idempotency-Key has at most {LONGEST_KEY} characters.")
    return key


def _limit(request: Request) -> int | None:
    text = request.query_params.get("limit")
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise BadInput(f"'limit' takes a whole number, not '{text[:40]}'.")
    return int(text)
