"""Every route of the API with garbage in every place: it is refused in a sentence, and never breaks or hangs."""

import itertools
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from scripts.openapi import OPERATIONS, Operation
from tests.house.workdir_client import hired_in, repository

from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio
TEXTS = [
    "", " ", "ann", "nobody", "..", "../../etc/passwd", "/etc/passwd", "\0", "a\r\nX: y",
    "-1", "0", "7", "9" * 30, "1e9", "NaN",
    "--help", "--output=x", "HEAD", "HEAD~1", "0000", "ü", "\u202e", "%", "%00", "%2e%2e",
    "\ud7ff", "'\"`$(id)", "*", ":(glob)**",
    "x" * 5000, "null", "true", "{}", "a.txt", ".git/config", "sub",
]  # fmt: skip
STRINGS = (b"into", b"type", b"code", b"endpoint", b"ask", b"id", b"text", b"credential", b"channel", b"journal")
BODIES: list[bytes] = [
    b"", b"{", b"null", b"[]", b"7", b'"x"', b"\xff\xfe", b"{}", b'{"type": "say"}', b'{"type": "nothing", "id": "x"}',
    b'{"code": 7}', b'{"view": 7}', b'{"resume": {"journal": "", "after": -1}}', b"[" * 100_000,
    b'{"id":"' + b"x" * 9000,
    # Inside a string that a word has, and beside it: what is no UTF-8, half of a pair, and a depth that no stack has.
    *(b'{"%s":"\xff"}' % name for name in STRINGS),
    b'{"into":"\\ud800"}', b'{"nothing":' + b"[" * 100_000, b'{"into":' + b'{"a":' * 100_000,
    json.dumps({"id": "\0" * 8, "worker": "ann", "name": "", "size": 10**30}).encode(),
    json.dumps({"type": "say", "id": "x", "text": "y", "worker": {"a": 1}}).encode(),
]  # fmt: skip


def _requests(one: Operation) -> list[tuple[str, dict[str, str], bytes]]:
    """Paths, queries and bodies for a route, each place with each piece of garbage once."""
    names = [part[1:-1] for part in one.path.split("/") if part.startswith("{")]
    usual = {"worker": "ann", "device": "nobody", "upload": "12345678"}
    usual |= {"backend": "scripted", "session": "abcd", "passkey": "abcd"}
    paths = [_filled(one.path, {**usual, name: text}) for name in names for text in TEXTS if text]
    plain = _filled(one.path, usual)
    queries = [{query.name: text} for query in one.query for text in TEXTS]
    pairs = [{a.name: "a.txt", b.name: text} for a, b in itertools.permutations(one.query, 2) for text in TEXTS[:8]]
    made: list[tuple[str, dict[str, str], bytes]] = [(path, {}, b"") for path in paths] + [
        (plain, query, b"") for query in [*queries, *pairs, {}]
    ]
    return made + [(plain, {}, body) for body in (BODIES if one.takes is not None else [])]


def _filled(path: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return path


@pytest.mark.parametrize("one", OPERATIONS, ids=lambda one: f"{one.method} {one.path}")
async def test_garbage_is_refused_and_breaks_nothing(house: House, tmp_path: Path, one: Operation) -> None:
    await hired_in(house, repository(tmp_path / "project"))
    devices = house.node.devices
    assert devices is not None
    # Some routes are for devices alone.
    _, key = await devices.pair(devices.invite().code, "phone")
    headers = {"Authorization": f"Bearer {key}"}
    address = f"http://127.0.0.1:{house.node.port}"
    async with local_client(base_url=address, headers=headers, timeout=SAFETY_SECONDS) as client:
        for path, query, body in _requests(one):
            with anyio.fail_after(SAFETY_SECONDS):
                async with client.stream(one.method, path, params=query, content=body) as answer:
                    # A stream has no end.
                    read: Any = b"" if answer.status_code == 200 and one.streams else await answer.aread()
            assert answer.status_code < 500, (path, query, body[:80], read)
            if answer.status_code not in (200, 204, 404, 405):
                assert json.loads(read)["error"]["text"], (path, query, body[:80])
        assert (await client.get("/healthz")).json()["ok"] is True
