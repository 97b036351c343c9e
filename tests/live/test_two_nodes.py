"""Two nodes side by side: a command for one reads nothing of the other and touches nothing of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live.nodes import Home
from tests.spec.promises import promise


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home without any node."""
    made = Home(tmp_path)
    yield made
    made.end_agents()


def worker_shell(home: Home, node: str) -> dict[str, str]:
    """What a worker's shell has of its node."""
    return {
        "PORT": "8082",
        "BRIDGE_URL": "http://localhost:8082",
        "SESSIONS_DIR": str(home.node_folder(node) / "sessions"),
        "TMUX_PREFIX": f"claude-{node}-",
    }


def test_a_command_from_another_nodes_worker_leaves_that_node_alone(home: Home) -> None:
    chat = home.node_folder("dev") / "sessions" / "ann" / "chat_id"
    chat.parent.mkdir(parents=True)
    chat.write_text("42")
    home.environment |= worker_shell(home, "dev")
    told = home.farhand("clean", "-n", "other")
    assert (told.returncode, told.stdout) == (0, "Node 'other' is clean.\n")
    assert chat.read_text() == "42"
    assert home.farhand("-n", "dev", "clean").returncode == 0
    assert not chat.exists()


@promise("cli.15", "cli.20", "output.9", "env.25")
def test_two_running_nodes_must_be_told_apart(home: Home) -> None:
    first, second = home.start("dev"), home.start("test")
    told = home.farhand("status", "--headless")
    assert (told.returncode, told.stderr) == (
        2,
        "error: Multiple nodes running. Specify with --node <name> or --all\n→ Running nodes: dev test\n",
    )
    home.environment |= worker_shell(home, "dev")
    for words in (("--node", "test", "status"), ("status", "--node", "test")):
        assert home.farhand(*words).stdout.startswith("Node: test [running]\n")
    assert home.farhand("stop", "-n", "test").returncode == 0
    assert second.wait(60) == 0
    assert first.poll() is None
    assert home.farhand("status", "-n", "dev").stdout.startswith("Node: dev [running]\n")


@promise("cli.25")
def test_an_env_file_is_read_before_the_flags(home: Home) -> None:
    file = home.folder / "mine.env"
    file.write_text("NODE_NAME=filed\n")
    for words in (("--env-file", str(file), "status"), ("status", f"--env-file={file}")):
        assert home.farhand(*words).stdout.startswith("Node: filed [stopped]\n")
    assert home.farhand("status", "--env-file", str(file), "-n", "dev").stdout.startswith("Node: dev [stopped]\n")
