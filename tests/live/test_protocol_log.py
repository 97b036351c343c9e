"""An agent without a terminal has its wire to look at: its last lines, then every new one; nothing there is obeyed."""

import base64
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from farhand.model.errors import CannotDo
from farhand.model.known_secrets import KnownSecrets
from farhand.model.panes import PaneInput, PanePiece
from farhand.model.present import Worker
from farhand.model.words import Mode
from farhand.sandbox.holders import LocalHolders
from farhand.sandbox.protocol_log import GOT, LONGEST_LINE, SENT, ProtocolLogs, log_line
from farhand.testing.house import SAFETY_SECONDS

pytestmark = pytest.mark.anyio
ECHO = """
import sys
for number in range(3000):
    print('{"line": %d}' % number)
sys.stdout.flush()
for line in sys.stdin:
    print(line, end="", flush=True)
"""


def worker(name: str, since: int) -> Worker:
    return Worker(name=name, since=since, backend="demo", directory="/", mode=Mode.DEFAULT)


@pytest.fixture
async def holders(tmp_path: Path) -> AsyncIterator[LocalHolders]:
    made = LocalHolders(tmp_path / "holders")
    yield made
    for name in await made.names():
        await made.forget(name)


async def _until(pieces: AsyncIterator[PanePiece], wanted: str) -> str:
    seen = ""
    with anyio.fail_after(SAFETY_SECONDS):
        async for piece in pieces:
            seen += base64.b64decode(piece.data).decode()
            if wanted in seen:
                return seen
    raise AssertionError(seen)


async def test_the_last_lines_then_every_new_one(holders: LocalHolders, tmp_path: Path) -> None:
    logs = ProtocolLogs(holders)
    for name in ("ann-1.1", "ann-1.2", "ann-1-5.1"):
        async with await holders.start(name, [sys.executable, "-c", ECHO], cwd=tmp_path, environment={}) as held:
            await held.feed("who", f'{{"who": "{name}"}}\n'.encode())
    async with logs.watched(worker("ann", 1)) as pieces:
        first = await anext(pieces)
        assert (first.reset, first.columns, first.rows) == (True, 100, 40)
        seen = await _until(pieces, '{"who": "ann-1.2"}')
        assert '{"line": 2999}' in seen
        assert '{"line": 0}' not in seen
        found = await holders.attach("ann-1.2")
        assert found is not None
        async with found as held:
            await held.feed("evil", b'\x1b]0;owned\x07{"text": "\x1b[2J gone"}\n')
        evil = await _until(pieces, 'gone"}\r\n← ')
        assert "\x1b" not in evil
    with pytest.raises(CannotDo, match="takes no keys"):
        await logs.type(worker("ann", 1), PaneInput(text="x"))
    with pytest.raises(CannotDo, match="neither a terminal nor a log"):
        async with logs.watched(worker("bob", 9)):
            pass


async def test_both_directions_are_shown_in_order_without_secrets(holders: LocalHolders, tmp_path: Path) -> None:
    logs = ProtocolLogs(holders, lambda: KnownSecrets({"sesame-12345": "the node's key"}))
    echo = await holders.start("ann-1.1", [sys.executable, "-c", ECHO], cwd=tmp_path, environment={})
    async with echo as held, logs.watched(worker("ann", 1)) as pieces:
        await _until(pieces, '← {"line": 2999}\r\n')
        await held.feed("one", b'{"say": "hello"}\n')
        said = await _until(pieces, '← {"say": "hello"}\r\n')
        assert said == '→ {"say": "hello"}\r\n← {"say": "hello"}\r\n'
        await held.feed("two", b'{"say": "sesame-12345"}\n')
        hidden = "(the node's key is not shown)"
        assert await _until(pieces, f"← {hidden}") == f"→ {hidden}\r\n← {hidden}\r\n"


def test_a_line_is_cut_and_one_of_nothing_is_left_out() -> None:
    assert log_line(b"", GOT) == b""
    assert log_line(b"x" * 9000, GOT) == f"← {'x' * LONGEST_LINE}…\r\n".encode()
    assert log_line(b"\xff\xfe ok\r", SENT) == "→ \ufffd\ufffd ok\r\n".encode()
