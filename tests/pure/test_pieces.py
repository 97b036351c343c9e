"""Answers in pieces: whole, small enough to wait for whoever reads slowly, and one copy for all of them."""

import pytest
from starlette.types import Message

from farhand.server.pieces import PIECE_BYTES, PiecedResponse

pytestmark = pytest.mark.anyio


async def _sent(response: PiecedResponse) -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("nothing is asked")

    await response({"type": "http"}, receive, send)
    return sent


@pytest.mark.parametrize("length", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 5 * PIECE_BYTES + 7])
async def test_an_answer_is_whole_in_small_pieces(length: int) -> None:
    content = bytes(number % 251 for number in range(length))
    start, *pieces = await _sent(PiecedResponse(content, headers={"x": "y"}))
    assert (start["status"], dict(start["headers"])[b"content-length"]) == (200, str(length).encode())
    assert b"".join(piece["body"] for piece in pieces) == content
    assert max(len(piece["body"]) for piece in pieces) <= PIECE_BYTES
    assert [piece["more_body"] for piece in pieces] == [True] * (len(pieces) - 1) + [False]


async def test_all_answers_share_one_copy() -> None:
    content = b"x" * 1000
    assert PiecedResponse(content).body is content
