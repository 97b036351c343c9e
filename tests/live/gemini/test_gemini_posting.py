"""Hooks of the real Gemini CLI that a person wrote, posting to the node: known by their session, told once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL

import anyio
import pytest

from farhand.hooks.install import COMPILED, compiled
from farhand.model.commands import Hire
from farhand.model.facts import AskRaised, CameOnline, Said, ToolEnded, ToolStarted, TurnEnded, TurnStarted
from farhand.model.words import HowEnded, Mode
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.house import House
from farhand.testing.models.gemini import calls, says
from farhand.testing.post_hooks import answered, posts

pytestmark = pytest.mark.anyio
EVENTS = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "Notification", "AfterAgent")


@contextmanager
def posting(cli_env: GeminiEnv, port: int) -> Iterator[Path]:
    """The person's own settings, with a hook for each event; where their answers are kept."""
    before, answers = cli_env.settings.read_text(), cli_env.folder / "answers"
    hooks = {
        event: [{"matcher": "*", "hooks": [{"type": "command", "command": posts(port, "gemini", event, answers)}]}]
        for event in EVENTS
    }
    signed_in = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    cli_env.settings.write_text(
        json.dumps({"hooks": hooks, "security": signed_in, "privacy": {"usageStatisticsEnabled": False}})
    )
    try:
        yield answers
    finally:
        cli_env.settings.write_text(before)


def touches(cli_env: GeminiEnv, marker: str) -> None:
    arguments = {"command": f"touch {marker}.txt", "description": "Leave a file"}
    cli_env.model.expect(calls("run_shell_command", arguments), says(f"made {marker}"), prompt=marker)


async def turn(house: House, marker: str, after: int) -> list[object]:
    """One turn with a question in it; its facts."""
    await house.say(marker)
    ask = await house.fact(AskRaised, after=after)
    await house.answer(ask.ask, "allow")
    ended = await house.event(TurnEnded, after=after)
    assert isinstance(ended.fact, TurnEnded)
    assert ended.fact.how is HowEnded.COMPLETED
    return [event.fact for event in await house.history() if event.seq > after]


def count(facts: list[object], kind: type[object]) -> int:
    return sum(isinstance(fact, kind) for fact in facts)


async def test_what_a_persons_hooks_post_is_told_once_and_a_stranger_is_heard_by_nobody(cli_env: GeminiEnv) -> None:
    touches(cli_env, "zz-both")
    touches(cli_env, "zz-alone")
    cli_env.model.expect(says("I am nobody's"), prompt="zz-stranger")
    async with cli_env.open() as house:
        with posting(cli_env, house.node.port) as answers:
            await house.send(
                Hire(
                    id=house.id(),
                    worker="ann",
                    backend="gemini",
                    directory=str(cli_env.project),
                    mode=Mode.DEFAULT,
                    options={"wire": "tmux"},
                )
            )
            await house.fact(CameOnline)
            # Beside our own hooks.
            facts = await turn(house, "zz-both", house.hub.present.seq)
            kinds = (TurnStarted, AskRaised, ToolStarted, ToolEnded, Said, TurnEnded)
            assert [count(facts, kind) for kind in kinds] == [1] * len(kinds)
            # Instead of them.
            (cli_env.folder / "hooks" / COMPILED).write_bytes(compiled(b""))
            facts = await turn(house, "zz-alone", house.hub.present.seq)
            assert [count(facts, kind) for kind in kinds] == [1] * len(kinds)
            assert (cli_env.project / "zz-alone.txt").exists()
            assert {event for event, _ in answered(answers)} >= {"BeforeTool", "AfterTool", "Notification"}
            # Another agent in the same folder, started by a person.
            before, posted = house.hub.present.seq, len(answered(answers))
            words = [str(cli_env.environment["PATH"]).split(":")[0] + "/gemini", "-p", "zz-stranger"]
            stranger = await anyio.run_process(words, cwd=cli_env.project, env=cli_env.environment, stdin=DEVNULL)
            assert b"I am nobody's" in stranger.stdout
            assert len(answered(answers)) > posted
            assert {answer for _, answer in answered(answers)} == {"{}"}
            assert [event.fact for event in await house.history() if event.seq > before] == []
