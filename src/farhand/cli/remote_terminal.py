"""An agent's own terminal shown in this one: a tmux client on its pane, which leaves with the agent's exit code."""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL

import anyio

from farhand.disk.processes import started
from farhand.drivers.wires.tmux import Pane, Tmux, TmuxError, TmuxRefused

LOOK_SECONDS = 0.02
NOTICE_MILLISECONDS = 4000
LEAVE_SECONDS = 5.0
# How long a program may take to notice that its terminal is gone.
HANGUP_SECONDS = 3.0
# What belongs to this very terminal: the agent's has its own.
TERMINAL_VARIABLES = frozenset("TERM TMUX TMUX_PANE STY WINDOW COLUMNS LINES TERMCAP".split())
# Detaches whoever looks, with the exit code of the agent: the client becomes a shell that ends so.
_EXIT = r"code=#{pane_dead_status}; exit \${code:-\$((128 + 0#{pane_dead_signal}))}"
_LEAVE = f"run-shell -C \"detach-client -s '#{{session_id}}' -E '{_EXIT}'\""

# Ends all that a program may have asked of a terminal: its other screen, the mouse, focus, pastes, keys, the cursor.
_MODES = (1049, 1000, 1002, 1003, 1006, 1004, 2004, 1)
_RESET = b"".join(b"\x1b[?%dl" % mode for mode in _MODES) + b"\x1b[>4m\x1b>\x1b[?25h\x1b[m"


def own_server(folder: Path) -> tuple[str, ...]:
    """The words that reach a tmux server of this terminal alone, without anybody's settings."""
    return ("tmux", "-f", os.devnull, "-S", str(folder / "tmux"))


async def dress(tmux: Tmux, pane: Pane, notice: str) -> None:
    """Nothing but the agent is to be seen, but for a notice that goes by itself; its end is the end of the look."""
    session, window = ("-t", pane.session), ("-w", "-t", f"{pane.session}:")
    await tmux.command("set-option", *session, "status", "off")
    await tmux.command("set-hook", *session, "pane-died", _LEAVE)
    if notice:
        told = f"display-message -d {NOTICE_MILLISECONDS} '{_harmless(notice)}'"
        await tmux.command("set-hook", *session, "client-attached", told)
    # Unknown to an older tmux, which shows a line of its own then.
    with suppress(TmuxRefused):
        await tmux.command("set-option", *window, "remain-on-exit-format", "")


def _harmless(notice: str) -> str:
    return "".join(character for character in notice if character not in "'#\"\\$")


async def pass_through(tmux: Tmux, environ: Mapping[str, str]) -> None:
    """On a server of its own, tmux itself is not to be felt: no key is its own, and all that a terminal can do is."""
    features = ["extkeys", "clipboard", "focus", "title", "cstyle"]
    if environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        features.append("RGB")
    for words in (
        ("set-option", "-g", "prefix", "None"),
        ("set-option", "-g", "prefix2", "None"),
        ("set-option", "-s", "escape-time", "0"),
        ("set-option", "-s", "focus-events", "on"),
        ("set-option", "-s", "extended-keys", "on"),
        ("set-option", "-s", "set-clipboard", "on"),
        ("set-option", "-g", "allow-passthrough", "on"),
        ("set-option", "-g", "set-titles", "on"),
        ("set-option", "-g", "set-titles-string", "#T"),
        ("set-option", "-as", "terminal-features", f",*:{':'.join(features)}"),
        # What scrolls out of the agent's terminal is in this one's own scrollback.
        ("set-option", "-as", "terminal-overrides", ",*:smcup@:rmcup@"),
    ):
        # What an older tmux has not, it does not do.
        with suppress(TmuxRefused):
            await tmux.command(*words)


async def attach(tmux: Tmux, pane: Pane, environ: Mapping[str, str]) -> int:
    """Shows the pane here until the agent ends, or the person leaves; the exit code."""
    outside = {name: value for name, value in environ.items() if name not in ("TMUX", "TMUX_PANE")}
    words = [*tmux.server, "attach-session", "-t", pane.session]
    with _kept_terminal():
        process = await anyio.open_process(words, stdin=None, stdout=None, stderr=None, env=outside)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_see_end, tmux, pane)
                code = await process.wait()
                tasks.cancel_scope.cancel()
            return code
        finally:
            if process.returncode is None:
                process.terminate()
                with anyio.move_on_after(LEAVE_SECONDS, shield=True):
                    await process.wait()


async def _see_end(tmux: Tmux, pane: Pane) -> None:
    """tmux may miss that a program has ended, and would show it for ever: whoever waits for its end reminds tmux."""
    with suppress(TmuxError):
        await tmux.died(pane)


@contextmanager
def _kept_terminal() -> Iterator[None]:
    """Gives this terminal back as it was, where tmux did not: 3.3a dies when its client leaves a program that has ended
    and never told that it wants to hear of the focus no more."""
    try:
        before = termios.tcgetattr(0)
    except termios.error:
        yield
        return
    try:
        yield
    finally:
        with suppress(termios.error, OSError):
            if termios.tcgetattr(0) != before:
                termios.tcsetattr(0, termios.TCSANOW, before)
                os.write(1, _RESET)


async def end_server(server: tuple[str, ...]) -> None:
    """Ends a tmux server of our own, with all that is left in it, also what takes no notice of its terminal's end."""
    # Where tmux is gone already, its client has left, and the shell that ends it all has begun (wires/tmux/server.py).
    # As long as it answers, that shell may be ended with it, before it has made itself deaf to that.
    living = await _ask(server, "list-panes", "-a", "-F", "#{?pane_dead,,#{pane_pid}}")
    left = {leader: started(leader) for leader in map(int, living.split())}
    await _ask(server, "kill-server")
    with anyio.move_on_after(HANGUP_SECONDS, shield=True):
        # Nobody tells of the end of a process that is not our child.
        while any(_has_processes(leader, began) for leader, began in left.items()):  # noqa: ASYNC110
            await anyio.sleep(LOOK_SECONDS)
    for leader, began in left.items():
        if _has_processes(leader, began):
            with suppress(OSError):
                os.killpg(leader, signal.SIGKILL)


async def _ask(server: tuple[str, ...], *words: str) -> bytes:
    """What tmux answers; nothing where it is gone or does not answer in time."""
    with anyio.move_on_after(LEAVE_SECONDS, shield=True):
        return (await anyio.run_process([*server, *words], stdin=DEVNULL, stderr=DEVNULL, check=False)).stdout
    return b""


def _has_processes(leader: int, began: int | None) -> bool:
    """Whether anything of that process group is left. As long as it has a process, its number is nobody else's: where
    another process has the leader's number, the group is gone."""
    try:
        os.killpg(leader, 0)
    except OSError:
        return False
    return started(leader) in (began, None)
