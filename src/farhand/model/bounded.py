"""Reads the body of a request piece by piece, and stops as soon as it is too large."""

from collections.abc import AsyncIterable

from farhand.model.errors import TooLarge


async def read_bounded(pieces: AsyncIterable[bytes], limit: int, what: str = "A request") -> bytes:
    """The whole of it; raises TooLarge, with `what` it is, at the first piece beyond the limit."""
    data = bytearray()
    async for piece in pieces:
        data += piece
        if len(data) > limit:
            raise TooLarge(what, limit)
    return bytes(data)
