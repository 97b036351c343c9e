"""Shows a small full-screen program as `farhand remote` shows an agent's: in a tmux of its own, attached here.

`python shown_program.py <folder>` shows it; with `--inside` it is that program, which writes down what reaches it."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from pathlib import Path

import anyio

from farhand.cli.remote_node import agent_environment
from farhand.cli.remote_terminal import attach, dress, end_server, own_server, pass_through
from farhand.drivers.wires.tmux import Size, Tmux

CODE = 7
COLOUR = "38;2;12;34;56"
COPIED = "aGVsbG8="
# The whole screen, the mouse as SGR tells it, focus and bracketed paste.
MODES = "\x1b[?1049h\x1b[?1000h\x1b[?1006h\x1b[?1004h\x1b[?2004h"


async def show(folder: Path) -> int:
    """The program in this terminal until it ends; its exit code."""
    server = own_server(folder)
    environment = agent_environment(os.environ)
    tmux = Tmux(server, "farhand-remote", environment, ends_with_us=True)
    shape = os.get_terminal_size()
    try:
        async with tmux.opened():
            words = [sys.executable, __file__, "--inside"]
            pane = await tmux.start("shown", words, folder, environment, Size(columns=shape.columns, rows=shape.lines))
            await pass_through(tmux, os.environ)
            await dress(tmux, pane, "")
            return await attach(tmux, pane, os.environ)
    finally:
        await end_server(server)


def inside() -> int:
    """Writes down what it hears, a line each: keys, clicks, pastes, other sizes. `y` copies something, `q` ends it
    as a program ends that crashes: what it asked of the terminal stays asked for."""
    before = termios.tcgetattr(0)
    tty.setraw(0)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    signal.signal(signal.SIGWINCH, lambda *_: None)
    write = sys.stdout.write
    write(f"{MODES}\x1b[{COLOUR}mcoloured\x1b[0m\r\nstarted\r\n")
    heard = b""
    try:
        while not heard.endswith(b"q"):
            sys.stdout.flush()
            ready, _, _ = select.select([0, reader], [], [])
            if reader in ready:
                os.read(reader, 64)
                shape = os.get_terminal_size(0)
                write(f"size {shape.columns}x{shape.lines}\r\n")
            if 0 in ready:
                heard = os.read(0, 1024)
                write(f"\x1b]52;c;{COPIED}\x07" if heard == b"y" else "")
                write(f"heard {heard!r}\r\n")
    finally:
        termios.tcsetattr(0, termios.TCSANOW, before)
    return CODE


if __name__ == "__main__":
    raise SystemExit(inside() if sys.argv[1] == "--inside" else anyio.run(show, Path(sys.argv[1])))
