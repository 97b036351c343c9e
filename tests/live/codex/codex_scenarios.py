"""What the real Codex plays alike with a terminal and without: asks that outlive a node or expire, and its limit."""

from __future__ import annotations

from tests.live.turn_scenarios import a_limit_parks_the_message_and_a_try_brings_it_once

from farhand.model.facts import AnswerDelivered, AskRaised, AskSettled, Limited, TurnEnded
from farhand.model.words import HowEnded, HowSettled
from farhand.testing.codex_env import CodexEnv
from farhand.testing.house import House
from farhand.testing.models.responses import limited
from farhand.testing.models.script import say, use


async def an_ask_is_left_open(house: House, cli_env: CodexEnv, **leave: str) -> AskRaised:
    """The node goes before anybody answers; `leave` is what the model says beside its command so that it is asked."""
    touch = use("exec_command", cmd="echo x >> left.txt", **leave)
    cli_env.model.script.conversation("zz-left", touch, say("done"))
    await house.say("zz-left")
    return await house.fact(AskRaised)


async def an_ask_outlives_the_node_and_its_answer_runs_it_once(house: House, cli_env: CodexEnv, ask: AskRaised) -> None:
    """It is asked once."""
    await house.answer(ask.ask, "allow")
    assert (await house.fact(AnswerDelivered)).problem == ""
    assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
    raised = [event.fact for event in await house.history() if isinstance(event.fact, AskRaised)]
    assert [one.detail for one in raised].count(ask.detail) == 1
    assert (cli_env.project / "left.txt").read_text() == "x\n"


async def an_ask_that_nobody_answers_is_a_no(house: House, cli_env: CodexEnv, **leave: str) -> None:
    """The node has a deadline; `leave` is what the model says beside its command so that it is asked."""
    touch = use("exec_command", cmd="touch late.txt", **leave)
    cli_env.model.script.conversation("zz-late", touch, say("a pity"))
    await house.say("zz-late")
    assert (await house.fact(AskSettled)).how is HowSettled.EXPIRED
    assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
    assert not (cli_env.project / "late.txt").exists()


async def a_limit_is_told_with_its_end_and_a_try_brings_the_message_once(house: House, cli_env: CodexEnv) -> None:
    """When the limit ends is told beside its words."""
    cli_env.model.script.conversation("zz-limit", limited("come back tomorrow", 4_102_444_800), say("here I am"))
    await a_limit_parks_the_message_and_a_try_brings_it_once(house, "zz-limit", "usage limit", "here I am")
    assert (await house.fact(Limited)).until == 4_102_444_800
