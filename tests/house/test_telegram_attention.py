"""Attention on Telegram: a question is silent where the app buzzes, and a reminder of it comes and goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.house.telegram_house import MANAGER, telegram_house

from farhand.channels.telegram.channel import TelegramChannel
from farhand.model.attention import AttentionKind, AttentionSettings
from farhand.model.attention_rules import Buzz, Matter
from farhand.model.commands import SetAttention
from farhand.model.facts import AskRaised
from farhand.model.words import Choice
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
CHOICES = (Choice(id="allow", label="Allow once"), Choice(id="deny", label="Deny", allows=False))


async def test_a_reminder_answers_its_question_and_goes_with_it(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(AskRaised(ask="a1", question="Run it?", choices=CHOICES))
        await telegram.manager.says("go")
        asked = await telegram.manager.reads("Run it?")
        assert not asked.silent
        channel = next(one for one in telegram.house.node.channels if isinstance(one, TelegramChannel))
        matter = Matter(key="ask:a1", kind=AttentionKind.ASK, at=0.0, worker="ann", text="Run it?")
        await channel.nudge(Buzz(place="telegram", matters=(matter,), step=2))
        nudge = await telegram.manager.reads("still waits for you")
        assert (nudge.reply_to, nudge.silent) == (asked.message_id, False)
        await channel.withdraw_nudges("a1", [1, 2])
        await bot.until_chat(MANAGER, lambda chat: all(one.deleted for one in chat if "still waits" in one.text))


async def test_what_is_switched_off_is_shown_without_a_sound(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        await telegram.manager.says("/quiet finished off")
        await telegram.manager.reads("Does not buzz at any time: finished turns")
        await telegram.manager.says("go")
        answer = await telegram.manager.reads("answer to go")
        assert answer.silent
        await telegram.house.send(SetAttention(id="s9", settings=AttentionSettings()))
        await telegram.manager.says("again")
        assert not (await telegram.manager.reads("answer to again")).silent
        await telegram.manager.says("/digest")
        await telegram.manager.reads("while you were away")
