"""`farhand adapter`: calls an agent CLI once for a worker's message and posts what it says to the bridge."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from farhand.cli.agent_flag import add_agent, settle_agent
from farhand.cli.detached_process import WorkEnded, run_detached
from farhand.cli.options import new_id
from farhand.config.erase import erase
from farhand.drivers.wires.oneshot.runner import OneshotCall, OneshotRunner
from farhand.drivers.wires.oneshot.spec import OneshotOutput
from farhand.hooks.forward_to_bridge import SETTLED, post
from farhand.manifests import channel_secrets
from farhand.model.compat import DEFAULT_SESSIONS
from farhand.model.errors import BadName, NodeError
from farhand.model.names import normalize
from farhand.roster import oneshot_runner_of
from farhand.store.folder import write

PAUSES_SECONDS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `adapter` takes."""
    add_agent(parser, "whose CLI is called")
    parser.add_argument("worker", help="for whom")
    parser.add_argument("message", help="what it is told")
    parser.add_argument("bridge_url", help="where the answer is posted")
    parser.add_argument("sessions_dir", nargs="?", help="the folders of workers (default: SESSIONS_DIR)")
    parser.add_argument("workdir", nargs="?", default="", help="where the CLI works (default: here)")


def run(arguments: argparse.Namespace) -> int:
    """Calls it; a failure of the CLI is posted as the answer, and is the exit code."""
    settle_agent(arguments, ("worker", "message", "bridge_url", "sessions_dir", "workdir"))
    worker = normalize(arguments.worker)
    if not worker or worker != arguments.worker:
        raise BadName("Name must use letters, numbers, and hyphens only.", name=arguments.worker)
    sessions = arguments.sessions_dir or os.environ.get("SESSIONS_DIR") or Path.home() / DEFAULT_SESSIONS
    folder = (Path(sessions).expanduser() / worker).absolute()
    source, calls = oneshot_runner_of(arguments.backend, folder, clean_environment())
    call = OneshotCall(
        id=new_id(),
        message=os.fsencode(arguments.message).decode("utf-8", "replace"),
        directory=str(Path(arguments.workdir or ".").absolute()),
        bridge_url=arguments.bridge_url,
    )
    # Whoever started this may go, and so may this process: the answer is brought all the same.
    said = run_detached(lambda: anyio.run(AdapterCall(folder, worker, source).make, calls, call))
    if said is None:
        raise NodeError(f"The call was cut off; the next one for {worker} brings its answer.")
    sys.stderr.write(f"error: {said.error}\n" if said.error else "")
    return said.code


def clean_environment() -> dict[str, str]:
    """What the CLI may see: all that its caller gave us, but no secret of the bridge."""
    secrets = channel_secrets()
    for name in secrets:
        os.environ.pop(name, None)
    erase(secrets)
    return dict(os.environ)


class AdapterCall:
    """One call of the CLI, and the delivery of answers: its own, and those that an earlier call could not deliver."""

    def __init__(self, folder: Path, worker: str, source: str) -> None:
        self._folder = folder
        self._worker = worker
        self._source = source
        self._waiting: list[tuple[Path, str]] = []

    async def make(self, calls: OneshotRunner, call: OneshotCall) -> WorkEnded:
        """Makes the call; an answer that the bridge did not take at once is retried with backoff, after the lock."""
        try:
            said = await calls.make(call, self._deliver)
        except OSError as error:
            raise NodeError(f"{self._folder} cannot be used: {error.strerror}.") from None
        for file, url in self._waiting:
            if not await anyio.to_thread.run_sync(post_until_taken, file, url, PAUSES_SECONDS[1:]):
                raise NodeError(f"{url} did not take the answer; it is kept in {file.parent}.")
        return WorkEnded(code=1 if said.error else 0, error=said.error)

    async def _deliver(self, call: OneshotCall, said: OneshotOutput) -> None:
        """Stores the answer under the call's id, by which the bridge deduplicates it, and posts it."""
        body = {"session": self._worker, "text": said.text, "source": self._source, "escape": True, "id": call.id}
        file = keep(body, self._folder)
        if not await anyio.to_thread.run_sync(post_until_taken, file, call.bridge_url, PAUSES_SECONDS[:1]):
            self._waiting.append((file, call.bridge_url))


def keep(body: dict[str, object], folder: Path) -> Path:
    """Puts the answer where a bridge that comes back finds it."""
    file = folder / "answers" / f"{body['id']}.json"
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write(file, json.dumps(body))
    return file


def post_until_taken(
    file: Path,
    bridge_url: str,
    pauses_seconds: tuple[float, ...] = PAUSES_SECONDS,
    wait: Callable[[float], None] = time.sleep,
) -> bool:
    """Posts the answer, with retries after these pauses, until it is taken or the bridge has picked it up by itself."""
    for pause in pauses_seconds:
        wait(pause)
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return True
        if post(f"{bridge_url.rstrip('/')}/response", content) in SETTLED:
            file.unlink(missing_ok=True)
            return True
    return False
