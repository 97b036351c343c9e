"""Foreign JSON read field by field: a field that is missing or of another kind costs that field only. Pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

import msgspec

# An object of JSON whose fields nobody has checked yet.
JsonObject: TypeAlias = dict[str, object]
_decode: Callable[[bytes | str], JsonObject] = msgspec.json.Decoder(dict).decode


class Fields:
    """A JSON object from outside. Every getter returns its kind, or that kind's empty value."""

    __slots__ = ("_fields",)

    def __init__(self, fields: object) -> None:
        self._fields: JsonObject = fields if type(fields) is dict else {}

    def text(self, name: str) -> str:
        """A string, or ''."""
        value = self._fields.get(name)
        return value if type(value) is str else ""

    def flag(self, name: str) -> bool:
        """True only for true."""
        return self._fields.get(name) is True

    def whole(self, name: str) -> int:
        """A whole number, or 0."""
        value = self._fields.get(name)
        return value if type(value) is int else 0

    def number(self, name: str) -> float | None:
        """A number, or None."""
        value = self._fields.get(name)
        return float(value) if type(value) is int or type(value) is float else None

    def written_at(self, name: str = "timestamp") -> float:
        """An ISO time, in seconds since 1970; 0 where there is none."""
        try:
            return datetime.fromisoformat(self.text(name)).timestamp()
        except (ValueError, OverflowError):
            return 0.0

    def fields(self, name: str) -> Fields:
        """An object, or an empty one."""
        return Fields(self._fields.get(name))

    def list(self, name: str) -> list[Fields]:
        """The objects of a list; what is no object is left out."""
        value = self._fields.get(name)
        return [Fields(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []

    def any(self, name: str) -> object:
        """Whatever is there."""
        return self._fields.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def __bool__(self) -> bool:
        return bool(self._fields)

    @property
    def plain(self) -> JsonObject:
        """The object as it came."""
        return self._fields


def parse(line: bytes | str) -> Fields | None:
    """One JSON object, or None when the line is none."""
    try:
        return Fields(_decode(line))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
