"""Every command finds the bot's token where the node finds it."""

from pathlib import Path

import pytest

from farhand.cli.bot_api import bot_api, token_of
from farhand.model.errors import SettingMissing


def test_a_token_may_be_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("123:abc\n")
    path.chmod(0o600)
    assert token_of({"TELEGRAM_BOT_TOKEN_FILE": str(path)}) == "123:abc"
    assert token_of({"TELEGRAM_BOT_TOKEN": "1:x", "TELEGRAM_BOT_TOKEN_FILE": str(path)}) == "1:x"
    bot_api({"TELEGRAM_BOT_TOKEN_FILE": str(path)})
    with pytest.raises(SettingMissing):
        bot_api({})
