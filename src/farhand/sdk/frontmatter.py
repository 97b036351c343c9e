"""Reads Markdown files with a YAML head: skills and subagents are written so."""

from __future__ import annotations

import re
from typing import Any

from farhand.sdk.errors import SdkError
from farhand.sdk.json_shapes import is_object

_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)(.*)", re.DOTALL)
_PAIR = re.compile(r"(?m)^([A-Za-z_][\w-]*):[ \t]*(.*)$")


class BadHead(SdkError):
    """A file whose head cannot be read."""

    kind = "frontmatter"


def read_head(text: str) -> tuple[dict[str, Any], str]:
    """The head as a mapping, and the body after it."""
    match = _HEAD.match(text)
    if match is None:
        raise BadHead("it does not begin with a head between two lines of ---.")
    return _mapping(match[1]), match[2].strip()


def _mapping(head: str) -> dict[str, Any]:
    import yaml

    try:
        found = yaml.safe_load(head)
    except yaml.YAMLError as error:
        # `description: Use when: …` is no YAML, and often written.
        simple: dict[str, Any] = {key: value.strip().strip("\"'") for key, value in _PAIR.findall(head)}
        if not simple:
            raise BadHead(f"its head is no YAML: {error}".replace("\n", " ")) from error
        return simple
    if not is_object(found):
        raise BadHead("its head holds no names with values.")
    return {str(key): value for key, value in found.items()}
