"""The one schema of all that travels between a node and its clients: JSON Schema, made from the words of `model/`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias, get_args

import msgspec

from farhand.model import (
    abilities,
    commands,
    devices,
    digest,
    facts,
    history,
    panes,
    passkeys,
    ports,
    present,
    push,
    review,
    session_events,
    stream,
    team_view,
    uploads,
    voice,
    wire,
    workdir,
)
from farhand.server import attention_routes, passkey_routes
from farhand.server import devices as device_routes

Schema: TypeAlias = dict[str, Any]
REF = "#/$defs/"
# What a client sends, and what it gets.
SENT = (
    *get_args(commands.Command),
    stream.Opening,
    stream.ViewFrame,
    device_routes.PairRequest,
    device_routes.SignInRequest,
    passkey_routes.PasskeyRequest,
    uploads.NewUpload,
    panes.PaneInput,
    review.MergeRequest,
    attention_routes.SubscribeRequest,
    push.PushAnswer,
)
GOT: tuple[type[Any], ...] = (
    commands.Accepted,
    facts.Event,
    present.Present,
    history.HistoryPage,
    history.Found,
    history.DayUsage,
    team_view.TeamView,
    stream.StreamHello,
    stream.EventsFrame,
    stream.NowFrame,
    session_events.SessionFrame,
    ports.SessionFound,
    devices.Device,
    passkeys.Passkey,
    digest.DigestLine,
    push.PushTest,
    device_routes.PairReply,
    wire.RemoteError,
    abilities.WorkerAbilities,
    abilities.HireChoices,
    uploads.UploadState,
    voice.VoiceState,
    voice.VoiceTranscript,
    workdir.FolderListing,
    workdir.FileText,
    workdir.GitStatus,
    workdir.GitCommit,
    workdir.WorkdirDiff,
)
# Unions that have a name of their own, told apart by `type`, or by the field that only one of them has.
UNIONS: Mapping[str, tuple[Any, ...]] = {
    "Command": get_args(commands.Command),
    "Fact": get_args(facts.Fact),
    "HistoryEntry": get_args(history.HistoryEntry),
    "ServerFrame": (stream.StreamHello, stream.EventsFrame, stream.NowFrame),
    "ClientFrame": (stream.Opening, stream.ViewFrame),
}


def definitions() -> dict[str, Schema]:
    """Every word by its name, in the order of the alphabet."""
    _, found = msgspec.json.schema_components([*SENT, *GOT], ref_template=REF + "{name}")
    for word in GOT:
        if not word.__struct_config__.omit_defaults:
            # The node writes all of its fields.
            found[word.__name__]["required"] = list(found[word.__name__]["properties"])
    unions = {name: _union(words) for name, words in UNIONS.items()}
    named = {json.dumps(union["anyOf"]): name for name, union in unions.items()}
    words = {name: _with_names(one, named) for name, one in found.items()}
    return dict(sorted({**words, **unions}.items()))


def _union(words: tuple[Any, ...]) -> Schema:
    return {"anyOf": [{"$ref": REF + word.__name__} for word in words]}


def _with_names(part: Any, named: Mapping[str, str]) -> Any:
    """The schema with named unions by their names, and descriptions on one line."""
    if isinstance(part, list):
        return [_with_names(one, named) for one in part]
    if not isinstance(part, dict):
        return part
    if name := named.get(json.dumps(part.get("anyOf"))):
        return {"$ref": REF + name}
    return {
        key: " ".join(value.split()) if key == "description" and isinstance(value, str) else _with_names(value, named)
        for key, value in part.items()
    }


def json_schema() -> str:
    """The page of all words as JSON Schema."""
    return _written(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": stream.PROTOCOL,
            "description": "All that travels between a farhand node and its clients. A field that has its default is "
            "left out. Written by scripts/schema.py from the code.",
            "$defs": definitions(),
        }
    )


def _written(page: Schema) -> str:
    return json.dumps(page, indent=2, ensure_ascii=False) + "\n"
