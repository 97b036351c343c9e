"""A channel gets the variables that its manifest names: all that it reads, and nothing of what others sign in with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.spec.promises import promise

from farhand import manifests
from farhand.channels.telegram.settings import chat_id, read_settings
from farhand.channels.telegram.state_files import TelegramStored
from farhand.config import settings as config
from farhand.model.channel_ports import Manager
from farhand.model.errors import SettingWrong

CHANNELS = Path(manifests.__file__).parent / "channels"
READS = re.compile(r'environ(?:\.get\(|, )"([A-Z_]+)"')


@pytest.mark.parametrize("package", manifests.packages(manifests.CHANNELS, "channel"))
def test_what_a_channel_reads_is_in_its_manifest(package: str) -> None:
    about = manifests.manifest(manifests.CHANNELS, package)
    file = CHANNELS / package / "settings.py"
    read = set(READS.findall(file.read_text("utf-8"))) if file.exists() else set()
    assert read == set(about.get("settings", {}))
    assert set(about.get("secrets", ())) <= read


def test_the_secrets_of_channels_are_taken_out_of_the_environment(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "TELEGRAM_BOT_TOKEN": "1:secret", "ADMIN_CHAT_ID": "7"}
    settings = config.read_settings(secret_names=manifests.channel_secrets(), environ=environ)
    assert environ == {"HOME": str(tmp_path), "ADMIN_CHAT_ID": "7"} == dict(settings.environment)
    assert settings.secrets == {"TELEGRAM_BOT_TOKEN": "1:secret"}
    assert "1:secret" not in repr(settings)


@promise("cli.18", "cli.19", "env.13")
def test_without_a_tunnel_there_is_no_public_address(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "TUNNEL_URL": "https://a.example"}
    assert config.read_settings(environ=environ).public_url == "https://a.example"
    assert config.read_settings(environ=environ, tunnel_url="https://b.example").public_url == "https://b.example"
    assert config.read_settings(environ=environ, tunnel=False).public_url == ""


def test_telegram_reads_its_own_variables() -> None:
    assert read_settings({}) is None
    assert read_settings({"TELEGRAM_BOT_TOKEN": "  "}) is None
    given = {
        "TELEGRAM_BOT_TOKEN": "12:secret",
        "TELEGRAM_API_URL": "http://a/",
        "ADMIN_CHAT_ID": " -42 ",
        "ADMIN_PAIRING": "required",
        "TELEGRAM_CHAT_BURST": "3",
        "TELEGRAM_EDIT_SECONDS": "0.5",
    }
    settings = read_settings(given)
    assert settings is not None
    assert (settings.bot, settings.api_url, settings.admin_chat_id, settings.pairing) == ("12", "http://a", "-42", True)
    assert (settings.limits.chat_burst, settings.limits.edit_seconds, settings.limits.per_second) == (3, 0.5, 30.0)
    assert "secret" not in repr(settings)


@pytest.mark.parametrize(
    ("environ", "chat"),
    [
        ({"TELEGRAM_CHAT_ID": " 7 "}, "7"),
        ({"TELEGRAM_CHAT_ID": "7", "ADMIN_CHAT_ID": "8"}, "8"),
        ({"TELEGRAM_CHAT_ID": "7", "ADMIN_CHAT_ID": " "}, "7"),
    ],
)
def test_the_managers_chat_has_the_name_that_bots_around_two_files_give_it(environ: dict[str, str], chat: str) -> None:
    settings = read_settings({"TELEGRAM_BOT_TOKEN": "12:secret", **environ})
    assert settings is not None
    assert settings.admin_chat_id == chat


@pytest.mark.parametrize(
    ("name", "value"), [("ADMIN_CHAT_ID", "mo"), ("TELEGRAM_CHAT_ID", "mo"), ("TELEGRAM_PER_SECOND", "0")]
)
def test_a_value_that_cannot_be_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(SettingWrong, match=name):
        read_settings({"TELEGRAM_BOT_TOKEN": "1:x", name: value})


@pytest.mark.parametrize("wrong", ["--5", "-", "5-", "abc", "5.0", "\u0665", "9" * 30])
def test_a_chat_that_is_no_number_is_refused_in_a_sentence(wrong: str, tmp_path: Path) -> None:
    with pytest.raises(SettingWrong, match="must be a number"):
        chat_id(wrong)
    (tmp_path / "last_chat_id").write_text(wrong)
    assert TelegramStored(tmp_path).read_manager() == Manager()


@promise("cli.40")
def test_a_node_is_what_the_variables_of_its_launch_say(tmp_path: Path) -> None:
    environ = {
        "HOME": str(tmp_path),
        "TELEGRAM_BOT_TOKEN": "1:secret",
        "PORT": "8099",
        "SESSIONS_DIR": str(tmp_path / "sessions"),
        "TMUX_PREFIX": "claude-mine-",
    }
    read = config.read_settings(environ=environ, secret_names=["TELEGRAM_BOT_TOKEN"])
    assert (read.port, read.sessions, read.tmux_prefix) == (8099, tmp_path / "sessions", "claude-mine-")
    assert read.secrets == {"TELEGRAM_BOT_TOKEN": "1:secret"}
    assert "TELEGRAM_BOT_TOKEN" not in environ
    assert "TELEGRAM_BOT_TOKEN" not in read.environment
