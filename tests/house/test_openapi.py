"""Whatever the document of the node's own API allows is answered as it says, with the node's key and a device's."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.house.workdir_client import hired_in, repository

from farhand.testing.house import SAFETY_SECONDS, House

pytestmark = pytest.mark.anyio
DOCUMENT = json.loads((Path(__file__).parents[2] / "docs" / "reference" / "openapi.json").read_text("utf-8"))
STREAMS = {"application/x-ndjson", "text/event-stream"}
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 6
OPERATIONS = [(method, path) for path, methods in DOCUMENT["paths"].items() for method in methods]


@pytest.fixture
async def keys(house: House, tmp_path: Path) -> list[str]:
    """The node's key and a device's, with a worker at work in a repository."""
    await hired_in(house, repository(tmp_path / "shop"))
    devices = house.node.devices
    assert devices is not None
    _, key = await devices.pair(devices.invite(read_only=False).code, "phone")
    return [house.node.settings.key.read_text(), key]


async def test_whatever_the_document_allows_is_answered_as_it_says(house: House, keys: list[str]) -> None:
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    schema.config.update(base_url=f"http://127.0.0.1:{house.node.port}")
    for method, path in OPERATIONS:
        await anyio.to_thread.run_sync(partial(_try_out, schema[path][method.upper()], keys))


def _try_out(operation: Any, keys: list[str]) -> None:
    streams = _streams(operation)

    @given(case=operation.as_strategy())
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    def answers(case: Any) -> None:
        for key in keys:
            _ask(case, key, streams=streams)
            if "worker" in (case.path_parameters or {}):
                case.path_parameters["worker"] = "ann"
                _ask(case, key, streams=streams)

    answers()


def _streams(operation: Any) -> bool:
    answers = DOCUMENT["paths"][operation.path][operation.method.lower()]["responses"]
    return not STREAMS.isdisjoint(answers.get("200", {}).get("content", {}))


def _ask(case: Any, key: str, *, streams: bool) -> None:
    if isinstance(case.body, dict) and case.body.get("verifier"):
        # A shell would run it.
        return
    headers = {"Authorization": f"Bearer {key}"}
    if not streams:
        case.call_and_validate(headers=headers, timeout=SAFETY_SECONDS, checks=CHECKS)
        return
    with requests.request(**case.as_transport_kwargs(headers=headers), stream=True, timeout=SAFETY_SECONDS) as answer:
        assert answer.status_code < 500, answer.text
