"""What the real Gemini CLI gives for its session, and that anything else asks again."""

from __future__ import annotations

from typing import Any

import pytest

from farhand.model.facts import AskRaised, TurnEnded
from farhand.model.words import Mode
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import calls, says

pytestmark = pytest.mark.anyio


def runs(command: str) -> Any:
    return calls("run_shell_command", {"command": command, "description": "x"})


def writes(cli_env: GeminiEnv, name: str) -> Any:
    return calls("write_file", {"file_path": str(cli_env.project / name), "content": "x\n"})


def after_a_no(wire: str) -> tuple[Any, ...]:
    """What the model says when a call was denied; in the terminal the turn ends there."""
    return () if wire == "tmux" else (says("ok"),)


def lasting(ask: AskRaised) -> str:
    """The choice that reaches beyond this call."""
    (found,) = [choice for choice in ask.choices if choice.allows and choice.scope]
    return found.id


@pytest.mark.parametrize("wire", ["tmux", "headless"])
async def test_a_command_allowed_for_the_session_allows_no_other_command_and_no_edit(
    cli_env: GeminiEnv, wire: str
) -> None:
    project, then = cli_env.project, after_a_no(wire)
    cli_env.model.expect(runs("touch one.txt"), says("ok"), prompt="zz-first")
    # The same first word runs unasked, as the card says; another one asks, alone or beside it, and so does an edit.
    cli_env.model.expect(runs("touch two.txt"), runs("mkdir three"), *then, prompt="zz-second")
    cli_env.model.expect(runs("touch four.txt && mkdir five"), *then, prompt="zz-third")
    cli_env.model.expect(writes(cli_env, "six.txt"), *then, prompt="zz-fourth")
    async with cli_env.open() as house:
        await house.hire(backend="gemini", directory=cli_env.project, mode=Mode.DEFAULT, wire=wire)
        await house.say("zz-first")
        ask = await house.fact(AskRaised)
        assert "touch one.txt" in ask.question
        await house.answer(ask.ask, lasting(ask))
        ended = await house.event(TurnEnded)
        for marker, question in (
            ("zz-second", "mkdir three"),
            ("zz-third", "touch four.txt && mkdir five"),
            ("zz-fourth", "six.txt"),
        ):
            await house.say(marker)
            again = await house.fact(AskRaised, after=ended.seq)
            assert question in again.question
            await house.answer(again.ask, next(choice.id for choice in again.choices if not choice.allows))
            ended = await house.event(TurnEnded, after=ended.seq)
    made = {file.name for file in project.iterdir()}
    assert made & {"one.txt", "two.txt", "three", "four.txt", "five", "six.txt"} == {"one.txt", "two.txt"}


@pytest.mark.parametrize("wire", ["tmux", "headless"])
async def test_edits_allowed_for_the_session_allow_no_command(cli_env: GeminiEnv, wire: str) -> None:
    cli_env.model.expect(writes(cli_env, "one.txt"), says("ok"), prompt="zz-first")
    cli_env.model.expect(runs("touch two.txt"), *after_a_no(wire), prompt="zz-second")
    async with cli_env.open() as house:
        await house.hire(backend="gemini", directory=cli_env.project, mode=Mode.DEFAULT, wire=wire)
        await house.say("zz-first")
        ask = await house.fact(AskRaised)
        await house.answer(ask.ask, lasting(ask))
        first = await house.event(TurnEnded)
        await house.say("zz-second")
        again = await house.fact(AskRaised, after=first.seq)
        assert "touch two.txt" in again.question
        await house.answer(again.ask, next(choice.id for choice in again.choices if not choice.allows))
        await house.event(TurnEnded, after=first.seq)
    assert (cli_env.project / "one.txt").exists()
    assert not (cli_env.project / "two.txt").exists()
