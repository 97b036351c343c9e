"""Copies the hook program to a place that outlives this installation of farhand."""

from __future__ import annotations

from pathlib import Path

from farhand.disk.atomic import write_private

PROGRAM = "farhand-bridge.py"
_HOOK = Path(__file__).parent / "hook"
_LAUNCHER = "launcher.py"


def place_program(folder: Path) -> Path:
    """Copies the program and its modules; the path of what a CLI runs."""
    package = folder / "farhand" / "bridge" / "hook"
    for parent in (package, *package.parents):
        if parent == folder:
            break
        _write_if_new(parent / "__init__.py", b"")
    for source in _HOOK.glob("*.py"):
        if source.name not in (_LAUNCHER, "__init__.py"):
            _write_if_new(package / source.name, source.read_bytes())
    _write_if_new(folder / PROGRAM, (_HOOK / _LAUNCHER).read_bytes())
    return folder / PROGRAM


def _write_if_new(path: Path, content: bytes) -> None:
    if not path.exists() or path.read_bytes() != content:
        write_private(path, content, sync=True)
