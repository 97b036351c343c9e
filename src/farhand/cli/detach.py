"""`farhand run --detach`: starts the node in a process of its own and returns once it can be spoken to."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from farhand.cli.quick_status import quick_status
from farhand.config.places import node_folder
from farhand.model.errors import NodeError
from farhand.store import folder as node_folders

# What the node says before its log is there, and what Python says should it ever fail as a whole.
OUTPUT_FILE = "run.log"
# The variable that tells the node that nobody sees its output.
DETACHED = "FARHAND_DETACHED"
PATIENCE_SECONDS = 120.0
LOOK_SECONDS = 0.05


def run_behind(arguments: argparse.Namespace, flags: Sequence[str]) -> int:
    """Starts it, waits until it answers, and says where it is."""
    folder = node_folder(arguments.node, os.environ)
    node_folders.make(folder)
    output = folder / OUTPUT_FILE
    command = [sys.executable, "-m", "farhand", "run", "--node", arguments.node, "--headless", *flags]
    with output.open("wb") as file:
        output.chmod(0o600)
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env={**os.environ, DETACHED: "1"},
            start_new_session=True,
        )
    status = _wait_ready(process, folder)
    if status is None:
        return _tell_failure(process, output)
    sys.stderr.write(output.read_text("utf-8", "replace"))
    sys.stdout.write(f"Node '{arguments.node}' is running on port {status['port']} (pid {process.pid}).\n")
    sys.stdout.write(f"  farhand chat --node {arguments.node}     talk to the team\n")
    sys.stdout.write(f"  farhand logs --node {arguments.node} -f  see what it does\n")
    return 0


def _wait_ready(process: "subprocess.Popen[bytes]", folder: Path) -> dict[str, object] | None:
    """What the node says of itself; None when it has ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None:
        status = quick_status(folder)
        if status is not None and status.get("pid") == process.pid:
            return status
        if time.monotonic() > deadline:
            raise NodeError(f"The node (pid {process.pid}) does not answer.", hints=(f"see {folder / OUTPUT_FILE}",))
        time.sleep(LOOK_SECONDS)
    return None


def _tell_failure(process: "subprocess.Popen[bytes]", output: Path) -> int:
    """Says what the node said when it could not start; its exit code."""
    lines = output.read_text("utf-8", "replace").splitlines()
    told = [line for line in lines if line.startswith(("error: ", "→ "))]
    sys.stderr.write("\n".join(told or lines[-5:] or [f"error: The node ended with {process.returncode}."]) + "\n")
    return process.returncode or 1
