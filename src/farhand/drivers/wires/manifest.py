"""Reads the `manifest.toml` of a driver: everything about its CLI that is data."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def read_manifest(package: str) -> dict[str, Any]:
    """The manifest of that package. It is ours and tested, so what is missing in it is a mistake of ours."""
    return tomllib.loads(files(package).joinpath("manifest.toml").read_text("utf-8"))
