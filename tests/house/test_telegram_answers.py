"""Questions are answered in words: a reply, a label, yes or no, a number, a name; what is no answer is asked back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.model.facts import AskRaised, AskSettled, TurnEnded
from farhand.model.ports import Deliver
from farhand.model.words import AskKind, Choice, HowEnded
from farhand.testing.telegram import FakeBot, ShownMessage

pytestmark = pytest.mark.anyio
THEN = "then write the tests"
CHOICES = (
    Choice(id="once", label="Allow"),
    Choice(id="always", label="Always allow"),
    Choice(id="no", label="Deny", allows=False, words=True),
)


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path, bot) as opened:
        yield opened


async def asked(telegram: TelegramHouse, worker: str = "ann", ask: str = "a-1") -> ShownMessage:
    """A worker that was hired and asks something."""
    await telegram.house.hire(worker)
    return await asks(telegram, worker, ask)


async def asks(telegram: TelegramHouse, worker: str = "ann", ask: str = "a-1") -> ShownMessage:
    telegram.agent.plays(AskRaised(ask=ask, question=f"Run {ask}?", choices=CHOICES))
    await telegram.manager.says(f"@{worker} clean up")
    return await telegram.manager.reads(f"Run {ask}?")


def told(telegram: TelegramHouse) -> list[str]:
    return [errand.message.text for _, errand in telegram.agent.performed if isinstance(errand, Deliver)]


@pytest.mark.parametrize(
    ("words", "choice", "note"),
    [
        ("Yes!", "once", ""),
        ("ja", "once", ""),
        ("yes go ahead", "once", ""),
        ("always allow", "always", ""),
        ("2", "always", ""),
        ("no", "no", ""),
        ("No, use tabs.", "no", "use tabs."),
        ("3 not on a Friday", "no", "not on a Friday"),
    ],
)
async def test_bare_words_answer_the_focused_workers_question(
    telegram: TelegramHouse, words: str, choice: str, note: str
) -> None:
    await asked(telegram)
    await telegram.manager.says(words)
    settled = await telegram.house.fact(AskSettled)
    assert (settled.choice, settled.note, settled.by and settled.by.via) == (choice, note, "telegram")
    assert told(telegram) == ["clean up"]


async def test_a_reply_to_a_question_answers_that_one(telegram: TelegramHouse) -> None:
    first = await asked(telegram)
    await asked(telegram, "bob", "a-2")
    await telegram.manager.says("1 but be quick", reply_to=first.message_id)
    settled = await telegram.house.fact(AskSettled)
    assert (settled.ask, settled.choice, settled.note) == ("a-1", "once", "but be quick")


async def test_a_name_says_whose_question_is_answered(telegram: TelegramHouse) -> None:
    await asked(telegram)
    await asked(telegram, "bob", "a-2")
    await telegram.manager.says("@ann 2")
    settled = await telegram.house.fact(AskSettled)
    assert (settled.ask, settled.choice) == ("a-1", "always")


async def test_a_number_that_no_choice_has_is_told_the_range(telegram: TelegramHouse) -> None:
    await asked(telegram)
    await telegram.manager.says("7")
    await telegram.manager.reads("1–3, please.")
    assert told(telegram) == ["clean up"]


@pytest.mark.parametrize("words", ["yes", "1", "no, stay in your folder"])
async def test_words_that_may_be_for_the_focused_worker_answer_nobody_elses_question(
    telegram: TelegramHouse, words: str
) -> None:
    await asked(telegram)
    await telegram.house.hire("bob")
    await telegram.manager.says(words)
    told = await telegram.manager.reads(f"“{words}” was said to nobody yet. ann asks:")
    assert f"@ann {words}. For bob: @bob {words}." in told.text
    assert (await telegram.house.hub.look()).workers["ann"].asks[0].settled is None
    await telegram.manager.says(f"@ann {words}")
    assert (await telegram.house.fact(AskSettled)).ask


async def test_a_yes_while_two_others_ask_is_not_guessed(telegram: TelegramHouse) -> None:
    await asked(telegram)
    await asked(telegram, "bob", "a-2")
    await telegram.house.hire("cleo")
    await telegram.manager.says("yes")
    shown = await telegram.manager.reads("Whose question is that for?")
    assert "@ann, @bob" in shown.text
    assert told(telegram) == ["clean up", "clean up"]


async def test_other_words_are_asked_back_and_may_deny(telegram: TelegramHouse) -> None:
    await asked(telegram)
    spoken = await telegram.manager.says("use the other folder")
    back = await telegram.manager.reads("ann waits for your answer above.")
    # It buzzes: whoever believes to have answered must learn that the worker still waits.
    assert (back.labels, back.reply_to, back.silent) == (("Deny with this", "Say it after"), spoken.message_id, False)
    await telegram.manager.taps(back, "Deny with this")
    settled = await telegram.house.fact(AskSettled)
    assert (settled.choice, settled.note) == ("no", "use the other folder")
    chat = await telegram.manager.sees(lambda chat: any(one.deleted and "waits for your" in one.text for one in chat))
    assert chat
    assert told(telegram) == ["clean up"]


async def test_a_yes_with_a_condition_is_asked_back_and_may_allow_this_once(telegram: TelegramHouse) -> None:
    await asked(telegram)
    await telegram.manager.says("yes but not the tests")
    back = await telegram.manager.reads("ann waits for your answer above.")
    assert back.labels == ("Allow", "Deny with this", "Say it after")
    await telegram.manager.taps(back, "Allow")
    settled = await telegram.house.fact(AskSettled)
    assert (settled.choice, settled.note) == ("once", "")
    # What was said beside the yes is not lost.
    closed = await telegram.manager.reads("“yes but not the tests” was not said to ann.")
    assert closed.labels == ("Say it to ann",)
    assert told(telegram) == ["clean up"]


async def test_other_words_may_be_said_after(telegram: TelegramHouse) -> None:
    await asked(telegram)
    await telegram.manager.says(THEN)
    back = await telegram.manager.reads("ann waits for your answer above.")
    await telegram.manager.taps(back, "Say it after")
    await telegram.house.until(lambda present: [one.text for one in present.workers["ann"].queue] == [THEN])
    await telegram.manager.taps(back, data=back.buttons[0][1].data)
    await telegram.manager.says("yes")
    await telegram.house.fact(AskSettled)
    await telegram.agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED))
    await telegram.manager.reads("answer to then write the tests")
    assert told(telegram) == ["clean up", "then write the tests"]


async def test_what_was_held_goes_nowhere_once_the_question_is_closed(telegram: TelegramHouse) -> None:
    question = await asked(telegram)
    await telegram.manager.says("hmm, what does it do?")
    back = await telegram.manager.reads("ann waits for your answer above.")
    await telegram.manager.taps(question, "Deny")
    await telegram.house.fact(AskSettled)
    late = await telegram.manager.taps(back, "Deny with this")
    standing = await telegram.bot.until_standing(lambda standing: late.query_id in standing.answered_queries)
    assert "closed" in standing.answered_queries[late.query_id]


async def test_what_was_held_is_no_longer_said_to_wait_once_the_question_is_answered(telegram: TelegramHouse) -> None:
    question = await asked(telegram)
    for text in (THEN, "and the docs"):
        await telegram.manager.says(text)
    held = await telegram.manager.sees(lambda chat: sum("waits for your answer" in one.text for one in chat) == 2)
    backs = {one.message_id for one in held if "waits for your answer" in one.text}
    await telegram.manager.taps(question, "Allow")
    chat = await telegram.manager.sees(lambda chat: not any("waits for your answer" in one.text for one in chat))
    after = [one for one in chat if one.message_id in backs]
    assert [one.text for one in after] == [
        "ann's question is closed. “then write the tests” was not said to ann.",
        "ann's question is closed. “and the docs” was not said to ann.",
    ]
    assert {one.labels for one in after} == {("Say it to ann",)}
    await telegram.manager.taps(after[0], "Say it to ann")
    await telegram.agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED))
    await telegram.manager.reads("answer to then write the tests")
    assert told(telegram) == ["clean up", "then write the tests"]


async def test_a_late_yes_reaches_nobody(telegram: TelegramHouse) -> None:
    question = await asked(telegram)
    await telegram.manager.taps(question, "Deny")
    await telegram.house.fact(AskSettled)
    await telegram.agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED))
    await telegram.manager.reads("✓ Done.")
    await telegram.manager.says("yes", reply_to=question.message_id)
    await telegram.manager.reads("That question is closed already; this went nowhere.")
    await telegram.manager.says("and now?")
    await telegram.manager.reads("answer to and now?")
    assert told(telegram) == ["clean up", "and now?"]


async def test_a_choice_that_is_made_by_words_takes_them(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    drinks = (
        Choice(id="tea", label="Tea (green)"),
        Choice(id="milk", label="Milk"),
        Choice(id="x", label="Other", words=True),
    )
    telegram.agent.plays(AskRaised(ask="d", question="What to drink?", choices=drinks, about=AskKind.CHOICE))
    await telegram.manager.says("drinks")
    question = await telegram.manager.reads("What to drink?")
    await telegram.manager.says("juice", reply_to=question.message_id)
    back = await telegram.manager.reads("ann waits for your answer above.")
    assert back.labels == ("Answer with this", "Say it after")
    await telegram.manager.taps(back, "Answer with this")
    settled = await telegram.house.fact(AskSettled)
    assert "“juice” is none of its choices" in back.text
    assert (settled.choice, settled.note) == ("x", "juice")


async def test_a_reply_to_what_the_worker_said_answers_its_question(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    await telegram.manager.says("hello")
    said = await telegram.manager.reads("answer to hello")
    await asks(telegram)
    await telegram.manager.says("yes", reply_to=said.message_id)
    settled = await telegram.house.fact(AskSettled)
    assert (settled.choice, settled.note) == ("once", "")


async def test_a_reply_that_denies_gives_its_own_words(telegram: TelegramHouse) -> None:
    question = await asked(telegram)
    await telegram.manager.says("what for?", reply_to=question.message_id)
    await telegram.manager.taps(await telegram.manager.reads("ann waits for your answer above."), "Deny with this")
    settled = await telegram.house.fact(AskSettled)
    assert (settled.choice, settled.note) == ("no", "what for?")


async def test_a_reply_that_is_said_after_keeps_its_context(telegram: TelegramHouse) -> None:
    question = await asked(telegram)
    await telegram.manager.says(THEN, reply_to=question.message_id)
    await telegram.manager.taps(await telegram.manager.reads(f"“{THEN}”"), "Say it after")
    await telegram.manager.taps(question, "Deny")
    await telegram.agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED))
    await telegram.manager.reads(f"answer to Manager reply:\n{THEN}")
