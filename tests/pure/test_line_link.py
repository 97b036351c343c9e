"""The end of an agent's life in the line protocol: whoever reads it knows that the turn is over, too."""

from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest

from farhand.core.admit import admit
from farhand.drivers.wires.acp.driver import errand_line
from farhand.drivers.wires.acp.schema import AcpAgent
from farhand.drivers.wires.holder.process import RELEASE_BYTES, HeldProcess, HolderCursor
from farhand.drivers.wires.lines.link import LineLink
from farhand.drivers.wires.lines.translate import to_line, translate
from farhand.model.facts import TurnEnded
from farhand.model.holder_ports import Exit, Fed
from farhand.model.present import Turn, Worker
from farhand.model.words import HowEnded

pytestmark = pytest.mark.anyio


class DeadChild:
    """A child that said nothing more and ended with code 3."""

    async def follow(self, offset: int) -> AsyncIterator[tuple[bytes, int]]:
        if offset < 0:
            yield b"", 0

    async def release(self, offset: int) -> None:
        """It said nothing."""

    async def feed(self, key: str, data: bytes) -> Fed:
        return Fed.NOT_TAKEN

    async def fed(self, key: str) -> Fed:
        return Fed.NOT_TAKEN

    async def signal(self, name: str) -> None:
        """It is gone."""

    async def end(self, grace_seconds: float = 5.0) -> None:
        """It is gone."""

    async def ended(self) -> Exit | None:
        return Exit(code=3)

    async def wait_exit(self) -> Exit:
        return Exit(code=3)


def line_link(wire: HeldProcess) -> LineLink:
    return LineLink(wire, to_line, translate, "It cannot.")


def acp_link(wire: HeldProcess) -> LineLink:
    return LineLink(wire, partial(errand_line, AcpAgent(backend="some", command=("some",))), translate, "It cannot.")


@pytest.mark.parametrize("made", [line_link, acp_link])
async def test_the_cursor_of_the_next_life_and_the_end_of_the_turn_are_one_batch(
    made: Callable[[HeldProcess], LineLink],
) -> None:
    link = made(HeldProcess(DeadChild(), HolderCursor(life=1, offset=7)))
    batches = [batch async for batch in link.facts()]
    assert [batch.cursor for batch in batches] == ["2:0"]
    worker = Worker(name="ann", since=1, backend="demo", directory="/")
    running = Worker(
        name="ann", since=1, backend="demo", directory="/", turn=Turn(id="t", seq=2, at=0.0, handed_over=True)
    )
    ended = [draft for draft in admit(running, batches[0].heard, 0.0) if isinstance(draft.fact, TurnEnded)]
    assert [(draft.turn, draft.fact.how) for draft in ended if isinstance(draft.fact, TurnEnded)] == [
        ("t", HowEnded.FAILED)
    ]
    assert not any(isinstance(draft.fact, TurnEnded) for draft in admit(worker, batches[0].heard, 0.0))


class Babbler(DeadChild):
    """A child that says much."""

    def __init__(self) -> None:
        self.released: list[int] = []

    async def follow(self, offset: int) -> AsyncIterator[tuple[bytes, int]]:
        line = b"x" * (RELEASE_BYTES // 2 - 1) + b"\n"
        for number in range(1, 5):
            yield line, offset + number * len(line)

    async def release(self, offset: int) -> None:
        self.released.append(offset)


async def test_room_is_given_back_only_for_what_was_written_down() -> None:
    child = Babbler()
    seen: list[list[int]] = []
    async for _lines, _cursor in HeldProcess(child, HolderCursor()).lines():
        # The lines in hand are not written down yet.
        seen.append(list(child.released))
    assert seen == [[], [], [RELEASE_BYTES], [RELEASE_BYTES]]
    assert child.released == [RELEASE_BYTES, 2 * RELEASE_BYTES]
