"""Narrows JSON that came from elsewhere: whether a value is an object or a list, told to the type checkers, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeIs


def is_object(value: object) -> TypeIs[dict[str, Any]]:
    """Whether it is a JSON object."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeIs[Mapping[str, Any]]:
    """Whether it is a JSON object, or something that can be read as one."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeIs[list[Any]]:
    """Whether it is a JSON list."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeIs[list[Any] | tuple[Any, ...]]:
    """Whether it is a list or a tuple."""
    return isinstance(value, list | tuple)


def object_or_empty(value: object) -> dict[str, Any]:
    """The JSON object that it is, or an empty one."""
    return value if is_object(value) else {}


def list_or_empty(value: object) -> Sequence[Any]:
    """The JSON list that it is, or an empty one."""
    return value if is_list(value) else ()
