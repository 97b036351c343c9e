"""The command line without a node: help, exit codes, wrong usage in a sentence, and the status as people read it."""

import subprocess
import sys

import pytest

from farhand.cli.main import COMMANDS, main, usage
from farhand.cli.status import as_text
from farhand.model.errors import AgentMissing
from farhand.model.worker_names import RESERVED


def test_help_tells_every_command_and_what_the_exit_codes_mean(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    assert all(f"\n  {name} " in told for name in COMMANDS)
    assert "Exit codes: 0 success, 1 runtime error, 2 wrong usage" in told
    assert usage() == told


def test_no_worker_can_be_called_as_a_command_is() -> None:
    assert set(COMMANDS) <= RESERVED


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"usage: farhand {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["nonsense"], "error: Unknown command: nonsense"),
        (["say"], "error: Missing: text"),
        (["run", "--no-telegram", "--port", "seventy"], "error: A port is a number from 0 to 65535, not 'seventy'."),
        (["run", "--no-telegram", "--node", "!!!"], "error: Invalid node name: !!!"),
    ],
)
def test_wrong_usage_exits_2_and_says_why(arguments: list[str], first: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(first)


def test_what_is_not_installed_exits_4() -> None:
    assert AgentMissing("claude is not on this machine.").exit_code == 4


def test_the_status_as_text() -> None:
    worker = {"name": "ann", "backend": "demo", "state": "waiting", "queued": 2, "asks": 1, "why_offline": ""}
    bob = {"name": "bob", "backend": "demo", "state": "offline", "queued": 0, "asks": 0, "why_offline": "It ended."}
    status = {
        "node": "prod", "port": 8081, "pid": 7, "started_at": 0.0, "seq": 12, "focus": "ann",
        "channels": {"telegram": ""}, "workers": [worker, bob],
    }  # fmt: skip
    assert as_text(status, now=3700.0).splitlines() == [
        "Node: prod [running]",
        "  port:     8081",
        "  up:       1 h 1 min (pid 7)",
        "  journal:  12 events",
        "  telegram: serving",
        "  team:     2",
        "            - ann (focused, waiting, backend=demo, 2 queued, 1 waiting for an answer)",
        "            - bob (offline, backend=demo): It ended.",
    ]


def test_help_loads_no_room() -> None:
    """`--help` is quick because it imports nothing but itself."""
    code = (
        "import sys; from farhand.cli.main import main; main(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for heavy in ("argparse", "anyio", "msgspec", "farhand.model", "farhand.core"):
        assert f"'{heavy}'" not in told.stderr
