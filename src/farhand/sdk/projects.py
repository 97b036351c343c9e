"""Finds where the CLI keeps a project's sessions: `~/.gemini/tmp/<slug>`, with the slug it would choose."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from farhand.sdk.json_shapes import is_object

MARKER = ".project_root"


def project_hash(root: Path) -> str:
    """The hash that session files carry."""
    import hashlib

    return hashlib.sha256(str(root).encode()).hexdigest()


def project_folder(root: Path, home: Path) -> Path:
    """The project's folder under `~/.gemini/tmp`, claimed and written into `projects.json` when it is new."""
    gemini = home / ".gemini"
    slug = find_slug(root, gemini)
    if slug is None:
        with _locked(gemini / "projects.json"):
            slug = find_slug(root, gemini) or _claim(root, gemini)
            _register(root, slug, gemini)
    return gemini / "tmp" / slug


def find_slug(root: Path, gemini: Path) -> str | None:
    """The slug a project has already, when its marker does not say that it belongs to another."""
    slug = _projects(gemini).get(str(root))
    if slug and _owner(gemini / "tmp" / slug) == str(root):
        return slug
    for marker in sorted((gemini / "tmp").glob(f"*/{MARKER}")):
        if _owner(marker.parent) == str(root):
            return marker.parent.name
    return None


def _projects(gemini: Path) -> dict[str, str]:
    try:
        projects = json.loads((gemini / "projects.json").read_text("utf-8"))["projects"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return projects if is_object(projects) else {}


def _owner(folder: Path) -> str | None:
    try:
        return (folder / MARKER).read_text("utf-8").strip()
    except OSError:
        return None


def _claim(root: Path, gemini: Path) -> str:
    """Takes the first free slug; the marker file, made exclusively, settles who was first."""
    stem = re.sub(r"[^a-z0-9]+", "-", root.name.lower()).strip("-") or "project"
    taken = {slug for path, slug in _projects(gemini).items() if path != str(root)}
    counter = 0
    while True:
        slug = stem if counter == 0 else f"{stem}-{counter}"
        counter += 1
        if slug in taken:
            continue
        claimed = [_mark(gemini / kind / slug, root) for kind in ("tmp", "history")]
        if all(claimed):
            return slug


def _mark(folder: Path, root: Path) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with (folder / MARKER).open("x", encoding="utf-8") as file:
            file.write(str(root))
    except FileExistsError:
        return _owner(folder) == str(root)
    return True


def _register(root: Path, slug: str, gemini: Path) -> None:
    projects = {**_projects(gemini), str(root): slug}
    temporary = gemini / f"projects.json.{os.urandom(8).hex()}.tmp"
    with temporary.open("x", encoding="utf-8") as file:
        json.dump({"projects": projects}, file, indent=2)
    temporary.replace(gemini / "projects.json")


@contextmanager
def _locked(registry: Path) -> Generator[None]:
    """Keeps two of ours from writing the registry at once.

    The CLI locks by a folder `projects.json.lock` and takes one over that is ten seconds old; ours is held for a blink,
    and whoever loses the race still owns its marker, from which the registry is mended at the next start.
    """
    import fcntl

    registry.parent.mkdir(parents=True, exist_ok=True)
    with (registry.parent / "projects.farhand.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
