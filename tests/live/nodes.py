"""A node and its command line as a person has them: the real `farhand`, in a home of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio

from farhand.sandbox.holders import LocalHolders

# Only a net for a test that hangs; a busy machine is no failure.
SAFETY_SECONDS = 240.0


class Home:
    """A throwaway home with the command `farhand`."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder
        self._nodes: list[subprocess.Popen[bytes]] = []
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "FARHAND_HOME": str(folder / "farhand"),
            "FARHAND_HOST": "127.0.0.1",
            "FARHAND_TEMPORARY": str(folder / "temporary"),
            "FARHAND_ROOT_YOLO": "1",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            **variables,
        }

    def command(self, *arguments: str) -> list[str]:
        """How `farhand` is called."""
        return [sys.executable, "-m", "farhand", *arguments]

    def farhand(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=SAFETY_SECONDS,
            check=False,
        )

    def start(self, node: str = "test", *arguments: str) -> "subprocess.Popen[bytes]":
        """Starts a node without a terminal and returns when it can be spoken to."""
        order = self.command("run", "--node", node, "-p", "0", "--no-telegram", "--no-tunnel", "--headless", *arguments)
        log = self.folder / f"{node}.log"
        with log.open("ab") as file:
            process = subprocess.Popen(order, cwd=self.folder, env=self.environment, stderr=file, stdout=file)
        self._nodes.append(process)
        self.wait_ready(node, process)
        return process

    def node_folder(self, node: str = "test") -> Path:
        """Where that node keeps what it knows."""
        return self.folder / "farhand" / "nodes" / node

    def wait_ready(self, node: str, process: "subprocess.Popen[bytes]") -> None:
        """Returns when the node's door opens."""
        deadline = time.monotonic() + SAFETY_SECONDS
        while not opens(self.node_folder(node) / "hub.sock"):
            assert process.poll() is None, f"the node ended with {process.returncode}"
            assert time.monotonic() < deadline, "the node did not become ready"
            time.sleep(0.01)

    def end_agents(self) -> None:
        """Ends the nodes that a failed test left running, and the agents, which outlive their nodes."""
        for process in self._nodes:
            process.kill()
            process.wait()
        anyio.run(self._forget_all)

    async def _forget_all(self) -> None:
        for folder in self.folder.glob("**/nodes/*/holders"):
            holders = LocalHolders(folder)
            for name in await holders.names():
                await holders.forget(name)


def opens(path: Path) -> bool:
    """Whether somebody listens at that socket."""
    with socket.socket(socket.AF_UNIX) as link:
        try:
            link.connect(str(path))
        except OSError:
            return False
        return True


@contextmanager
def home_without_nodes(folder: Path, **variables: str) -> Iterator[Home]:
    """A home in which no node has run yet; whatever runs there at the end is stopped."""
    made = Home(folder, **variables)
    try:
        yield made
    finally:
        if any(folder.glob("**/nodes/*")):
            made.farhand("stop", "--all", "--force")
        made.end_agents()
