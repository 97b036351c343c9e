"""`farhand clean`: forgets who the manager is and where answers go, so that somebody can register anew."""

import argparse
import os
import sys
from pathlib import Path

from farhand.cli.manager import forget_all
from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.config.launch import read_launch
from farhand.config.places import node_folder
from farhand.model.compat import ADMIN_FILES, CHAT_FILE, TUNNEL_FILES
from farhand.model.errors import NodeRunning
from farhand.store.folder import running


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `clean` takes."""
    add_node(parser)


def run(arguments: argparse.Namespace) -> int:
    """Removes the files, and says which."""
    node = choose(arguments)
    folder = node_folder(node, os.environ)
    if (process := running(folder)) is not None:
        raise NodeRunning(
            f"Node '{node}' is running (pid {process}) and knows its manager.", hints=(f"farhand stop --node {node}",)
        )
    forgotten = forget_all(folder)
    removed = [path for path in files_to_remove(folder, _sessions(node, folder)) if _remove(path)]
    listed = "".join(f"  {path}\n" for path in removed)
    is_new = (
        f"Node '{node}' knows no manager any more:\n{listed}" if removed or forgotten else f"Node '{node}' is clean.\n"
    )
    sys.stdout.write(is_new)
    return 0


def _sessions(node: str, folder: Path) -> Path:
    """Where its workers' small files are: as the environment says for this very node, or as it was run last."""
    given = os.environ.get("SESSIONS_DIR", "").strip()
    return Path(given or read_launch(folder, node).sessions).expanduser()


def files_to_remove(folder: Path, sessions: Path) -> list[Path]:
    """Who the manager is, where each worker's answers go, and what a tunnel has left behind."""
    files = [folder / name for name in (*ADMIN_FILES, *TUNNEL_FILES)]
    return [*files, *sorted(sessions.glob(f"*/{CHAT_FILE}"))]


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
