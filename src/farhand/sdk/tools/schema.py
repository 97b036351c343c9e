"""Writes the JSON schema of a Python type. Pure: types in, schema out."""

from __future__ import annotations

import dataclasses
import enum
import json
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from farhand.sdk.errors import SdkError
from farhand.sdk.json_shapes import is_mapping

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    types.NoneType: {"type": "null"},
    Any: {},
    object: {},
    list: {"type": "array", "items": {}},
    tuple: {"type": "array", "items": {}},
    set: {"type": "array", "items": {}, "uniqueItems": True},
    dict: {"type": "object"},
}
_SEQUENCES = (list, Sequence, typing.Iterable, set, frozenset)
_MAPPINGS = (dict, Mapping)


class ToolDefinitionError(SdkError, TypeError):
    """A tool whose signature cannot be told to a model. It names the tool, the parameter and what would have worked."""

    kind = "tool_definition"


class Schemas:
    """Writes schemas for one tool; types that contain themselves become `$defs`."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._open: list[Any] = []
        self._recursive: set[str] = set()

    def of(self, annotation: Any) -> Schema:
        """The schema of one type. Raises ToolDefinitionError for a type that JSON cannot carry."""
        if get_origin(annotation) is Annotated:
            inner, *notes = get_args(annotation)
            return self.of(inner) | described(notes)
        if get_origin(annotation) in (Required, NotRequired):
            return self.of(get_args(annotation)[0])
        if (supertype := getattr(annotation, "__supertype__", None)) is not None:
            return self.of(supertype)
        try:
            plain = _PLAIN.get(annotation)
        except TypeError:
            plain = None
        return dict(plain) if plain is not None else self._composed(annotation)

    def _composed(self, annotation: Any) -> Schema:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Literal:
            return _one_of(list(arguments))
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.of(option) for option in arguments]}
        if origin is tuple:
            return self._tuple(arguments)
        if origin is not None and origin in _SEQUENCES:
            unique = {"uniqueItems": True} if origin in (set, frozenset) else {}
            return {"type": "array", "items": self.of(arguments[0]), **unique}
        if origin is not None and origin in _MAPPINGS:
            return self._mapping(annotation, arguments)
        if isinstance(annotation, type):
            return self._class(annotation)
        raise ToolDefinitionError(f"{annotation!r} has no JSON form; {_ALLOWED}")

    def _tuple(self, arguments: tuple[Any, ...]) -> Schema:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"type": "array", "items": self.of(arguments[0])}
        items = [self.of(item) for item in arguments]
        different = [item for index, item in enumerate(items) if item not in items[:index]]
        inner = different[0] if len(different) == 1 else {"anyOf": different}
        return {"type": "array", "items": inner, "minItems": len(items), "maxItems": len(items)}

    def _mapping(self, annotation: Any, arguments: tuple[Any, ...]) -> Schema:
        if arguments[0] is not str:
            raise ToolDefinitionError(f"{annotation!r} cannot be JSON: the keys of an object are strings")
        return {"type": "object", "additionalProperties": self.of(arguments[1])}

    def _class(self, kind: type[Any]) -> Schema:
        if issubclass(kind, enum.Enum):
            return _one_of([choice_of(member) for member in kind])
        if issubclass(kind, PurePath):
            return {"type": "string"}
        if hasattr(kind, "model_json_schema") and hasattr(kind, "model_validate"):
            return self._pydantic(kind)
        if dataclasses.is_dataclass(kind) or is_typeddict(kind):
            return self._record(kind)
        raise ToolDefinitionError(f"{kind.__name__} has no JSON form; {_ALLOWED}")

    def _pydantic(self, kind: Any) -> Schema:
        schema: Schema = kind.model_json_schema()
        self.definitions.update(schema.pop("$defs", {}))
        return schema

    def _record(self, kind: type[Any]) -> Schema:
        name = kind.__name__
        if kind in self._open:
            self._recursive.add(name)
            return {"$ref": f"#/$defs/{name}"}
        self._open.append(kind)
        try:
            schema = self._fields(kind)
        finally:
            self._open.pop()
        if name in self._recursive:
            self.definitions[name] = schema
            return {"$ref": f"#/$defs/{name}"}
        return schema

    def _fields(self, kind: type[Any]) -> Schema:
        properties: dict[str, Any] = {}
        required: list[str] = []
        for field in fields_of(kind):
            properties[field.name] = self.of(field.annotation) | default_of(field.default)
            if field.required:
                required.append(field.name)
        schema: Schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        own_words = (kind.__doc__ or "").strip()
        # A dataclass without a docstring gets its signature as one.
        if own_words and not own_words.startswith(f"{kind.__name__}(") and not own_words.startswith("dict("):
            schema["description"] = own_words
        return schema


_ALLOWED = (
    "use str, int, float, bool, None, list, dict[str, ...], Literal, an Enum, a dataclass, a TypedDict "
    "or a pydantic model"
)


class Field(typing.NamedTuple):
    """One field of a dataclass or TypedDict."""

    name: str
    annotation: Any
    required: bool
    default: Any


MISSING: Any = dataclasses.MISSING


def fields_of(kind: type[Any]) -> list[Field]:
    """The fields that a caller may give, in order."""
    hints = get_type_hints(kind, include_extras=True)
    if not dataclasses.is_dataclass(kind):
        needed: frozenset[str] = getattr(kind, "__required_keys__", frozenset())
        # Where annotations are strings, Python counts a NotRequired key as required.
        return [
            Field(name, hint, name in needed and get_origin(hint) is not NotRequired, MISSING)
            for name, hint in hints.items()
        ]
    return [
        Field(
            field.name,
            hints[field.name],
            field.default is MISSING and field.default_factory is MISSING,
            field.default,
        )
        for field in dataclasses.fields(kind)
        if field.init
    ]


def is_typeddict(kind: Any) -> bool:
    """Whether a class is a TypedDict, of `typing` or of a backport."""
    return isinstance(kind, type) and hasattr(kind, "__required_keys__") and hasattr(kind, "__total__")


def choice_of(member: enum.Enum) -> Any:
    """What stands for an enum's member in JSON: its value when that is a word or a number, its name otherwise."""
    return member.value if isinstance(member.value, str | int) else member.name


def default_of(default: Any) -> Schema:
    """`{"default": …}` when there is one that JSON can carry."""
    if isinstance(default, enum.Enum):
        default = choice_of(default)
    if default is MISSING or default is None:
        return {}
    try:
        json.dumps(default)
    except (TypeError, ValueError):
        return {}
    return {"default": default}


def described(notes: Sequence[Any]) -> Schema:
    """What the notes of `Annotated` add: a string is the description, a mapping is more schema."""
    found: Schema = {}
    for note in notes:
        text = note if isinstance(note, str) else getattr(note, "description", getattr(note, "documentation", None))
        if is_mapping(note):
            found |= note
        elif isinstance(text, str):
            found["description"] = text
    return found


def _one_of(choices: list[Any]) -> Schema:
    kinds: set[type[Any]] = {type(choice) for choice in choices}
    kind = _PLAIN.get(kinds.pop(), {}) if len(kinds) == 1 else {}
    return {**kind, "enum": choices}
