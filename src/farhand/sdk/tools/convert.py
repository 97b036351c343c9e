"""Turns the JSON that a model sent into the Python values a function asked for, or says what is wrong with it."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

from farhand.sdk.json_shapes import is_mapping, is_sequence
from farhand.sdk.tools.schema import choice_of, fields_of, is_typeddict


class BadArgument(ValueError):
    """An argument of the wrong shape. The sentence is written for the model that sent it."""


def convert(annotation: Any, value: Any, where: str) -> Any:
    """The value as its type wants it. `where` names the argument in the sentence of a BadArgument."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Annotated, Required, NotRequired):
        return convert(arguments[0], value, where)
    if (supertype := getattr(annotation, "__supertype__", None)) is not None:
        return convert(supertype, value, where)
    if annotation in (Any, object):
        return value
    if annotation is None:
        annotation = types.NoneType
    if origin is Literal:
        return _literal(arguments, value, where)
    if origin in (Union, types.UnionType):
        return _union(arguments, value, where)
    return _typed(annotation, origin or annotation, arguments, value, where)


def _typed(annotation: Any, origin: Any, arguments: tuple[Any, ...], value: Any, where: str) -> Any:
    if (scalar := _SCALARS.get(origin)) is not None:
        return scalar(value, where)
    if origin is tuple:
        return _tuple(arguments, value, where)
    if origin in (list, set, frozenset, Sequence, typing.Iterable):
        items: Any = [
            convert(arguments[0] if arguments else Any, item, f"{where}[{index}]")
            for index, item in _list(value, where)
        ]
        made: Any = origin if origin in (set, frozenset) else list
        return made(items)
    if origin in (dict, Mapping):
        item = arguments[1] if arguments else Any
        return {key: convert(item, inner, f"{where}.{key}") for key, inner in _object(value, where).items()}
    return _class(annotation, value, where)


def _class(kind: Any, value: Any, where: str) -> Any:
    if issubclass(kind, enum.Enum):
        choices = {choice_of(member): member for member in kind}
        return choices[_literal(tuple(choices), value, where)]
    if issubclass(kind, PurePath):
        return kind(_text(value, where))
    if hasattr(kind, "model_validate"):
        return _pydantic(kind, value, where)
    if dataclasses.is_dataclass(kind) or is_typeddict(kind):
        return _record(kind, value, where)
    raise BadArgument(f"{where} cannot be read as {kind.__name__}.")


def _record(kind: Any, value: Any, where: str) -> Any:
    given = _object(value, where)
    fields = {field.name: field for field in fields_of(kind)}
    if unknown := [name for name in given if name not in fields]:
        raise BadArgument(f"{where} has no field {unknown[0]!r}; it has {_listed(fields)}.")
    if missing := [name for name, field in fields.items() if field.required and name not in given]:
        raise BadArgument(f"{where}.{missing[0]} is missing.")
    values = {name: convert(fields[name].annotation, inner, f"{where}.{name}") for name, inner in given.items()}
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise BadArgument(f"{where} is refused: {error}") from error


def _pydantic(kind: Any, value: Any, where: str) -> Any:
    try:
        return kind.model_validate(value)
    except ValueError as error:
        raise BadArgument(f"{where} is refused: {error}") from error


def _literal(choices: tuple[Any, ...], value: Any, where: str) -> Any:
    for choice in choices:
        # True == 1 in Python, and not in JSON.
        if choice == value and isinstance(choice, bool) == isinstance(value, bool):
            return choice
    raise BadArgument(f"{where} should be one of {_listed(choices)}, and is {_shown(value)}.")


def _union(options: tuple[Any, ...], value: Any, where: str) -> Any:
    complaints: list[str] = []
    # An exact match goes first, so that 3 stays an int in `float | int`.
    for option in sorted(options, key=lambda option: option is not type(value)):
        try:
            return convert(option, value, where)
        except BadArgument as error:
            if option is not types.NoneType:
                complaints.append(str(error))
    raise BadArgument(" Or: ".join(complaints) or f"{where} should be null.")


def _tuple(arguments: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    items = _list(value, where)
    if not arguments:
        return tuple(item for _, item in items)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(convert(arguments[0], item, f"{where}[{index}]") for index, item in items)
    if len(items) != len(arguments):
        raise BadArgument(f"{where} should have {len(arguments)} items, and has {len(items)}.")
    return tuple(convert(kind, item, f"{where}[{index}]") for kind, (index, item) in zip(arguments, items, strict=True))


def _list(value: Any, where: str) -> list[tuple[int, Any]]:
    if not is_sequence(value):
        raise BadArgument(f"{where} should be a list, and is {_shown(value)}.")
    return list(enumerate(value))


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not is_mapping(value):
        raise BadArgument(f"{where} should be an object, and is {_shown(value)}.")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise BadArgument(f"{where} should be a string, and is {_shown(value)}.")
    return value


def _boolean(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise BadArgument(f"{where} should be true or false, and is {_shown(value)}.")
    return value


def _integer(value: Any, where: str) -> int:
    # Models write 3 as 3.0 now and then.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadArgument(f"{where} should be a whole number, and is {_shown(value)}.")
    return value


def _number(value: Any, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise BadArgument(f"{where} should be a number, and is {_shown(value)}.")
    return float(value)


def _null(value: Any, where: str) -> None:
    if value is not None:
        raise BadArgument(f"{where} should be null, and is {_shown(value)}.")


_SCALARS: dict[Any, Callable[[Any, str], Any]] = {
    str: _text,
    bool: _boolean,
    int: _integer,
    float: _number,
    types.NoneType: _null,
}


def _listed(choices: Any) -> str:
    return ", ".join(repr(choice) for choice in choices)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
