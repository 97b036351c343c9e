"""Stop and take back, as a command or in plain words: what is said of it is true, and nothing paused runs later."""

from __future__ import annotations

import pytest
from tests.house.telegram_house import TelegramHouse, told

from farhand.model.facts import AskRaised, AskSettled, InterruptAsked, Said, TurnEnded, Withdrawn
from farhand.model.words import Choice, HowEnded, HowSettled

pytestmark = pytest.mark.anyio
PAUSED = "Ann is paused. I'll pick up where we left off."
STOPPED = f"{PAUSED}\nWhat ann was at is being stopped, and nothing goes on by itself: say what comes next."
PERMISSION = (Choice(id="once", label="Allow"), Choice(id="no", label="Deny", allows=False, words=True))
COLOURS = (Choice(id="go", label="Go on"), Choice(id="stop", label="Stop"))


async def busy(telegram: TelegramHouse, *waits: str) -> None:
    """Ann is in the middle of a turn, and these messages wait."""
    telegram.agent.plays(Said(text="I look into it."))
    await telegram.manager.says("fix the till")
    await telegram.house.event(Said)
    for text in waits:
        await telegram.manager.says(text)
        await telegram.manager.reads(f"this waits: {text}")


async def idle(telegram: TelegramHouse) -> None:
    """Nothing runs and nothing waits any more."""
    await telegram.house.until(lambda present: not present.workers["ann"].queue and present.workers["ann"].turn is None)


async def test_what_is_paused_runs_neither_at_once_nor_later(telegram: TelegramHouse) -> None:
    await busy(telegram, "then the door", "then the lamp")
    await telegram.manager.says("/stop")
    said = await telegram.manager.reads(PAUSED)
    assert said.text == f"{STOPPED}\nTaken back, for ann had not begun: “then the door”, “then the lamp”."
    assert said.labels == ("Say them after all",)
    await telegram.manager.reads("■ Stopped.")
    await idle(telegram)
    await telegram.manager.says("and the window?")
    await telegram.manager.reads("answer to and the window?")
    assert told(telegram) == ["fix the till", "and the window?"]


async def test_a_pause_says_nothing_of_messages_where_none_waits(telegram: TelegramHouse) -> None:
    await busy(telegram)
    await telegram.manager.says("/pause")
    said = await telegram.manager.reads(PAUSED)
    assert (said.text, said.labels) == (STOPPED, ())


async def test_the_button_of_a_turn_stops_as_the_word_does(telegram: TelegramHouse) -> None:
    await busy(telegram, "then the door", "then the lamp")
    tap = await telegram.manager.taps(await telegram.manager.reads("ann is working"), "Stop")
    said = await telegram.manager.reads(PAUSED)
    assert said.text == f"{STOPPED}\nTaken back, for ann had not begun: “then the door”, “then the lamp”."
    standing = await telegram.bot.until_standing(lambda standing: tap.query_id in standing.answered_queries)
    assert standing.answered_queries[tap.query_id].startswith("What ann was at is being stopped, and nothing goes on")
    await telegram.manager.reads("■ Stopped.")
    await idle(telegram)
    assert told(telegram) == ["fix the till"]
    await telegram.manager.taps(said, "Say them after all")
    await telegram.manager.reads("answer to then the lamp")
    assert told(telegram) == ["fix the till", "then the door", "then the lamp"]
    await telegram.manager.sees(lambda chat: not next(one for one in chat if one.message_id == said.message_id).labels)
    # A phone may still show a button that is gone.
    again = await telegram.manager.taps(said, data=said.buttons[0][0].data)
    await telegram.bot.until_standing(lambda standing: again.query_id in standing.answered_queries)
    assert told(telegram) == ["fix the till", "then the door", "then the lamp"]


async def test_the_button_says_nothing_more_where_nothing_waits(telegram: TelegramHouse) -> None:
    await busy(telegram)
    await telegram.manager.taps(await telegram.manager.reads("ann is working"), "Stop")
    await telegram.manager.reads("■ Stopped.")
    assert not [one for one in await telegram.bot.messages(telegram.manager.id) if PAUSED in one.text]


@pytest.mark.parametrize("word", ["stop", "Stop!", "STOP", "please stop", "stopp", "arrête", "para", "停"])
async def test_a_lone_stop_stops_what_runs(telegram: TelegramHouse, word: str) -> None:
    await busy(telegram, "then the door")
    await telegram.manager.says(word)
    await telegram.manager.reads(f"{STOPPED}\nTaken back")
    await telegram.manager.reads("■ Stopped.")
    await idle(telegram)
    assert told(telegram) == ["fix the till"]


async def test_a_stop_is_for_the_worker_that_is_named_or_replied_to(telegram: TelegramHouse) -> None:
    await telegram.house.hire("bob")
    await telegram.manager.says("/focus bob")
    await telegram.manager.reads("Now talking to Bob.")
    telegram.agent.plays(Said(text="I look into it."))
    await telegram.manager.says("@ann fix the till")
    await telegram.house.event(Said)
    await telegram.manager.says("@ann stop")
    await telegram.manager.reads(PAUSED)
    stopped = await telegram.house.event(TurnEnded)
    telegram.agent.plays(Said(text="I look into it."))
    await telegram.manager.says("@ann once more")
    await telegram.house.event(Said, after=stopped.seq)
    working = await telegram.manager.reads("ann is working")
    await telegram.manager.says("stop", reply_to=working.message_id)
    again = await telegram.house.event(InterruptAsked, after=stopped.seq)
    assert again.worker == "ann"
    assert told(telegram) == ["fix the till", "once more"]


async def test_a_stop_while_it_asks_ends_the_question_and_allows_nothing(telegram: TelegramHouse) -> None:
    telegram.agent.plays(AskRaised(ask="a-1", question="Run: make clean", choices=PERMISSION))
    await telegram.manager.says("clean up")
    await telegram.manager.reads("Run: make clean")
    await telegram.manager.says("stop")
    await telegram.manager.reads(PAUSED)
    assert (await telegram.house.fact(AskSettled)).how is HowSettled.WITHDRAWN
    assert (await telegram.house.fact(TurnEnded)).how is HowEnded.INTERRUPTED


async def test_a_stop_that_is_a_choice_is_the_answer(telegram: TelegramHouse) -> None:
    telegram.agent.plays(AskRaised(ask="a-1", question="Go on?", choices=COLOURS))
    await telegram.manager.says("clean up")
    await telegram.manager.reads("Go on?")
    await telegram.manager.says("stop")
    assert (await telegram.house.fact(AskSettled)).choice == "stop"


async def test_a_stop_while_nothing_runs_is_asked_back(telegram: TelegramHouse) -> None:
    await telegram.manager.says("stop")
    back = await telegram.manager.reads("Nothing of ann's runs or waits.")
    assert back.text == "Nothing of ann's runs or waits. Shall ann be told “stop”?"
    assert back.labels == ("Say it to ann",)
    assert told(telegram) == []
    await telegram.manager.taps(back, "Say it to ann")
    await telegram.manager.reads("answer to stop")
    await telegram.manager.sees(lambda chat: next(one for one in chat if one.message_id == back.message_id).deleted)


async def test_everybody_is_stopped_who_is_at_something(telegram: TelegramHouse) -> None:
    await telegram.house.hire("bob")
    telegram.agent.plays(Said(text="I look into it."))
    await telegram.manager.says("@ann fix the till")
    await telegram.house.event(Said)
    await telegram.manager.says("@all stop")
    await telegram.manager.reads(PAUSED)
    assert (await telegram.house.event(InterruptAsked)).worker == "ann"
    await idle(telegram)
    await telegram.manager.says("@all stop")
    await telegram.manager.reads("Nobody is at anything.")
    assert told(telegram) == ["fix the till"]


@pytest.mark.parametrize("words", ["take it back", "Take that back.", "nimm das zurück", "撤回"])
async def test_the_last_message_is_taken_back_in_words(telegram: TelegramHouse, words: str) -> None:
    await busy(telegram, "then the door", "then the lamp")
    await telegram.manager.says(words)
    await telegram.manager.reads("Taken back from ann: “then the lamp”.")
    assert (await telegram.house.fact(Withdrawn)).message
    assert [one.text for one in telegram.house.worker().queue] == ["then the door"]


async def test_what_runs_already_cannot_be_taken_back_and_can_be_stopped(telegram: TelegramHouse) -> None:
    await busy(telegram)
    await telegram.manager.says("take it back")
    back = await telegram.manager.reads("Nothing waits for ann any more: it is at “fix the till”.")
    assert back.labels == ("Stop it", "Say it to ann")
    await telegram.manager.taps(back, "Stop it")
    await telegram.manager.reads("■ Stopped.")
    await telegram.manager.sees(lambda chat: next(one for one in chat if one.message_id == back.message_id).deleted)
    assert told(telegram) == ["fix the till"]


async def test_a_sentence_with_stop_in_it_is_a_message(telegram: TelegramHouse) -> None:
    await telegram.manager.says("stop using tabs")
    await telegram.manager.reads("answer to stop using tabs")
