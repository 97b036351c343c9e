"""The manager on WhatsApp: one message a turn, questions as buttons and lists, receipts, files, voice, the window."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.house.test_voice import listener
from tests.house.whatsapp_house import NUMBER, WhatsAppHouse, whatsapp_house

from farhand.channels.kit import overview
from farhand.channels.whatsapp.gateway import LARGEST_PICTURE
from farhand.channels.whatsapp.phone_number import WhatsAppChannel
from farhand.channels.whatsapp.templates import BODY, BUTTON, template
from farhand.model.attention import AttentionKind
from farhand.model.attention_rules import Buzz, Matter
from farhand.model.facts import AskRaised, AskSettled, Said, Showed, ToolStarted, Tuned, TurnEnded
from farhand.model.slash import CHAT, SLASHES
from farhand.model.words import Attachment, Choice, HowEnded
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.voice import fake_transcription
from farhand.testing.whatsapp import FakeWhatsApp, PhoneMessage

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
DAY = 24 * 3600.0
LONG = DAY + 60
CHOICES = (Choice(id="yes", label="Allow"), Choice(id="no", label="Deny", allows=False))
DONE = TurnEnded(how=HowEnded.COMPLETED)


async def asked(house: WhatsAppHouse, *choices: Choice, question: str = "Run it?", **more: object) -> PhoneMessage:
    house.agent.plays(AskRaised(ask="a", question=question, choices=choices or CHOICES, **more))  # type: ignore[arg-type]
    house.manager.says("do it")
    return await house.manager.reads(question)


async def test_a_turn_is_one_message_with_receipts_on_what_was_said(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        house.agent.plays(
            Said(text="Looking. "), ToolStarted(call="1", tool="Bash", title="ls"), Said(text="**All** `well`"), DONE
        )
        await house.manager.reads("(mode default)")
        before = len(house.manager.received)
        said = house.manager.says("how is it")
        answer = await house.manager.reads("*All*")
        assert (answer.text, answer.reply_to) == ("*ann:*\nLooking. *All* `well`", said.id)
        await whatsapp.until(lambda: said.reaction == "👀" and said.read)
        assert house.manager.received[before:] == [answer]


async def test_typing_is_shown_while_a_turn_runs(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        house.agent.plays(Said(text="working"))
        assert house.manager.owner.typing == 0
        house.manager.says("how is it")
        await whatsapp.until(lambda: house.manager.owner.typing == 1)
        turn = house.house.worker().turn
        assert turn is not None
        await house.agent.links["ann"].say(DONE, turn=turn.id)
        await house.manager.reads("working")


async def test_a_message_that_waits_says_so_by_its_reaction(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        house.agent.plays(Said(text="working"))
        house.manager.says("first")
        await house.house.event(Said)
        second = house.manager.says("second")
        await whatsapp.until(lambda: second.reaction == "⏳")
        await house.agent.links["ann"].say(DONE)
        await whatsapp.until(lambda: second.reaction == "👀")
        await house.manager.reads("answer to second")


async def test_two_choices_are_buttons_and_the_first_tap_wins(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        ask = await asked(house)
        assert ask.labels == ("Allow", "Deny")
        house.manager.taps(ask, "Allow")
        house.manager.taps(ask, "Deny")
        assert (await house.house.fact(AskSettled)).choice == "yes"
        tapped = [one for one in house.manager.chat if one.kind == "tap"]
        assert (await house.manager.reads("Too late")).reply_to == tapped[-1].id


async def test_many_or_long_choices_are_a_list_with_the_whole_of_each(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    long = "Use the second database, the one on the other host"
    many = [Choice(id=f"c{place}", label=f"Choice {place}") for place in range(12)]
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        ask = await asked(house, Choice(id="long", label=long), *many, Choice(id="no", label="None", allows=False))
        assert (len(ask.labels), ask.labels[-1]) == (10, "None")
        assert ask.descriptions[ask.labels[0]] == long
        assert "Choice 11" in ask.text
        house.manager.taps(ask, ask.labels[0])
        assert (await house.house.fact(AskSettled)).choice == "long"


async def test_a_long_question_is_shown_whole_before_its_buttons(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    for length, kind in ((2000, "text"), (9000, "document")):
        async with whatsapp_house(tmp_path / kind, whatsapp) as house:
            await house.house.hire()
            command = "rm " + "x" * length
            ask = await asked(house, detail=command)
            place = house.manager.received.index(ask)
            whole = house.manager.received[place - 1] if ask.buttons else ask
            shown = [one for one in house.manager.received if command in one.text or command.encode() in one.content]
            assert [one.kind for one in shown] == [kind], whole
            await house.manager.sees(lambda chat: any(one.labels == ("Allow", "Deny") for one in chat))
        whatsapp.world.people.clear()


async def test_an_answer_elsewhere_is_told_and_one_in_the_chat_is_not_said_again(
    tmp_path: Path, whatsapp: FakeWhatsApp
) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        ask = await asked(house)
        await house.house.answer("a", "no", via="door")
        told = await house.manager.reads("→ Deny")
        assert told.reply_to == ask.id
        house.agent.plays(AskRaised(ask="b", question="Again?", choices=CHOICES))
        house.manager.says("/pause")
        house.manager.says("once more")
        again = await house.manager.reads("Again?")
        house.manager.taps(again, "Allow")
        await house.house.event(AskSettled, lambda event: getattr(event.fact, "ask", "") == "b")
        house.manager.says("/team")
        await house.manager.reads("Your team:")
        assert not [one for one in house.manager.received if "→ Allow" in one.text]


async def test_a_reminder_of_a_question_comes_once_and_what_cannot_be_taken_back_is_settled_below_it(
    tmp_path: Path, whatsapp: FakeWhatsApp
) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        ask = await asked(house)
        channel = next(one for one in house.house.node.channels if isinstance(one, WhatsAppChannel))
        matter = Matter(key="ask:a", kind=AttentionKind.ASK, at=0.0, worker="ann", text="Run it?")
        for _ in range(2):
            await channel.nudge(Buzz(place="whatsapp", matters=(matter,), step=2))
        nudge = await house.manager.reads("still waits for you")
        assert nudge.reply_to == ask.id
        await channel.withdraw_nudges("a", [1, 2])
        house.manager.taps(ask, "Deny")
        await house.house.fact(AskSettled)
        house.manager.says("/inbox")
        await house.manager.reads(overview.NOTHING_WAITS)
        assert sum("still waits" in one.text for one in house.manager.received) == 1


async def test_the_team_is_a_list_that_focuses(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        for name in ("ann", "bob"):
            await house.house.hire(name)
        house.manager.says("/team")
        team = await house.manager.reads("Your team:")
        assert team.labels == ("ann", "bob")
        house.manager.taps(team, "ann")
        await house.house.until(lambda present: present.focus == "ann")


async def test_a_reply_goes_to_whoever_is_answered(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        for name in ("ann", "bob"):
            await house.house.hire(name)
        house.manager.says("@ann hello")
        answer = await house.manager.reads("answer to hello")
        house.manager.says("and now?", reply_to=answer.id)
        await house.house.until(lambda present: present.workers["ann"].turn is None)
        await house.manager.reads("Manager reply")
        assert house.delivered[-1].startswith("Manager reply:\nand now?\n\nContext (your previous message):\nanswer to")
        assert [worker for worker, _ in house.agent.performed][-1] == "ann"


async def test_an_edit_rewords_what_waits(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        house.agent.plays(Said(text="working"))
        house.manager.says("first")
        await house.house.event(Said)
        second = house.manager.says("secnod")
        house.manager.edits(second, "second")
        await house.house.until(lambda present: any(one.text == "second" for one in present.workers["ann"].queue))


async def test_forwarded_words_are_never_a_command(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        house.manager.says("/end ann", context={"forwarded": True})
        await house.manager.reads("answer to")
        assert house.delivered == ["Forwarded message:\n/end ann"]


async def test_strangers_do_not_make_the_log_grow(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    """Of one kind of warning so many lines a minute are logged; of what only informs, each."""
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        with capture_logs() as logged:
            whatsapp.person("4915100000009", "DE.8009", "Eve").says("let me in")
            house.manager.says("hello")
            await house.manager.reads("answer to")
    levels = {one["log_level"] for one in logged if one["event"] == "message passed over"}
    assert levels == {"warning"}


async def test_pictures_and_documents_go_both_ways(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    (tmp_path / "shot.png").write_bytes(PNG)
    (tmp_path / "broken.png").write_bytes(b"no picture")
    (tmp_path / "report.txt").write_text("all well")
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        shows = [
            Showed(file=Attachment(path=str(tmp_path / name))) for name in ("shot.png", "broken.png", "report.txt")
        ]
        lost = Showed(file=Attachment(path=str(tmp_path / "nowhere.txt")))
        house.agent.plays(*shows, lost, DONE)
        house.manager.sends("document", b"words", "text/plain", name="notes.txt", caption="read this")
        await house.manager.reads("File failed")
        sent = [(one.kind, one.content) for one in house.manager.received if one.content]
        assert sent == [("image", PNG), ("document", b"no picture"), ("document", b"all well")]
        assert house.delivered[0].startswith("read this\n\nManager sent file: notes.txt (5 B, text/plain)\nPath: ")
        house.manager.sends("image", b"\xff\xd8\xff\xe0", "image/jpeg", caption="and this")
        await house.manager.reads("answer to and this")
        assert house.delivered[1].startswith("and this\n\nManager sent image: ")


async def test_a_long_answer_is_one_message_with_all_of_it_as_a_file(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        text = "\n\n".join(f"Paragraph {place} of a long answer." for place in range(400))
        house.agent.plays(Said(text=text), DONE)
        await house.manager.reads("(mode default)")
        before = len(house.manager.received)
        house.manager.says("tell me all")
        answer = await house.manager.reads("Paragraph 0")
        assert answer.text.startswith("*ann:*\nParagraph 0")
        assert (answer.kind, answer.file_name) == ("document", "ann-answer.txt")
        assert b"Paragraph 399" in answer.content
        assert len(house.manager.received) == before + 1


async def test_a_voice_note_is_heard_confirmed_and_corrected(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with fake_transcription("fix the par sir", "second note") as service:
        ear = listener(tmp_path, url=service.address)
        async with whatsapp_house(tmp_path, whatsapp, voice=ear) as house:
            await house.house.hire()
            house.manager.sends("audio", b"OggS", "audio/ogg; codecs=opus")
            card = await house.manager.reads("fix the par sir")
            assert card.labels == ("Send", "Drop")
            house.manager.says("fix the parser", reply_to=card.id)
            await house.manager.reads("answer to fix the parser")
            # The card is still there: what was corrected is not sent as it was heard.
            house.manager.taps(card, "Send")
            house.manager.sends("audio", b"OggS", "audio/ogg; codecs=opus")
            house.manager.taps(await house.manager.reads("second note"), "Send")
            await house.manager.reads("answer to second note")
            assert house.delivered == ["fix the parser", "second note"]


# --- the 24-hour window


def templates_sent(house: WhatsAppHouse) -> list[PhoneMessage]:
    return [one for one in house.manager.received if one.kind == "template"]


async def test_outside_the_window_all_waits_one_template_reopens_it_and_nothing_is_lost(
    tmp_path: Path, whatsapp: FakeWhatsApp
) -> None:
    agent = ScriptedDriver()
    whatsapp.world.templates.append({**template("farhand_waiting", "en"), "status": "APPROVED"})
    async with whatsapp_house(tmp_path, whatsapp, agent=agent, wrote_ago=LONG) as house:
        await house.house.hire()
        for number in range(3):
            await house.house.say(f"message {number}", worker="ann")
        (reopen,) = await whatsapp.until(lambda: templates_sent(house))
        assert (reopen.text, reopen.labels) == (BODY, (BUTTON,))
        # A scripted agent does not go on with a turn that a restart has cut.
        await house.house.until(lambda present: not present.workers["ann"].queue and not present.workers["ann"].turn)
    async with whatsapp_house(tmp_path, whatsapp, agent=agent) as house:
        await house.house.say("after the restart", worker="ann")
        await house.house.until(lambda present: not present.workers["ann"].queue and not present.workers["ann"].turn)
        assert [one.kind for one in house.manager.received] == ["template"]
        house.manager.taps(reopen, BUTTON)
        await house.manager.reads("answer to after the restart")
        answers = [one.text.partition("\n")[2] for one in house.manager.received if "answer to" in one.text]
        wanted = [*(f"message {number}" for number in range(3)), "after the restart"]
        assert answers == [f"answer to {text}" for text in wanted]
        assert len(templates_sent(house)) == 1
        assert not [one for one in house.manager.chat if one.failed]


@pytest.mark.parametrize("at_once", [False, True], ids=["reported later", "refused at once"])
async def test_a_window_that_whatsapp_calls_closed_is_believed(
    tmp_path: Path, whatsapp: FakeWhatsApp, at_once: bool
) -> None:
    whatsapp.world.templates.append({**template("farhand_waiting", "en"), "status": "APPROVED"})
    whatsapp.world.refuses_at_once = at_once
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        house.manager.says("hello")
        await house.manager.reads("answer to hello")
        house.manager.owner.wrote_at = whatsapp.world.now() - DAY
        await house.house.say("later", worker="ann")
        await whatsapp.until(lambda: templates_sent(house))
        house.manager.says("/team")
        await house.manager.reads("answer to later")
        assert [one.text.count("answer to later") for one in house.manager.received].count(1) == 1


async def test_without_a_template_it_waits_all_the_same(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp, wrote_ago=LONG) as house:
        await house.house.hire()
        await house.house.say("meanwhile", worker="ann")
        await whatsapp.until(lambda: any("132001" in call.outcome for call in whatsapp.world.calls))
        assert house.manager.received == []
        house.manager.says("hello")
        await house.manager.reads("answer to meanwhile")
        await house.manager.reads("answer to hello")


async def test_a_message_that_failed_later_is_sent_once_more_and_then_told(
    tmp_path: Path, whatsapp: FakeWhatsApp
) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        house.manager.says("hello")
        first = await house.manager.reads("answer to hello")
        whatsapp.fail(house.manager.owner, first, 131000, "Something went wrong")
        second = await house.manager.reads("answer to hello")
        assert second.id != first.id
        whatsapp.fail(house.manager.owner, second, 131000, "Something went wrong")
        notice = await house.manager.reads("could not be sent")
        assert "It begins: *ann:* answer to hello" in notice.text


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 429, "code": 130429},
        {"status": 400, "code": 131056},
        {"kind": "garbage", "status": 502},
        {"status": 401, "code": 190, "message": "expired"},
        {"kind": "cut"},
        {"kind": "cut", "after": True},
    ],
    ids=str,
)
async def test_a_fault_of_whatsapps_loses_no_answer(
    tmp_path: Path, whatsapp: FakeWhatsApp, fault: dict[str, object]
) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        whatsapp.fault("answer to hello", **fault)  # type: ignore[arg-type]
        house.manager.says("hello")
        await house.manager.reads("answer to hello")
        house.manager.says("/team")
        await house.manager.reads("Your team:")
        count = sum("answer to hello" in one.text for one in house.manager.received)
        assert count == (2 if fault.get("after") else 1)


async def test_what_whatsapp_never_takes_is_told(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        whatsapp.fault("answer to hello", status=400, code=131051, message="Message type is not supported")
        house.manager.says("hello")
        notice = await house.manager.reads("could not be sent")
        assert "Message type is not supported (#131051)" in notice.text


async def test_the_node_has_whatsapp_by_its_settings_alone(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        assert house.house.node.manager_chat() == NUMBER
        house.manager.says("/settings")
        about = (await house.manager.reads("Bot token:")).text
        assert whatsapp.world.token not in about
        assert whatsapp.world.app_secret not in about
        assert house.health == "webhook"


async def test_every_command_of_a_chat_is_one_here(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    """The table is the one of all chats: each of its commands is answered, and reaches no worker as a text."""
    answered_otherwise = {"learn": "answer to ", "sessions": "No agent has a conversation there."}
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        await house.manager.reads("(mode default)")
        for name in (one.name for one in SLASHES if CHAT in one.surfaces):
            said = house.manager.says(f"/{name}")
            if text := answered_otherwise.get(name):
                await house.manager.reads(text)
            else:
                await house.manager.sees(partial(is_answered, said.id))
        assert not [text for text in house.delivered if text.startswith("/")]


async def test_the_model_is_shown_and_changed_by_its_own_command(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    """Only Telegram refuses `/model`, for its spec says so."""
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        await house.manager.reads("(mode default)")
        house.manager.says("/model opus")
        tuned = await house.house.fact(Tuned)
        assert tuned.model == "opus"
        house.manager.says("/help model")
        await house.manager.reads("/model [name] <model>")


def is_answered(message: str, chat: list[PhoneMessage]) -> bool:
    return any(one.reply_to == message and one.from_business for one in chat)


async def test_a_picture_that_whatsapp_would_not_take_is_a_document(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    sizes = {"largest.png": LARGEST_PICTURE, "larger.png": LARGEST_PICTURE + 1}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(PNG.ljust(size, b"\0"))
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        house.agent.plays(*(Showed(file=Attachment(path=str(tmp_path / name))) for name in sizes), DONE)
        house.manager.says("show me")
        await house.manager.sees(lambda chat: sum(bool(one.content) for one in chat) == len(sizes))
        sent = [(one.kind, len(one.content)) for one in house.manager.received if one.content]
        assert sent == [("image", LARGEST_PICTURE), ("document", LARGEST_PICTURE + 1)]
