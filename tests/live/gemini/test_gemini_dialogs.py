"""The dialogs of the real Gemini CLI beside its permissions: plans and questions from the phone, and advice."""

from __future__ import annotations

from typing import Any

import pytest

from farhand.model.commands import Hire
from farhand.model.facts import AnswerDelivered, AskRaised, CameOnline, Noted, Said, SessionKnown, TurnEnded
from farhand.model.words import AskKind, HowEnded, Mode
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.house import House
from farhand.testing.models.gemini import calls, says

pytestmark = pytest.mark.anyio


async def hired(house: House, studio: GeminiEnv, mode: Mode = Mode.DEFAULT) -> str:
    """A worker in a terminal; its session."""
    command = Hire(
        id=house.id(),
        worker="ann",
        backend="gemini",
        directory=str(studio.project),
        mode=mode,
        options={"wire": "tmux"},
    )
    await house.send(command)
    await house.fact(CameOnline)
    return (await house.fact(SessionKnown)).session


def asks(question: str, *labels: str, **more: Any) -> dict[str, Any]:
    options = [{"label": label, "description": f"it is {label.lower()}"} for label in labels]
    return {"question": question, "header": "Header", "type": "choice", "options": options, **more}


def answers(studio: GeminiEnv) -> str:
    return str(studio.model.last["contents"][-1])


async def test_a_question_is_answered_by_its_number_or_in_words(studio: GeminiEnv) -> None:
    colour = {"questions": [asks("Which colour is it?", "Red", "Red and blue", "Blue")]}
    studio.model.expect(calls("ask_user", colour), says("blue then"), prompt="zz-number")
    studio.model.expect(calls("ask_user", colour), says("green then"), prompt="zz-words")
    many = {"questions": [asks("Which sizes?", "Small", "Large", multiSelect=True)]}
    studio.model.expect(calls("ask_user", many), prompt="zz-many")
    async with studio.open() as house:
        await hired(house, studio)
        await house.say("zz-number")
        ask = await house.fact(AskRaised)
        assert (ask.about, ask.question) == (AskKind.CHOICE, "Which colour is it?")
        assert [choice.label for choice in ask.choices[:3]] == ["Red", "Red and blue", "Blue"]
        assert "it is blue" in ask.detail
        await house.answer(ask.ask, "3")
        assert (await house.fact(AnswerDelivered)).problem == ""
        ended = await house.event(TurnEnded)
        assert "Blue" in answers(studio)
        await house.say("zz-words")
        ask = await house.fact(AskRaised, after=ended.seq)
        await house.answer(ask.ask, "other", note="rather a dark green")
        assert (await house.fact(AnswerDelivered, after=ended.seq)).problem == ""
        ended = await house.event(TurnEnded, after=ended.seq)
        assert "rather a dark green" in answers(studio)
        # One with several answers is for the desk, and told.
        await house.say("zz-many")
        told = await house.fact(Noted, lambda event: "waits in a dialog" in getattr(event.fact, "text", ""))
        assert "Which sizes?" in told.text
        await house.interrupt()
        assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.INTERRUPTED


async def test_a_plan_is_sent_back_with_words_and_then_agreed_to(studio: GeminiEnv) -> None:
    plan = "# The plan\n\n1. Look around\n2. No, suggest changes\n3. Paint it\n"
    async with studio.open() as house:
        session = await hired(house, studio, Mode.PLAN)
        kept = studio.folder / "node" / "gemini" / "home" / ".gemini" / "tmp" / "project" / session / "plans"
        write = calls("write_file", {"file_path": str(kept / "plan.md"), "content": plan})
        present = calls("exit_plan_mode", {"plan_filename": "plan.md"})
        studio.model.expect(write, present, present, says("now I start"), prompt="zz-plan")
        await house.say("zz-plan")
        ask = await house.fact(AskRaised)
        assert (ask.about, ask.detail) == (AskKind.PLAN, plan)
        assert [choice.id for choice in ask.choices] == ["allow", "accept_edits", "deny"]
        await house.answer(ask.ask, "deny", note="paint it twice, " + "and then once more, " * 15 + "\nand be done")
        first = await house.event(AnswerDelivered)
        assert isinstance(first.fact, AnswerDelivered)
        assert first.fact.problem == ""
        ask = await house.fact(AskRaised, after=first.seq)
        assert "paint it twice, and then once more" in answers(studio)
        assert "and be done" in answers(studio)
        await house.answer(ask.ask, "allow")
        assert (await house.fact(AnswerDelivered, after=first.seq)).problem == ""
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert "approved" in answers(studio).lower()
        assert [event.fact.text for event in await house.history() if isinstance(event.fact, Said)] == ["now I start"]


async def test_advice_that_comes_with_a_refusal_is_the_next_message(studio: GeminiEnv) -> None:
    touch = {"command": "touch zz-no.txt", "description": "Leave a file"}
    studio.model.expect(calls("run_shell_command", touch), prompt="zz-no")
    studio.model.expect(says("as you wish"), prompt="zz-advice")
    async with studio.open() as house:
        await hired(house, studio)
        await house.say("zz-no")
        ask = await house.fact(AskRaised)
        await house.answer(ask.ask, "deny", note="zz-advice: write a list instead")
        refused = await house.event(TurnEnded)
        assert isinstance(refused.fact, TurnEnded)
        assert refused.fact.how is HowEnded.INTERRUPTED
        assert (await house.fact(TurnEnded, after=refused.seq)).how is HowEnded.COMPLETED
        assert (await house.fact(Said)).text == "as you wish"
        assert not (studio.project / "zz-no.txt").exists()
