"""What a hostile repository, or a model that was talked into it, tries with the real Claude Code's own tools."""

from __future__ import annotations

import json
import subprocess

import pytest

from farhand.model.facts import AskRaised, TurnEnded
from farhand.model.words import Mode
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.house import House
from farhand.testing.models.script import say, use

pytestmark = pytest.mark.anyio
WIRES = pytest.mark.parametrize("wire", ["headless", "tmux"])
# Long due: a session that heeds it hears it at its start.
SCHEDULED = {"id": "aaaa1111", "cron": "* * * * *", "prompt": "zz-scheduled", "createdAt": 1, "recurring": True}
REFUSED = "that session is not accepting cross-session messages"


async def hired(house: House, cli_env: ClaudeEnv, wire: str, worker: str = "ann") -> None:
    await house.hire(worker, "claude", directory=cli_env.project, mode=Mode.DEFAULT, wire=wire)


async def done(house: House, text: str, worker: str = "ann") -> None:
    """Says it and waits for the end of that turn."""
    said = await house.say(text, worker)
    await house.fact(TurnEnded, lambda event: event.turn == said.message, after=said.seq)


@WIRES
async def test_what_a_repository_schedules_is_nobodys_word(cli_env: ClaudeEnv, wire: str) -> None:
    schedule = cli_env.project / ".claude" / "scheduled_tasks.json"
    schedule.parent.mkdir()
    schedule.write_text(json.dumps({"tasks": [SCHEDULED]}))
    script = cli_env.model.script
    script.conversation("zz-hello", say("hi"))
    script.conversation("zz-later", use("CronCreate", cron="* * * * *", prompt="zz-own", durable=True), say("tried"))
    async with cli_env.open() as house:
        await hired(house, cli_env, wire)
        await done(house, "zz-hello")
        await done(house, "zz-later")
    assert json.loads(schedule.read_text()) == {"tasks": [SCHEDULED]}
    assert not cli_env.model.prompted("zz-scheduled")


@WIRES
async def test_another_session_on_this_machine_does_not_speak_to_a_worker(cli_env: ClaudeEnv, wire: str) -> None:
    script = cli_env.model.script
    async with cli_env.open() as house:
        await hired(house, cli_env, "headless", "ann")
        await hired(house, cli_env, wire, "bob")
        script.conversation("zz-hello", say("hi"))
        await done(house, "zz-hello", "bob")
        tell = use("SendMessage", to=name_of(cli_env, house.worker("bob").session), summary="x", message="zz-told")
        script.conversation("zz-tell", use("ToolSearch", query="select:SendMessage", max_results=1), tell, say("sent"))
        # Its CLI tells the sender of the refusal when it comes: in the same turn, or in one of its own.
        script.conversation(REFUSED, say("refused"))
        await done(house, "zz-tell", "ann")
        await cli_env.model.asked(REFUSED)
        script.conversation("zz-again", say("hi again"))
        await done(house, "zz-again", "bob")
        cli_env.forget()
    assert not cli_env.model.prompted("zz-told")


def name_of(cli_env: ClaudeEnv, session: str) -> str:
    """What other sessions call the one of that id."""
    known = [json.loads(file.read_text()) for file in (cli_env.home / ".claude" / "sessions").glob("*.json")]
    return str(next(one["name"] for one in known if one["sessionId"] == session))


@WIRES
async def test_a_command_runs_in_the_folder_that_its_card_names(cli_env: ClaudeEnv, wire: str) -> None:
    (cli_env.project / "sub").mkdir()
    go, leave = use("Bash", command="cd sub", description="x"), use("Bash", command="touch left", description="x")
    cli_env.model.script.conversation("zz-go", go, leave, say("done"))
    async with cli_env.open() as house:
        await hired(house, cli_env, wire)
        said = await house.say("zz-go")
        ask = await house.fact(AskRaised, after=said.seq)
        await house.answer(ask.ask, "allow")
        await house.fact(TurnEnded, after=said.seq)
    (left,) = cli_env.project.rglob("left")
    assert (ask.question, ask.where) == ("Run: touch left", str(left.parent))


@WIRES
async def test_no_worker_makes_a_worktree_of_its_own_unasked(cli_env: ClaudeEnv, wire: str) -> None:
    """It would write in `plan`, too, and run commands in a folder that no card names."""
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (("init", "-q"), ("commit", "-qm", "x", "--allow-empty")):
        subprocess.run(["git", *who, *words], cwd=cli_env.project, check=True)
    find = use("ToolSearch", query="select:EnterWorktree", max_results=1)
    cli_env.model.script.conversation("zz-away", find, use("EnterWorktree", name="away"), say("tried"))
    async with cli_env.open() as house:
        await hired(house, cli_env, wire)
        await done(house, "zz-away")
    assert not (cli_env.project / ".claude").exists()
    branches = subprocess.run(["git", "branch"], cwd=cli_env.project, check=True, capture_output=True, text=True)
    assert "away" not in branches.stdout
