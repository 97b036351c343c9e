"""What happens to the real Claude Code in its terminal: stopped, paused, limited, cleared, written to at the desk."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import anyio
import pytest
from tests.live.claude.claude_scenarios import a_limit_is_told_in_its_words_and_a_try_brings_the_message_once
from tests.live.claude.shared_worker import SharedWorker, shared_worker
from tests.live.turn_scenarios import a_stopped_turn_makes_room

from farhand.drivers.claude.tmux.screen import read_box
from farhand.drivers.wires.tmux import Pane
from farhand.model.commands import Say
from farhand.model.facts import (
    Event,
    Said,
    Seen,
    SessionKnown,
    Thought,
    TurnEnded,
    TurnStarted,
    Used,
)
from farhand.model.words import Attachment, HowEnded
from farhand.testing.claude_env import ClaudeEnv, red_pixel, until
from farhand.testing.house import SAFETY_SECONDS
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, ScriptedThinking, say, use

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def ann() -> AsyncIterator[SharedWorker]:
    """The worker of all tests that need no other."""
    async with shared_worker("claude") as opened:
        yield opened


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


async def until_box(cli_env: ClaudeEnv, pane: Pane, text: str) -> None:
    """Waits until this stands in the input box."""
    with anyio.fail_after(SAFETY_SECONDS):
        while read_box(await cli_env.tmux.capture(pane, colours=True)) != text:  # noqa: ASYNC110
            await anyio.sleep(0.05)


async def empty_box(cli_env: ClaudeEnv, pane: Pane) -> None:
    """Takes back what was typed, as a person does."""
    await cli_env.tmux.press(pane, "C-u")
    await until_box(cli_env, pane, "")


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
        await until_box(cli_env, pane, "")
        await cli_env.tmux.type(pane, "zz-desk")
        await cli_env.tmux.press(pane, "Enter")
        at_the_desk = await house.event(TurnEnded, after=paused.seq)
        await house.say("zz-phone")
        await house.event(TurnEnded, after=at_the_desk.seq)
        # Its hook tells the end of a turn before the CLI has drawn it.
        await until_box(cli_env, pane, "")
    assert "zz-desk" in [text.strip() for text in cli_env.model.prompted("zz-desk")[0].texts]
    assert "zz-phone" in [text.strip() for text in cli_env.model.prompted("zz-phone")[0].texts]


async def test_what_a_person_types_while_a_turn_is_stopped_stays_in_the_box(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-busy", ScriptedReply((ScriptedText("begun\n"), Hold("busy"))))
    async with ann.listening() as house:
        await house.say("zz-busy")
        await house.fact(Said)
        [pane] = (await cli_env.tmux.find("claude-")).values()
        await cli_env.tmux.type(pane, "half a thought")
        await until(cli_env, pane, "half a thought")
        await house.interrupt()
        await house.event(TurnEnded)
        await until_box(cli_env, pane, "half a thought")
        await empty_box(cli_env, pane)


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


async def test_a_limit_parks_the_message_and_a_try_brings_it_once(ann: SharedWorker) -> None:
    await a_limit_is_told_in_its_words_and_a_try_brings_the_message_once(ann)


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


async def test_what_is_half_typed_at_the_desk_survives(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-half", say("hello phone"))
    async with ann.listening() as house:
        pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
        await cli_env.tmux.type(pane, "half a thought")
        await until(cli_env, pane, "half a thought")
        await house.say("zz-half")
        await house.event(TurnEnded)
        await until(cli_env, pane, "❯\xa0half a thought")
        await empty_box(cli_env, pane)
    assert cli_env.model.prompted("zz-half")[0].texts.count("zz-half") == 1


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
