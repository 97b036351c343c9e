"""Strangers on Telegram are nobody, whatever they send, and an edit of what was said becomes no command."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.house.telegram_house import MANAGER, telegram_house

from farhand.model.facts import AskRaised
from farhand.model.words import Choice
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
EVE: dict[str, Any] = {"id": 666, "is_bot": False, "first_name": "Eve"}
YES_NO = (Choice(id="yes", label="Allow"), Choice(id="no", label="Deny", allows=False))


def message_of(person: dict[str, Any], text: str = "") -> dict[str, Any]:
    """A message in a private chat with that person, as Telegram tells of it."""
    chat = {"id": person["id"], "type": "private", "first_name": person["first_name"]}
    return {"message_id": 77, "date": int(time.time()), "from": person, "chat": chat, "text": text}


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


async def test_a_tap_makes_nobody_manager(tmp_path: Path, bot: FakeBot) -> None:
    # Whoever was manager before has the bot's messages still, with their buttons; a tap may have waited for the start.
    await bot.update("callback_query", {"id": "9", "from": EVE, "data": "x", "message": message_of(EVE)})
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        await telegram.manager.says("hello")
        await telegram.manager.reads("answer to hello")
        assert not [one for one in await bot.messages(EVE["id"]) if one.from_bot]


@pytest.mark.parametrize("kind", ["channel_post", "edited_channel_post", "business_message", "guest_message"])
async def test_messages_of_other_kinds_are_nobodys(tmp_path: Path, bot: FakeBot, kind: str) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        await telegram.manager.says("hello")
        await telegram.manager.reads("answer to hello")
        # Even in the manager's name: these come from elsewhere.
        await bot.update(kind, message_of({"id": MANAGER, "is_bot": False, "first_name": "Mo"}, "/end ann"))
        await bot.update("inline_query", {"id": "1", "from": EVE, "query": "/end ann", "offset": ""})
        await telegram.manager.says("/team")
        await telegram.manager.reads("ann")
        assert set((await telegram.house.hub.look()).workers) == {"ann"}


async def test_the_word_of_a_link_is_no_command(tmp_path: Path, bot: FakeBot) -> None:
    # Anybody can send the manager a link that says `/start` with a word of theirs.
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(AskRaised(ask="a-1", question="Run it?", choices=YES_NO))
        await telegram.manager.says("go on")
        await telegram.manager.reads("Run it?")
        for word in ("yes", "1", "@ann_yes", "hire_evil", "end_ann"):
            await telegram.manager.says(f"/start {word}")
        await telegram.manager.says("/team")
        await telegram.manager.reads("ann")
        present = await telegram.house.hub.look()
        assert set(present.workers) == {"ann"}
        assert [one.settled for one in present.workers["ann"].asks] == [None]
