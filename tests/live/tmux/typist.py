"""A raw-mode program for the tmux tests: a one-line input box that writes down every byte and every submitted text."""

from __future__ import annotations

import os
import sys
import termios
import tty
from pathlib import Path

PASTE_BEGIN, PASTE_END = b"\x1b[200~", b"\x1b[201~"


def draw(box: bytes) -> None:
    """Shows the box as an agent would: a rule, the prompt, a rule."""
    shown = box.replace(b"\n", b" ").replace(b"\r", b" ")[-60:]
    os.write(1, b"\x1b[2J\x1b[H----\r\n> " + shown + b"\r\n----\r\n")


def main(folder: Path) -> None:
    """Reads keys until control-D; appends bytes to `bytes` and each submitted text to `submitted`."""
    before = termios.tcgetattr(0)
    tty.setraw(0)
    os.write(1, b"\x1b[?2004h")
    box, stash, pasting, pending = b"", b"", False, b""
    draw(box)
    (folder / "ready").touch()
    try:
        while True:
            data = os.read(0, 65536)
            with (folder / "bytes").open("ab") as record:
                record.write(data)
            pending += data
            while pending:
                if pending.startswith(PASTE_BEGIN):
                    pasting, pending = True, pending[len(PASTE_BEGIN) :]
                    continue
                if pending.startswith(PASTE_END):
                    pasting, pending = False, pending[len(PASTE_END) :]
                    continue
                if pending[:1] == b"\x1b" and len(pending) < len(PASTE_END) and PASTE_BEGIN.startswith(pending[:4]):
                    break
                key, pending = pending[:1], pending[1:]
                if pasting or key not in (b"\r", b"\x13", b"\x04", b"\x01"):
                    box += key
                elif key == b"\r":
                    with (folder / "submitted").open("ab") as record:
                        record.write(box + b"\0")
                    box, stash = stash, b""
                elif key == b"\x13":
                    box, stash = b"", box
                elif key == b"\x04":
                    return
            draw(box)
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
