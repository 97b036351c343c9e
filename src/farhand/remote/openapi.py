"""The remote control described as OpenAPI, and as a page for a person. Pure."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple, TypeAlias

from farhand.remote.shapes import PROBLEM

Schema: TypeAlias = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
YES_OR_NO: Schema = {"type": "boolean"}


class RemoteOperation(NamedTuple):
    """One route with a method, what it takes and what it answers."""

    method: str
    path: str
    does: str
    answer: Schema
    takes: Schema | None = None
    parameters: tuple[Schema, ...] = ()
    failures: tuple[int, ...] = ()
    media: str = "application/json"
    takes_media: str = "application/json"


def _object(required: str, **fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": required.split()}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _in(place: str, name: str, schema: Schema, does: str) -> Schema:
    return {"in": place, "name": name, "schema": schema, "description": does, "required": place == "path"}


MESSAGE: dict[str, Schema] = {
    "id": NUMBER,
    "role": {"type": "string", "enum": ["user", "agent"]},
    "time": {"type": "string", "format": "date-time"},
    "state": {"type": "string", "enum": ["queued", "running", "done", "failed", "interrupted"]},
    "parts": _list(_ref("Part")),
}
SCHEMAS: dict[str, Schema] = {
    "SaidMessage": _object("role text", role={"type": "string", "enum": ["user", "model"]}, text=TEXT),
    "Part": _object(
        "kind",
        kind={"type": "string", "enum": ["text", "thought", "tool"]},
        text=TEXT,
        call=TEXT,
        title=TEXT,
        detail=TEXT,
        ok={"type": ["boolean", "null"]},
    ),
    "Message": _object("id role content time state parts", content=TEXT, **MESSAGE),
    "MessageUpdate": _object("id role message time state parts", message=TEXT, **MESSAGE),
    "MessageRemoved": _object("id", id=NUMBER),
    "Resumed": _object("resume log after", resume={"type": "string", "enum": ["whole", "gap"]}, log=TEXT, after=NUMBER),
    "Notice": _object("text", text=TEXT),
    "Questions": _object("asks", asks=_list(_ref("Question"))),
    "Status": _object(
        "status agent_type transport ready queued asks",
        status={"type": "string", "enum": ["stable", "running"]},
        agent_type=TEXT,
        transport={"type": "string", "enum": ["acp", "pty"]},
        wire=TEXT,
        ready=YES_OR_NO,
        queued=NUMBER,
        asks=NUMBER,
        model=TEXT,
        mode=TEXT,
        directory=TEXT,
        session_id=TEXT,
        tokens=NUMBER,
        cost_dollars={"type": ["number", "null"]},
        why=TEXT,
    ),
    "ScreenShown": _object("screen", screen=TEXT),
    "Choice": _object("id label", id=TEXT, label=TEXT, allows=YES_OR_NO, words=YES_OR_NO, scope=TEXT),
    "Question": _object(
        "id question choices",
        id=TEXT,
        question=TEXT,
        about=TEXT,
        detail=TEXT,
        circumstances=_list(TEXT),
        several=YES_OR_NO,
        choices=_list(_ref("Choice")),
    ),
    "Problem": _object(
        "status title detail error",
        status=NUMBER,
        title=TEXT,
        detail=TEXT,
        error=_object("code text", code=TEXT, text=TEXT),
    ),
}
OK = _object("ok", ok=YES_OR_NO)
WORDS: Schema = {"type": "string", "minLength": 1, "maxLength": 1_000_000, "pattern": r"\S"}
POSTED: Schema = {
    "oneOf": [
        _object("message", message=WORDS) | {"not": {"required": ["content"]}},
        _object("content type", content=WORDS, type={"type": "string", "enum": ["user", "raw"]})
        | {"not": {"required": ["message"]}},
    ]
}
KEY = _in("header", "Idempotency-Key", {"type": "string", "maxLength": 200}, "the same key again says nothing more")
LIMIT = _in("query", "limit", {"type": "integer", "minimum": 0, "maximum": 10**17}, "only the last so many")
LAST = _in("header", "Last-Event-ID", TEXT, "where to go on")
EVENTS = (
    "Follows the conversation: `resume` first (whole or gap), then `message_update`, `message_removed`, "
    "`status_change`, `asks`, `notice` and `screen_update`"
)

# What each event of the stream has in its data.
EVENT_DATA = {
    "resume": "Resumed",
    "message_update": "MessageUpdate",
    "message_removed": "MessageRemoved",
    "status_change": "Status",
    "asks": "Questions",
    "notice": "Notice",
    "screen_update": "ScreenShown",
}
EVENT_STREAM = _list(
    {
        "oneOf": [
            _object("event data", event={"type": "string", "const": name}, data=_ref(schema), id=TEXT)
            for name, schema in EVENT_DATA.items()
        ]
    }
)

OPERATIONS = (
    RemoteOperation(
        "post",
        "/message",
        "Says something, as if it had been typed; it waits while a turn runs",
        _object("ok", ok=YES_OR_NO, id=NUMBER, state=TEXT),
        takes=POSTED,
        parameters=(KEY,),
        failures=(400, 409, 413, 503),
    ),
    RemoteOperation(
        "get", "/history", "What was said", _list(_ref("SaidMessage")), parameters=(LIMIT,), failures=(400, 503)
    ),
    RemoteOperation(
        "get", "/messages", "The same with ids, times and parts", _object("messages", messages=_list(_ref("Message")))
    ),
    RemoteOperation(
        "delete",
        "/messages/{message}",
        "Takes a message back that still waits",
        OK,
        parameters=(_in("path", "message", NUMBER, "the id of the message"),),
        failures=(404, 503),
    ),
    RemoteOperation("get", "/status", "How the conversation stands", _ref("Status"), failures=(503,)),
    RemoteOperation(
        "get", "/events", EVENTS, EVENT_STREAM, parameters=(LAST,), failures=(503,), media="text/event-stream"
    ),
    RemoteOperation(
        "post",
        "/interrupt",
        "Stops the running turn",
        _object("ok interrupted", ok=YES_OR_NO, interrupted=YES_OR_NO),
        failures=(503,),
    ),
    RemoteOperation(
        "get", "/asks", "The questions that wait", _object("asks", asks=_list(_ref("Question"))), failures=(503,)
    ),
    RemoteOperation(
        "post",
        "/asks/{ask}",
        "Answers a question; the first answer wins",
        OK,
        takes={
            "anyOf": [
                _object("choice", choice={"type": "string", "minLength": 1}, note=TEXT),
                _object("note", choice=TEXT, note=WORDS),
            ]
        },
        parameters=(_in("path", "ask", TEXT, "the id of the question"),),
        failures=(400, 404, 409, 413, 503),
    ),
    RemoteOperation(
        "post",
        "/upload",
        "Takes a file that a message can name",
        _object("ok filePath", ok=YES_OR_NO, filePath=TEXT),
        takes=_object("file", file={"type": "string", "format": "binary"}),
        failures=(400, 413, 503),
        takes_media="multipart/form-data",
    ),
)


def document(server: str = "") -> Schema:
    """The whole API as OpenAPI 3.1, below that path of its server."""
    paths: dict[str, Schema] = {}
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method] = _described(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Farhand: remote control of a live conversation", "version": "1"},
        **({"servers": [{"url": server}]} if server else {}),
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"key": []}],
    }


def _described(one: RemoteOperation) -> Schema:
    failed = {"content": {PROBLEM: {"schema": _ref("Problem")}}}
    answers: Schema = {"200": {"description": "Done", "content": {one.media: {"schema": one.answer}}}}
    for status in sorted({*one.failures, 401, 403}):
        answers[str(status)] = {"description": MEANINGS[status], **failed}
    found: Schema = {"summary": one.does, "responses": answers}
    if one.parameters:
        found["parameters"] = list(one.parameters)
    if one.takes is not None:
        found["requestBody"] = {"required": True, "content": {one.takes_media: {"schema": one.takes}}}
    return found


MEANINGS = {
    400: "What was sent cannot be",
    401: "The key is missing or wrong",
    403: "Another machine, site or user",
    404: "Unknown",
    409: "Too late, or it cannot be done",
    413: "Too large",
    503: "The screen is not ready",
}


def page() -> str:
    """The operations as a page that needs nothing else."""
    rows = "".join(
        f"<tr><td><code>{one.method.upper()}</code><td><code>{escape(one.path)}</code><td>{escape(one.does)}</tr>"
        for one in OPERATIONS
    )
    style = "body{font:16px system-ui;margin:2em auto;max-width:50em;color-scheme:light dark}td{padding:.3em .8em}"
    return (
        f"<!doctype html><meta charset=utf-8><title>Remote control</title><style>{style}</style>"
        f"<h1>Remote control of a live conversation</h1><table>{rows}</table><p><code>/openapi.json</code> has it all."
    )
