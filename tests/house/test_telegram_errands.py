"""Twenty errands of a first day, with the phone alone: each step follows from what the chat shows, none is a detour.

`FARHAND_CHAT_PICTURES=folder` leaves a picture of each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.house.desk_folders import in_made_folders
from tests.house.telegram_house import TelegramHouse, telegram_house, told

from farhand.model.facts import AskRaised, AskSettled, Hired, Reworded, Said, TurnEnded, Withdrawn
from farhand.model.ports import SessionFound
from farhand.model.words import AskKind, Choice, HowEnded, Mode, Usage
from farhand.testing.telegram import FakeBot, ShownMessage

pytestmark = pytest.mark.anyio
PERMISSION = (
    Choice(id="once", label="Allow"),
    Choice(id="always", label="Always allow", scope="This command, in this folder."),
    Choice(id="no", label="Deny", allows=False, words=True),
)
COLOURS = (Choice(id="red", label="Red"), Choice(id="blue", label="Blue"))
PLAN = "1. **Move** the till\n2. Write a test"
COST = Usage(input_tokens=1200, output_tokens=300, cost_dollars=0.42)
# What tells somebody that a step led nowhere.
DETOURS = ("not supported", "Unknown", "Usage:", "✗", "⚠", "Try /", "nothing that can be done")


@pytest.fixture
async def phone(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    """A manager who has just pressed Start, in a folder with one project."""
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    async with telegram_house(tmp_path, bot) as opened:
        await opened.manager.says("/start")
        await opened.manager.reads("I'm online")
        yield opened
        chat = await bot.messages(opened.manager.id)
        assert [one.text for one in chat if one.from_bot and any(word in one.text for word in DETOURS)] == []


async def asked(phone: TelegramHouse, choices: tuple[Choice, ...], **more: object) -> ShownMessage:
    """Ann works, and asks something."""
    await phone.house.hire()
    question = str(more.pop("question", "Run: make clean"))
    raised = AskRaised(ask="a-1", question=question, choices=choices, where="/srv/shop", **more)  # type: ignore[arg-type]
    phone.agent.plays(raised)
    await phone.manager.says("clean up")
    return await phone.manager.reads(question)


async def settled(phone: TelegramHouse) -> tuple[str, str]:
    """What the question was answered with, when the card shows it."""
    fact = await phone.house.fact(AskSettled)
    await phone.manager.sees(lambda chat: all(not one.labels or "Run:" not in one.text for one in chat))
    return fact.choice, fact.note


async def busy(phone: TelegramHouse) -> None:
    """Ann is in the middle of a turn."""
    await phone.house.hire()
    phone.agent.plays(Said(text="I look into it."))
    await phone.manager.says("why is the till slow?")
    await phone.house.event(Said)


async def ends(phone: TelegramHouse) -> None:
    """Ann's turn is over."""
    turn = phone.house.worker().turn
    assert turn is not None
    await phone.agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED, usage=COST), turn=turn.id)


def button(message: ShownMessage, words: str) -> str:
    """The label with these words."""
    return next(label for label in message.labels if words in label)


# --- hire and talk


async def test_hire_the_first_worker_by_tapping(phone: TelegramHouse, tmp_path: Path) -> None:
    await phone.manager.taps(await phone.manager.reads("I'm online"), "Hire scripted")
    where = await phone.manager.reads("where?")
    await phone.manager.taps(where, button(where, "shop"))
    await phone.manager.taps(await phone.manager.reads("what may it do unasked?"), "Asks before it acts")
    await phone.manager.reads("Shop is added and assigned.")
    hired = await phone.house.fact(Hired)
    assert (hired.directory, hired.mode) == (str(tmp_path / "shop"), Mode.DEFAULT)


async def test_hire_into_a_folder_by_typing(phone: TelegramHouse, tmp_path: Path) -> None:
    await phone.manager.says(f"/hire ann --dir {tmp_path}/shop --ask --backend scripted")
    await phone.manager.reads("Ann is added and assigned.")
    said = await phone.manager.reads("Ann asks before it acts (mode default).")
    assert f"{tmp_path}/shop" in said.text


async def test_say_something_and_read_the_answer(phone: TelegramHouse) -> None:
    await phone.house.hire()
    phone.agent.plays(Said(text="It is **slow** because:\n\n- `sum()` runs twice"), TurnEnded(how=HowEnded.COMPLETED))
    await phone.manager.says("why is the till slow?")
    answer = await phone.manager.reads("• sum() runs twice")
    assert answer.buzzed


async def test_see_who_is_there_and_how_each_stands(phone: TelegramHouse) -> None:
    await phone.house.hire()
    await phone.house.hire("bob")
    await phone.manager.says("/team")
    team = await phone.manager.reads("Your team:")
    assert "ann" in team.text
    assert "bob" in team.text
    assert "mode default" in team.text


async def test_speak_to_another_worker_for_once(phone: TelegramHouse) -> None:
    await phone.house.hire("bob")
    await phone.house.hire("ann")
    await phone.manager.says("@bob good morning")
    answer = await phone.manager.reads("answer to good morning")
    assert answer.text.startswith("bob:")
    await phone.manager.says("and you?", reply_to=answer.message_id)
    await phone.manager.sees(lambda chat: sum(one.text.startswith("bob:") for one in chat) == 2)


# --- answer in words


async def test_allow_a_command_with_yes(phone: TelegramHouse) -> None:
    card = await asked(phone, PERMISSION)
    assert card.buzzed
    await phone.manager.says("yes")
    assert await settled(phone) == ("once", "")


async def test_refuse_a_command_and_say_why(phone: TelegramHouse) -> None:
    await asked(phone, PERMISSION)
    await phone.manager.says("no, make test is enough")
    assert await settled(phone) == ("no", "make test is enough")


async def test_choose_by_number_among_answers(phone: TelegramHouse) -> None:
    await asked(phone, COLOURS, question="Which colour shall the button have?", about=AskKind.CHOICE)
    await phone.manager.says("2")
    assert (await phone.house.fact(AskSettled)).choice == "blue"
    await phone.manager.reads("Blue")


async def test_read_a_plan_and_go_ahead_by_its_words(phone: TelegramHouse) -> None:
    choices = (Choice(id="go", label="Go ahead"), Choice(id="no", label="Keep planning", allows=False, words=True))
    card = await asked(phone, choices, question="Go ahead with this plan?", detail=PLAN, about=AskKind.PLAN)
    assert "**" not in card.text
    await phone.manager.says("go ahead", reply_to=card.message_id)
    assert (await phone.house.fact(AskSettled)).choice == "go"


async def test_say_something_else_while_a_question_is_open(phone: TelegramHouse) -> None:
    await asked(phone, PERMISSION)
    await phone.manager.says("then write the tests")
    back = await phone.manager.reads("waits for your answer")
    assert back.labels == ("Deny with this", "Say it after")
    await phone.manager.taps(back, "Deny with this")
    assert await settled(phone) == ("no", "then write the tests")
    assert told(phone) == ["clean up"]


# --- change how a worker works, see what it costs


async def test_change_what_a_worker_may_do_unasked(phone: TelegramHouse) -> None:
    await phone.house.hire()
    await phone.manager.says("/mode")
    shown = await phone.manager.reads("ann: mode default")
    await phone.manager.taps(shown, "Only read and plan")
    await phone.manager.reads("ann changed: mode plan")
    # What was said of it before is true again.
    hired = await phone.manager.reads("Ann reads and plans, and changes nothing (mode plan).")
    assert hired.labels == ("Ask before acting", "Edit, ask the rest")
    again = await phone.manager.reads("ann: mode plan (")
    assert (again.message_id, again.labels) == (shown.message_id, hired.labels)


async def test_change_the_model(phone: TelegramHouse) -> None:
    await phone.house.hire()
    await phone.manager.says("/tune model=big")
    await phone.manager.reads("ann changed: model big")
    await phone.manager.says("/mode")
    await phone.manager.reads("ann: mode default (asks before it acts), model big,")


async def test_see_what_it_costs(phone: TelegramHouse) -> None:
    await phone.house.hire()
    phone.agent.plays(Said(text="Done."), TurnEnded(how=HowEnded.COMPLETED, usage=COST))
    await phone.manager.says("fix the till")
    await phone.manager.reads("Done.")
    await phone.manager.says("/usage")
    await phone.manager.reads("ann: $0.42, 1.2k tokens in, 300 out")


# --- what waits


async def test_queue_a_message_and_reword_it(phone: TelegramHouse) -> None:
    await busy(phone)
    await phone.manager.says("then the tset")
    await phone.manager.reads("ann is busy, this waits: then the tset")
    await phone.manager.says("/queue")
    listed = await phone.manager.reads("1. ann: then the tset")
    assert "/edit" in listed.text
    await phone.manager.says("/edit 1 then the test")
    assert (await phone.house.fact(Reworded)).text == "then the test"
    await phone.manager.reads("this waits: then the test")
    await ends(phone)
    await phone.manager.reads("answer to then the test")


async def test_take_a_message_back(phone: TelegramHouse) -> None:
    await busy(phone)
    await phone.manager.says("never mind")
    waits = await phone.manager.reads("this waits: never mind")
    await phone.manager.taps(waits, "Take it back")
    await phone.house.fact(Withdrawn)
    await phone.manager.sees(lambda chat: next(one for one in chat if one.message_id == waits.message_id).deleted)
    assert told(phone) == ["why is the till slow?"]


async def test_stop_what_runs(phone: TelegramHouse) -> None:
    await busy(phone)
    await phone.manager.says("then the test")
    await phone.manager.reads("this waits: then the test")
    await phone.manager.taps(await phone.manager.reads("ann is working"), "Stop")
    said = await phone.manager.reads("Taken back, for ann had not begun: “then the test”.")
    await phone.manager.reads("■ Stopped.")
    await phone.manager.taps(said, "Say it after all")
    await phone.manager.reads("answer to then the test")


# --- desk, trouble, the way back


async def test_take_over_what_is_open_at_the_desk_and_give_it_back(phone: TelegramHouse, tmp_path: Path) -> None:
    at_desk = SessionFound(id="bbbb-2222", directory="till", title="fix the till", at=2.0, open=True, mode="plan")
    phone.agent.conversations = in_made_folders(tmp_path, at_desk)
    await phone.manager.says("/sessions")
    listed = await phone.manager.reads("open at the desk")
    await phone.manager.taps(listed, button(listed, "Take over"))
    await phone.manager.reads(f"till goes on with a conversation of scripted in {tmp_path}/till.")
    assert (await phone.house.fact(Hired)).mode is Mode.PLAN
    await phone.manager.says("/handback till")
    await phone.manager.reads("scripted --resume bbbb-2222")


async def test_find_out_why_a_worker_does_not_start(phone: TelegramHouse) -> None:
    phone.agent.refuses_to_open = "Not logged in · Please run /login"
    await phone.manager.says("/hire ann scripted --ask")
    failed = await phone.manager.reads('Could not hire "ann". Not signed in. Sign in at the desk')
    phone.agent.refuses_to_open = ""
    await phone.manager.taps(failed, "Try again")
    assert (await phone.manager.reads("Ann has started and is on your team.")).message_id == failed.message_id


async def test_come_back_and_see_what_waits_and_what_was_said(phone: TelegramHouse) -> None:
    await asked(phone, PERMISSION)
    await phone.manager.says("/inbox")
    await phone.manager.reads("? ann asks: Run: make clean")
    await phone.manager.says("/history")
    await phone.manager.sees(lambda chat: sum("clean up" in one.text and one.from_bot for one in chat) >= 1)
    await phone.manager.says("/history ann 1")
    await phone.manager.sees(lambda chat: sum("clean up" in one.text and one.from_bot for one in chat) >= 2)
    await phone.manager.says("/history cleo 20")
    await phone.manager.reads("No worker called 'cleo'. The team: ann.")


async def test_be_left_in_peace_for_a_while(phone: TelegramHouse) -> None:
    await phone.manager.says("/quiet 2h")
    quiet = await phone.manager.reads("Quiet until ")
    assert "Nothing buzzes then, not even a question (/quiet except ask changes that)." in quiet.text
    await phone.manager.taps(quiet, "Buzz again")
    await phone.manager.reads("Not quiet: the phone buzzes for anything.")


async def test_find_out_what_can_be_typed(phone: TelegramHouse) -> None:
    await phone.house.hire()
    await phone.manager.says("/commands")
    listed = await phone.manager.reads("/hire")
    assert len(listed.text.splitlines()) <= 40
    await phone.manager.says("/commands hire")
    await phone.manager.reads("--dir")
