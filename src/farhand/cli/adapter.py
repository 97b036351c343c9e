"""`farhand adapter`: calls an agent CLI once for a worker's message and posts what it says to the bridge."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from farhand.cli.options import new_id
from farhand.config.erase import erase
from farhand.hooks.forward_to_bridge import SETTLED, post
from farhand.model.compat import DEFAULT_SESSIONS
from farhand.model.errors import BadName, NodeError
from farhand.model.names import normalize
from farhand.roster import adapter_of

SECRETS = ("TELEGRAM_BOT_TOKEN", "TELEGRAM_WEBHOOK_SECRET")
PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `adapter` takes."""
    parser.add_argument("backend", help="whose CLI is called")
    parser.add_argument("worker", help="for whom")
    parser.add_argument("message", help="what it is told")
    parser.add_argument("bridge_url", help="where the answer is posted")
    parser.add_argument("sessions_dir", nargs="?", help="the folders of workers (default: SESSIONS_DIR)")
    parser.add_argument("workdir", nargs="?", default=".", help="where the CLI works (default: here)")


def run(arguments: argparse.Namespace) -> int:
    """Calls it; a failure of the CLI is posted as the answer, and is the exit code."""
    # Whoever started this may go: the answer is brought all the same.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    found = adapter_of(arguments.backend)
    worker = normalize(arguments.worker)
    if not worker or worker != arguments.worker:
        raise BadName("Name must use letters, numbers, and hyphens only.", name=arguments.worker)
    sessions = arguments.sessions_dir or os.environ.get("SESSIONS_DIR") or Path.home() / DEFAULT_SESSIONS
    folder = Path(sessions).expanduser() / worker
    try:
        said = found.answer(arguments.message, folder, Path(arguments.workdir).absolute(), clean_environment())
        body = {"session": worker, "text": said.text, "source": found.source, "escape": True, "id": new_id()}
        taken = bring(body, folder, arguments.bridge_url)
    except OSError as error:
        raise NodeError(f"{folder} cannot be used: {error.strerror}.") from None
    if not taken:
        raise NodeError(f"{arguments.bridge_url} did not take the answer; it is kept in {folder / 'answers'}.")
    if said.error:
        sys.stderr.write(f"error: {said.error}\n")
    return 1 if said.error else 0


def clean_environment() -> dict[str, str]:
    """What the CLI may see: all that its caller gave us, but no secret of the bridge."""
    for name in SECRETS:
        os.environ.pop(name, None)
    erase(SECRETS)
    return dict(os.environ)


def bring(body: dict[str, object], folder: Path, bridge_url: str, wait: Callable[[float], None] = time.sleep) -> bool:
    """Posts the answer until it is taken; meanwhile it lies where a bridge that comes back finds it, under its id."""
    import json

    from farhand.store.folder import write

    kept = folder / "answers" / f"{body['id']}.json"
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write(kept, json.dumps(body))
    for pause in (*PAUSES_SECONDS, 0.0):
        if not kept.exists() or post(f"{bridge_url.rstrip('/')}/response", json.dumps(body).encode()) in SETTLED:
            kept.unlink(missing_ok=True)
            return True
        wait(pause)
    return False
