"""The connection between a node and the real OpenCode is cut: nothing runs unasked, and nothing is told twice."""

from __future__ import annotations

import re

import pytest

from farhand.model import facts
from farhand.model.words import HowEnded
from farhand.testing.cuttable_proxy import CuttableProxy
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say, use
from farhand.testing.opencode_env import OpenCodeEnv

pytestmark = pytest.mark.anyio


def detour(cli_env: OpenCodeEnv, wire: str, port: int) -> int:
    """Writes another port where the node has written down the agent's; the port that was there."""
    name, found = ("sign", rb'"port":(\d+)') if wire == "tmux" else ("server.json", rb":(\d+)\"")
    file = next(cli_env.folder.rglob(name))
    content = file.read_bytes()
    place = re.search(found, content)
    assert place is not None
    file.write_bytes(content[: place.start(1)] + str(port).encode() + content[place.end(1) :])
    return int(place[1])


@pytest.mark.parametrize("wire", ["headless", "tmux"])
async def test_an_agent_that_is_cut_off_while_it_asks_runs_nothing_unasked(cli_env: OpenCodeEnv, wire: str) -> None:
    script = cli_env.model.script
    script.conversation("zz-ask", use("bash", command="echo x >> one.txt", description="Leave a line"), say("made it"))
    script.conversation("zz-long", ScriptedReply((ScriptedText("one "), Hold("long"), ScriptedText("two"))))
    made = cli_env.project / "one.txt"
    async with cli_env.open() as house:
        await house.hire(backend="opencode", directory=cli_env.project, wire=wire)
    async with CuttableProxy(detour(cli_env, wire, 0)).opened() as road:
        detour(cli_env, wire, road.port)
        async with cli_env.open() as house:
            await house.say("zz-ask")
            ask = await house.fact(facts.AskRaised)
            road.cut()
            await road.refuses()
            await house.answer(ask.ask, "once")
            await road.refuses(4)
            assert not made.exists()
            road.mend()
            assert (await house.fact(facts.AnswerDelivered)).problem == ""
            ended = await house.event(facts.TurnEnded)
            assert made.read_text() == "x\n"
            await house.say("zz-long")
            await house.fact(facts.Said, after=ended.seq)
            road.cut()
            script.release("long")
            await road.refuses(2)
            road.mend()
            assert (await house.fact(facts.TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED
            history = await house.history()
            said = "".join(event.fact.text for event in history if isinstance(event.fact, facts.Said))
            assert said == "made itone two"
            assert sum(isinstance(event.fact, facts.AskRaised) for event in history) == 1
            assert not any(isinstance(event.fact, facts.WentOffline) for event in history)
