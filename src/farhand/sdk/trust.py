"""Decides whether a folder is trusted. Fails closed: a list that cannot be read trusts nobody."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from farhand.sdk.json_shapes import is_object

TRUST_FOLDER = "TRUST_FOLDER"
TRUST_PARENT = "TRUST_PARENT"
DO_NOT_TRUST = "DO_NOT_TRUST"


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether a folder is trusted, and the sentence that says why."""

    trusted: bool
    why: str
    complaint: str | None = None


def trusted_folders_path(home: Path, environ: Mapping[str, str]) -> Path:
    """Where the list of trusted folders is kept."""
    named = environ.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
    return Path(named) if named else home / ".gemini" / "trustedFolders.json"


def folder_trust(cwd: Path, home: Path, environ: Mapping[str, str], *, enabled: bool = True) -> Trust:
    """Is the question switched off; does the environment say yes; what does the longest matching rule say."""
    if not enabled:
        return Trust(True, "folder trust is switched off (security.folderTrust.enabled)")
    if environ.get("GEMINI_CLI_TRUST_WORKSPACE", "").lower() in ("true", "1"):
        return Trust(True, "GEMINI_CLI_TRUST_WORKSPACE is set")
    path = trusted_folders_path(home, environ)
    rules, complaint = _rules(path)
    verdict = _longest_match(_real(cwd), rules)
    if verdict is None:
        return Trust(False, f"no rule in {path} names {cwd}", complaint)
    rule, trusted = verdict
    return Trust(trusted, f"{path} says {rules[rule]} for {rule}", complaint)


def _rules(path: Path) -> tuple[dict[str, str], str | None]:
    try:
        content: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}, None
    except (OSError, ValueError) as error:
        return {}, f"{path} cannot be read, so no folder is trusted: {error}"
    if not is_object(content):
        return {}, f"{path} holds no JSON object, so no folder is trusted."
    return {rule: kind for rule, kind in content.items() if isinstance(kind, str)}, None


def _longest_match(folder: Path, rules: Mapping[str, str]) -> tuple[str, bool] | None:
    best: tuple[int, str, bool] | None = None
    for rule, kind in rules.items():
        if kind not in (TRUST_FOLDER, TRUST_PARENT, DO_NOT_TRUST):
            continue
        root = _real(Path(rule).parent if kind == TRUST_PARENT else Path(rule))
        if folder != root and root not in folder.parents:
            continue
        # Of two rules for the same folder, the one that refuses wins.
        rank = len(root.parts) * 2 + (kind == DO_NOT_TRUST)
        if best is None or rank > best[0]:
            best = (rank, rule, kind != DO_NOT_TRUST)
    return None if best is None else (best[1], best[2])


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path.expanduser()))
