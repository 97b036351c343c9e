"""Draws the picture of the README: a real conversation in a real terminal, captured and set as an SVG."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from farhand.testing.tmux import Screen, terminal

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "conversation.svg"
COLUMNS, ROWS = 88, 30
CELL, LINE, MARGIN = 8.4, 19, 18
_CODE = re.compile(r"\x1b\[([0-9;]*)m")
_COLOURS = {"31": "#ff8a80", "32": "#9ccc65", "33": "#ffd54f", "36": "#80deea"}
_PLAIN, _DIM = "#e0e0e0", "#8d949e"


def capture() -> str:
    """What a newcomer sees after a first question, with the codes of its colours."""
    with TemporaryDirectory(prefix="farhand-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        (home / "shop").mkdir()
        environment = {
            "HOME": folder,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PS1": "$ ",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "PORT": "0",
        }
        with terminal(home, environment, columns=COLUMNS, rows=ROWS) as screen:
            talk(screen)
            shown = screen.text(colours=True)
            screen.press("C-u")
            screen.type("/end demo")
            _see(screen, "demo left the team.")
            screen.type("/quit")
            _see(screen, "stops. Its agents")
    return shown.replace(folder, "~")


def talk(screen: Screen) -> None:
    """The conversation itself."""
    screen.type("cd shop; clear; farhand run --node demo --no-telegram --demo")
    _see(screen, "demo is online.")
    for said, shown, prompt in (
        ("think", "shorter. This one is.", "demo>"),
        ("ask", "2. No", "demo 1-2>"),
        ("1 and thank you", "I shall remember it until I forget.", "demo>"),
    ):
        screen.type(said)
        _see(screen, shown)
        _see(screen, f"\n{prompt}\n")
    screen.press("tool")
    _see(screen, "demo> tool")


def _see(screen: Screen, text: str) -> None:
    screen.wait(lambda shown: text in shown.rstrip() + "\n", text)


# Colour, bold, dim.
Look = tuple[str, bool, bool]


def runs(line: str, look: Look) -> tuple[list[tuple[str, Look]], Look]:
    """A line as pieces of one look, and the look that the next line begins with."""
    found: list[tuple[str, Look]] = []
    for place, piece in enumerate(_CODE.split(line)):
        if place % 2 == 0:
            found += [(piece, look)] if piece else []
            continue
        for code in piece.split(";"):
            look = changed(look, code)
    return found, look


def changed(look: Look, code: str) -> Look:
    """The look after one code."""
    colour, bold, dim = look
    match code:
        case "" | "0":
            return _PLAIN, False, False
        case "1":
            return colour, True, dim
        case "2":
            return colour, bold, True
        case "22":
            return colour, False, False
        case _:
            return {**_COLOURS, "39": _PLAIN}.get(code, colour), bold, dim


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)


def drawn(lines: list[str]) -> str:
    """The rows of the terminal as SVG: every run at its own column, so that any font fits."""
    parts: list[str] = []
    look: Look = (_PLAIN, False, False)
    for row, line in enumerate(lines):
        pieces, look = runs(line.rstrip(), look)
        column = 0
        for text, (hue, bold, dim) in pieces:
            colour = _DIM if dim else hue
            # Blanks at either end are no part of an SVG text: they would make the rest of it wider.
            shown, indent = text.strip(" "), len(text) - len(text.lstrip(" "))
            x, y = MARGIN + (column + indent) * CELL, MARGIN + 34 + row * LINE
            weight = ' font-weight="bold"' if bold else ""
            length = f'textLength="{_columns(shown) * CELL:.1f}" lengthAdjust="spacingAndGlyphs"'
            if shown:
                parts.append(f'<text x="{x:.1f}" y="{y}" fill="{colour}"{weight} {length}>{escape(shown)}</text>')
            column += _columns(text)
    return "\n".join(parts)


def draw(shown: str) -> str:
    """The whole picture."""
    lines = shown.rstrip("\n").split("\n")[-ROWS:]
    width, height = round(COLUMNS * CELL + 2 * MARGIN), len(lines) * LINE + 2 * MARGIN + 34
    buttons = "".join(
        f'<circle cx="{MARGIN + 6 + 20 * place}" cy="{MARGIN}" r="6" fill="{colour}"/>'
        for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 aria-label="A terminal: a conversation with the demo worker, which thinks and asks before it writes a file">
<rect width="{width}" height="{height}" rx="10" fill="#1c2128"/>
{buttons}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" \
xml:space="preserve">
{drawn(lines)}
</g>
</svg>
"""


if __name__ == "__main__":
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(draw(capture()), "utf-8")
    print(f"{PICTURE.relative_to(ROOT)} is drawn")
