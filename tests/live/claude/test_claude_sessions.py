"""A conversation with the real Claude Code goes from the desk to a worker and back, and is never spoken in by two."""

from __future__ import annotations

import shlex
import subprocess

import anyio
import pytest

from farhand.drivers.claude.launch import ClaudePaths, prepare_account
from farhand.model import errors
from farhand.model.commands import End, Hire
from farhand.model.facts import CameOnline, Ended, Hired, Said, TurnEnded
from farhand.model.words import HowEnded, Mode
from farhand.testing.claude_env import ClaudeEnv, until
from farhand.testing.cli_env import CliEnv
from farhand.testing.house import SAFETY_SECONDS
from farhand.testing.models.script import say

pytestmark = pytest.mark.anyio


async def at_the_desk(cli_env: CliEnv, command: str) -> str:
    """What a shell in a terminal shows for that command, without one: the answer of a single turn."""
    words = ["sh", "-c", command]
    done = await anyio.run_process(words, env=cli_env.environment, cwd=cli_env.project, stdin=subprocess.DEVNULL)
    return done.stdout.decode()


async def test_a_conversation_goes_from_the_desk_to_the_phone_and_back(cli_env: ClaudeEnv) -> None:
    script = cli_env.model.script
    script.conversation("zz-desk", say("said at the desk"))
    script.conversation("zz-phone", say("said on the phone"))
    script.conversation("zz-again", say("said at the desk again"))
    # A desk at which Claude Code has been used before.
    prepare_account(ClaudePaths.of(cli_env.environment), cli_env.environment, cli_env.project)
    assert "said at the desk" in await at_the_desk(cli_env, "claude -p 'zz-desk begins'")
    async with cli_env.open() as house:
        (found,) = await house.hub.sessions("claude", str(cli_env.project))
        assert (found.title, found.answer, found.open, found.worker) == (
            "zz-desk begins",
            "said at the desk",
            False,
            "",
        )
        hire = Hire(id="adopt", worker="ann", backend="claude", session=found.id[:8])
        await house.send(hire, via="telegram")
        assert (await house.fact(Hired)).answer == "said at the desk"
        await house.fact(CameOnline)
        # The CLI itself says that it has the conversation open, and the list says whose it is.
        with anyio.fail_after(SAFETY_SECONDS):
            while not (listed := (await house.hub.sessions("claude"))[0]).open:  # noqa: ASYNC110
                await anyio.sleep(0.05)
        assert listed.worker == "ann"
        with pytest.raises(errors.SessionTaken):
            await house.send(Hire(id="twice", worker="bob", backend="claude", session=found.id, anyway=True))
        await house.say("zz-phone")
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        # Nothing of its past was told as new, and the agent remembers it.
        told = [event.fact.text for event in await house.history() if isinstance(event.fact, Said)]
        assert "".join(told) == "said on the phone"
        assert any("zz-desk begins" in text for text in (await cli_env.model.asked("zz-phone")).texts)
        await house.send(End(id="back", worker="ann", hand_back=True))
        resume = (await house.fact(Ended)).resume
    assert shlex.split(resume)[-3:] == ["claude", "--resume", found.id]
    assert "said at the desk again" in await at_the_desk(cli_env, f"{resume} -p zz-again")
    assert any("zz-phone" in text for text in (await cli_env.model.asked("zz-again")).texts)


async def test_a_terminal_whose_conversation_is_taken_over_is_told(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation("zz-desk", say("said at the desk"))
    cli_env.model.script.conversation("zz-phone", say("said on the phone"))
    prepare_account(ClaudePaths.of(cli_env.environment), cli_env.environment, cli_env.project)
    desk = [
        "new-session",
        "-d",
        "-s",
        "desk",
        "-c",
        str(cli_env.project),
        "claude --permission-mode plan 'zz-desk begins'",
    ]
    await anyio.run_process([*cli_env.server, *desk], env=cli_env.environment)
    async with cli_env.open() as house:
        pane = (await cli_env.tmux.find("desk"))["desk"]
        await until(cli_env, pane, "said at the desk")
        with anyio.fail_after(SAFETY_SECONDS):
            while not (listed := await house.hub.sessions("claude")) or not listed[0].open:  # noqa: ASYNC110
                await anyio.sleep(0.05)
        with pytest.raises(errors.SessionTaken):
            await house.send(Hire(id="careful", worker="ann", backend="claude", session=listed[0].id))
        await house.send(Hire(id="adopt", worker="ann", backend="claude", session=listed[0].id, anyway=True))
        screen = await until(cli_env, pane, "brings it back")
        assert "Farhand: ann goes on with this conversation." in " ".join(screen.split())
        hired = await house.fact(Hired)
        assert (hired.mode, hired.directory) == (Mode.PLAN, str(cli_env.project))
        await house.fact(CameOnline)
        await house.say("zz-phone")
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
    cli_env.forget()
