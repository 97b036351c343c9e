"""The dialogs of the real Gemini CLI beside its permissions: plans and questions from the phone, and advice."""

from __future__ import annotations

from typing import Any

import pytest

from farhand.model.facts import AnswerDelivered, AskRaised, Noted, Said, SessionKnown, TurnEnded
from farhand.model.words import AskKind, HowEnded, Mode
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.house import House
from farhand.testing.models.gemini import calls, says

pytestmark = pytest.mark.anyio


async def hired(house: House, cli_env: GeminiEnv, mode: Mode = Mode.DEFAULT) -> str:
    """A worker in a terminal; its session."""
    await house.hire(backend="gemini", directory=cli_env.project, mode=mode, wire="tmux")
    return (await house.fact(SessionKnown)).session


def asks(question: str, *labels: str, **more: Any) -> dict[str, Any]:
    options = [{"label": label, "description": f"it is {label.lower()}"} for label in labels]
    return {"question": question, "header": "Header", "type": "choice", "options": options, **more}


def answers(cli_env: GeminiEnv) -> str:
    return str(cli_env.model.last["contents"][-1])


async def test_one_worker_is_told_of_plans_questions_and_advice(cli_env: GeminiEnv) -> None:
    """One after the other on one start of the CLI, which is what costs; a plan that is agreed to ends its mode."""
    async with cli_env.open() as house:
        session = await hired(house, cli_env, Mode.PLAN)
        await a_plan_is_sent_back_with_words_and_then_agreed_to(cli_env, house, session)
        house.begin_anew()
        await a_question_is_answered_by_its_number_or_in_words(cli_env, house)
        house.begin_anew()
        await advice_that_comes_with_a_refusal_is_the_next_message(cli_env, house)


async def a_plan_is_sent_back_with_words_and_then_agreed_to(cli_env: GeminiEnv, house: House, session: str) -> None:
    plan = "# The plan\n\n1. Look around\n2. No, suggest changes\n3. Paint it\n"
    kept = cli_env.folder / "node" / "gemini" / "home" / ".gemini" / "tmp" / "project" / session / "plans"
    write = calls("write_file", {"file_path": str(kept / "plan.md"), "content": plan})
    present = calls("exit_plan_mode", {"plan_filename": "plan.md"})
    cli_env.model.expect(write, present, present, says("now I start"), prompt="zz-plan")
    await house.say("zz-plan")
    ask = await house.fact(AskRaised)
    assert (ask.about, ask.detail) == (AskKind.PLAN, plan)
    assert [choice.id for choice in ask.choices] == ["allow", "accept_edits", "deny"]
    await house.answer(ask.ask, "deny", note="paint it twice, " + "and then once more, " * 15 + "\nand be done")
    first = await house.event(AnswerDelivered)
    assert isinstance(first.fact, AnswerDelivered)
    assert first.fact.problem == ""
    ask = await house.fact(AskRaised, after=first.seq)
    assert "paint it twice, and then once more" in answers(cli_env)
    assert "and be done" in answers(cli_env)
    await house.answer(ask.ask, "allow")
    assert (await house.fact(AnswerDelivered, after=first.seq)).problem == ""
    assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
    assert "approved" in answers(cli_env).lower()
    assert [event.fact.text for event in await house.history() if isinstance(event.fact, Said)] == ["now I start"]


async def a_question_is_answered_by_its_number_or_in_words(cli_env: GeminiEnv, house: House) -> None:
    colour = {"questions": [asks("Which colour is it?", "Red", "Red and blue", "Blue")]}
    cli_env.model.expect(calls("ask_user", colour), says("blue then"), prompt="zz-number")
    cli_env.model.expect(calls("ask_user", colour), says("green then"), prompt="zz-words")
    many = {"questions": [asks("Which sizes?", "Small", "Large", multiSelect=True)]}
    cli_env.model.expect(calls("ask_user", many), prompt="zz-many")
    await house.say("zz-number")
    ask = await house.fact(AskRaised)
    assert (ask.about, ask.question) == (AskKind.CHOICE, "Which colour is it?")
    assert [choice.label for choice in ask.choices[:3]] == ["Red", "Red and blue", "Blue"]
    assert "it is blue" in ask.detail
    await house.answer(ask.ask, "3")
    assert (await house.fact(AnswerDelivered)).problem == ""
    ended = await house.event(TurnEnded)
    assert "Blue" in answers(cli_env)
    await house.say("zz-words")
    ask = await house.fact(AskRaised, after=ended.seq)
    await house.answer(ask.ask, "other", note="rather a dark green")
    assert (await house.fact(AnswerDelivered, after=ended.seq)).problem == ""
    ended = await house.event(TurnEnded, after=ended.seq)
    assert "rather a dark green" in answers(cli_env)
    # One with several answers is for the desk, and told.
    await house.say("zz-many")
    told = await house.fact(Noted, lambda event: "waits in a dialog" in getattr(event.fact, "text", ""))
    assert "Which sizes?" in told.text
    await house.interrupt()
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.INTERRUPTED


async def advice_that_comes_with_a_refusal_is_the_next_message(cli_env: GeminiEnv, house: House) -> None:
    touch = {"command": "touch zz-no.txt", "description": "Leave a file"}
    cli_env.model.expect(calls("run_shell_command", touch), prompt="zz-no")
    cli_env.model.expect(says("as you wish"), prompt="zz-advice")
    await house.say("zz-no")
    ask = await house.fact(AskRaised)
    await house.answer(ask.ask, "deny", note="zz-advice: write a list instead")
    refused = await house.event(TurnEnded)
    assert isinstance(refused.fact, TurnEnded)
    assert refused.fact.how is HowEnded.INTERRUPTED
    assert (await house.fact(TurnEnded, after=refused.seq)).how is HowEnded.COMPLETED
    assert (await house.fact(Said)).text == "as you wish"
    assert not (cli_env.project / "zz-no.txt").exists()
