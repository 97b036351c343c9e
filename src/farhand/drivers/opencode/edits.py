"""Whether an edit that OpenCode asks leave for is one that the mode `auto_edit` allows: it looks where a path leads."""

from __future__ import annotations

import os
from pathlib import Path

from farhand.drivers.opencode.schema import OpenCodePermission
from farhand.drivers.wires.foreign_json import Fields
from farhand.sdk.policies.protected_paths import edit_risk

# What a patch says of each of its files: where it is, and where it is moved to.
PATHS_OF_A_FILE = ("filePath", "movePath")


def stays_inside(wanted: OpenCodePermission, directory: str) -> bool:
    """Whether all that the edit changes lies in the folder, links resolved, and configures no tool.

    OpenCode itself goes by how a path is written, and writes where a link of the repository leads.
    """
    if wanted.permission != "edit" or not directory:
        return False
    paths = _paths(wanted)
    return bool(paths) and len(paths) >= len(wanted.patterns) and all(_is_plain(one, directory) for one in paths)


def _paths(wanted: OpenCodePermission) -> list[str]:
    files = wanted.metadata.get("files")
    if not isinstance(files, list):
        return [Fields(wanted.metadata).text("filepath")]
    fields = [Fields(one) if isinstance(one, dict) else Fields({}) for one in files]
    moved = [one.text(PATHS_OF_A_FILE[1]) for one in fields if one.text(PATHS_OF_A_FILE[1])]
    return [*(one.text(PATHS_OF_A_FILE[0]) for one in fields), *moved]


def _is_plain(path: str, directory: str) -> bool:
    if not os.path.isabs(path):  # noqa: PTH117
        return False
    return Path(path).resolve().is_relative_to(directory) and edit_risk(path, Path(directory)) is None
