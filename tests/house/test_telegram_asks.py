"""Questions on the phone that want more than one tap: several choices, and words that go with an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.model.facts import AskRaised, AskSettled
from farhand.model.store_ports import Waiting
from farhand.model.words import AskKind, Choice
from farhand.testing.http import local_client
from farhand.testing.telegram import FakeBot
from farhand.testing.telegram.words import ShownMessage

pytestmark = pytest.mark.anyio
ALLOW = Choice(id="allow", label="Allow once")
DENY = Choice(id="deny", label="Deny", allows=False, words=True)
COLOURS = (
    Choice(id="1", label="Red"),
    Choice(id="2", label="Blue"),
    Choice(id="other", label="Something else (write it)", words=True),
    Choice(id="deny", label="Do not answer", allows=False),
)


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path, bot) as opened:
        await opened.house.hire()
        yield opened


async def asked(telegram: TelegramHouse, *choices: Choice, several: bool = False, kind: AskKind) -> ShownMessage:
    """A question of the worker, as it stands on the phone."""
    telegram.agent.plays(AskRaised(ask="a-1", question="Which?", choices=choices, several=several, about=kind))
    await telegram.manager.says("go")
    return await telegram.manager.reads("Which?")


async def labels(telegram: TelegramHouse, ask: ShownMessage, *wanted: str) -> ShownMessage:
    """The question, as soon as its buttons say this."""

    def now(chat: tuple[ShownMessage, ...]) -> ShownMessage:
        return next(one for one in chat if one.message_id == ask.message_id)

    return now(await telegram.manager.sees(lambda chat: now(chat).labels == wanted))


async def test_several_choices_are_ticked_and_sent_together(telegram: TelegramHouse) -> None:
    other, refuse = "✎ Something else (write it)", "Do not answer"
    ask = await asked(telegram, *COLOURS, several=True, kind=AskKind.CHOICE)
    assert ask.labels == ("☐ Red", "☐ Blue", other, refuse)
    await telegram.manager.taps(ask, "☐ Blue")
    ask = await labels(telegram, ask, "☐ Red", "☑ Blue", other, "✓ Send 1", refuse)
    await telegram.manager.taps(ask, "☐ Red")
    ask = await labels(telegram, ask, "☑ Red", "☑ Blue", other, "✓ Send 2", refuse)
    await telegram.manager.taps(ask, "✓ Send 2")
    assert (await telegram.house.fact(AskSettled)).choice == "1,2"
    await telegram.manager.reads("→ Red, Blue, by Mo over telegram")


async def test_a_tick_is_taken_away_again(telegram: TelegramHouse) -> None:
    ask = await asked(telegram, *COLOURS[:2], several=True, kind=AskKind.CHOICE)
    await telegram.manager.taps(ask, "☐ Blue")
    ask = await labels(telegram, ask, "☐ Red", "☑ Blue", "✓ Send 1")
    await telegram.manager.taps(ask, "☑ Blue")
    await labels(telegram, ask, "☐ Red", "☐ Blue")


async def test_what_was_ticked_outlives_the_node(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        agent = telegram.agent
        ask = await asked(telegram, *COLOURS[:2], several=True, kind=AskKind.CHOICE)
        await telegram.manager.taps(ask, "☐ Blue")
        ask = await labels(telegram, ask, "☐ Red", "☑ Blue", "✓ Send 1")
    async with telegram_house(tmp_path, bot, agent=agent) as telegram:
        await telegram.manager.taps(ask, "✓ Send 1")
        assert (await telegram.house.fact(AskSettled)).choice == "2"


async def test_a_refusal_goes_with_a_word_of_advice(telegram: TelegramHouse) -> None:
    ask = await asked(telegram, ALLOW, DENY, kind=AskKind.PERMISSION)
    assert ask.labels == ("Allow once", "Deny", "Deny, and say why")
    await telegram.manager.taps(ask, "Deny, and say why")
    request = await telegram.manager.reads("as a reply to this message")
    assert request.reply_to == ask.message_id
    (call,) = [one for one in await telegram.bot.calls("sendMessage") if "as a reply" in one.parameters["text"]]
    assert call.parameters["reply_markup"] == {"force_reply": True}
    await telegram.manager.says("not on a Friday", reply_to=request.message_id)
    settled = await telegram.house.fact(AskSettled)
    assert (settled.choice, settled.note) == ("deny", "not on a Friday")
    await telegram.manager.reads("→ Deny (“not on a Friday”), by Mo over telegram")
    await telegram.manager.sees(lambda chat: next(one for one in chat if one.message_id == request.message_id).deleted)
    # The words were an answer, and no message to the worker.
    assert not telegram.house.worker().queue


async def test_something_else_is_written(telegram: TelegramHouse) -> None:
    ask = await asked(telegram, *COLOURS, several=True, kind=AskKind.CHOICE)
    await telegram.manager.taps(ask, "☐ Blue")
    ask = await labels(telegram, ask, "☐ Red", "☑ Blue", "✎ Something else (write it)", "✓ Send 1", "Do not answer")
    await telegram.manager.taps(ask, "✎ Something else (write it)")
    request = await telegram.manager.reads("as a reply to this message")
    await telegram.manager.says("green", reply_to=request.message_id)
    settled = await telegram.house.fact(AskSettled)
    assert (settled.choice, settled.note) == ("2,other", "green")


class LateMark:
    """An outbox that marks a request for words as sent only after somebody has looked for it in vain."""

    def __init__(self, outbox: Any) -> None:
        self._outbox = outbox
        self._requests: set[int] = set()
        self._looked_for = anyio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._outbox, name)

    async def waiting(self, *place: Any, **more: Any) -> list[Waiting]:
        found: list[Waiting] = await self._outbox.waiting(*place, **more)
        self._requests |= {one.id for one in found if b"as a reply to this message" in one.parcel.body}
        return found

    async def slot(self, channel: str, chat: str, reference: str) -> str:
        found: str = await self._outbox.slot(channel, chat, reference)
        if not found:
            self._looked_for.set()
        return found

    async def sent(self, number: int, reference: str) -> None:
        if number in self._requests:
            await self._looked_for.wait()
        await self._outbox.sent(number, reference)


async def test_words_may_come_before_their_request_is_marked_as_sent(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, outbox=LateMark) as telegram:
        await telegram.house.hire()
        ask = await asked(telegram, ALLOW, DENY, kind=AskKind.PERMISSION)
        await telegram.manager.taps(ask, "Deny, and say why")
        request = await telegram.manager.reads("as a reply to this message")
        await telegram.manager.says("not on a Friday", reply_to=request.message_id)
        settled = await telegram.house.fact(AskSettled)
        assert (settled.choice, settled.note) == ("deny", "not on a Friday")


async def test_a_picture_is_no_answer_in_words_and_no_message_either(telegram: TelegramHouse) -> None:
    ask = await asked(telegram, ALLOW, DENY, kind=AskKind.PERMISSION)
    await telegram.manager.taps(ask, "Deny, and say why")
    request = await telegram.manager.reads("as a reply to this message")
    picture = {"photo": [{"file_id": "p", "file_unique_id": "p", "width": 1, "height": 1}], "caption": "like this"}
    await telegram.manager.says("", reply_to=request.message_id, more=picture)
    await telegram.manager.reads("words alone")
    await telegram.manager.says("not on a Friday", reply_to=request.message_id)
    assert (await telegram.house.fact(AskSettled)).note == "not on a Friday"
    assert not telegram.house.worker().queue


async def test_words_for_a_request_that_nobody_knows_go_to_no_worker(telegram: TelegramHouse) -> None:
    await telegram.manager.says("hello")
    text = "ann: write what goes with “Deny” as a reply to this message."
    async with local_client() as client:
        url = f"{telegram.bot.address}/bot{telegram.bot.token}/sendMessage"
        await client.post(url, json={"chat_id": telegram.manager.id, "text": text})
    request = await telegram.manager.reads("as a reply to this message")
    await telegram.manager.says("not on a Friday", reply_to=request.message_id)
    await telegram.manager.reads("it went nowhere")


async def test_words_that_come_too_late_are_told(telegram: TelegramHouse) -> None:
    ask = await asked(telegram, ALLOW, DENY, kind=AskKind.PERMISSION)
    await telegram.manager.taps(ask, "Deny, and say why")
    request = await telegram.manager.reads("as a reply to this message")
    await telegram.house.answer("a-1", "allow")
    await telegram.house.fact(AskSettled)
    await telegram.manager.says("not on a Friday", reply_to=request.message_id)
    await telegram.manager.reads("that question was already answered 'allow' over test")
