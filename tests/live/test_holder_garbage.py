"""Whatever is written to a holder's socket gets a clear reply, and the holder lives."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some

from farhand.sandbox.holders import LocalHolders

SAFETY_SECONDS = 240
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner, max_size=3),
    max_leaves=8,
)
OPERATIONS = some.sampled_from(["follow", "feed", "fed", "status", "signal", "end", "nonsense", ""]) | VALUES
# 'name' and 'grace_seconds' are never right here: the holder must outlive the whole test.
FIELDS = {"op": OPERATIONS, "id": VALUES, "size": VALUES, "from": VALUES, "name": some.none() | some.integers()}
REQUESTS = some.fixed_dictionaries({}, optional=FIELDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A holder with a child that only swallows."""
    root = tmp_path_factory.mktemp("holders")
    holders = LocalHolders(root)
    argv = ["sh", "-c", "cat >/dev/null"]

    async def start() -> None:
        await holders.start("one", argv, cwd=root, environment={"PATH": os.environ["PATH"]})

    anyio.run(start)
    yield root / "one"
    anyio.run(holders.forget, "one")


def said(folder: Path, data: bytes) -> bytes:
    """Everything that the holder answers to these bytes and the end of them."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(SAFETY_SECONDS)
        descriptor = os.open(folder, os.O_RDONLY)
        client.connect(f"/proc/self/fd/{descriptor}/sock")
        os.close(descriptor)
        answer = b""
        try:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
        except BrokenPipeError:
            pass  # it has closed on us, with a word
        try:
            while chunk := client.recv(65536):
                answer += chunk
                if b'"following"' in answer:
                    break  # a follower is served until the child ends
        except ConnectionResetError:
            assert answer, "closed without a word"
    return answer


def is_well(folder: Path) -> bool:
    """Whether the holder still serves."""
    return bool(json.loads(said(folder, b'{"op": "status"}\n'))["status"]["alive"])


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=some.binary(max_size=2000))
@example(data=b"[" * 60_000 + b"\n")
@example(data=b"x" * 200_000)
@example(data=b'{"op": "feed", "id": "a", "size": 1000000}\nshort')
@example(data=b'{"op": "feed", "id": "a", "size": -1}\n')
@example(data=b'{"op": "feed", "id": "a", "size": 1e400}\n')
@example(data=b'\xff\xfe{"op": "status"}\n')
@example(data=b'{"op": "status"}\n' * 2000)
def test_any_bytes(folder: Path, data: bytes) -> None:
    for line in said(folder, data).splitlines():
        assert isinstance(json.loads(line), dict)
    assert is_well(folder)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(request=REQUESTS, data=some.binary(max_size=100))
def test_any_request(folder: Path, request: dict[str, Any], data: bytes) -> None:
    answer = said(folder, json.dumps(request).encode() + b"\n" + data)
    known = {"error", "reply", "status"}
    for line in answer.splitlines()[:1]:
        assert known & set(json.loads(line))
    size = request.get("size", 0)
    waits_for_data = isinstance(size, int) and len(data) < size <= 64 * 1024 * 1024
    assert answer or waits_for_data
    assert is_well(folder)
