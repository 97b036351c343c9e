"""The tmux sessions of a node's workers, as any program finds them: by name and by what their environment says."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from typing import NamedTuple

from farhand.config.launch import Launch
from farhand.config.places import tmux_server
from farhand.disk.processes import is_alive
from farhand.manifests import channel_secrets
from farhand.sandbox.environment import without_secrets

# Ours to tell one session's variables from the next one's; no variable's line begins so.
_MARK = "== session "
SECONDS = 10.0
# How long a program has to end by itself.
GRACE_SECONDS = 3.0
LOOK_SECONDS = 0.02


class TmuxSession(NamedTuple):
    """One session: its name, when it was made, and its variables."""

    name: str
    made_at: float
    variables: dict[str, str]


def sessions_of(launch: Launch) -> list[TmuxSession]:
    """The sessions that belong to the node. A name that begins alike may be another's (`dev`, `dev-2`): its variable
    `TMUX_PREFIX` tells; without one, or with one that does not fit its name, the name must do."""
    return [one for one in _named(launch) if not _is_others(one, launch.tmux_prefix)]


def _is_others(session: TmuxSession, prefix: str) -> bool:
    own = session.variables.get("TMUX_PREFIX", prefix)
    return own != prefix and own.startswith(prefix) and session.name.startswith(own)


def _named(launch: Launch) -> list[TmuxSession]:
    listed = _tmux(launch, "list-sessions", "-F", "#{session_name}\t#{session_created}")
    rows = [line.split("\t") for line in listed.splitlines() if line.startswith(launch.tmux_prefix)]
    names = {row[0]: float(row[1]) for row in rows if len(row) == 2}
    if not names:
        return []
    words: list[str] = []
    for name in names:
        words += ["display-message", "-p", f"{_MARK}{name}", ";", "show-environment", "-t", f"={name}", ";"]
    variables = parse_environments(_tmux(launch, *words[:-1]))
    return [TmuxSession(name, made, variables.get(name, {})) for name, made in names.items()]


def parse_environments(text: str) -> dict[str, dict[str, str]]:
    """What was printed for several sessions, each behind its mark."""
    found: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith(_MARK):
            current = found.setdefault(line.removeprefix(_MARK), {})
            continue
        name, equals, value = line.partition("=")
        if equals:
            current[name] = value
    return found


def pane_of(launch: Launch, name: str) -> tuple[int, str]:
    """The first process of that session, and the folder that it is in; 0 when nobody can tell."""
    said = _tmux(launch, "display-message", "-p", "-t", f"={name}:", "#{pane_pid}\t#{pane_current_path}")
    number, _, folder = said.strip().partition("\t")
    return int(number) if number.isdecimal() else 0, folder


def end_session(launch: Launch, name: str) -> None:
    """Ends it, with all that runs in it: a program may take no notice of the end of its terminal."""
    listed = _tmux(launch, "list-panes", "-s", "-t", f"={name}:", "-F", "#{pane_pid}").split()
    leaders = [int(one) for one in listed if one.isdecimal() and _leads(int(one))]
    _tmux(launch, "kill-session", "-t", f"={name}")
    for sent in (signal.SIGTERM, signal.SIGKILL):
        for leader in leaders:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, sent)
        deadline = time.monotonic() + GRACE_SECONDS
        while leaders and time.monotonic() < deadline:
            leaders = [one for one in leaders if _leads(one)]
            time.sleep(LOOK_SECONDS if leaders else 0)


def _leads(process: int) -> bool:
    """Whether that process runs, with a group of its own, as the first one of a pane has it."""
    try:
        return os.getpgid(process) == process and is_alive(process)
    except ProcessLookupError:
        return False


def _tmux(launch: Launch, *words: str) -> str:
    """What tmux says; empty without a tmux, without a server, or when it takes too long."""
    command = [*tmux_server(launch.tmux_socket), *words]
    environment = without_secrets(os.environ, channel_secrets())
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")
