"""Puts hooks into a CLI's settings file and takes them out again: what is not ours stays as it was, to the byte."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import marshal
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from farhand.disk.atomic import replace_file
from farhand.model.errors import SettingWrong

PROGRAM = "farhand-hook.py"
COMPILED = PROGRAM + "c"
# A .pyc of this kind is run as it is: nobody looks for its source.
_UNCHECKED = (1).to_bytes(4, "little")
ANSWERS = "send-to-telegram.py"
FORWARDER = "forward-to-bridge.py"
_SOURCES = {PROGRAM: "program.py", ANSWERS: "send_to_telegram.py", FORWARDER: "forward_to_bridge.py"}

# Whose hooks are ours, by the programs that they run.
OWN = (PROGRAM, ANSWERS)

Groups = Mapping[str, Sequence[Mapping[str, Any]]]


def interpreter() -> str:
    """The Python that runs hooks, by its real path: a shim would cost more than the hook."""
    return os.path.realpath(sys.executable)


def place_program(folder: Path) -> Path:
    """Copies the program to a place that outlives this installation of farhand; the path of what is to be run."""
    # The source is for people who want to read what their agents run, and for sessions that were started with it.
    source = _place(folder, PROGRAM)
    _write_if_new(folder / COMPILED, compiled(source.read_bytes()))
    return folder / COMPILED


def _place(folder: Path, name: str) -> Path:
    _write_if_new(folder / name, Path(__file__).with_name(_SOURCES[name]).read_bytes())
    return folder / name


def _write_if_new(path: Path, content: bytes) -> None:
    if _read(path) != content:
        _write(path, content, 0o700)


def compiled(source: bytes) -> bytes:
    """The program as this interpreter wants it: to compile it anew at each event would take a fifth of its time."""
    code = compile(source, PROGRAM, "exec", dont_inherit=True, optimize=2)
    # Later versions of the format depend on who else holds the same objects: the same code would differ each time.
    return importlib.util.MAGIC_NUMBER + _UNCHECKED + importlib.util.source_hash(source) + marshal.dumps(code, 2)


def place_stop_hook(folder: Path) -> Path:
    """Copies the Stop hook, and its forwarder beside it; the path of the hook."""
    _place(folder, FORWARDER)
    return _place(folder, ANSWERS)


def remove_programs(folder: Path) -> None:
    """Takes our programs out of the folder, and nothing else."""
    for name in (*_SOURCES, COMPILED):
        _drop(folder / name)


def install(settings: Path, groups: Groups, keep: Path, own: Sequence[str] = OWN) -> bool:
    """Merges our hooks into the settings; False when they were there already. `keep` holds what stood before."""
    with _locked(keep):
        before = _read(settings)
        content = _parsed(settings, before)
        merged = merge(content, groups, own)
        if merged == content:
            return False
        after = _encoded(merged, before)
        note = _note(keep, settings)
        # Only the first file that we change is worth going back to.
        if not _is_ours(note, before):
            _write(note.with_suffix(".before"), before if before is not None else b"", 0o600)
            _write(note.with_suffix(".absent"), b"", 0o600) if before is None else _drop(note.with_suffix(".absent"))
        _write(note, hashlib.sha256(after).hexdigest().encode(), 0o600)
        _write(settings, after, _mode(settings))
        return True


def uninstall(settings: Path, keep: Path, own: Sequence[str] = OWN) -> bool:
    """Takes our hooks out; the file as it was before us, if nobody has changed it since. False when none was there."""
    with _locked(keep):
        note, now = _note(keep, settings), _read(settings)
        if now is not None and _is_ours(note, now):
            _restore(settings, note)
        elif now is not None:
            content = _parsed(settings, now)
            cleaned = remove(content, own)
            if cleaned == content:
                return False
            _write(settings, _encoded(cleaned, now), _mode(settings))
        else:
            return False
        for suffix in ("", ".before", ".absent"):
            _drop(note.with_suffix(suffix))
        return True


def installed(settings: Path, groups: Groups, own: Sequence[str] = OWN) -> bool:
    """Whether the settings have these hooks, exactly."""
    content = _parsed(settings, _read(settings))
    return merge(content, groups, own) == content


def merge(content: dict[str, Any], groups: Groups, own: Sequence[str] = OWN) -> dict[str, Any]:
    """The settings with our hooks: ours of before replaced, others untouched and before ours."""
    if _same(content, groups, own):
        return content
    cleaned = remove(content, own)
    hooks = dict(cleaned.get("hooks", {}))
    for event, ours in groups.items():
        hooks[event] = [*hooks.get(event, []), *[dict(group) for group in ours]]
    return {**cleaned, "hooks": hooks}


def _same(content: Mapping[str, Any], groups: Groups, own: Sequence[str]) -> bool:
    hooks = content.get("hooks", {})
    found = {event: [group for group in hooks[event] if is_ours(group, own)] for event in hooks}
    return {event: ours for event, ours in found.items() if ours} == {
        event: [dict(group) for group in ours] for event, ours in groups.items()
    }


def remove(content: dict[str, Any], own: Sequence[str] = OWN) -> dict[str, Any]:
    """The settings without our hooks; what only they had filled goes too."""
    hooks = content.get("hooks", {})
    left = {event: [group for group in groups if not is_ours(group, own)] for event, groups in hooks.items()}
    remaining = {event: groups for event, groups in left.items() if groups or not hooks[event]}
    if remaining == hooks:
        return content
    return {
        key: remaining if key == "hooks" else value for key, value in content.items() if key != "hooks" or remaining
    }


def is_ours(group: Any, own: Sequence[str] = OWN) -> bool:
    """A group whose every hook runs our program or posts to our door."""
    entries = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(entries, list) or not entries:
        return False
    return all(isinstance(entry, dict) and _runs_ours(str(entry.get("command", "")), own) for entry in entries)


def _runs_ours(command: str, own: Sequence[str]) -> bool:
    return any(program in command for program in own)


# --- files


def _parsed(settings: Path, data: bytes | None) -> dict[str, Any]:
    if data is None or not data.strip():
        return {}
    try:
        content = json.loads(data)
    except ValueError as error:
        raise SettingWrong(f"{settings} is not valid JSON ({error}); it was left as it is.") from None
    hooks = content.get("hooks", {}) if isinstance(content, dict) else None
    if not isinstance(hooks, dict) or any(not isinstance(groups, list) for groups in hooks.values()):
        raise SettingWrong(f"The hooks in {settings} do not have the form that the CLI wants; it was left as it is.")
    return dict(content)


def _encoded(content: Mapping[str, Any], like: bytes | None) -> bytes:
    """The settings written as the file was: its indent, its last newline, its letters."""
    indent: int | str | None = 2
    if like and b"\n" in like.strip():
        second = like.strip().split(b"\n", 1)[1]
        space = second[: len(second) - len(second.lstrip(b" \t"))].decode()
        indent = space or 2
    elif like and like.strip() not in (b"", b"{}"):
        indent = None
    end = "" if like and not like.endswith(b"\n") else "\n"
    return (json.dumps(content, indent=indent, ensure_ascii=False) + end).encode()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0o600


def _write(path: Path, data: bytes, mode: int) -> None:
    """Whole or not at all; a link stays a link."""
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(target, data, mode=mode, sync=True)


def _drop(path: Path) -> None:
    path.unlink(missing_ok=True)


def _note(keep: Path, settings: Path) -> Path:
    return keep / f"settings-{hashlib.sha256(str(settings.absolute()).encode()).hexdigest()[:16]}"


def _is_ours(note: Path, data: bytes | None) -> bool:
    """Whether this is, to the byte, what we wrote last."""
    known = _read(note)
    return known is not None and data is not None and hashlib.sha256(data).hexdigest().encode() == known


def _restore(settings: Path, note: Path) -> None:
    if note.with_suffix(".absent").exists():
        _drop(settings)
    else:
        _write(settings, note.with_suffix(".before").read_bytes(), _mode(settings))


@contextmanager
def _locked(keep: Path) -> Iterator[None]:
    keep.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (keep / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
