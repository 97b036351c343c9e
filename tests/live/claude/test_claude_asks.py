"""Questions of the real Claude Code, answered from the phone, at the desk, over a restart, or not at all."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from tests.live.claude.shared_worker import SharedWorker, shared_worker

from farhand.drivers.wires.tmux import Pane
from farhand.hooks.install import compiled, place_program
from farhand.model.commands import Tune
from farhand.model.facts import (
    AnswerDelivered,
    AskRaised,
    AskSettled,
    Noted,
    Said,
    ToolEnded,
    ToolStarted,
    Tuned,
    TurnEnded,
)
from farhand.model.words import AskKind, HowEnded, HowSettled, Mode
from farhand.testing.claude_env import ClaudeEnv, until, writes_plan
from farhand.testing.house import House
from farhand.testing.models.script import say, use

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def ann() -> AsyncIterator[SharedWorker]:
    """The worker of all tests that need no other."""
    async with shared_worker("claude") as opened:
        yield opened


def touch(cli_env: ClaudeEnv, marker: str, name: str, then: str = "done") -> Path:
    """The model wants to create a file; the file."""
    command = use("Bash", said="I will", command=f"touch {name}", description="Create a file")
    cli_env.model.script.conversation(marker, command, say(then))
    return cli_env.project / name


async def test_an_ask_allowed_from_the_phone_runs_what_was_shown(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    file = touch(cli_env, "zz-one", "one.txt")
    async with ann.listening() as house:
        await house.say("zz-one")
        ask = await house.fact(AskRaised)
        assert (ask.about, ask.detail) == (AskKind.PERMISSION, "touch one.txt")
        assert not file.exists()
        await house.answer(ask.ask, "allow", via="telegram")
        assert (await house.fact(AnswerDelivered)).problem == ""
        ended = await house.fact(TurnEnded)
        assert ended.how is HowEnded.COMPLETED
        assert file.exists()
        settled = await house.fact(AskSettled)
        assert settled.by is not None
        assert settled.by.via == "telegram"
        tool = await house.fact(ToolStarted)
        assert (tool.tool, tool.title) == ("Bash", "Create a file")
        assert (await house.fact(ToolEnded)).call == tool.call
        said = [event.fact.text for event in await house.history() if isinstance(event.fact, Said)]
        assert "".join(said) == "I will\n\ndone"


async def test_an_ask_denied_with_advice_tells_the_agent_why(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    file = touch(cli_env, "zz-two", "two.txt", then="understood")
    async with ann.listening() as house:
        await house.say("zz-two")
        ask = await house.fact(AskRaised)
        await house.answer(ask.ask, "deny", note="use the other folder")
        await house.fact(TurnEnded)
        assert not file.exists()
        assert not (await house.fact(ToolEnded)).ok
    assert cli_env.model.prompted("use the other folder")


async def test_allowed_for_the_session_is_not_asked_again(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    touch(cli_env, "zz-three", "three.txt")
    cli_env.model.script.conversation(
        "zz-again", use("Bash", command="touch three.txt", description="Again"), say("ok")
    )
    async with ann.listening() as house:
        await house.say("zz-three")
        ask = await house.fact(AskRaised)
        await house.answer(ask.ask, "session")
        first = await house.event(TurnEnded)
        await house.say("zz-again")
        await house.event(TurnEnded, after=first.seq)
        assert sum(isinstance(event.fact, AskRaised) for event in await house.history()) == 1


async def test_a_file_allowed_for_the_session_allows_no_other(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    one, two = cli_env.project / "one.md", cli_env.project / "two.md"
    script = cli_env.model.script
    script.conversation("zz-first", use("Write", file_path=str(one), content="a"), say("ok"))
    edit = use("Edit", file_path=str(one), old_string="a", new_string="b")
    script.conversation("zz-second", edit, use("Write", file_path=str(two), content="c"), say("ok"))
    async with ann.listening() as house:
        await house.say("zz-first")
        ask = await house.fact(AskRaised)
        assert ask.question == f"Write {one}"
        assert f"change {one} in any way, and no other file" in ask.choices[1].scope
        await house.answer(ask.ask, "session")
        first = await house.event(TurnEnded)
        await house.say("zz-second")
        again = await house.fact(AskRaised, after=first.seq)
        # The same file was changed once more without a question; another one asks.
        assert again.question == f"Write {two}"
        assert one.read_text() == "b"
        await house.answer(again.ask, "deny")
        await house.event(TurnEnded, after=first.seq)
        assert not two.exists()


async def test_a_host_allowed_for_the_session_allows_no_other(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    script = cli_env.model.script
    script.conversation("zz-first", use("WebFetch", url="https://one.invalid/a", prompt="what"), say("ok"))
    same = use("WebFetch", url="https://one.invalid/b", prompt="what")
    script.conversation("zz-second", same, use("WebFetch", url="https://two.invalid/", prompt="what"), say("ok"))
    async with ann.listening() as house:
        await house.say("zz-first")
        ask = await house.fact(AskRaised)
        assert (ask.question, ask.risks) == ("Fetch https://one.invalid/a", ("uses the network: one.invalid",))
        await house.answer(ask.ask, "session")
        first = await house.event(TurnEnded)
        await house.say("zz-second")
        again = await house.fact(AskRaised, after=first.seq)
        assert again.question == "Fetch https://two.invalid/"
        await house.answer(again.ask, "deny")
        await house.event(TurnEnded, after=first.seq)


async def test_a_command_allowed_for_the_session_allows_no_other(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    script = cli_env.model.script
    script.conversation("zz-first", use("Bash", command="touch nine.txt", description="x"), say("ok"))
    longer = use("Bash", command="touch nine.txt ten.txt", description="x")
    script.conversation("zz-second", use("Bash", command="touch nine.txt", description="y"), longer, say("ok"))
    async with ann.listening() as house:
        await house.say("zz-first")
        await house.answer((await house.fact(AskRaised)).ask, "session")
        first = await house.event(TurnEnded)
        await house.say("zz-second")
        again = await house.fact(AskRaised, after=first.seq)
        assert (again.question, again.where) == ("Run: touch nine.txt ten.txt", str(cli_env.project))
        await house.answer(again.ask, "deny")
        await house.event(TurnEnded, after=first.seq)
        assert not (cli_env.project / "ten.txt").exists()


async def test_an_ask_answered_at_the_desk_is_over_everywhere(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    file = touch(cli_env, "zz-four", "four.txt")
    async with ann.listening() as house:
        await house.say("zz-four")
        await house.fact(AskRaised)
        pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
        await press(cli_env, pane, "1")
        assert (await house.fact(AskSettled)).how is HowSettled.DESK
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert file.exists()


async def noted(house: House) -> list[str]:
    """What a person was told beside the answer."""
    return [event.fact.text for event in await house.history() if isinstance(event.fact, Noted)]


async def test_an_ask_refused_at_the_desk_is_over_everywhere(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-five", use("Bash", command="touch five.txt", description="Five"))
    async with ann.listening() as house:
        await house.say("zz-five")
        await house.fact(AskRaised)
        pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
        await press(cli_env, pane, "Escape")
        assert (await house.fact(AskSettled)).how in (HowSettled.DESK, HowSettled.WITHDRAWN)
        assert (await house.fact(TurnEnded)).how is HowEnded.INTERRUPTED
        assert not (cli_env.project / "five.txt").exists()
        assert await noted(house) == []


async def test_a_stop_while_it_asks_ends_the_question_without_a_word_of_hooks(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-halt", use("Bash", command="touch halt.txt", description="Halt"))
    async with ann.listening() as house:
        await house.say("zz-halt")
        await house.fact(AskRaised)
        await house.interrupt()
        assert (await house.fact(TurnEnded)).how is HowEnded.INTERRUPTED
        assert (await house.fact(AskSettled)).how is HowSettled.WITHDRAWN
        assert not (cli_env.project / "halt.txt").exists()
        assert await noted(house) == []


async def test_a_killed_hook_lets_nothing_run(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-seven", use("Bash", command="touch seven.txt", description="Seven"))
    async with ann.listening() as house:
        await house.say("zz-seven")
        ask = await house.fact(AskRaised)
        await kill_hooks(cli_env)
        assert (await house.fact(AskSettled)).how is HowSettled.WITHDRAWN
        assert "nothing was allowed" in (await house.fact(Noted)).text
        with pytest.raises(Exception, match="Too late"):
            await house.answer(ask.ask, "allow")
        await house.interrupt()
        assert (await house.fact(TurnEnded)).how is HowEnded.INTERRUPTED
        assert not (cli_env.project / "seven.txt").exists()


async def press(cli_env: ClaudeEnv, pane: Pane, key: str) -> None:
    """Answers the dialog as a person does: again, if it did not hear the first time."""
    await until(cli_env, pane, "Do you want to proceed?")
    with anyio.fail_after(240):
        while "Do you want to proceed?" in await cli_env.tmux.capture(pane):
            await cli_env.tmux.press(pane, key)
            # A key too many would be taken by what comes behind the dialog.
            with anyio.move_on_after(5):
                while "Do you want to proceed?" in await cli_env.tmux.capture(pane):  # noqa: ASYNC110
                    await anyio.sleep(0.05)


async def kill_hooks(cli_env: ClaudeEnv) -> None:
    """Kills every hook program that this environment runs."""
    done = await anyio.run_process(["pgrep", "-f", f"{cli_env.folder}/hooks/farhand-hook.pyc ask"])
    for pid in done.stdout.split():
        os.kill(int(pid), signal.SIGKILL)


BROKEN = {
    "says nothing": "",
    "fails": "raise SystemExit(1)",
    "talks nonsense": "print('allow, certainly')",
    "is cut off in mid-word": """print('{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decis')""",
    "kills itself": "import os; os.kill(os.getpid(), 9)",
    "is not there": None,
}


@pytest.mark.parametrize("program", BROKEN.values(), ids=BROKEN)
async def test_a_broken_hook_lets_nothing_run_and_the_dialog_is_told(ann: SharedWorker, program: str | None) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-broken", use("Bash", command="touch broken.txt", description="Broken"))
    async with ann.listening() as house:
        hook = cli_env.folder / "hooks/farhand-hook.pyc"
        hook.unlink()
        if program is not None:
            hook.write_bytes(compiled(program.encode()))
        await house.say("zz-broken")
        told = await house.fact(Noted)
        assert "waits in a dialog" in told.text
        assert "touch broken.txt" in told.text
        await house.interrupt()
        assert (await house.fact(TurnEnded)).how is HowEnded.INTERRUPTED
        assert not (cli_env.project / "broken.txt").exists()
        place_program(hook.parent)


async def test_a_questionnaire_is_asked_question_by_question(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    red = {"label": "Red", "description": "warm"}
    blue = {"label": "Blue", "description": "cold"}
    questions = [
        {"question": "Which color?", "header": "Color", "multiSelect": False, "options": [red, blue]},
        {"question": "Which sizes?", "header": "Size", "multiSelect": True, "options": [red, blue]},
    ]
    cli_env.model.script.conversation("zz-ask", use("AskUserQuestion", questions=questions), say("thanks"))
    async with ann.listening() as house:
        await house.say("zz-ask")
        first = await house.event(AskRaised)
        assert isinstance(first.fact, AskRaised)
        assert (first.fact.about, first.fact.question) == (AskKind.CHOICE, "Which color?")
        await house.answer(first.fact.ask, "2")
        second = await house.fact(AskRaised, after=first.seq)
        assert second.question == "Which sizes?"
        assert (first.fact.several, second.several) == (False, True)
        await house.answer(second.ask, "1,2")
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
    call = await cli_env.model.asked("zz-ask", times=2)
    assert any("Blue" in text and "Red, Blue" in text for text in call.texts)


async def test_a_plan_an_ask_that_outlives_the_node_and_one_that_nobody_answers(cli_env: ClaudeEnv) -> None:
    """A start of the agent costs seconds: three nodes, one after the other, find the same one."""
    async with cli_env.open() as house:
        await house.hire(backend="claude", directory=cli_env.project, mode=Mode.DEFAULT)
        await a_plan_is_shown_whole_and_gone_ahead_with_asking_before_each_edit(house, cli_env)
        file, ask = await an_ask_is_left_open(house, cli_env)
    assert not file.exists()
    async with cli_env.open() as house:
        await an_ask_outlives_the_node(house, file, ask)
    async with cli_env.open(ask_seconds=1.5) as house:
        await the_deadline_denies(house, cli_env)


async def a_plan_is_shown_whole_and_gone_ahead_with_asking_before_each_edit(house: House, cli_env: ClaudeEnv) -> None:
    """On the way there Claude Code passes the mode in which it edits unasked, and would go back to that one."""
    plan, file = "# Plan\n\n1. Do one thing\n2. Do another", cli_env.project / "new.txt"
    script = cli_env.model.script
    script.conversation("zz-plan", writes_plan(plan), use("ExitPlanMode"), say("on it"))
    script.conversation("zz-write", use("Write", file_path=str(file), content="x\n"), say("not done"))
    changed = await house.send(Tune(id=house.id(), worker="ann", mode=Mode.PLAN))
    await house.fact(Tuned, after=changed.seq)
    await house.say("zz-plan")
    ask = await house.fact(AskRaised)
    assert (ask.about, ask.detail) == (AskKind.PLAN, plan)
    await house.answer(ask.ask, "allow")
    ended = await house.event(TurnEnded)
    assert isinstance(ended.fact, TurnEnded)
    assert ended.fact.how is HowEnded.COMPLETED
    assert "on it" in (await house.fact(Said)).text
    await house.say("zz-write")
    edit = await house.fact(AskRaised, after=ended.seq)
    await house.answer(edit.ask, "deny")
    await house.fact(TurnEnded, after=ended.seq)
    assert not file.exists()


async def an_ask_is_left_open(house: House, cli_env: ClaudeEnv) -> tuple[Path, AskRaised]:
    """The file that it is about, and the ask."""
    house.begin_anew()
    file = touch(cli_env, "zz-six", "six.txt")
    await house.say("zz-six")
    return file, await house.fact(AskRaised)


async def an_ask_outlives_the_node(house: House, file: Path, ask: AskRaised) -> None:
    """It is asked once, and answered to the node that came after."""
    assert house.worker().asks[0].id == ask.ask
    await house.answer(ask.ask, "allow")
    assert (await house.fact(AnswerDelivered)).problem == ""
    assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
    assert file.exists()
    raised = [event.fact for event in await house.history() if isinstance(event.fact, AskRaised)]
    assert [one.detail for one in raised].count(ask.detail) == 1


async def the_deadline_denies(house: House, cli_env: ClaudeEnv) -> None:
    """What nobody answers in time is a no."""
    file = touch(cli_env, "zz-eight", "eight.txt", then="too bad")
    await house.say("zz-eight")
    assert (await house.fact(AskSettled)).how is HowSettled.EXPIRED
    assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
    assert not file.exists()
    assert cli_env.model.prompted("Nobody answered in time")
