"""An answer that the agent had before its turn ended is not called undelivered when it is brought once more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from farhand.drivers.claude.headless.link import ClaudeHeadlessLink
from farhand.drivers.claude.headless.state import ClaudeStreamCursor
from farhand.drivers.codex.headless.link import CodexHeadlessLink
from farhand.drivers.codex.headless.state import CodexHeadlessCursor, CodexServerState
from farhand.drivers.codex.headless.translate import OPEN
from farhand.drivers.wires.asks.answers import PartAnswers
from farhand.drivers.wires.asks.build import GONE
from farhand.drivers.wires.holder.process import HeldProcess, HolderCursor
from farhand.drivers.wires.tmux.delivered_log import DeliveredLog
from farhand.model.facts import AskSettled
from farhand.model.holder_ports import Exit, Fed
from farhand.model.ports import Link, NotTaken, Settle, Taken
from farhand.model.present import Ask
from farhand.model.words import Choice, HowSettled

pytestmark = pytest.mark.anyio


class FedChild:
    """A child whose input has had these keys; it says nothing."""

    def __init__(self, *keys: str) -> None:
        self._keys = keys
        self.asked: list[str] = []

    async def follow(self, offset: int) -> AsyncIterator[tuple[bytes, int]]:
        if offset < 0:
            yield b"", 0

    async def release(self, offset: int) -> None:
        """It said nothing."""

    async def feed(self, key: str, data: bytes) -> Fed:
        raise AssertionError(f"{key} was fed again: {data!r}")

    async def fed(self, key: str) -> Fed:
        return Fed.TAKEN if key in self._keys else Fed.NOT_TAKEN

    async def signal(self, name: str) -> None:
        """It does not care."""

    async def end(self, grace_seconds: float = 5.0) -> None:
        """It does not care."""

    async def ended(self) -> Exit | None:
        return None

    async def wait_exit(self) -> Exit:
        return Exit(code=0)


def link_to(backend: str, child: FedChild, folder: Path) -> Link:
    process, answers = HeldProcess(child, HolderCursor()), PartAnswers(folder / "picks")
    if backend == "codex":
        opened = CodexHeadlessCursor(state=CodexServerState(answered={OPEN: ""}))
        return CodexHeadlessLink(process, opened, {}, 60.0, answers)
    return ClaudeHeadlessLink(process, ClaudeStreamCursor(), 60.0, [], DeliveredLog(folder / "handed"), answers)


def settle() -> Settle:
    settled = AskSettled(ask="a", how=HowSettled.ANSWERED, choice="allow")
    choices = (Choice(id="allow", label="Yes"), Choice(id="deny", label="No", allows=False))
    return Settle(ask=Ask(id="a", worker="ann", turn="t", seq=1, question="?", choices=choices, settled=settled))


@pytest.mark.parametrize(("backend", "key"), [("claude", "answer-a"), ("codex", "answer a")])
async def test_an_answer_that_was_fed_is_taken_though_nobody_waits_for_it(
    tmp_path: Path, backend: str, key: str
) -> None:
    assert await link_to(backend, FedChild(key), tmp_path).perform(settle()) == Taken()


@pytest.mark.parametrize("backend", ["claude", "codex"])
async def test_an_answer_that_was_not_fed_and_that_nobody_waits_for_is_not_taken(tmp_path: Path, backend: str) -> None:
    assert await link_to(backend, FedChild("answer-b"), tmp_path).perform(settle()) == NotTaken(why=GONE)
