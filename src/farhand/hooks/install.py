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
from farhand.hooks import jsonc
from farhand.model.errors import SettingWrong

PROGRAM = "farhand-hook.py"
COMPILED = PROGRAM + "c"
# A .pyc of this kind is run as it is: nobody looks for its source.
_UNCHECKED = (1).to_bytes(4, "little")
ANSWERS = "send-to-telegram.py"
FORWARDER = "forward-to-bridge.py"
_SOURCES = {PROGRAM: "program.py", ANSWERS: "send_to_telegram.py", FORWARDER: "forward_to_bridge.py"}

JSON_HINTS = ("correct it, or name another file with --settings",)
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
        after = _spliced(before, groups, own) or _encoded(merged, before)
        _remember(_note(keep, settings), before, after)
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
            _write(settings, _spliced(now, {}, own) or _encoded(cleaned, now), _mode(settings))
        else:
            return False
        _forget(note)
        return True


def installed(settings: Path, groups: Groups, own: Sequence[str] = OWN) -> bool:
    """Whether the settings have these hooks, exactly."""
    content = _parsed(settings, _read(settings))
    return merge(content, groups, own) == content


def was_installed(settings: Path, keep: Path, own: Sequence[str] = OWN) -> bool:
    """Whether we have put hooks there, and some are there still: those that came with a repository are not ours."""
    if _read(_note(keep, settings)) is None:
        return False
    content = _parsed(settings, _read(settings))
    return remove(content, own) != content


def install_file(path: Path, text: str, keep: Path) -> bool:
    """Writes a file that is ours as a whole; False when it was there. What stood there before us is kept."""
    after = text.encode()
    with _locked(keep):
        before = _read(path)
        if before == after:
            return False
        _remember(_note(keep, path), before, after)
        _write(path, after, 0o600)
        return True


def uninstall_file(path: Path, keep: Path) -> bool:
    """Takes it away, and puts back what stood there before us; one that somebody has changed since stays."""
    with _locked(keep):
        note = _note(keep, path)
        if not _is_ours(note, _read(path)):
            return False
        _restore(path, note)
        _forget(note)
        return True


def is_file(path: Path, text: str) -> bool:
    """Whether that file is there, to the byte."""
    return _read(path) == text.encode()


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
    """A group whose every hook runs our program or posts to our endpoint."""
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
        content = json.loads(jsonc.blanked(data.decode("utf-8")))
    except ValueError as error:
        raise SettingWrong(f"{settings} is not valid JSON ({error}); it was left as it is.", hints=JSON_HINTS) from None
    hooks = content.get("hooks", {}) if isinstance(content, dict) else None
    if not isinstance(hooks, dict) or any(not isinstance(groups, list) for groups in hooks.values()):
        raise SettingWrong(f"The hooks in {settings} do not have the form that the CLI wants; it was left as it is.")
    return dict(content)


def _spliced(before: bytes | None, groups: Groups, own: Sequence[str]) -> bytes | None:
    """A file with comments with these hooks in the place of ours, and nothing else changed; None for one without."""
    text = (before or b"").decode("utf-8")
    if not text.strip() or not jsonc.has_comments(text):
        return None
    return jsonc.with_groups(jsonc.without_groups(text, lambda group: is_ours(group, own)), groups).encode()


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


def _remember(note: Path, before: bytes | None, after: bytes) -> None:
    """What we are about to write, and what stood there: only the first file that we change is worth going back to."""
    if not _is_ours(note, before):
        _write(note.with_suffix(".before"), before if before is not None else b"", 0o600)
        _write(note.with_suffix(".absent"), b"", 0o600) if before is None else _drop(note.with_suffix(".absent"))
    _write(note, hashlib.sha256(after).hexdigest().encode(), 0o600)


def _forget(note: Path) -> None:
    for suffix in ("", ".before", ".absent"):
        _drop(note.with_suffix(suffix))


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
