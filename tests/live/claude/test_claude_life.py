"""What happens to the real Claude Code and its node: stopped, relaunched, killed, cleared, written to in mid-turn."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable
from functools import partial

import anyio
import pytest
from tests.live.claude.shared_worker import SharedWorker, shared_worker
from tests.live.turn_scenarios import (
    a_killed_agent_comes_back,
    a_limit_parks_the_message_and_a_try_brings_it_once,
    a_relaunched_worker_goes_on,
    a_sprint_warns_of_a_context_that_is_nearly_full,
    a_stopped_turn_makes_room,
    counts,
)

from farhand.drivers.claude.tmux.screen import read_box
from farhand.drivers.wires.tmux import Pane
from farhand.model.commands import Say, Tune
from farhand.model.facts import (
    CameOnline,
    Ended,
    Event,
    HandedOver,
    Said,
    Seen,
    SessionKnown,
    Thought,
    Tuned,
    TurnEnded,
    TurnStarted,
    Used,
    WentOffline,
)
from farhand.model.words import Attachment, HowEnded, Mode
from farhand.testing.claude_env import ClaudeEnv, red_pixel, until
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.models.anthropic import limited
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, ScriptedThinking, say, use

pytestmark = pytest.mark.anyio
# What the model that it takes by itself can hold.
WINDOW = 1_000_000


@pytest.fixture(scope="module")
async def ann() -> AsyncIterator[SharedWorker]:
    """The worker of all tests that need no other."""
    async with shared_worker("claude") as opened:
        yield opened


async def hired(house: House, cli_env: ClaudeEnv, name: str = "ann", mode: Mode = Mode.DEFAULT) -> None:
    """A worker who can be spoken to."""
    await house.hire(name, "claude", directory=cli_env.project, mode=mode)


async def test_a_long_answer_is_told_while_it_is_written(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    head = "First paragraph of a long answer.\n\n" + "".join(f"- point {number}\n" for number in range(20))
    tail = "".join(f"line {number} of many more words\n" for number in range(400)) + "the end"
    blocks = (
        ScriptedThinking("let me think"),
        ScriptedText(head, piece=40),
        Hold("half"),
        ScriptedText(tail, piece=200),
    )
    cli_env.model.script.conversation("zz-long", ScriptedReply(blocks))
    async with ann.listening() as house:
        await house.say("zz-long")
        first = await house.event(Said)
        cli_env.model.script.release("half")
        ended = await house.event(TurnEnded)
        assert first.seq < ended.seq
        text = await house.said()
        assert text.replace("\n\n", "\n").replace("\n", "") == (head + tail).replace("\n\n", "\n").replace("\n", "")
        assert (await house.fact(Thought)).text == "let me think"
        # What the status line says of the costs may come before what the transcript says of the tokens.
        counted = await house.fact(
            Used, lambda event: isinstance(event.fact, Used) and event.fact.usage.input_tokens > 0
        )
        assert counted.usage.input_tokens == 100


async def test_two_workers_do_not_hear_each_other(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation("zz-first", say("I am ann"))
    cli_env.model.script.conversation("zz-second", say("I am bob"))
    async with cli_env.open() as house:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hired, house, cli_env, "ann")
            tasks.start_soon(hired, house, cli_env, "bob")
        await house.say("zz-first", worker="ann")
        await house.say("zz-second", worker="bob")
        for name in ("ann", "bob"):
            await house.event(TurnEnded, lambda event, name=name: event.worker == name)  # type: ignore[misc]
            assert await house.said(name) == f"I am {name}"


async def test_a_turn_is_paused_and_the_next_message_is_answered(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-slow", ScriptedReply((ScriptedText("started"), Hold("never"))))
    cli_env.model.script.conversation("zz-next", say("next"))
    async with ann.listening() as house:
        await house.say("zz-slow")
        await cli_env.model.asked("zz-slow")
        await house.fact(Seen)
        await a_stopped_turn_makes_room(house, "zz-next")
        assert (await house.said()).endswith("next")


async def test_each_turn_is_told_with_what_it_cost_and_how_much_its_model_can_hold(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation("zz-cost", say("one"), say("two"))

    def priced(event: Event) -> bool:
        return isinstance(event.fact, Used) and bool(event.fact.usage.cost_dollars)

    async with cli_env.open() as house:
        await hired(house, cli_env)
        costs, after = [], 0
        for _ in range(2):
            said = await house.say("zz-cost")
            used = await house.event(Used, lambda event, of=said.message: priced(event) and event.turn == of)  # type: ignore[misc]
            after = (await house.event(TurnEnded, after=after)).seq
            assert isinstance(used.fact, Used)
            costs.append(used.fact.usage.cost_dollars)
            assert used.fact.usage.context_window == WINDOW
        await a_sprint_warns_of_a_context_that_is_nearly_full(house, WINDOW, partial(counts, cli_env.model))
    # The same tokens cost the same: the second turn has its own part of the sum.
    assert costs[0] == costs[1]


async def test_a_relaunched_worker_remembers(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation("zz-before", say("I will remember the plum"))
    cli_env.model.script.conversation("zz-after", say("plum"))
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await a_relaunched_worker_goes_on(house, "I will remember the plumplum")
    assert "I will remember the plum" in cli_env.model.prompted("zz-after")[-1].texts


async def test_the_answer_arrives_once_when_the_node_was_away(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation(
        "zz-away", ScriptedReply((ScriptedText("one"), Hold("away"), ScriptedText("two")))
    )
    async with cli_env.open() as house:
        await hired(house, cli_env)
        accepted = await house.say("zz-away")
        await house.fact(Seen)
        await cli_env.model.asked("zz-away")
    cli_env.model.script.release("away")
    pane_says = "two"
    async with cli_env.tmux.opened() as tmux:
        pane = (await tmux.find("claude-test-ann"))["claude-test-ann"]
        await until(cli_env, pane, pane_says)
    async with cli_env.open() as house:
        ended = await house.event(TurnEnded)
        assert ended.turn == accepted.message
        assert "".join((await house.said()).split()) == "onetwo"
        assert sum(isinstance(event.fact, TurnEnded) for event in await house.history()) == 1


async def test_a_killed_agent_is_told_and_started_again_with_its_memory(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation("zz-before", say("before"))
    cli_env.model.script.conversation("zz-after", say("after"))
    async with cli_env.open() as house:

        async def kill() -> None:
            # Counted from the transcript, which Claude Code writes 100 ms late: what is there, it remembers.
            await house.event(Used, lambda event: isinstance(event.fact, Used) and event.fact.usage.input_tokens > 0)
            pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
            os.kill(pane.pid, signal.SIGKILL)

        await hired(house, cli_env)
        await a_killed_agent_comes_back(house, kill, "Claude Code")
    assert "before" in cli_env.model.prompted("zz-after")[-1].texts


async def test_a_killed_tmux_is_told_and_the_worker_comes_back(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation("zz-before", say("before"))
    cli_env.model.script.conversation("zz-after", say("after"))

    async def kill() -> None:
        server = int((await cli_env.tmux.command("display-message", "-p", "#{pid}"))[0])
        os.kill(server, signal.SIGKILL)

    async with cli_env.open() as house:
        await hired(house, cli_env)
        await a_killed_agent_comes_back(house, kill, "tmux")


@pytest.mark.parametrize(
    "step",
    [
        ScriptedReply((ScriptedText("begun\n\nand on\n"), Hold("never"))),
        ScriptedReply((Hold("never"), ScriptedText("never"))),
    ],
    ids=["in its words", "before its words"],
)
async def test_an_answer_after_a_killed_tmux_is_told_once(cli_env: ClaudeEnv, step: ScriptedReply) -> None:
    cli_env.model.script.conversation("zz-mid", step)
    cli_env.model.script.conversation("zz-after", say("after"))
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await house.say("zz-mid")
        await house.fact(Seen)
        await cli_env.model.asked("zz-mid")
        if isinstance(step.blocks[0], ScriptedText):
            await house.fact(Said)
        server = int((await cli_env.tmux.command("display-message", "-p", "#{pid}"))[0])
        os.kill(server, signal.SIGKILL)
        offline = await house.event(WentOffline)
        await house.fact(CameOnline, after=offline.seq)
        accepted = await house.say("zz-after")
        ended = await house.event(TurnEnded, lambda event: event.turn == accepted.message)
        assert isinstance(ended.fact, TurnEnded)
        assert ended.fact.how is HowEnded.COMPLETED
        texts = [
            (event.turn, event.fact.text)
            for event in await house.history()
            if isinstance(event.fact, Said) and event.seq > offline.seq
        ]
        assert texts == [(accepted.message, "after")]


async def test_a_quit_at_the_desk_is_respected(cli_env: ClaudeEnv) -> None:
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await house.say("/exit")
        offline = await house.fact(WentOffline)
        assert "ended at the desk" in offline.why
        # Nobody starts it again but a person.
        assert offline.final


async def until_box(cli_env: ClaudeEnv, pane: Pane, text: str) -> None:
    """Waits until this stands in the input box."""
    with anyio.fail_after(SAFETY_SECONDS):
        while read_box(await cli_env.tmux.capture(pane, colours=True)) != text:  # noqa: ASYNC110
            await anyio.sleep(0.05)


async def test_a_paused_message_never_runs_later(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-paused", ScriptedReply((Hold("paused"), ScriptedText("never"))))
    cli_env.model.script.conversation("zz-desk", say("at the desk"))
    cli_env.model.script.conversation("zz-phone", say("on the phone"))
    async with ann.listening() as house:
        await house.say("zz-paused delete\nevery file")
        await house.fact(Seen)
        await cli_env.model.asked("zz-paused")
        await house.interrupt()
        paused = await house.event(TurnEnded)
        assert isinstance(paused.fact, TurnEnded)
        assert paused.fact.how is HowEnded.INTERRUPTED
        [pane] = (await cli_env.tmux.find("claude-")).values()
        assert read_box(await cli_env.tmux.capture(pane, colours=True)) == ""
        await cli_env.tmux.type(pane, "zz-desk")
        await cli_env.tmux.press(pane, "Enter")
        at_the_desk = await house.event(TurnEnded, after=paused.seq)
        await house.say("zz-phone")
        await house.event(TurnEnded, after=at_the_desk.seq)
        # Its hook tells the end of a turn before the CLI has drawn it.
        await until_box(cli_env, pane, "")
    assert "zz-desk" in [text.strip() for text in cli_env.model.prompted("zz-desk")[0].texts]
    assert "zz-phone" in [text.strip() for text in cli_env.model.prompted("zz-phone")[0].texts]


async def test_what_a_person_types_while_a_turn_is_stopped_stays_in_the_box(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation("zz-busy", ScriptedReply((ScriptedText("begun\n"), Hold("busy"))))
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await house.say("zz-busy")
        await house.fact(Said)
        [pane] = (await cli_env.tmux.find("claude-")).values()
        await cli_env.tmux.type(pane, "half a thought")
        await until(cli_env, pane, "half a thought")
        await house.interrupt()
        await house.event(TurnEnded)
        assert read_box(await cli_env.tmux.capture(pane, colours=True)) == "half a thought"


async def test_an_ended_worker_leaves_nothing(cli_env: ClaudeEnv) -> None:
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await house.end("ann")
        await house.fact(Ended)
        assert await cli_env.tmux.find("claude-") == {}
        assert not list((cli_env.folder / "node/claude").iterdir())


async def test_a_cleared_conversation_is_followed(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-old", say("old"))
    cli_env.model.script.conversation("zz-new", say("new"))
    async with ann.listening() as house:
        await house.say("zz-old")
        first = await house.event(TurnEnded)
        await house.say("/clear")
        known = await house.event(SessionKnown, after=first.seq)
        second = await house.event(TurnEnded, after=first.seq)
        await house.say("zz-new")
        await house.event(TurnEnded, after=second.seq)
        assert await house.said() == "oldnew"
        assert isinstance(known.fact, SessionKnown)
        assert house.worker().session == known.fact.session
    assert "old" not in cli_env.model.prompted("zz-new")[-1].texts


async def test_a_message_joins_a_running_turn(cli_env: ClaudeEnv) -> None:
    slow = use("Bash", command="until [ -e go ]; do sleep 0.05; done", description="Wait for it")
    cli_env.model.script.conversation("zz-steer", slow, say("seen both"))
    async with cli_env.open() as house:
        await hired(house, cli_env, mode=Mode.YOLO)
        await house.say("zz-steer")
        await house.fact(Seen)
        joined = await house.send(Say(id="joins", text="also this", steer=True))
        await house.fact(HandedOver, lambda event: event.fact.message == joined.message)  # type: ignore[union-attr]
        (cli_env.project / "go").touch()
        ended = await house.event(TurnEnded)
        seen = await house.fact(Seen, lambda event: event.fact.message == joined.message)  # type: ignore[union-attr]
        assert seen.message == joined.message
        assert ended.fact.how is HowEnded.COMPLETED  # type: ignore[union-attr]
    assert any("also this" in text for text in cli_env.model.prompted("zz-steer")[-1].texts)


async def test_a_limit_parks_the_message_and_a_try_brings_it_once(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-limit", limited("limited until tomorrow"), say("here I am again"))
    async with ann.listening() as house:
        await a_limit_parks_the_message_and_a_try_brings_it_once(
            house, "zz-limit", "limited until tomorrow", "here I am again"
        )


async def test_what_is_typed_at_the_desk_is_told_too(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-desk", say("hello desk"))
    async with ann.listening() as house:
        pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
        await cli_env.tmux.type(pane, "zz-desk")
        await cli_env.tmux.press(pane, "Enter")
        started = await house.event(TurnStarted)
        ended = await house.event(TurnEnded)
        assert started.turn == ended.turn
        assert await house.said() == "hello desk"


async def test_what_is_half_typed_at_the_desk_survives(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation("zz-phone", say("hello phone"))
    async with cli_env.open() as house:
        await hired(house, cli_env)
        pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
        await cli_env.tmux.type(pane, "half a thought")
        await until(cli_env, pane, "half a thought")
        await house.say("zz-phone")
        await house.event(TurnEnded)
        await until(cli_env, pane, "❯\xa0half a thought")
    assert cli_env.model.prompted("zz-phone")[0].texts.count("zz-phone") == 1


async def test_model_and_mode_are_changed(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation("zz-usual", say("the usual one"))
    cli_env.model.script.conversation("zz-other", say("another one"), say("still that one"))
    cli_env.model.missing.add("no-such-model")
    async with cli_env.open() as house:
        await hired(house, cli_env)
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
        assert (await house.fact(Tuned, after=ended.seq)).refused == (
            "Claude Code says: Model 'no-such-model' not found"
        )
        assert "accept edits on" in await cli_env.tmux.capture(pane)
        await house.say("zz-other")
        await house.event(TurnEnded, after=ended.seq)
        assert (house.worker().model, house.worker().mode) == ("sonnet", Mode.AUTO_EDIT)
    asked = [cli_env.model.prompted("zz-usual")[0], *cli_env.model.prompted("zz-other")]
    families = [str(call.body["model"]).split("-")[1] for call in asked]
    assert families == ["opus", "sonnet", "sonnet"]


async def test_an_image_reaches_the_model(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    file = cli_env.project / "red.png"
    file.write_bytes(red_pixel())
    cli_env.model.script.conversation("zz-look", use("Read", file_path=str(file)), say("it is red"))
    async with ann.listening() as house:
        image = Attachment(path=str(file), media_type="image/png")
        await house.send(Say(id="picture", text="zz-look", attachments=(image,)))
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert await house.said() == "it is red"
    call = cli_env.model.prompted("zz-look")[-1]
    assert call.images == 1
    assert any(f"Manager sent image: {file}" in text for text in call.texts)


TEXTS = [
    "-zz-v begins with a dash",
    "zz-v ends with a backslash\\",
    "!zz-v ls",
    "/tmp/zz-v is a path",
    "zz-v one\ntwo\n\nfour;",
    "@zz-v",
    "#zz-v é 漢字 🎉",
]


async def test_messages_arrive_as_they_were_written(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-v", *[say("ok")] * len(TEXTS))
    async with ann.listening() as house:
        for text in TEXTS:
            accepted = await house.say(text)
            matching = _message(accepted.message)
            await house.event(Seen, matching)
            await house.event(TurnEnded, lambda event, turn=accepted.message: event.turn == turn)  # type: ignore[misc]
    asked = [text.strip() for text in cli_env.model.prompted("#zz-v")[-1].texts]
    assert [text for text in asked if "zz-v" in text and "<" not in text] == TEXTS


def _message(message: str) -> Callable[[Event], bool]:
    def matching(event: Event) -> bool:
        return isinstance(event.fact, Seen) and event.fact.message == message

    return matching


async def test_a_turn_is_paused_before_its_first_word(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-silent", ScriptedReply((Hold("never"), ScriptedText("never said"))))
    cli_env.model.script.conversation("zz-then", say("next"))
    async with ann.listening() as house:
        await house.say("zz-silent")
        await house.fact(Seen)
        await cli_env.model.asked("zz-silent")
        await a_stopped_turn_makes_room(house, "zz-then")
        assert await house.said() == "next"
    assert cli_env.model.prompted("zz-then")[-1].texts.count("zz-then") == 1
