"""Much to say and one question: the question overtakes, long answers come as files, and nothing of them is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.house.telegram_house import telegram_house

from farhand.model.commands import Respond
from farhand.model.facts import AskRaised, Said, TurnEnded
from farhand.model.words import Choice, HowEnded
from farhand.testing.telegram import FakeBot, drawn

pytestmark = pytest.mark.anyio
YES_NO = (Choice(id="yes", label="Allow"), Choice(id="no", label="Deny", allows=False))
LONG = "\n".join(f"line {number} of the answer" for number in range(1200))


async def test_an_ask_behind_a_flood_of_answers_is_among_the_next_messages(tmp_path: Path, bot: FakeBot) -> None:
    await bot.rates(per_chat=1, burst=20)
    async with telegram_house(tmp_path, bot, chat_burst=20) as telegram:
        await telegram.house.hire()
        await telegram.manager.says("hello")
        await telegram.manager.reads("answer to hello")
        for number in range(100):
            text = f"answer {number} " + "x" * 40_000
            await telegram.house.send(Respond(id=f"r{number}", worker="ann", text=text))
        await telegram.manager.reads("answer 5 ")
        telegram.agent.plays(AskRaised(ask="a-1", question="Run it?", choices=YES_NO))
        await telegram.manager.says("go on")
        ask = await telegram.manager.reads("Run it?")
        chat = await bot.messages(telegram.manager.id)
        # A hundred texts and a hundred files were put before it; what had gone by then is a burst, and one a second.
        assert sum(one.from_bot for one in chat if one.message_id < ask.message_id) < 100, drawn(chat)
        assert ask.labels == ("Allow", "Deny")


async def test_a_long_answer_comes_as_its_beginning_and_a_file(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(Said(text=LONG), TurnEnded(how=HowEnded.COMPLETED))
        spoken = await telegram.manager.says("tell me all")
        first = await telegram.manager.reads("the whole answer is in ann-answer.md")
        assert first.text.startswith("ann:\nline 0 of the answer")
        assert first.reply_to == spoken.message_id
        chat = await telegram.manager.sees(lambda chat: any(one.document for one in chat))
        assert [one.document for one in chat if one.document] == ["ann-answer.md"]
        assert not any("line 1199" in one.text for one in chat)


async def test_a_long_answer_that_cannot_be_uploaded_comes_as_text(tmp_path: Path, bot: FakeBot) -> None:
    await bot.fault("sendDocument", code=400, description="Bad Request: file is too ugly")
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(Said(text=LONG), TurnEnded(how=HowEnded.COMPLETED))
        await telegram.manager.says("tell me all")
        await telegram.manager.reads("ann-answer.md could not be sent")
        chat = await telegram.manager.sees(lambda chat: any("line 1199" in one.text for one in chat))
        read = "\n".join(one.text for one in chat if one.from_bot)
        assert all(f"line {number} of the answer" in read for number in range(1200))


async def test_what_waits_when_the_node_stops_comes_once_after_it(tmp_path: Path, bot: FakeBot) -> None:
    await bot.fault("sendDocument", code=502, description="Bad Gateway", times=-1)
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(Said(text=LONG), TurnEnded(how=HowEnded.COMPLETED))
        await telegram.manager.says("tell me all")
        await bot.until_calls(lambda calls: len(calls) > 0, "sendDocument")
    await bot.clear_faults()
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.manager.sees(lambda chat: any(one.document for one in chat))
        await telegram.manager.says("hello")
        await telegram.manager.reads("answer to hello")
        chat = await bot.messages(telegram.manager.id)
        assert [one.document for one in chat if one.document] == ["ann-answer.md"]
        assert sum("the whole answer is in" in one.text for one in chat) == 1
