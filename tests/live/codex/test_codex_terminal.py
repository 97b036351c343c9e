"""The real Codex in its terminal: hooks of its session's own, asks that fail closed, two workers in one folder."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import anyio.to_thread
import pytest
from tests.live.codex.codex_scenarios import (
    a_limit_is_told_with_its_end_and_a_try_brings_the_message_once,
    an_ask_is_left_open,
    an_ask_outlives_the_node_and_its_answer_runs_it_once,
    an_ask_that_nobody_answers_is_a_no,
)
from tests.live.turn_scenarios import a_stopped_turn_makes_room

from farhand.model.commands import Say, Tune
from farhand.model.facts import (
    AnswerDelivered,
    AskRaised,
    AskSettled,
    Noted,
    SessionKnown,
    ToolEnded,
    ToolStarted,
    Tuned,
    TurnEnded,
    TurnStarted,
)
from farhand.model.words import HowEnded, HowSettled, Mode
from farhand.testing.codex_env import CodexEnv
from farhand.testing.house import House
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say, use
from farhand.testing.sdk_env import until

pytestmark = pytest.mark.anyio
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "to make it"}


async def hired(house: House, cli_env: CodexEnv, name: str = "ann", mode: Mode = Mode.DEFAULT) -> None:
    """A worker in a terminal."""
    asked = (cli_env.project / ".codex").exists()
    await house.hire(name, "codex", directory=cli_env.project, mode=mode, wire="tmux", trust_folder=asked)


def hooks(cli_env: CodexEnv) -> list[int]:
    """The hook programs that wait in this environment."""
    program = str(cli_env.folder / "hooks").encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdecimal() else []
        except OSError:
            continue
        if b"ask" in words and any(word.startswith(program) for word in words):
            found.append(int(entry.name))
    return found


async def test_one_worker_in_a_terminal_keeps_every_promise(cli_env: CodexEnv) -> None:
    """A start of the agent costs: each promise takes it as the one before has left it, and so do two more nodes."""
    async with cli_env.open() as house:
        await hired(house, cli_env)
        for promise in (
            what_is_said_at_the_desk_is_told,
            a_command_of_the_cli_is_typed_and_a_change_is_left_to_its_menus,
            an_ask_is_answered_from_the_phone,
            what_needs_no_leave_is_only_read,
            no_message_is_a_shell_command,
            a_word_into_a_running_turn_joins_it,
            a_turn_that_waits_for_an_answer_can_be_stopped,
            a_hook_that_is_killed_lets_nothing_run,
        ):
            house.begin_anew()
            await promise(house, cli_env)
        house.begin_anew()
        ask = await an_ask_is_left_open(house, cli_env, **ESCALATED)
    async with cli_env.open() as house:
        await an_ask_outlives_the_node_and_its_answer_runs_it_once(house, cli_env, ask)
    async with cli_env.open(ask_seconds=1.0) as house:
        await an_ask_that_nobody_answers_is_a_no(house, cli_env, **ESCALATED)
        house.begin_anew()
        # It comes last: what else the terminal shows for a limit is nobody's promise.
        await a_limit_is_told_with_its_end_and_a_try_brings_the_message_once(house, cli_env)


async def what_is_said_at_the_desk_is_told(house: House, cli_env: CodexEnv) -> None:
    """In a turn of its own."""
    cli_env.model.script.conversation("zz-desk", say("hello desk"))
    pane = (await cli_env.tmux.find("claude-test-"))["claude-test-ann"]
    await cli_env.tmux.paste(pane, "zz-desk", "Enter")
    ended = await house.event(TurnEnded)
    assert ended.turn is not None
    assert ended.turn.startswith("desk-")
    assert await house.said() == "hello desk"


async def a_command_of_the_cli_is_typed_and_a_change_is_left_to_its_menus(house: House, cli_env: CodexEnv) -> None:
    """What it shows is read off the screen."""
    cli_env.model.script.conversation("zz-same", say("one"))
    await house.say("/status")
    ended = await house.event(TurnEnded)
    assert "fake-model" in await house.said()
    assert (await house.said()).endswith("(read off the screen)")
    await house.send(Tune(id=house.id(), worker="ann", model="other-model", mode=Mode.YOLO))
    assert (await house.fact(Tuned)).refused == (
        "Codex in a terminal changes its model or mode by its own menus: type /model there, or hire it so."
    )
    await house.say("zz-same")
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED
    assert (house.worker().model, house.worker().mode) == ("", Mode.DEFAULT)
    assert cli_env.model.prompted("zz-same")[-1].body["model"] == "fake-model"


async def an_ask_is_answered_from_the_phone(house: House, cli_env: CodexEnv) -> None:
    """One is allowed, another denied with advice."""
    script = cli_env.model.script
    script.conversation("zz-one", use("exec_command", cmd="touch one.txt", **ESCALATED), say("done"))
    script.conversation("zz-two", use("exec_command", cmd="touch two.txt", **ESCALATED), say("a pity"))
    await house.say("zz-one")
    ask = await house.fact(AskRaised)
    assert (ask.question, ask.detail, ask.why) == ("Run: touch one.txt", "touch one.txt", "to make it")
    assert not (cli_env.project / "one.txt").exists()
    await house.answer(ask.ask, "allow")
    assert (await house.fact(AnswerDelivered)).problem == ""
    ended = await house.event(TurnEnded)
    assert (cli_env.project / "one.txt").exists()
    started = await house.fact(ToolStarted)
    assert started.title == "touch one.txt"
    assert (await house.fact(ToolEnded)).call == started.call
    await house.say("zz-two")
    second = await house.fact(AskRaised, after=ended.seq)
    await house.answer(second.ask, "deny", note="not that one")
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED
    assert not (cli_env.project / "two.txt").exists()
    assert cli_env.model.prompted("not that one")


async def what_needs_no_leave_is_only_read(house: House, cli_env: CodexEnv) -> None:
    """It runs in a sandbox, where nothing can be written."""
    cli_env.model.script.conversation("zz-read", use("exec_command", cmd="touch read.txt; ls"), say("could not"))
    await house.say("zz-read")
    await house.event(TurnEnded)
    assert not (cli_env.project / "read.txt").exists()
    assert not any(isinstance(event.fact, AskRaised) for event in await house.history())


async def no_message_is_a_shell_command(house: House, cli_env: CodexEnv) -> None:
    """Codex runs what begins with an exclamation mark, unasked and outside of its sandbox."""
    for number, blank in enumerate(("", " ", "\n", "\t ", "\u00a0")):
        house.begin_anew()
        cli_env.model.script.conversation(f"zz-bang-{number}", say("just words"))
        await house.say(f"{blank}!touch zz-bang-{number}.txt", worker="ann")
        ended = await house.fact(TurnEnded)
        assert (ended.error, await house.said()) == ("", "just words"), repr(blank)
        assert not (cli_env.project / f"zz-bang-{number}.txt").exists(), repr(blank)


async def a_word_into_a_running_turn_joins_it(house: House, cli_env: CodexEnv) -> None:
    """It is handed over while the turn runs."""
    held = ScriptedReply((ScriptedText("one "), Hold("gate"), ScriptedText("two")))
    cli_env.model.script.conversation("zz-slow", held, say("and three"))
    await house.say("zz-slow")
    await cli_env.model.asked("zz-slow")
    await house.send(Say(id=house.id(), text="also three", steer=True))
    await until(lambda: not house.worker().queue)
    cli_env.model.script.release("gate")
    assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
    assert cli_env.model.prompted("also three")


async def a_turn_that_waits_for_an_answer_can_be_stopped(house: House, cli_env: CodexEnv) -> None:
    """No hook of it is left."""
    cli_env.model.script.conversation("zz-waits", use("exec_command", cmd="touch waits.txt", **ESCALATED))
    cli_env.model.script.conversation("zz-still", say("still here"))
    await house.say("zz-waits")
    await house.fact(AskRaised)
    await a_stopped_turn_makes_room(house, "zz-still")
    assert not (cli_env.project / "waits.txt").exists()
    assert await anyio.to_thread.run_sync(hooks, cli_env) == []


async def a_hook_that_is_killed_lets_nothing_run(house: House, cli_env: CodexEnv) -> None:
    """And that is told."""
    touch = use("exec_command", cmd="touch killed.txt", **ESCALATED)
    cli_env.model.script.conversation("zz-killed", touch, say("never said"))
    cli_env.model.script.conversation("zz-yet", say("still here"))
    await house.say("zz-killed")
    await house.fact(AskRaised)
    for pid in await anyio.to_thread.run_sync(hooks, cli_env):
        os.kill(pid, signal.SIGKILL)
    assert (await house.fact(AskSettled)).how is HowSettled.WITHDRAWN
    assert "nothing was allowed" in (await house.fact(Noted)).text
    await a_stopped_turn_makes_room(house, "zz-yet")
    assert not (cli_env.project / "killed.txt").exists()
    cli_env.model.script.forget()


async def test_two_workers_in_one_folder_do_not_mix(cli_env: CodexEnv) -> None:
    script = cli_env.model.script
    script.conversation("zz-ann", ScriptedReply((ScriptedText("I am ann"), Hold("ann"))))
    script.conversation("zz-bob", say("I am bob"))
    async with cli_env.open() as house:
        await hired(house, cli_env, "ann")
        await hired(house, cli_env, "bob")
        await house.say("zz-ann", "ann")
        await cli_env.model.asked("zz-ann")
        await house.say("zz-bob", "bob")
        ended = await house.event(TurnEnded)
        assert ended.worker == "bob"
        script.release("ann")
        assert (await house.event(TurnEnded, after=ended.seq)).worker == "ann"
        assert (await house.said("ann"), await house.said("bob")) == ("I am ann", "I am bob")
        known = {
            event.worker: event.fact.session for event in await house.history() if isinstance(event.fact, SessionKnown)
        }
        assert len(set(known.values())) == 2
        assert not any(
            isinstance(event.fact, TurnStarted) and event.fact.message is None for event in await house.history()
        )


async def test_hooks_of_the_project_that_codex_has_not_reviewed_stand_in_nobodys_way(cli_env: CodexEnv) -> None:
    cli_env.model.script.conversation("zz-one", say("here I am"))
    (cli_env.project / ".codex").mkdir()
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": f"touch {cli_env.project}/ran"}]}]}
    (cli_env.project / ".codex" / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await house.say("zz-one")
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert await house.said() == "here I am"
        assert not (cli_env.project / "ran").exists()
