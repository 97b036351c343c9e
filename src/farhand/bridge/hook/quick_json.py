"""Reads and writes JSON as the `json` package does, by the parts of it that are in C: to load all of it takes longer
than everything else that a hook does.

A copy of this module runs inside an agent CLI's hooks: it imports the standard library alone.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Writer = Callable[[object], str]

_BLANKS = " \t\n\r"


class _Reading:
    """How the scanner in C is to read: its own defaults."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(text: str) -> object:
    """The value that a text stands for. Raises ValueError, and RecursionError where it is too deep."""
    text = text.strip(_BLANKS)
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("there is no JSON in it") from None
    except SystemError:
        # The scanner's own error stands in the package that is not loaded; that one says what is wrong.
        import json

        return json.loads(text)
    if end != len(text):
        raise ValueError("there is something behind the JSON in it")
    return value


def dumps(value: object, *, ascii_only: bool = True) -> str:
    """The text for a value of lists, objects and what stands in them."""
    return _ascii(value) if ascii_only else _unicode(value)


def _unknown(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is nothing that JSON has")


try:
    from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner

    _scan = make_scanner(_Reading)  # type: ignore[arg-type]

    def _writer(quoted: Callable[[str], str]) -> Writer:
        write = make_encoder(None, _unknown, quoted, None, ": ", ", ", False, False, True)
        return lambda value: "".join(write(value, 0))

    _ascii, _unicode = _writer(encode_basestring_ascii), _writer(encode_basestring)
except (ImportError, TypeError):
    # Another Python's insides.
    import json

    _scan = json.JSONDecoder().raw_decode  # type: ignore[assignment]
    _ascii = json.dumps

    def _unicode(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)
