"""The remote control over HTTP: say, read, follow, stop and answer, for programs outside a live conversation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from farhand.model.bounded import read_bounded
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
)
from farhand.model.live_session import LiveSession
from farhand.model.present import Ask
from farhand.model.words import AskKind
from farhand.remote import events, shapes
from farhand.remote.guard import OwnUser, RemoteGuard, problem
from farhand.remote.openapi import document, page
from farhand.remote.upload import LARGEST_BYTES, keep_file, read_file

# The conversation that a request means; raises NotReady while there is none.
SessionOf: TypeAlias = Callable[[Request], LiveSession]
# Room for the escapes of JSON.
LONGEST_BODY = 6 * shapes.LONGEST_TEXT + 4096
LONGEST_KEY = 200
FORM_BYTES = 16 * 1024
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# A program that the agent runs is of the same user: without a key it could permit itself what it asks leave for.
NEEDS_KEY = (
    "To permit something from outside needs a key, which no agent has: set FARHAND_REMOTE_KEY. Denying needs none."
)
STATUSES: dict[type[FarhandError], int] = {
    NotAllowed: 403,
    NotReady: 503,
    TooLarge: 413,
    UnknownAsk: 404,
    AskGone: 409,
    IdTaken: 409,
    CannotDo: 409,
}


def routes(session_of: SessionOf, uploads: Path, *, may_allow: bool, prefix: str = "") -> list[BaseRoute]:
    """Every route of the API, for one conversation. `may_allow`: callers may permit what the agent asks leave for."""

    async def post_message(request: Request) -> Response:
        session = session_of(request)
        posted = shapes.read_posted(await read_bounded(request.stream(), LONGEST_BODY))
        if posted.raw:
            await session.raw(posted.text)
            return JSONResponse({"ok": True})
        said = await session.say(posted.text, _key(request))
        return JSONResponse({"ok": True, "id": said.id, "state": said.state.value})

    async def history(request: Request) -> Response:
        log = session_of(request).log
        return JSONResponse(shapes.history(log.messages, _limit(request)))

    async def messages(request: Request) -> Response:
        said = [one for one in session_of(request).log.messages if shapes.is_said(one)]
        return JSONResponse({"messages": [shapes.message_json(one) for one in said]})

    async def withdraw(request: Request) -> Response:
        text = request.path_params["message"]
        taken = text.isascii() and text.isdigit() and await session_of(request).withdraw(int(text[:18]))
        if not taken:
            return _failed(404, "unknown_message", "No message of that id waits.")
        return JSONResponse({"ok": True})

    async def status(request: Request) -> Response:
        log = session_of(request).log
        return JSONResponse(shapes.status_json(log.status, len(log.asks)))

    async def follow(request: Request) -> Response:
        session = session_of(request)
        if request.method == "HEAD":
            # A stream without a body would never end.
            return Response(media_type="text/event-stream", headers=events.HEADERS)
        pieces = events.stream(session, request.headers.get("last-event-id", ""))
        return StreamingResponse(pieces, media_type="text/event-stream", headers=events.HEADERS)

    async def interrupt(request: Request) -> Response:
        return JSONResponse({"ok": True, "interrupted": await session_of(request).interrupt()})

    async def asks(request: Request) -> Response:
        return JSONResponse({"asks": [shapes.ask_json(one) for one in session_of(request).log.asks]})

    async def answer(request: Request) -> Response:
        session = session_of(request)
        given = shapes.read_object(await read_bounded(request.stream(), LONGEST_BODY))
        choice, note = given.get("choice", ""), given.get("note", "")
        if not isinstance(choice, str) or not isinstance(note, str) or not (choice or note.strip()):
            raise BadInput('An answer is {"choice": "…"}, with a "note" where the choice takes words.')
        if not may_allow and _permits(session.log.asks, request.path_params["ask"], choice):
            raise NotAllowed(NEEDS_KEY)
        await session.answer(request.path_params["ask"], choice, note)
        return JSONResponse({"ok": True})

    async def upload(request: Request) -> Response:
        session_of(request)
        body = await read_bounded(request.stream(), LARGEST_BYTES + FORM_BYTES, "An upload")
        name, content = read_file(request.headers.get("content-type", ""), body)
        path = await anyio.to_thread.run_sync(keep_file, uploads, name, content)
        return JSONResponse({"ok": True, "filePath": str(path)})

    return [
        Route(prefix + "/message", post_message, methods=["POST"]),
        Route(prefix + "/history", history),
        Route(prefix + "/messages", messages),
        Route(prefix + "/messages/{message}", withdraw, methods=["DELETE"]),
        Route(prefix + "/status", status),
        Route(prefix + "/events", follow),
        Route(prefix + "/interrupt", interrupt, methods=["POST"]),
        Route(prefix + "/asks", asks),
        Route(prefix + "/asks/{ask:path}", answer, methods=["POST"]),
        Route(prefix + "/upload", upload, methods=["POST"]),
    ]


def application(session_of: SessionOf, uploads: Path, key: str, own_user: OwnUser) -> ASGIApp:
    """The API of one conversation at the root, with its own description, behind its guard."""

    async def openapi(_: Request) -> Response:
        return JSONResponse(document())

    async def docs(_: Request) -> Response:
        return HTMLResponse(page(), headers={"Content-Security-Policy": PAGE_POLICY})

    about = [Route("/openapi.json", openapi), Route("/docs", docs)]
    made = Starlette(
        routes=[*routes(session_of, uploads, may_allow=bool(key)), *about],
        exception_handlers={FarhandError: _refused, HTTPException: _wrong_path},
    )
    made.router.redirect_slashes = False
    return RemoteGuard(made, key, own_user)


def _permits(asks: tuple[Ask, ...], ask: str, choice: str) -> bool:
    """Whether that answer lets the agent do something."""
    found = next((one for one in asks if one.id == ask), None)
    if found is None or found.about is AskKind.CHOICE:
        return False
    return any(one.allows for one in found.choices if one.id in choice.split(","))


async def _refused(_: Request, error: Exception) -> Response:
    if not isinstance(error, FarhandError):
        raise error
    status = next((number for kind, number in STATUSES.items() if isinstance(error, kind)), 400)
    return _failed(status, error.code, error.text)


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
    return JSONResponse(problem(status, text, code), status)


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
