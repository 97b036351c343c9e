"""The real Codex over its app-server, in a holder: what it asks, what it is told, and a node that was away."""

from __future__ import annotations

import os
import signal

import anyio
import anyio.to_thread
import pytest
from tests.live.codex.codex_scenarios import (
    a_limit_is_told_with_its_end_and_a_try_brings_the_message_once,
    an_ask_is_left_open,
    an_ask_outlives_the_node_and_its_answer_runs_it_once,
    an_ask_that_nobody_answers_is_a_no,
)
from tests.live.turn_scenarios import a_stopped_turn_makes_room

from farhand.app import open_drivers
from farhand.model.commands import Say, Tune
from farhand.model.facts import (
    AnswerDelivered,
    AskRaised,
    CameOnline,
    Noted,
    Said,
    SessionKnown,
    Thought,
    ToolEnded,
    ToolStarted,
    Tuned,
    TurnEnded,
    WentOffline,
)
from farhand.model.ports import KeepsSessions
from farhand.model.present import Worker
from farhand.model.words import Attachment, HowEnded, Mode
from farhand.testing.claude_env import red_pixel
from farhand.testing.codex_env import CodexEnv
from farhand.testing.contracts.driver import talking
from farhand.testing.house import House, settings_in
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, ScriptedThinking, say, use
from farhand.testing.sdk_env import until

pytestmark = pytest.mark.anyio
PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\nEOF\n"


async def hired(house: House, cli_env: CodexEnv, mode: Mode = Mode.DEFAULT) -> None:
    """A worker without a terminal."""
    await house.hire(backend="codex", directory=cli_env.project, mode=mode)


async def test_one_worker_keeps_every_promise(cli_env: CodexEnv) -> None:
    """A start of the agent costs: each promise takes it as the one before has left it, and so do two more nodes."""
    async with cli_env.open() as house:
        await hired(house, cli_env)
        for promise in (
            an_answer_has_its_thoughts_and_its_cost,
            a_command_is_allowed_for_the_session_and_another_is_refused,
            a_change_of_files_is_shown_whole_before_it_is_made,
            a_word_into_a_running_turn_joins_it,
            a_turn_that_waits_for_an_answer_can_be_stopped,
            a_limit_is_told_with_its_end_and_a_try_brings_the_message_once,
        ):
            house.begin_anew()
            await promise(house, cli_env)
        house.begin_anew()
        ask = await an_ask_is_left_open(house, cli_env)
    async with cli_env.open() as house:
        await an_ask_outlives_the_node_and_its_answer_runs_it_once(house, cli_env, ask)
    async with cli_env.open(ask_seconds=1.0) as house:
        await an_ask_that_nobody_answers_is_a_no(house, cli_env)
        house.begin_anew()
        await a_picture_is_seen_and_model_and_mode_are_changed(house, cli_env)


async def an_answer_has_its_thoughts_and_its_cost(house: House, cli_env: CodexEnv) -> None:
    """Each turn its own."""
    reply = ScriptedReply(
        (ScriptedThinking("**Pondering**\n\nhm"), ScriptedText("deep thought", 4)), input_tokens=120, output_tokens=30
    )
    cli_env.model.script.conversation("zz-one", reply)
    cli_env.model.script.conversation("zz-two", say("again"))
    await house.say("zz-one")
    first = await house.event(TurnEnded)
    assert (await house.fact(Thought)).text == "**Pondering**\n\nhm"
    await house.say("zz-two")
    second = await house.fact(TurnEnded, after=first.seq)
    assert isinstance(first.fact, TurnEnded)
    assert first.fact.usage is not None
    assert second.usage is not None
    assert (first.fact.usage.input_tokens, first.fact.usage.output_tokens) == (120, 30)
    assert (second.usage.input_tokens, second.usage.output_tokens) == (100, 10)
    assert await house.said() == "deep thoughtagain"


async def a_command_is_allowed_for_the_session_and_another_is_refused(house: House, cli_env: CodexEnv) -> None:
    """This very command, and no other."""
    touch = use("exec_command", cmd="touch one.txt")
    cli_env.model.script.conversation("zz-session", touch, touch, say("done"))
    cli_env.model.script.conversation("zz-refused", use("exec_command", cmd="touch two.txt"), say("a pity"))
    await house.say("zz-session")
    ask = await house.fact(AskRaised)
    assert ask.question == "Run: touch one.txt"
    assert (ask.detail, ask.where) == ("touch one.txt", str(cli_env.project))
    assert "This very command in this folder" in ask.choices[1].scope
    assert [choice.id for choice in ask.choices] == ["allow", "session", "deny"]
    assert not (cli_env.project / "one.txt").exists()
    await house.answer(ask.ask, "session")
    ended = await house.event(TurnEnded)
    history = await house.history()
    assert sum(isinstance(event.fact, AskRaised) for event in history) == 1
    assert sum(isinstance(event.fact, ToolEnded) and event.fact.ok for event in history) == 2
    assert (await house.fact(ToolStarted)).title == "touch one.txt"
    await house.say("zz-refused")
    second = await house.fact(AskRaised, after=ended.seq)
    await house.answer(second.ask, "deny", note="not that one")
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED
    assert not (cli_env.project / "two.txt").exists()
    assert cli_env.model.prompted("not that one")


async def a_change_of_files_is_shown_whole_before_it_is_made(house: House, cli_env: CodexEnv) -> None:
    """With what it writes."""
    cli_env.model.script.conversation("zz-patch", use("exec_command", cmd=PATCH), say("patched"))
    await house.say("zz-patch")
    ask = await house.fact(AskRaised)
    assert ask.question == f"Write {cli_env.project}/new.txt"
    assert ask.detail == f"Write {cli_env.project}/new.txt\nhello"
    assert not (cli_env.project / "new.txt").exists()
    await house.answer(ask.ask, "allow")
    assert (await house.fact(AnswerDelivered)).problem == ""
    await house.event(TurnEnded)
    assert (cli_env.project / "new.txt").read_text() == "hello\n"


async def a_word_into_a_running_turn_joins_it(house: House, cli_env: CodexEnv) -> None:
    """It is handed over while the turn runs."""
    held = ScriptedReply((ScriptedText("one "), Hold("gate"), ScriptedText("two")))
    cli_env.model.script.conversation("zz-slow", held, say("and three"))
    await house.say("zz-slow")
    await cli_env.model.asked("zz-slow")
    await house.fact(Said)
    await house.send(Say(id=house.id(), text="also three", steer=True))
    await until(lambda: not house.worker().queue)
    cli_env.model.script.release("gate")
    ended = await house.fact(TurnEnded)
    assert ended.how is HowEnded.COMPLETED
    assert cli_env.model.prompted("also three")


async def a_turn_that_waits_for_an_answer_can_be_stopped(house: House, cli_env: CodexEnv) -> None:
    """Nothing runs."""
    cli_env.model.script.conversation("zz-waits", use("exec_command", cmd="touch waits.txt"))
    cli_env.model.script.conversation("zz-still", say("still here"))
    await house.say("zz-waits")
    await house.fact(AskRaised)
    await a_stopped_turn_makes_room(house, "zz-still")
    assert not (cli_env.project / "waits.txt").exists()


async def a_picture_is_seen_and_model_and_mode_are_changed(house: House, cli_env: CodexEnv) -> None:
    """It asks no more."""
    cli_env.model.script.conversation("zz-look", say("a red dot"))
    cli_env.model.script.conversation("zz-free", use("exec_command", cmd="touch free.txt"), say("free"))
    picture = cli_env.project / "red.png"
    picture.write_bytes(red_pixel())
    shown = (Attachment(path=str(picture), media_type="image/png"),)
    await house.send(Say(id=house.id(), text="zz-look", attachments=shown))
    ended = await house.event(TurnEnded)
    await house.send(Tune(id=house.id(), worker="ann", model="other-model", mode=Mode.YOLO))
    assert (await house.fact(Tuned)).refused == ""
    await house.say("zz-free")
    await house.event(TurnEnded, after=ended.seq)
    assert not any(isinstance(event.fact, AskRaised) for event in await house.history())
    assert (cli_env.project / "free.txt").exists()
    assert cli_env.model.prompted("zz-look")[-1].images == 1
    assert cli_env.model.prompted("zz-free")[-1].body["model"] == "other-model"


@pytest.mark.parametrize("whom", ["the app-server", "its holder"])
async def test_a_question_whose_link_is_killed_lets_nothing_run(cli_env: CodexEnv, whom: str) -> None:
    cli_env.model.script.conversation("zz-one", use("exec_command", cmd="touch one.txt"), say("never said"))
    cli_env.model.script.conversation("zz-two", say("back again"))
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await house.say("zz-one")
        ask = await house.event(AskRaised)
        agents = await anyio.to_thread.run_sync(cli_env.agents)
        assert agents
        for pid in agents if whom == "the app-server" else [_parent(agents[0])]:
            os.kill(pid, signal.SIGKILL)
        await house.event(WentOffline, after=ask.seq)
        await until(lambda: not set(agents) & set(cli_env.agents()))
        online = await house.event(CameOnline, after=ask.seq)
        await house.say("zz-two")
        await house.event(TurnEnded, after=online.seq)
        assert not (cli_env.project / "one.txt").exists()
    cli_env.model.script.forget()


def _parent(pid: int) -> int:
    with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
        return int(stat.read().rpartition(")")[2].split()[1])


async def test_a_worker_that_may_do_all_asks_nothing(cli_env: CodexEnv) -> None:
    cli_env.model.script.conversation("zz-free", use("exec_command", cmd="touch free.txt"), say("free"))
    async with cli_env.open() as house:
        await hired(house, cli_env, Mode.YOLO)
        await house.say("zz-free")
        await house.event(TurnEnded)
        assert (cli_env.project / "free.txt").exists()
        assert not any(isinstance(event.fact, AskRaised) for event in await house.history())


@pytest.mark.parametrize("kind", ["codex/headless", "codex/tmux", "codex/exec"])
async def test_a_session_that_is_gone_begins_anew_and_says_so(cli_env: CodexEnv, kind: str) -> None:
    cli_env.model.script.conversation("zz-one", say("one"))
    driver = cli_env.drivers()[kind]
    lost = "01a1e1df-fb7a-7bf1-b5a9-63f4d494312f"
    worker = Worker(name="ann", since=1, backend="codex", directory=str(cli_env.project), session=lost)
    async with anyio.create_task_group() as tasks:
        await open_drivers(tasks, [driver], settings_in(cli_env.folder).hooks)
        async with talking(driver, worker) as talk:
            await talk.say("t1", "zz-one")
            assert (await talk.ended("t1")).how is HowEnded.COMPLETED
            assert lost in (await talk.hear(Noted)).text
            assert (await talk.hear(SessionKnown)).session != lost
        await driver.end(worker)
        tasks.cancel_scope.cancel()


async def test_the_questions_of_a_form_are_asked_one_by_one_and_answered_together(cli_env: CodexEnv) -> None:
    with cli_env.settings.open("a") as settings:
        settings.write("\n[features]\ndefault_mode_request_user_input = true\n")
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    form = [
        {"id": "colour", "header": "Colour", "question": "Which colour?", "options": options},
        {"id": "size", "header": "Size", "question": "Which size?", "options": options},
    ]
    cli_env.model.script.conversation("zz-form", use("request_user_input", questions=form), say("thank you"))
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await house.say("zz-form")
        first = await house.event(AskRaised)
        second = await house.fact(AskRaised, after=first.seq)
        assert isinstance(first.fact, AskRaised)
        assert (first.fact.question, second.question) == ("Which colour?", "Which size?")
        await house.answer(second.ask, "other", note="huge")
        await house.answer(first.fact.ask, "2")
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
    told = "\n".join(cli_env.model.prompted("zz-form")[-1].texts)
    assert "Blue" in told
    assert "huge" in told


async def test_sessions_are_listed_and_handed_back(cli_env: CodexEnv) -> None:
    cli_env.model.script.conversation("zz-first", say("the answer"))
    driver = cli_env.drivers()["codex"]
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await house.say("zz-first words of all")
        await house.event(TurnEnded)
        worker = house.worker()
    assert isinstance(driver, KeepsSessions)
    (found,) = await driver.sessions(str(cli_env.project))
    assert (found.id, found.directory) == (worker.session, str(cli_env.project))
    assert (found.title, found.answer) == ("zz-first words of all", "the answer")
    assert await driver.sessions(str(cli_env.folder)) == []
    assert [one.id for one in await driver.sessions("")] == [worker.session]
    assert driver.resume_command(worker) == f"cd {cli_env.project} && codex resume {worker.session}"
