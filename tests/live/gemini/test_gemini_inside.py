"""What a model that was talked into it tries with the real Gemini CLI's own tools, and that nothing runs unasked."""

from __future__ import annotations

import pytest

from farhand.model.facts import AskRaised, TurnEnded
from farhand.model.words import HowEnded, Mode
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import calls, says

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.AUTO_EDIT, Mode.PLAN])
async def test_a_plan_that_nobody_was_asked_about_does_not_raise_the_mode(cli_env: GeminiEnv, mode: Mode) -> None:
    """Without a terminal the CLI takes every plan as approved, and then does whatever it is told (`yolo`)."""
    cli_env.model.expect(
        calls("enter_plan_mode", {"reason": "to think"}),
        calls("write_file", {"file_path": "plan.md", "content": "# Plan\n1. touch\n"}),
        calls("exit_plan_mode", {"plan_filename": "plan.md"}),
        calls("run_shell_command", {"command": "touch ran.txt", "description": "Leave a file"}),
        says("tried"),
        prompt="zz-raise",
    )
    async with cli_env.open() as house:
        await house.hire(backend="gemini", directory=cli_env.project, mode=mode, wire="exec")
        await house.say("zz-raise")
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert await house.said() == "tried"
    assert not (cli_env.project / "ran.txt").exists()


async def test_a_command_runs_in_the_folder_that_its_card_names(cli_env: GeminiEnv) -> None:
    sub = cli_env.project / "sub"
    sub.mkdir()
    arguments = {"command": "touch left.txt", "description": "Leave a file", "dir_path": "sub"}
    cli_env.model.expect(calls("run_shell_command", arguments), says("done"), prompt="zz-sub")
    async with cli_env.open() as house:
        await house.hire(backend="gemini", directory=cli_env.project, mode=Mode.DEFAULT, wire="headless")
        said = await house.say("zz-sub")
        ask = await house.fact(AskRaised, after=said.seq)
        await house.answer(ask.ask, "proceed_once")
        await house.fact(TurnEnded, after=said.seq)
    (left,) = cli_env.project.rglob("left.txt")
    assert (left.parent, ask.where) == (sub, str(sub))
