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
async def test_what_is_allowed_for_the_session_allows_nothing_else(cli_env: GeminiEnv, wire: str) -> None:
    """First a command, which allows no other command and no edit; then edits, which allow no command."""
    project, then = cli_env.project, after_a_no(wire)
    cli_env.model.expect(runs("touch one.txt"), says("ok"), prompt="zz-first")
    # The same first word runs unasked, as the card says; another one asks, alone or beside it, and so does an edit.
    cli_env.model.expect(runs("touch two.txt"), runs("mkdir three"), *then, prompt="zz-second")
    cli_env.model.expect(runs("touch four.txt && mkdir five"), *then, prompt="zz-third")
    cli_env.model.expect(writes(cli_env, "six.txt"), *then, prompt="zz-fourth")
    cli_env.model.expect(writes(cli_env, "seven.txt"), says("ok"), prompt="zz-fifth")
    cli_env.model.expect(writes(cli_env, "eight.txt"), runs("mkdir nine"), *then, prompt="zz-sixth")
    async with cli_env.open() as house:
        await house.hire(backend="gemini", directory=cli_env.project, mode=Mode.DEFAULT, wire=wire)
        ended = house.hub.present.seq
        for marker, question, allowed in (
            ("zz-first", "touch one.txt", True),
            ("zz-second", "mkdir three", False),
            ("zz-third", "touch four.txt && mkdir five", False),
            ("zz-fourth", "six.txt", False),
            ("zz-fifth", "seven.txt", True),
            ("zz-sixth", "mkdir nine", False),
        ):
            await house.say(marker)
            ask = await house.fact(AskRaised, after=ended)
            assert question in ask.question
            denial = next(choice.id for choice in ask.choices if not choice.allows)
            await house.answer(ask.ask, lasting(ask) if allowed else denial)
            ended = (await house.event(TurnEnded, after=ended)).seq
    made = {file.name for file in project.iterdir()}
    wanted = {"one.txt", "two.txt", "three", "four.txt", "five", "six.txt", "seven.txt", "eight.txt", "nine"}
    assert made & wanted == {"one.txt", "two.txt", "seven.txt", "eight.txt"}
