"""What is left of the real Claude Code's work when its node, its process or its tmux is gone, and what goes with it."""

from __future__ import annotations

import os
import signal
from functools import partial

import anyio
import pytest
from tests.live.turn_scenarios import (
    a_killed_agent_comes_back,
    a_relaunched_worker_goes_on,
    a_sprint_warns_of_a_context_that_is_nearly_full,
    counts,
)

from farhand.model.commands import Say, Tune
from farhand.model.facts import CameOnline, Ended, Event, HandedOver, Said, Seen, Tuned, TurnEnded, Used, WentOffline
from farhand.model.words import HowEnded, Mode, Seq
from farhand.testing.claude_env import ClaudeEnv, until
from farhand.testing.house import House
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say, use

pytestmark = pytest.mark.anyio
# What the model that it takes by itself can hold.
WINDOW = 1_000_000


async def hired(house: House, cli_env: ClaudeEnv, name: str = "ann", mode: Mode = Mode.DEFAULT) -> None:
    """A worker who can be spoken to."""
    await house.hire(name, "claude", directory=cli_env.project, mode=mode)


async def test_one_worker_outlives_a_colleague_its_node_and_its_own_deaths(cli_env: ClaudeEnv) -> None:
    """A start of the agent costs seconds: each promise takes the workers as the one before has left them."""
    async with cli_env.open() as house:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hired, house, cli_env, "ann")
            tasks.start_soon(hired, house, cli_env, "bob", Mode.YOLO)
        await house.focus("ann")
        await each_turn_is_told_with_what_it_cost_and_how_much_its_model_can_hold(house, cli_env)
        await two_workers_do_not_hear_each_other(house, cli_env)
        await a_message_joins_a_running_turn(house, cli_env)
        await an_ended_worker_leaves_nothing(house, cli_env)
        since = await before_the_node_is_away(house, cli_env)
    await while_the_node_is_away(cli_env)
    async with cli_env.open() as house:
        await the_answer_arrives_once_when_the_node_was_away(house, since)
        await a_relaunched_worker_remembers(house, cli_env)
        await a_killed_agent_is_told_and_started_again_with_its_memory(house, cli_env)
        await a_killed_tmux_is_told_and_the_worker_comes_back(house, cli_env)
        house.begin_anew()
        await a_sprint_warns_of_a_context_that_is_nearly_full(house, WINDOW, partial(counts, cli_env.model))


async def each_turn_is_told_with_what_it_cost_and_how_much_its_model_can_hold(house: House, cli_env: ClaudeEnv) -> None:
    """The same tokens cost the same: the second turn has its own part of the sum."""
    cli_env.model.script.conversation("zz-cost", say("one"), say("two"))

    def priced(event: Event) -> bool:
        return isinstance(event.fact, Used) and bool(event.fact.usage.cost_dollars)

    costs, after = [], house.started
    for _ in range(2):
        said = await house.say("zz-cost")
        used = await house.event(Used, lambda event, of=said.message: priced(event) and event.turn == of)  # type: ignore[misc]
        after = (await house.event(TurnEnded, after=after)).seq
        assert isinstance(used.fact, Used)
        costs.append(used.fact.usage.cost_dollars)
        assert used.fact.usage.context_window == WINDOW
    assert costs[0] == costs[1]


async def two_workers_do_not_hear_each_other(house: House, cli_env: ClaudeEnv) -> None:
    """Both work at once."""
    house.begin_anew()
    cli_env.model.script.conversation("zz-first", say("I am ann"))
    cli_env.model.script.conversation("zz-second", say("I am bob"))
    await house.say("zz-first", worker="ann")
    await house.say("zz-second", worker="bob")
    for name in ("ann", "bob"):
        await house.event(TurnEnded, lambda event, name=name: event.worker == name)  # type: ignore[misc]
        assert await house.said(name) == f"I am {name}"


async def a_message_joins_a_running_turn(house: House, cli_env: ClaudeEnv) -> None:
    """Bob, who need not ask, hears it while his command runs."""
    house.begin_anew()
    slow = use("Bash", command="until [ -e go ]; do sleep 0.05; done", description="Wait for it")
    cli_env.model.script.conversation("zz-steer", slow, say("seen both"))
    await house.say("zz-steer", "bob")
    await house.fact(Seen)
    joined = await house.send(Say(id="joins", worker="bob", text="also this", steer=True))
    await house.fact(HandedOver, lambda event: event.fact.message == joined.message)  # type: ignore[union-attr]
    (cli_env.project / "go").touch()
    ended = await house.event(TurnEnded)
    seen = await house.fact(Seen, lambda event: event.fact.message == joined.message)  # type: ignore[union-attr]
    assert seen.message == joined.message
    assert ended.fact.how is HowEnded.COMPLETED  # type: ignore[union-attr]
    assert any("also this" in text for text in cli_env.model.prompted("zz-steer")[-1].texts)


async def an_ended_worker_leaves_nothing(house: House, cli_env: ClaudeEnv) -> None:
    """Neither a terminal nor a file: only ann's are there."""
    house.begin_anew()
    kept = cli_env.folder / "node/claude"
    assert sorted(one.name.partition("-")[0] for one in kept.iterdir()) == ["ann", "bob"]
    await house.end("bob")
    await house.fact(Ended)
    assert list(await cli_env.tmux.find("claude-")) == ["claude-test-ann"]
    assert [one.name.partition("-")[0] for one in kept.iterdir()] == ["ann"]


async def before_the_node_is_away(house: House, cli_env: ClaudeEnv) -> Seq:
    """Ann is in the middle of an answer; what came before it."""
    house.begin_anew()
    cli_env.model.script.conversation(
        "zz-away", ScriptedReply((ScriptedText("one"), Hold("away"), ScriptedText("two")))
    )
    await house.say("zz-away")
    await house.fact(Seen)
    await cli_env.model.asked("zz-away")
    return house.started


async def while_the_node_is_away(cli_env: ClaudeEnv) -> None:
    """She ends it."""
    cli_env.model.script.release("away")
    async with cli_env.tmux.opened() as tmux:
        pane = (await tmux.find("claude-test-ann"))["claude-test-ann"]
        await until(cli_env, pane, "two")


async def the_answer_arrives_once_when_the_node_was_away(house: House, since: Seq) -> None:
    """In the turn of the message that it answers."""
    ended = await house.event(TurnEnded)
    events = [event for event in await house.history() if event.seq > since]
    (message,) = [event.fact.message for event in events if isinstance(event.fact, Seen)]
    assert ended.turn == message
    said = "".join(event.fact.text for event in events if isinstance(event.fact, Said))
    assert "".join(said.split()) == "onetwo"
    assert sum(isinstance(event.fact, TurnEnded) for event in events) == 1


async def a_relaunched_worker_remembers(house: House, cli_env: ClaudeEnv) -> None:
    """In the same session."""
    house.begin_anew()
    cli_env.model.script.conversation("zz-before", say("I will remember the plum"))
    cli_env.model.script.conversation("zz-after", say("plum"))
    await a_relaunched_worker_goes_on(house, "I will remember the plumplum")
    assert "I will remember the plum" in cli_env.model.prompted("zz-after")[-1].texts


async def a_killed_agent_is_told_and_started_again_with_its_memory(house: House, cli_env: ClaudeEnv) -> None:
    """Its process alone is killed."""
    house.begin_anew()
    cli_env.model.script.conversation("zz-before", say("said before the kill"))
    cli_env.model.script.conversation("zz-after", say("after"))

    async def kill() -> None:
        ended = await house.event(TurnEnded)

        def counted(event: Event) -> bool:
            return isinstance(event.fact, Used) and event.turn == ended.turn and event.fact.usage.input_tokens > 0

        # Counted from the transcript, which Claude Code writes 100 ms late: what is there, it remembers.
        await house.event(Used, counted)
        pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
        os.kill(pane.pid, signal.SIGKILL)

    await a_killed_agent_comes_back(house, kill, "Claude Code")
    assert "said before the kill" in cli_env.model.prompted("zz-after")[-1].texts


async def a_killed_tmux_is_told_and_the_worker_comes_back(house: House, cli_env: ClaudeEnv) -> None:
    """All that runs in it is gone."""
    house.begin_anew()
    cli_env.model.script.conversation("zz-before", say("before"))
    cli_env.model.script.conversation("zz-after", say("after"))
    await a_killed_agent_comes_back(house, partial(kill_tmux, cli_env), "tmux")


async def kill_tmux(cli_env: ClaudeEnv) -> None:
    """Kills the server."""
    server = int((await cli_env.tmux.command("display-message", "-p", "#{pid}"))[0])
    os.kill(server, signal.SIGKILL)


async def test_an_answer_after_a_killed_tmux_is_told_once_and_a_quit_at_the_desk_is_respected(
    cli_env: ClaudeEnv,
) -> None:
    """One worker; on the way its model and its mode are changed."""
    async with cli_env.open() as house:
        await hired(house, cli_env)
        # One line is shown in one piece, which no other overtakes: pieces that come in another order are not told.
        in_words = ScriptedReply((ScriptedText("begun and on\n"), Hold("never")))
        await an_answer_after_a_killed_tmux_is_told_once(house, cli_env, "in-words", in_words)
        before_words = ScriptedReply((Hold("never"), ScriptedText("never")))
        await an_answer_after_a_killed_tmux_is_told_once(house, cli_env, "before-words", before_words)
        await model_and_mode_are_changed(house, cli_env)
        await a_quit_at_the_desk_is_respected(house)


async def model_and_mode_are_changed(house: House, cli_env: ClaudeEnv) -> None:
    """A model that is not there is refused, and nothing changes with it."""
    house.begin_anew()
    cli_env.model.script.conversation("zz-usual", say("the usual one"))
    cli_env.model.script.conversation("zz-other", say("another one"), say("still that one"))
    cli_env.model.missing.add("no-such-model")
    await house.say("zz-usual")
    ended = await house.event(TurnEnded)
    # In a conversation that has begun, the CLI asks first whether the price of it is meant.
    await house.send(Tune(id="t1", model="sonnet", mode=Mode.AUTO_EDIT))
    assert (await house.fact(Tuned)).refused == ""
    pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
    await until(cli_env, pane, "accept edits on")
    await house.say("zz-other")
    ended = await house.event(TurnEnded, after=ended.seq)
    await house.send(Tune(id="t2", model="no-such-model", mode=Mode.PLAN))
    assert (await house.fact(Tuned, after=ended.seq)).refused == "Claude Code says: Model 'no-such-model' not found"
    await until(cli_env, pane, "accept edits on")
    await house.say("zz-other")
    await house.event(TurnEnded, after=ended.seq)
    assert (house.worker().model, house.worker().mode) == ("sonnet", Mode.AUTO_EDIT)
    asked = [cli_env.model.prompted("zz-usual")[0], *cli_env.model.prompted("zz-other")]
    families = [str(call.body["model"]).split("-")[1] for call in asked]
    assert families == ["opus", "sonnet", "sonnet"]


async def an_answer_after_a_killed_tmux_is_told_once(
    house: House, cli_env: ClaudeEnv, when: str, step: ScriptedReply
) -> None:
    """It is killed in the middle of a turn, before its first words or after; nothing of that turn is told again."""
    house.begin_anew()
    cli_env.model.script.conversation(f"zz-mid-{when}", step)
    cli_env.model.script.conversation(f"zz-after-{when}", say("after"))
    await house.say(f"zz-mid-{when}")
    await house.fact(Seen)
    await cli_env.model.asked(f"zz-mid-{when}")
    if isinstance(step.blocks[0], ScriptedText):
        await house.fact(Said)
    await kill_tmux(cli_env)
    offline = await house.event(WentOffline)
    await house.fact(CameOnline, after=offline.seq)
    accepted = await house.say(f"zz-after-{when}")
    ended = await house.event(TurnEnded, lambda event: event.turn == accepted.message)
    assert isinstance(ended.fact, TurnEnded)
    assert ended.fact.how is HowEnded.COMPLETED
    texts = [
        (event.turn, event.fact.text)
        for event in await house.history()
        if isinstance(event.fact, Said) and event.seq > offline.seq
    ]
    assert texts == [(accepted.message, "after")]


async def a_quit_at_the_desk_is_respected(house: House) -> None:
    """Nobody starts it again but a person."""
    house.begin_anew()
    await house.say("/exit")
    offline = await house.fact(WentOffline)
    assert "ended at the desk" in offline.why
    assert offline.final
