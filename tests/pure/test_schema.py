"""The schema: every word that travels is in it, TypeScript says the same, and every route for devices is told."""

import json
from typing import get_args

import msgspec
from scripts import check_docs, openapi, schema, typescript

from farhand.model import commands, facts, stream
from farhand.model.stream import EventsFrame, NowFrame, ViewFrame

# For the hooks of agents on the node's machine.
NOT_FOR_DEVICES = "/api/hooks/"
# OpenAPI has no words for it; docs/reference/wire.md says what it brings.
WEB_SOCKET = "GET /api/hub/socket"


def test_every_command_and_fact_is_in_it_by_its_tag() -> None:
    defined = schema.definitions()
    for word in (*get_args(facts.Fact), *get_args(commands.Command)):
        tag = defined[word.__name__]["properties"]["type"]
        assert tag == {"enum": [word.__struct_config__.tag]}
        assert "type" in defined[word.__name__]["required"]


def test_no_reference_leads_nowhere() -> None:
    defined = schema.definitions()
    written = json.dumps(defined)
    referred = {part.partition('"')[0] for part in written.split(schema.REF)[1:]}
    assert referred <= set(defined)


def test_unions_are_named_where_they_stand() -> None:
    defined = schema.definitions()
    assert defined["Event"]["properties"]["fact"] == {"$ref": "#/$defs/Fact"}
    assert len(defined["Fact"]["anyOf"]) == len(get_args(facts.Fact))


def test_typescript_has_literals_optional_fields_and_their_defaults() -> None:
    written = typescript.types()
    assert 'readonly type: "hired";' in written
    assert 'readonly mode?: Mode; // "default"' in written
    assert "readonly text: string;" in written
    assert "readonly entries?: readonly HistoryEntry[]; // []" in written
    assert "readonly workers?: Readonly<Record<string, Worker>>; // {}" in written
    assert "export type ServerFrame = StreamHello | EventsFrame | NowFrame;" in written


def test_what_a_node_always_writes_is_no_option() -> None:
    hello = schema.definitions()["StreamHello"]
    assert set(hello["required"]) == {"hello", "journal", "first", "seq", "resume", "build"}


def test_frames_are_what_the_schema_says() -> None:
    event = facts.Event(seq=7, at=1.0, worker="ann", fact=facts.Noted(text="x"))
    ((frame, seq),) = stream.event_frames([msgspec.json.encode(event)])
    assert (msgspec.json.decode(frame, type=EventsFrame), seq) == (EventsFrame(events=(event,)), 7)
    assert msgspec.json.decode(stream.now_frame(2.0), type=NowFrame).now.at == 2.0
    assert msgspec.json.decode(b'{"view": {"worker": "ann"}}', type=ViewFrame).view.visible


def test_every_route_for_devices_is_told_and_no_other() -> None:
    told = {f"{one.method.upper()} {one.path}" for one in openapi.OPERATIONS}
    served = {one for one in check_docs.routes_served() if one.partition(" ")[2].startswith("/api/")}
    served = {one for one in served if not one.partition(" ")[2].startswith(NOT_FOR_DEVICES)} - {WEB_SOCKET}
    assert served <= told
    assert {one.partition(" ")[2] for one in told} == {one.partition(" ")[2] for one in served}
