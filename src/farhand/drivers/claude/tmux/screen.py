"""Reads Claude Code's screen: the input box, its mode, its dialogs. Pure: for liveness and keys, never for content."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile

from farhand.drivers.wires.tmux.screen import begins, bright, pieces, plain
from farhand.model.lazy_pattern import lazy_pattern

PROMPTS = ("❯", "!")
REPLY = "⎿"
_BESIDE = lazy_pattern(r"\s{2,}│.*$")
_RULE = lazy_pattern(r"^[─━]{10,}")
# A message that is longer is shown as a token, and arrives whole all the same.
_TOKEN = lazy_pattern(r"^\[Pasted text #\d+")


def read_box(screen: str) -> str | None:
    """What stands in the input box; '' when only a suggestion does, None when there is no box."""
    lines = screen.splitlines()
    bare = [plain(line) for line in lines]
    for number in range(len(lines) - 1, 0, -1):
        if bare[number].startswith(PROMPTS) and _RULE.match(bare[number - 1]):
            end = next((n for n in range(number + 1, len(bare)) if _RULE.match(bare[n])), None)
            if end is None:
                return None
            return _typed(lines[number:end])
    return None


def times_typed(screen: str, command: str) -> int:
    """How often the conversation shows that this was typed."""
    return sum(_is_typed(line, command) for line in _above_box(screen))


def read_reply(screen: str, command: str) -> str:
    """What is said under the command that was typed last, if it is this one; '' while nothing is."""
    lines = _above_box(screen)
    typed = max((number for number, line in enumerate(lines) if line.startswith(PROMPTS[0])), default=None)
    if typed is None or not _is_typed(lines[typed], command):
        return ""
    words = " ".join(line.strip() for line in takewhile(str.strip, lines[typed + 1 :]))
    return words.removeprefix(REPLY).strip() if words.startswith(REPLY) else ""


def _is_typed(line: str, command: str) -> bool:
    return line.startswith(PROMPTS[0]) and line[1:].split() == command.split()


def read_notice(screen: str) -> str:
    """What stands right above the input box: what a command says that was typed while a turn runs."""
    return (_above_box(screen) or [""])[-1].strip()


def _above_box(screen: str) -> list[str]:
    """The lines above the input box, without colours and without a panel beside them; none where there is no box."""
    lines = plain(screen).splitlines()
    boxes = [n for n in range(1, len(lines)) if lines[n].startswith(PROMPTS) and _RULE.match(lines[n - 1])]
    return [_BESIDE.sub("", line) for line in lines[: boxes[-1] - 1]] if boxes else []


def read_prompt(screen: str) -> str | None:
    """What stands in the input box while it takes a prompt; None when it takes shell commands, or is not there."""
    lines = plain(screen).splitlines()
    shell = any(line.startswith("!") and _RULE.match(above) for above, line in pairwise(lines))
    return None if shell else read_box(screen)


def _typed(lines: list[str]) -> str:
    """The words of the box, unless they are all faint: then they are a hint."""
    box = "\n".join(lines)
    hint = "".join(words for words, faint, _ in pieces(box) if faint)
    under_cursor = "".join(words for words, _, cursor in pieces(box) if cursor)
    typed = bright(box)[1:].replace("\xa0", " ").strip()
    return "" if hint.strip() and typed in ("", under_cursor.strip()) else typed


def holds(box: str, text: str) -> bool:
    """Whether the box begins with this text, or with the token of a long one."""
    return begins(box, text) or bool(_TOKEN.match(box))


def is_all_of(box: str, text: str) -> bool:
    """Whether the box holds this text, or as much of it as it shows, and nothing that somebody added."""
    shown = "".join(box.split())
    return bool(shown) and (shown in "".join(text.split()) or bool(re.fullmatch(r"\[Pastedtext#\d+[^\]]*\]", shown)))


def footer_says(screen: str, words: str) -> bool:
    """Whether the line under the box says this."""
    return words in "\n".join(plain(screen).strip().splitlines()[-3:])


def is_dialog(screen: str) -> bool:
    """Whether something on the screen waits for a choice or a key."""
    return "❯" in screen or "Enter to" in screen or "Press " in screen


def takes_escape(screen: str) -> bool:
    """Whether a turn runs or a dialog stands there: at rest, Escape opens a dialog of its own."""
    return footer_says(screen, "esc to interrupt") or (read_box(screen) is None and is_dialog(plain(screen)))


def is_confirmed_by_enter(screen: str, confirmation: Mapping[str, str]) -> bool:
    """Whether the screen asks this, and its yes is seen to be chosen."""
    lines = [line.strip() for line in screen.splitlines()]
    return confirmation["words"] in " ".join(lines) and any(line.startswith(confirmation["chosen"]) for line in lines)


def dialog_key(screen: str, dialogs: Sequence[Mapping[str, str]]) -> str | None:
    """The next key for the dialog on the screen: to its choice, then Enter once that is seen to be chosen."""
    lines = [line.strip() for line in screen.splitlines()]
    words = " ".join(lines)
    for dialog in dialogs:
        if dialog["words"] not in words:
            continue
        if f"❯ {dialog['choice']}" in lines:
            return "Enter"
        return dialog["move"] if dialog["choice"] in lines else None
    return None
