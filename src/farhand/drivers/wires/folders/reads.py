"""What agents read in the folder that they work in, as the manifests of their drivers say."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from itertools import chain

import msgspec

from farhand.drivers.wires.folders.find import FolderReads

_DRIVERS = "farhand.drivers"


def reads_of(manifest: Mapping[str, object]) -> FolderReads:
    """What the agent with that manifest reads; nothing where it does not say."""
    return msgspec.convert(manifest.get("folder", {}), FolderReads)


def reads_of_every_driver() -> FolderReads:
    """What any agent reads, for one of which nobody knows what it is; none of it is known as harmless."""
    manifests = (entry.joinpath("manifest.toml") for entry in files(_DRIVERS).iterdir() if entry.is_dir())
    every = [reads_of(tomllib.loads(one.read_text("utf-8"))) for one in manifests if one.is_file()]
    settings = dict.fromkeys(chain.from_iterable(one.settings for one in every))
    code = dict.fromkeys(chain.from_iterable(one.code for one in every))
    below = dict.fromkeys(chain.from_iterable(one.below for one in every))
    return FolderReads(settings=tuple(settings), code=tuple(code), below=tuple(below))
