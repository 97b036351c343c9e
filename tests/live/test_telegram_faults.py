"""Every fault on every method that the channel uses: no message lost, no answer lost, repeats as promised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.model.facts import AskRaised, AskSettled, Said, Showed, ToolStarted, TurnEnded
from farhand.model.ports import Deliver
from farhand.model.words import Attachment, Choice, HowEnded
from farhand.testing.telegram import FakeBot, RecordedCall, ShownMessage, drawn

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
CHOICES = (Choice(id="yes", label="Allow"), Choice(id="no", label="Deny", allows=False))
QUICK: dict[str, Any] = {"poll_seconds": 1, "edit_seconds": 0.1}
# A call that hangs is left after this time, and so is one to a busy machine: no other fault is tried with it.
HANGING: dict[str, Any] = {**QUICK, "answer_seconds": 10.0}

METHODS = (
    ("getUpdates", ""),
    ("getMe", ""),
    ("setMyCommands", ""),
    ("setWebhook", ""),
    ("getWebhookInfo", ""),
    ("sendMessage", "is working"),
    ("sendMessage", "Run it?"),
    ("sendMessage", "the whole answer"),
    ("editMessageText", "▸ Bash"),
    ("editMessageText", "→ Allow"),
    ("deleteMessage", ""),
    ("setMessageReaction", ""),
    ("answerCallbackQuery", ""),
    ("sendPhoto", ""),
    ("sendDocument", ""),
    ("getFile", ""),
    ("download", ""),
)
FAULTS: dict[str, dict[str, Any]] = {
    "429": {"code": 429, "description": "Too Many Requests: retry after 1", "retry_after": 1},
    "502": {"code": 502},
    "500 for a while": {"code": 500, "description": "Internal Server Error", "times": 2},
    "garbage": {"kind": "garbage"},
    "409": {"code": 409, "description": "Conflict: terminated by other getUpdates request"},
    "401": {"code": 401, "description": "Unauthorized"},
    "403": {"code": 403, "description": "Forbidden: bot was blocked by the user"},
    "hang before": {"kind": "hang"},
    "hang after": {"kind": "hang", "after_effect": True},
    "cut before": {"kind": "cut"},
    "cut after": {"kind": "cut", "after_effect": True},
}
# Only a send whose answer never came, and which had its effect, is seen twice.
REPEATED = {"hang after", "cut after"}


def repeats(messages: Sequence[ShownMessage], words: Callable[[ShownMessage], str]) -> Counter[str]:
    """How often each thing that must come once came again."""
    seen = Counter(
        one.document or ("photo" if one.photo else words(one))
        for one in messages
        if one.from_bot and (not one.silent or one.document)
    )
    return Counter({text: count - 1 for text, count in seen.items() if count > 1})


def words_sent(message: ShownMessage) -> str:
    """What it said when it came: a leftover copy is edited, to any words that were sent again, before it goes."""
    return message.versions[0] if message.versions else message.text


def words_read(message: ShownMessage) -> str:
    return message.text


def is_read(message: ShownMessage) -> bool:
    return not (message.deleted or message.photo or message.document)


def content_of(attachment: Attachment) -> bytes:
    return Path(attachment.path).read_bytes()


async def converse(telegram: TelegramHouse, folder: Path) -> None:
    """A conversation that uses everything the channel can do."""
    (folder / "shot.png").write_bytes(PNG)
    (folder / "report.txt").write_text("all well")
    await telegram.house.hire()
    telegram.agent.plays(
        ToolStarted(call="1", tool="Bash", title="npm test"),
        Showed(file=Attachment(path=str(folder / "shot.png"))),
        Showed(file=Attachment(path=str(folder / "report.txt"))),
        AskRaised(ask="a", question="Run it?", choices=CHOICES),
    )
    await telegram.manager.sends_document(b"words", "notes.txt", caption="do it")
    await telegram.manager.reads("▸ Bash")
    ask = await telegram.manager.reads("Run it?")
    await telegram.manager.taps(ask, "Allow")
    assert (await telegram.house.fact(AskSettled)).choice == "yes"
    link = telegram.agent.links["ann"]
    await link.say(Said(text="the whole answer"))
    await link.say(TurnEnded(how=HowEnded.COMPLETED))
    await telegram.manager.reads("→ Allow, by Mo over telegram")
    await telegram.manager.reads("the whole answer")
    await telegram.manager.says("and once more")
    await telegram.manager.reads("answer to and once more")


@pytest.mark.parametrize("public", [False, True], ids=["polling", "webhook"])
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_on_every_method(tmp_path: Path, bot: FakeBot, fault: str, public: bool) -> None:
    for method, contains in METHODS:
        await bot.fault(method, contains=contains, **FAULTS[fault])
    options = HANGING if FAULTS[fault].get("kind") == "hang" else QUICK
    async with telegram_house(tmp_path, bot, public=public, **options) as telegram:
        await converse(telegram, tmp_path)
        chat = await telegram.manager.sees(
            lambda chat: all(one.deleted for one in chat if one.text.startswith("ann is "))
        )
        again = repeats(chat, words_sent)
        assert set(again.values()) <= ({1} if fault in REPEATED else set()), drawn(chat)
        # Even those go, where the copy can be found: the manager reads everything once.
        await telegram.manager.sees(lambda chat: not repeats([one for one in chat if is_read(one)], words_read))
        said = [errand.message for _, errand in telegram.agent.performed if isinstance(errand, Deliver)]
        file, more = (message.text for message in said)
        assert file.startswith("do it\n\nManager sent file: notes.txt (5 B, text/plain)\nPath: ")
        assert more == "and once more"
        assert [content_of(one) for one in said[0].attachments] == [b"words"]
        # A fault that no call met would prove nothing.
        unused = {"getWebhookInfo", "setWebhook", "getUpdates"}
        if "times" in FAULTS[fault]:
            # A tap is answered once: the clock on the button is no promise.
            unused.add("answerCallbackQuery")
        await bot.until(bot.faults, lambda faults: {one.method for one in faults} <= unused)


def left(chat: Sequence[ShownMessage], *texts: str) -> list[ShownMessage]:
    """The bot's messages with one of these texts that the manager still sees."""
    return [one for one in chat if one.from_bot and not one.deleted and any(text in one.text for text in texts)]


@pytest.mark.parametrize("cut", [("is working",), ("is working", "Run it?")], ids=["progress", "and question"])
async def test_the_copy_of_a_message_that_a_question_overtook_goes_and_the_question_stays(
    tmp_path: Path, bot: FakeBot, cut: tuple[str, ...]
) -> None:
    for text in cut:
        await bot.fault("sendMessage", "cut", contains=text, after_effect=True)
    await bot.fault("deleteMessage", "cut")

    def again(calls: Sequence[RecordedCall]) -> bool:
        return all(len([one for one in calls if text in one.parameters["text"]]) == 2 for text in cut)

    async with telegram_house(tmp_path, bot, **QUICK) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(AskRaised(ask="a", question="Run it?", choices=CHOICES))
        await telegram.manager.says("do it")
        await bot.until_calls(again, "sendMessage")
        chat = await telegram.manager.sees(
            lambda chat: len(left(chat, "is working", "waits for you")) == len(left(chat, "Run it?")) == 1
        )
        await telegram.manager.taps(left(chat, "Run it?")[0], "Allow")
        assert (await telegram.house.fact(AskSettled)).choice == "yes"


async def test_a_send_cut_twice_is_given_up_and_told(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, **QUICK) as telegram:
        await telegram.house.hire()
        await telegram.manager.says("hello")
        await telegram.manager.reads("answer to hello")
        await bot.fault("sendMessage", "cut", times=2, contains="answer to again")
        await telegram.manager.says("again")
        notice = await telegram.manager.reads("may not have reached you")
        assert "It begins: ann: answer to again" in notice.text
        calls = [call for call in await bot.calls("sendMessage") if "answer to again" in call.parameters["text"]]
        assert len([call for call in calls if "may not" not in call.parameters["text"]]) == 2


async def test_html_that_telegram_refuses_goes_out_as_plain_text(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, **QUICK) as telegram:
        await telegram.house.hire()
        refusal = "Bad Request: can't parse entities: Unsupported start tag"
        await bot.fault("sendMessage", code=400, description=refusal, contains="<b>bold</b>")
        telegram.agent.plays(Said(text="**bold** & <plain>"), TurnEnded(how=HowEnded.COMPLETED))
        await telegram.manager.says("hello")
        answer = await telegram.manager.reads("bold & <plain>")
        assert [one["type"] for one in answer.entities] == []


async def test_the_limits_are_kept_so_that_telegram_never_has_to_refuse(tmp_path: Path, bot: FakeBot) -> None:
    await bot.rates(per_chat=20, overall=30, burst=5)
    async with telegram_house(tmp_path, bot, chat_per_second=18.0, chat_burst=4, edit_seconds=0.05) as telegram:
        await telegram.house.hire()
        for number in range(12):
            await telegram.manager.says(f"message {number}")
        await telegram.manager.reads("answer to message 11")
        assert not [call for call in await bot.calls() if call.outcome.startswith("429")]


async def test_a_picture_that_telegram_cannot_draw_is_sent_as_a_file_and_a_lost_file_is_told(
    tmp_path: Path, bot: FakeBot
) -> None:
    (tmp_path / "broken.png").write_bytes(b"no picture at all")
    async with telegram_house(tmp_path, bot, **QUICK) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(
            Showed(file=Attachment(path=str(tmp_path / "broken.png"))),
            Showed(file=Attachment(path=str(tmp_path / "nowhere.txt"))),
            TurnEnded(how=HowEnded.COMPLETED),
        )
        await telegram.manager.says("show me")
        await telegram.manager.sees(lambda chat: any(one.document == "broken.png" for one in chat))
        notice = await telegram.manager.reads("failed")
        assert notice.text.splitlines()[0] == f"ann: [File failed: {tmp_path / 'nowhere.txt'}]"
