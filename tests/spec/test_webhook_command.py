"""Spec 2's `webhook` at the desk, and `hook test` without a node: on a Telegram that answers as the real one does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.spec.promises import promise
from tests.spec.test_desk import farhand

from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
URL = "https://tunnel.example"


def given(bot: FakeBot) -> dict[str, str]:
    return {"TELEGRAM_BOT_TOKEN": bot.token, "TELEGRAM_API_URL": bot.address, "NODE_NAME": "test"}


@promise("cli.6", "cli.7", "cli.8", "output.12")
async def test_the_webhook_is_set_shown_and_deleted(tmp_path: Path, bot: FakeBot) -> None:
    assert await farhand(tmp_path, "webhook", "info", **given(bot)) == (0, "Node: test\nNo webhook configured\n")
    told = await farhand(tmp_path, "webhook", URL, **given(bot))
    assert told == (0, f"Setting webhook for node 'test': {URL}\nWebhook configured\n")
    told = await farhand(tmp_path, "webhook", "info", **given(bot))
    assert told == (0, f"Node: test\nURL:     {URL}\nPending: 0\n")
    assert await farhand(tmp_path, "webhook", "delete", **given(bot)) == (0, "Webhook deleted\n")
    assert (await farhand(tmp_path, "webhook", "info", **given(bot)))[1].endswith("No webhook configured\n")


async def test_what_is_wrong_with_a_webhook_is_one_sentence(tmp_path: Path, bot: FakeBot) -> None:
    code, told = await farhand(tmp_path, "webhook", "http://plain.example", **given(bot))
    assert (code, told.splitlines()[0]) == (2, "error: A webhook is an https:// address, not 'http://plain.example'.")
    code, told = await farhand(tmp_path, "webhook", "info")
    assert (code, told.splitlines()[0]) == (3, "error: TELEGRAM_BOT_TOKEN not set")
    wrong = {**given(bot), "TELEGRAM_BOT_TOKEN": "1:nobody"}
    code, told = await farhand(tmp_path, "webhook", "info", **wrong)
    assert (code, told.splitlines()[0]) == (3, "error: Telegram refuses the bot token.")
    nowhere = {**given(bot), "TELEGRAM_API_URL": "http://127.0.0.1:9"}
    code, told = await farhand(tmp_path, "webhook", "delete", **nowhere)
    assert (code, told.startswith("error: Telegram cannot be reached: ")) == (1, True)
    assert bot.token not in told


@promise("cli.11", "env.12")
async def test_a_test_message_reaches_the_last_chat_without_a_node(tmp_path: Path, bot: FakeBot) -> None:
    manager = bot.person(7, "Mo")
    await manager.says("hello")
    await farhand(tmp_path, "hook", "install")
    code, told = await farhand(tmp_path, "hook", "test", **given(bot))
    assert (code, told.splitlines()[0]) == (3, "error: No chat is known yet.")
    code, told = await farhand(tmp_path, "hook", "test", ADMIN_CHAT_ID="7", **given(bot))
    assert (code, told.startswith("Node 'test' is not running: the bot itself sent")) == (0, True), told
    await manager.reads("Test message of node 'test'")
