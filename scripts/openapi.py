"""The HTTP API of a node as OpenAPI: a table of its routes, and the one schema of what they take and answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from scripts.schema import REF, Schema, definitions

COMPONENTS = "#/components/schemas/"


class Query(NamedTuple):
    """One parameter of a query."""

    name: str
    does: str
    kind: str = "string"


class Operation(NamedTuple):
    """One route with a method: what it takes, and the fields of its answer."""

    method: str
    path: str
    does: str
    answer: Mapping[str, Schema]
    query: tuple[Query, ...] = ()
    takes: Schema | None = None
    # What an answer is that is no JSON object.
    streams: str = ""


def ref(name: str) -> Schema:
    """A word of the schema."""
    return {"$ref": REF + name}


def many(name: str) -> Schema:
    """A list of such words."""
    return {"type": "array", "items": ref(name)}


TEXT: Schema = {"type": "string"}
# As browsers have it: what `navigator.credentials` is called with, in JSON.
OPTIONS: Mapping[str, Schema] = {"challenge": TEXT}
WORKER = Query("worker", "the name of a worker")
PATH = Query("path", "from the worker's folder on")
LIMIT = Query("limit", "how many at the most", "integer")
OPERATIONS = (
    Operation("post", "/api/pair", "Pairs a device", {"device": ref("Device")}, takes=ref("PairRequest")),
    Operation(
        "post",
        "/api/sign-in",
        "Pairs a page in a chat's own app, by what the chat vouches with for who opened it",
        {"device": ref("Device")},
        takes=ref("SignInRequest"),
    ),
    Operation("post", "/api/passkeys/options", "What a browser makes a passkey with", OPTIONS),
    Operation("post", "/api/passkeys", "Keeps a passkey", {"passkey": ref("Passkey")}, takes=ref("PasskeyRequest")),
    Operation(
        "get", "/api/passkeys", "Lists passkeys", {"passkeys": many("Passkey"), "available": {"type": "boolean"}}
    ),
    Operation("post", "/api/passkeys/sign-in/options", "What a browser proves a passkey with", OPTIONS),
    Operation(
        "post",
        "/api/passkeys/sign-in",
        "Pairs a browser that has a passkey",
        {"device": ref("Device")},
        takes=ref("PasskeyRequest"),
    ),
    Operation("delete", "/api/passkeys/{passkey}", "Ends a passkey", {"removed": TEXT}),
    Operation("get", "/api/devices", "Lists devices", {"devices": many("Device"), "me": TEXT}),
    Operation("delete", "/api/devices/{device}", "Revokes a device", {"revoked": TEXT}),
    Operation("post", "/api/hub/commands", "Takes a command", {"accepted": ref("Accepted")}, takes=ref("Command")),
    Operation("get", "/api/hub/present", "How things stand now", {"present": ref("Present")}),
    Operation("get", "/api/hub/status", "What the node says of itself", {"status": {"type": "object"}}),
    Operation(
        "get",
        "/api/hub/sessions",
        "The conversations that agents have on the node's machine",
        {"sessions": many("SessionFound")},
        (Query("backend", "of one kind of agent"), Query("directory", "of one folder")),
    ),
    Operation(
        "get",
        "/api/hub/sessions/{backend}/{session}",
        "A page of a conversation that an agent has on the node's machine",
        {"history": ref("HistoryPage")},
        (Query("before", "the number of an entry", "integer"), LIMIT),
    ),
    Operation(
        "get",
        "/api/hub/history",
        "A page of a worker's past",
        {"history": ref("HistoryPage")},
        (WORKER, Query("before", "the number of an entry", "integer"), LIMIT),
    ),
    Operation(
        "get",
        "/api/hub/search",
        "Where all the words were said",
        {"found": many("Found")},
        (Query("query", "words, or the beginnings of words"), WORKER, LIMIT),
    ),
    Operation(
        "get",
        "/api/hub/events",
        "Events as lines of JSON",
        {},
        (Query("after", "the last event that is known", "integer"),),
        streams="application/x-ndjson",
    ),
    Operation(
        "get",
        "/api/usage",
        "What finished turns used, a day and worker each",
        {"usage": many("DayUsage"), "windows": {"type": "object", "additionalProperties": many("UsageWindow")}},
        (Query("days", "how many days, today included: 1 to 31", "integer"),),
    ),
    Operation("get", "/api/digest", "What happened while nobody was there", {"digest": many("DigestLine")}),
    Operation(
        "get",
        "/api/push",
        "Whether the device is reached by push, and the key to subscribe with",
        {"key": TEXT, "subscribed": {"type": "boolean"}, "problem": TEXT},
    ),
    Operation(
        "post",
        "/api/push",
        "Has the device reached by push",
        {"subscribed": {"type": "boolean"}},
        takes=ref("SubscribeRequest"),
    ),
    Operation("delete", "/api/push", "Ends the device's subscription", {"subscribed": {"type": "boolean"}}),
    Operation("post", "/api/push/test", "Sends the device a notification at once", {"test": ref("PushTest")}),
    Operation(
        "post",
        "/api/push/answer",
        "Takes a tap on a button of a notification",
        {"answered": TEXT},
        takes=ref("PushAnswer"),
    ),
    Operation("post", "/api/hub/view", "What the device looks at", {}, takes=ref("ViewFrame")),
    Operation("get", "/api/hire", "What can be chosen at a hiring", {"hire": ref("HireChoices")}),
    Operation("get", "/api/workers", "What each worker can do", {"workers": many("WorkerAbilities")}),
    Operation("get", "/api/workers/{worker}", "What a worker can do", {"worker": ref("WorkerAbilities")}),
    Operation("get", "/api/workers/{worker}/tree", "A folder", {"tree": ref("FolderListing")}, (PATH,)),
    Operation(
        "get",
        "/api/workers/{worker}/file",
        "A file as text, or its bytes",
        {"file": ref("FileText")},
        (PATH, Query("raw", "1 for its bytes")),
    ),
    Operation(
        "get",
        "/api/workers/{worker}/reviews",
        "The reviews of a worker's work, as they hold for its folder now",
        {"reviews": many("ReviewState")},
    ),
    Operation(
        "post",
        "/api/workers/{worker}/merge",
        "Brings a branch up to what the worker has committed, when a verdict that holds lets it",
        {"merged": TEXT},
        takes=ref("MergeRequest"),
    ),
    Operation("get", "/api/workers/{worker}/git", "What git says of the folder", {"git": ref("GitStatus")}),
    Operation("get", "/api/workers/{worker}/commits", "The newest commits", {"commits": many("GitCommit")}, (LIMIT,)),
    Operation(
        "get",
        "/api/workers/{worker}/diff",
        "What differs from the last commit; what a turn, or a commit, changed",
        {"diff": ref("WorkdirDiff")},
        (
            PATH,
            Query("turn", "what that turn changed"),
            Query("commit", "what that commit changed"),
            Query("base", "the commit that it is compared with"),
        ),
    ),
    Operation(
        "get",
        "/api/workers/{worker}/shown",
        "A file that may be shown",
        {},
        (Query("path", "its whole path"),),
        streams="application/octet-stream",
    ),
    *(
        Operation(method, "/api/workers/{worker}/pane", "A worker's terminal, live", {}, streams="text/event-stream")
        for method in ("get", "post")
    ),
    Operation("post", "/api/workers/{worker}/keys", "Types into a terminal", {}, takes=ref("PaneInput")),
    Operation("post", "/api/uploads", "Begins an upload", {"upload": ref("UploadState")}, takes=ref("NewUpload")),
    Operation("get", "/api/uploads/{upload}", "How far an upload came", {"upload": ref("UploadState")}),
    Operation(
        "put",
        "/api/uploads/{upload}",
        "Takes the next piece of a file",
        {"upload": ref("UploadState")},
        (Query("offset", "where the piece begins", "integer"),),
        takes={"type": "string", "format": "binary"},
    ),
    Operation("get", "/api/voice", "Whether recordings are taken", {"voice": ref("VoiceState")}),
    Operation(
        "post",
        "/api/voice",
        "What is said in a recording",
        {"transcript": ref("VoiceTranscript")},
        (Query("language", "the language that is spoken, as en"),),
        takes={"type": "string", "format": "binary"},
    ),
    Operation("get", "/api/hub/stream", "The live wire, from a Last-Event-ID", {}, streams="text/event-stream"),
    Operation(
        "post",
        "/api/hub/stream",
        "The live wire, from an opening",
        {},
        takes=ref("Opening"),
        streams="text/event-stream",
    ),
)


def openapi() -> str:
    """The page of the HTTP API."""
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        paths.setdefault(one.path, {})[one.method] = _operation(one)
    page = {
        "openapi": "3.1.0",
        "info": {
            "title": "farhand",
            "version": "1",
            "description": "The HTTP API of a node. Written by scripts/openapi.py from the code.",
        },
        "security": [{"key": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": definitions(),
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "__Host-farhand"},
            },
        },
    }
    return json.dumps(page, indent=2, ensure_ascii=False).replace(REF, COMPONENTS) + "\n"


def _operation(one: Operation) -> Schema:
    # What has nothing to tell answers without a body.
    good = {"200": _answer(one)} if one.answer or one.streams else {"204": {"description": one.does}}
    written: Schema = {"summary": one.does, "responses": {**good, "default": _error()}}
    if parameters := [*_in_path(one.path), *(_in_query(query) for query in one.query)]:
        written["parameters"] = parameters
    if one.takes is not None:
        kind = "application/octet-stream" if one.takes.get("format") == "binary" else "application/json"
        written["requestBody"] = {"content": {kind: {"schema": one.takes}}}
    if one.path == "/api/pair":
        written["security"] = []
    return written


def _answer(one: Operation) -> Schema:
    if one.streams:
        return {"description": "for as long as it is read", "content": {one.streams: {"schema": TEXT}}}
    return {"description": one.does, "content": {"application/json": {"schema": _object(one.answer)}}}


def _error() -> Schema:
    schema = _object({"error": ref("RemoteError")})
    return {
        "description": "what is wrong, in a sentence and in fields",
        "content": {"application/json": {"schema": schema}},
    }


def _object(fields: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": dict(fields), "required": list(fields)}


def _in_path(path: str) -> list[Schema]:
    names = [part[1:-1].partition(":")[0] for part in path.split("/") if part.startswith("{")]
    return [{"name": name, "in": "path", "required": True, "schema": TEXT} for name in names]


def _in_query(query: Query) -> Schema:
    return {"name": query.name, "in": "query", "description": query.does, "schema": {"type": query.kind}}
