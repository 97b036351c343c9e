"""Bodies of requests as words: whatever is wrong with one is refused in a sentence, and breaks nothing."""

from typing import TypeVar

import msgspec

from farhand.model.errors import BadInput

T = TypeVar("T")


def read_json(data: bytes, kind: type[T], wrong: str) -> T:
    """The word that a body is; BadInput, which begins with `wrong`, for one that is none."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{wrong}: {error}") from None
