"""Strangers on Telegram are nobody, whatever they send, and an edit of what was said becomes no command."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.house.telegram_house import telegram_house

from farhand.model.facts import AskRaised
from farhand.model.words import Choice
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
YES_NO = (Choice(id="yes", label="Allow"), Choice(id="no", label="Deny", allows=False))


async def test_a_stranger_gets_no_answer_and_changes_nothing(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        await telegram.manager.says("hello")
        await telegram.manager.reads("answer to hello")
        telegram.agent.plays(AskRaised(ask="a-1", question="Run it?", choices=YES_NO))
        await telegram.manager.says("go on")
        ask = await telegram.manager.reads("Run it?")
        eve = bot.person(666, "Eve")
        spoken = await eve.says("/hire evil --backend scripted")
        await eve.edits(spoken.message_id, "/end ann")
        await eve.taps(ask, "Allow")
        # The next that is obeyed was sent after all of it.
        await telegram.manager.says("/team")
        await telegram.manager.reads("ann")
        present = await telegram.house.hub.look()
        assert set(present.workers) == {"ann"}
        assert [one.settled for one in present.workers["ann"].asks] == [None]
        assert not [one for one in await bot.messages(666) if one.from_bot]


async def test_an_edit_becomes_no_command(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        spoken = await telegram.manager.says("hello")
        await telegram.manager.reads("answer to hello")
        await telegram.manager.edits(spoken.message_id, "/hire evil --backend scripted")
        await telegram.manager.says("and now?")
        await telegram.manager.reads("answer to and now?")
        assert set((await telegram.house.hub.look()).workers) == {"ann"}
