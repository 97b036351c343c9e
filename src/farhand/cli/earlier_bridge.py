"""Finds what another bridge of this node's name has left, so that its team goes on here: workers, focus, webhook."""

import os
import sys
from pathlib import Path

from farhand.cli.bot_api import bot_api
from farhand.cli.prompts import Prompts
from farhand.cli.tmux_sessions import TmuxSession, pane_of, sessions_of
from farhand.config.launch import Launch, launch_of
from farhand.config.settings import Settings
from farhand.disk.processes import is_below, read_identity, read_processes
from farhand.model import compat
from farhand.model.earlier_bridge import EarlierTeam, EarlierWorker
from farhand.model.errors import FarhandError, NodeRunning
from farhand.model.names import normalize
from farhand.model.visible import visible
from farhand.model.words import Mode
from farhand.store.database import has_events

BACKEND_FILE = "backend"
PROGRAM = "bridge.py"
# By this flag the agent acts without asking.
SKIPS_PERMISSIONS = "--dangerously-skip-permissions"
# A session of ours says whose it is.
OWN_VARIABLE = "FARHAND_WORKER"
WEBHOOK_SECONDS = 6.0


def check_not_running(node: str, folder: Path) -> None:
    """Raises when another program runs as this node's bridge: two of them would answer to one bot."""
    pid = read_identity(folder / compat.BRIDGE_PID_FILE)
    words = next((one.words for one in read_processes() if one.pid == pid), ()) if pid else ()
    if pid and PROGRAM in (Path(word).name for word in words[:3]):
        raise NodeRunning(
            f"Another bridge of node '{node}' is running (pid {pid}).",
            hints=(f"kill {pid}, and run this again: its workers are taken over",),
            node=node,
        )


def earlier_team(settings: Settings) -> EarlierTeam:
    """The team that another bridge has left, at the first start of a node; later it is nobody's word any more."""
    if has_events(settings.store):
        return EarlierTeam()
    launch = launch_of(settings)
    in_terminals = [_in_terminal(launch, one) for one in sessions_of(launch) if OWN_VARIABLE not in one.variables]
    names = {one.name for one in in_terminals}
    others = [one for one in _without_terminal(settings) if one.name not in names]
    workers = tuple(one for one in (*in_terminals, *others) if one.name and normalize(one.name) == one.name)
    return EarlierTeam(workers=workers, focus=_read(settings.folder / compat.LAST_ACTIVE_FILE))


def _in_terminal(launch: Launch, session: TmuxSession) -> EarlierWorker:
    name = session.name.removeprefix(launch.tmux_prefix)
    pid, folder = pane_of(launch, session.name)
    backend = session.variables.get("WORKER_BACKEND") or _backend(Path(launch.sessions) / name)
    acts = any(SKIPS_PERMISSIONS in one.words and is_below(one.pid, pid) for one in read_processes()) if pid else False
    return EarlierWorker(
        name=name,
        backend=backend or compat.DEFAULT_BACKEND,
        directory=folder,
        mode=Mode.YOLO if acts else None,
        terminal=True,
    )


def _without_terminal(settings: Settings) -> list[EarlierWorker]:
    """Those whose agent is called once for each message: their folder says so, and there is nothing else of them."""
    try:
        entries = sorted(entry for entry in settings.sessions.iterdir() if entry.is_dir() and not entry.is_symlink())
    except OSError:
        return []
    found = [(entry.name, _backend(entry)) for entry in entries]
    known = set(compat.BACKENDS) - {compat.DEFAULT_BACKEND}
    return [EarlierWorker(name=name, backend=backend) for name, backend in found if backend in known]


def _backend(folder: Path) -> str:
    return normalize(_read(folder / BACKEND_FILE))


def tell(team: EarlierTeam, *, keyless: bool) -> None:
    """Says at the terminal what was found."""
    if not team.workers:
        return
    sys.stderr.write("Another bridge has left a team here, which goes on in this node:\n")
    sys.stderr.write("".join(f"  {visible(one.line)}\n" for one in team.workers))
    if not keyless and any(one.terminal for one in team.workers):
        sys.stderr.write("⚠ FARHAND_KEYLESS=unix: what they say before they are idle stays in their terminals.\n")


def free_webhook(store: Path, token: str, prompts: Prompts, *, force: bool) -> None:
    """A webhook of before keeps a node that polls deaf: it is deleted with a yes, once, at the first start."""
    if has_events(store) or not token or not (force or prompts.asks):
        return
    try:
        api = bot_api({**os.environ, "TELEGRAM_BOT_TOKEN": token}, WEBHOOK_SECONDS)
        url = str(api.call("getWebhookInfo").get("url") or "")
        if url and (force or prompts.yes(f"The bot's webhook leads to {visible(url)}. Delete it, to be heard here?")):
            api.call("deleteWebhook")
            sys.stderr.write("Webhook deleted.\n")
    except FarhandError as error:
        # The node tries by itself, again and again, and says what is wrong.
        sys.stderr.write(f"⚠ {error.text}\n")


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""
