"""A manager on Telegram talks to a worker: messages, progress, answers, buttons; over polling and over the webhook."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.model.facts import AskRaised, AskSettled, Said, ToolEnded, ToolStarted, TurnEnded
from farhand.model.ports import Deliver, Settle
from farhand.model.words import Choice, HowEnded
from farhand.testing.telegram import FakeBot, drawn

pytestmark = pytest.mark.anyio
YES_NO = (Choice(id="yes", label="Allow"), Choice(id="no", label="Deny", allows=False))


@pytest.fixture(params=["polling", "webhook"])
async def telegram(tmp_path: Path, bot: FakeBot, request: pytest.FixtureRequest) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path, bot, public=request.param == "webhook") as opened:
        yield opened


async def test_a_message_is_answered_with_a_buzz_and_the_progress_is_gone(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    spoken = await telegram.manager.says("hello")
    answer = await telegram.manager.reads("answer to hello")
    assert answer.text == "ann:\nanswer to hello"
    assert answer.buzzed
    assert answer.reply_to == spoken.message_id
    chat = await telegram.manager.sees(lambda messages: any(one.deleted for one in messages))
    progress = next(one for one in chat if one.deleted)
    assert progress.silent
    assert progress.message_id < answer.message_id
    await telegram.manager.sees(lambda messages: messages[0].reactions == ("👀",))
    calls = [call.method for call in await telegram.bot.calls() if call.parameters.get("chat_id")]
    assert calls.index("deleteMessage") > max(n for n, method in enumerate(calls) if method == "sendMessage")


async def test_an_ask_has_buttons_and_the_tap_settles_it(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    await telegram.manager.says("first")
    await telegram.manager.reads("answer to first")
    telegram.agent.plays(AskRaised(ask="a-1", question="Run it?", detail="rm -rf \u202e/tmp/x", choices=YES_NO))
    await telegram.manager.says("clean up")
    ask = await telegram.manager.reads("Run it?")
    assert ask.buzzed
    assert ask.labels == ("Allow", "Deny")
    assert "‹U+202E›" in ask.text
    tapped = await telegram.manager.taps(ask, "Allow")
    settled = await telegram.house.fact(AskSettled)
    assert (settled.choice, settled.by and settled.by.via) == ("yes", "telegram")
    chat = await telegram.manager.sees(lambda chat: any("→ Allow, by Mo over telegram" in one.text for one in chat))
    assert not next(one for one in chat if one.message_id == ask.message_id).buttons
    await telegram.bot.until_standing(lambda standing: tapped.query_id in standing.answered_queries)
    assert any(isinstance(errand, Settle) for _, errand in telegram.agent.performed)


async def test_strangers_are_ignored_in_silence(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    await telegram.manager.says("mine")
    await telegram.manager.reads("answer to mine")
    stranger = telegram.bot.person(666, "Eve")
    await stranger.says("let me in")
    await telegram.manager.says("after")
    await telegram.manager.reads("answer to after")
    assert [one.text for one in await telegram.bot.messages(666)] == ["let me in"]
    said = [errand.message.text for _, errand in telegram.agent.performed if isinstance(errand, Deliver)]
    assert said == ["mine", "after"]


async def test_five_within_ten_milliseconds_run_in_order(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    for number in range(5):
        await telegram.manager.says(f"message {number}")
    await telegram.manager.reads("answer to message 4")
    said = [errand.message.text for _, errand in telegram.agent.performed if isinstance(errand, Deliver)]
    assert said == [f"message {number}" for number in range(5)]
    chat = await telegram.bot.messages(telegram.manager.id)
    answers = [one.text for one in chat if one.buzzed]
    assert answers == [f"ann:\nanswer to message {number}" for number in range(5)]


async def test_a_long_answer_arrives_whole_in_pages_that_follow_one_another(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    lines = [f"line {number} of **many** with <b>tags</b> & 😀" for number in range(300)]
    telegram.agent.plays(Said(text="\n".join(lines)), TurnEnded(how=HowEnded.COMPLETED))
    await telegram.manager.says("long")
    chat = await telegram.manager.sees(lambda chat: any("line 299 " in one.text for one in chat))
    pages = [one for one in chat if one.from_bot and one.text.startswith("ann:") and not one.deleted]
    text = "\n".join(page.text for page in pages)
    assert [line for line in text.splitlines() if line.startswith("line")] == [line.replace("**", "") for line in lines]
    assert [page.reply_to for page in pages[1:]] == [page.message_id for page in pages[:-1]]
    assert [page.buzzed for page in pages] == [True] + [False] * (len(pages) - 1)


async def test_progress_shows_the_tool_and_the_time(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, edit_seconds=0.05) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(ToolStarted(call="1", tool="Bash", title="npm test"))
        await telegram.manager.says("test it")
        shown = await telegram.manager.reads("▸ Bash: npm test")
        assert shown.silent
        assert re.match(r"ann is working · \d+ s", shown.text)
        link = telegram.agent.links["ann"]
        await link.say(ToolEnded(call="1"))
        await telegram.manager.reads("1 step done")
        await link.say(Said(text="All green."))
        await link.say(TurnEnded(how=HowEnded.COMPLETED))
        answer = await telegram.manager.reads("ann:\nAll green.")
        assert answer.message_id != shown.message_id
        chat = await telegram.manager.sees(lambda chat: any(one.deleted for one in chat))
        assert "deleted" in drawn(chat)


async def test_the_stop_button_stops_that_turn_and_no_other(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    telegram.agent.plays(Said(text="thinking"))
    await telegram.manager.says("go on for ever")
    progress = await telegram.manager.reads("ann is")
    await telegram.manager.taps(progress, "Stop")
    stopped = await telegram.manager.reads("■ Stopped.")
    assert stopped.buzzed
    late = await telegram.manager.taps(progress, data=progress.buttons[0][0].data)
    standing = await telegram.bot.until_standing(lambda standing: late.query_id in standing.answered_queries)
    assert standing.answered_queries[late.query_id] == "That turn is over already."


async def test_strange_updates_are_passed_over(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    await telegram.manager.says("first")
    await telegram.manager.reads("answer to first")
    mine = {"chat": {"id": telegram.manager.id, "type": "private"}, "from": {"id": telegram.manager.id}}
    strange: list[tuple[str, object]] = [
        ("message", {}),
        ("message", {"message_id": "x", **mine, "text": 5}),
        ("message", {"message_id": 900, **mine}),
        ("message", {"message_id": 901, **mine, "sticker": {"file_id": "s"}}),
        ("message", {"message_id": 902, **mine, "document": {"file_id": "no such file", "file_name": "../../x"}}),
        ("edited_message", {"message_id": 1, **mine}),
        ("callback_query", {"id": "1", "from": {"id": telegram.manager.id}, "data": "a:0:nothing"}),
        ("callback_query", {"id": "2", "from": {"id": 1}, "message": {"message_id": 1, **mine}, "data": "\u0000"}),
        ("callback_query", []),
        ("message", None),
    ]
    for kind, what in strange:
        await telegram.bot.update(kind, what)
    await telegram.manager.says("still there?")
    await telegram.manager.reads("answer to still there?")
    assert "deaf" not in telegram.health


async def test_an_ask_settled_elsewhere_loses_its_buttons_and_a_late_tap_is_told(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    await telegram.manager.says("first")
    await telegram.manager.reads("answer to first")
    telegram.agent.plays(AskRaised(ask="a-2", question="Push it?", choices=YES_NO))
    await telegram.manager.says("ship it")
    ask = await telegram.manager.reads("Push it?")
    await telegram.house.answer("a-2", "no", via="web")
    shown = await telegram.manager.reads("→ Deny, over web")
    assert shown.message_id == ask.message_id
    assert not shown.buttons
    late = await telegram.manager.taps(ask, data=ask.buttons[0][0].data)
    standing = await telegram.bot.until_standing(lambda standing: late.query_id in standing.answered_queries)
    told = standing.answered_queries[late.query_id]
    assert told == "Too late: that question was already answered 'no' over web."
    settled = [event for event in await telegram.house.history() if isinstance(event.fact, AskSettled)]
    assert len(settled) == 1


async def test_progress_is_edited_no_faster_than_told(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, edit_seconds=0.2) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(Said(text="word 0 "))
        await telegram.manager.says("talk")
        await telegram.manager.reads("word 0")
        link = telegram.agent.links["ann"]
        began = anyio.current_time()
        for number in range(1, 200):
            await link.say(Said(text=f"word {number} "))
        await telegram.manager.reads("word 199")
        allowed = (anyio.current_time() - began) / 0.2 + 2
        assert len(await bot.calls("editMessageText")) <= allowed


async def test_a_turn_goes_on_over_a_restart_with_the_same_progress_message(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, edit_seconds=0.05) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(Said(text="half of it, "))
        await telegram.manager.says("a long one")
        progress = await telegram.manager.reads("half of it")
    async with telegram_house(tmp_path, bot, edit_seconds=0.05) as telegram:
        await telegram.agent.wait_opened(1)
        link = telegram.agent.links["ann"]
        turn = telegram.house.worker().turn
        assert turn is not None
        await link.say(Said(text="and the rest"), turn=turn.id)
        shown = await telegram.manager.reads("and the rest")
        assert shown.message_id == progress.message_id
        await link.say(TurnEnded(how=HowEnded.COMPLETED), turn=turn.id)
        answer = await telegram.manager.reads("ann:\nhalf of it, and the rest")
        assert answer.buzzed
        chat = await telegram.manager.sees(lambda chat: any(one.deleted for one in chat))
        assert [one.message_id for one in chat if one.deleted] == [progress.message_id]
