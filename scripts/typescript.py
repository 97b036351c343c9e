"""Writes the schema as TypeScript types, so that clients in a browser are checked against the words of the node."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.schema import REF, Schema, definitions

from farhand.model.phrases import PHRASES

_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
HEAD = """\
// All that travels between a node and its clients. Written by scripts/typescript.py from the schema, which is made from
// the words in src/farhand/model: change those, then run `make reference`.
// A field with `?` is left out when it has its default, which stands behind it.
"""


PHRASES_HEAD = """\
/**
 * What the node says by code: risks, choices, how far they reach, why an agent does not run. Written by
 * scripts/typescript.py from src/farhand/model/phrases.py: change that, then run `make reference`.
 */

import type { Sentence } from "../texts";

// biome-ignore format: written by a program
export const PHRASE_TEXTS = {
"""


def phrases() -> str:
    """The phrases of the node as a part of the app's table of texts."""
    lines = [f"  {code}: {json.dumps(PHRASES[code], ensure_ascii=False)},\n" for code in sorted(PHRASES)]
    return f"{PHRASES_HEAD}{''.join(lines)}}} as const satisfies Readonly<Record<string, Sentence>>;\n"


def types() -> str:
    """The module with all types."""
    parts = [HEAD, *(_definition(name, schema) for name, schema in definitions().items())]
    return "\n".join(parts)


def _definition(name: str, schema: Schema) -> str:
    head = f"/** {schema['description']} */\n" if "description" in schema else ""
    if "properties" not in schema:
        return f"{head}export type {name} = {type_of(schema)};\n"
    fields = "".join(f"  {line}\n" for line in _fields(schema))
    return f"{head}export interface {name} {{\n{fields}}}\n"


def _fields(schema: Schema) -> Iterator[str]:
    required: list[str] = schema.get("required", [])
    properties: Mapping[str, Schema] = schema["properties"]
    for name, part in properties.items():
        optional = "" if name in required else "?"
        default = f" // {json.dumps(part['default'], ensure_ascii=False)}" if optional and "default" in part else ""
        yield f"readonly {name}{optional}: {type_of(part)};{default}"


def type_of(schema: Schema) -> str:
    """One type as TypeScript writes it."""
    if ref := schema.get("$ref"):
        return str(ref).removeprefix(REF)
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(type_of(one) for one in schema["anyOf"]))
    match schema.get("type"):
        case "array":
            return f"readonly {_grouped(type_of(schema.get('items', {})))}[]"
        case "object":
            return f"Readonly<Record<string, {type_of(_values(schema))}>>"
        case str(kind):
            return _PLAIN[kind]
        case _:
            return "unknown"


def _values(schema: Schema) -> Schema:
    values: Any = schema.get("additionalProperties", {})
    return values if isinstance(values, dict) else {}


def _grouped(inner: str) -> str:
    return f"({inner})" if " " in inner else inner
