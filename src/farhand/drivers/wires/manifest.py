"""Reads the `manifest.toml` of a driver: everything about its CLI that is data."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

# What a manifest says, to be read only. A start asks for each several times, and parsing is what takes long.
parse_manifest = cache(tomllib.loads)


def read_manifest(package: str) -> dict[str, Any]:
    """The manifest of that package. It is ours and tested, so what is missing in it is a mistake of ours."""
    return parse_manifest(files(package).joinpath("manifest.toml").read_text("utf-8"))
