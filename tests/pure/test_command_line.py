"""The command line without a node: help, exit codes, wrong usage in a sentence, and the status as people read it."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest
from tests.spec.promises import promise

from farhand.cli.main import COMMANDS, main, usage
from farhand.model.errors import AgentMissing, SettingMissing
from farhand.model.worker_names import CLI_COMMANDS, COMING, RESERVED


@promise("cli.12", "cli.13")
def test_help_tells_every_command_and_what_the_exit_codes_mean(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    assert all(f"\n  {name} " in told for name in COMMANDS)
    for word in ("--node", "--env-file", "--force", "TELEGRAM_BOT_TOKEN", "ADMIN_CHAT_ID", "TUNNEL_URL", "NODE_NAME"):
        assert word in told
    assert "Exit codes: 0 success, 1 runtime error, 2 wrong usage" in told
    assert usage() == told


def test_no_worker_can_be_called_as_a_command_is() -> None:
    assert set(COMMANDS) <= RESERVED


def test_what_is_reserved_for_commands_is_one_or_is_said_to_come() -> None:
    assert set(COMMANDS) >= CLI_COMMANDS
    assert COMING.isdisjoint(COMMANDS)


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


def test_help_loads_no_room() -> None:
    """`--help` is quick because it imports nothing but itself."""
    code = (
        "import sys; from farhand.cli.main import main; main(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for heavy in ("argparse", "anyio", "msgspec", "farhand.model", "farhand.core"):
        assert f"'{heavy}'" not in told.stderr


def test_a_node_starts_without_the_library_of_websockets() -> None:
    """It is loaded when the first one comes: no start waits for it."""
    code = "import sys, farhand.app; print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'farhand.server.connections'" in loaded.stdout
    assert "'websockets'" not in loaded.stdout


def test_a_node_starts_without_the_library_that_paints_terminals() -> None:
    """structlog would load it for tracebacks that a node never has it paint; whoever wants it later gets it."""
    code = "import sys, farhand.run; print(sorted(sys.modules)); import rich.console"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'structlog.dev'" in loaded.stdout
    assert "'rich'" not in loaded.stdout


@pytest.mark.parametrize(("channel", "library"), [("telegram.channel", "telegram"), ("whatsapp.phone_number", "pywa")])
def test_a_node_with_a_chat_starts_without_what_the_library_of_the_chat_has_no_use_for_here(
    channel: str, library: str
) -> None:
    """httpx would load its command line with rich, Telegram's library what decrypts passports."""
    code = f"import sys, farhand.channels.{channel}; print(sorted(sys.modules)); import httpx._main, cryptography"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"'{library}'" in loaded.stdout
    for heavy in ("rich", "pygments", "cryptography"):
        assert f"'{heavy}'" not in loaded.stdout


SEARCHES = """
import asyncio, sys, farhand.channels.{channel}.gateway
from httpcore._synchronization import current_async_library

class Noting:
    @staticmethod
    def find_spec(name, *_):
        print(name)

async def twice():
    current_async_library()
    sys.meta_path.insert(0, Noting)
    current_async_library()

asyncio.run(twice())
"""


@pytest.mark.parametrize("channel", ["telegram", "whatsapp"])
def test_a_request_of_a_chat_does_not_search_the_path_for_a_library_that_is_not_there(channel: str) -> None:
    """httpcore tries to import one with every lock, which took a tenth of a message's processor time."""
    code = SEARCHES.format(channel=channel)
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == ""


@pytest.mark.parametrize("command", ["agents", "bridge", "hook"])
def test_what_asks_no_node_loads_no_node(command: str) -> None:
    """What drivers there are stands in their manifests: no event loop and no server is loaded to read them."""
    code = f"import sys, farhand.cli.{command}; print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'farhand.manifests'" in loaded.stdout
    for heavy in ("asyncio", "anyio", "structlog", "starlette"):
        assert f"'{heavy}'" not in loaded.stdout


def test_a_node_that_no_device_subscribed_to_loads_nothing_that_pushes() -> None:
    """Every node has the channel; cryptography and an HTTP client come with the first device."""
    code = "import sys, farhand.channels.push.channel; print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for heavy in ("cryptography", "httpx2", "farhand.channels.push.keys"):
        assert f"'{heavy}'" not in loaded.stdout


def test_a_first_start_with_whatsapp_alone_wants_no_token_of_telegrams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from farhand.cli import run

    parser = argparse.ArgumentParser()
    run.add_arguments(parser)
    arguments = parser.parse_args(["--node", "test", "--no-tunnel", "--demo"])
    for name in ("TELEGRAM_BOT_TOKEN", "FARHAND_HIRE_BACKEND", "SANDBOX_ENABLED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SettingMissing, match="TELEGRAM_BOT_TOKEN not set"):
        run.check(arguments)
    monkeypatch.setenv("WHATSAPP_TOKEN", "a token")
    run.check(arguments)
