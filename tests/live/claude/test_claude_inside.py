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
WHO = ("-c", "user.name=x", "-c", "user.email=x@example.org")
REFUSED = "that session is not accepting cross-session messages"


async def hired(house: House, cli_env: ClaudeEnv, wire: str, worker: str) -> None:
    await house.hire(worker, "claude", directory=cli_env.project, mode=Mode.DEFAULT, wire=wire)


async def done(house: House, text: str, worker: str) -> None:
    """Says it and waits for the end of that turn."""
    said = await house.say(text, worker)
    await house.fact(TurnEnded, lambda event: event.turn == said.message, after=said.seq)


@WIRES
async def test_nobody_but_the_node_speaks_to_a_worker_or_leads_it_elsewhere(cli_env: ClaudeEnv, wire: str) -> None:
    """One worker in a hostile repository: each promise takes it as the one before it has left it."""
    for words in (("init", "-q"), ("commit", "-qm", "x", "--allow-empty")):
        subprocess.run(["git", *WHO, *words], cwd=cli_env.project, check=True)
    schedule = cli_env.project / ".claude" / "scheduled_tasks.json"
    schedule.parent.mkdir()
    schedule.write_text(json.dumps({"tasks": [SCHEDULED]}))
    async with cli_env.open() as house:
        await hired(house, cli_env, wire, "bob")
        await what_is_scheduled_is_nobodys_word(house, cli_env)
        await no_worktree_is_made_unasked(house, cli_env)
        await a_command_runs_in_the_folder_that_its_card_names(house, cli_env)
        await another_session_does_not_speak_to_it(house, cli_env)
    assert json.loads(schedule.read_text()) == {"tasks": [SCHEDULED]}
    assert not cli_env.model.prompted("zz-scheduled")


async def what_is_scheduled_is_nobodys_word(house: House, cli_env: ClaudeEnv) -> None:
    """Neither the repository's schedule is heard, nor can the model make one."""
    script = cli_env.model.script
    script.conversation("zz-hello", say("hi"))
    script.conversation("zz-later", use("CronCreate", cron="* * * * *", prompt="zz-own", durable=True), say("tried"))
    await done(house, "zz-hello", "bob")
    await done(house, "zz-later", "bob")


async def no_worktree_is_made_unasked(house: House, cli_env: ClaudeEnv) -> None:
    """It would write in `plan`, too, and run commands in a folder that no card names."""
    find = use("ToolSearch", query="select:EnterWorktree", max_results=1)
    cli_env.model.script.conversation("zz-away", find, use("EnterWorktree", name="away"), say("tried"))
    await done(house, "zz-away", "bob")
    assert [one.name for one in (cli_env.project / ".claude").iterdir()] == ["scheduled_tasks.json"]
    branches = subprocess.run(["git", "branch"], cwd=cli_env.project, check=True, capture_output=True, text=True)
    assert "away" not in branches.stdout


async def a_command_runs_in_the_folder_that_its_card_names(house: House, cli_env: ClaudeEnv) -> None:
    """Also after a `cd`."""
    (cli_env.project / "sub").mkdir()
    go, leave = use("Bash", command="cd sub", description="x"), use("Bash", command="touch left", description="x")
    cli_env.model.script.conversation("zz-go", go, leave, say("done"))
    said = await house.say("zz-go", "bob")
    ask = await house.fact(AskRaised, after=said.seq)
    await house.answer(ask.ask, "allow")
    await house.fact(TurnEnded, after=said.seq)
    (left,) = cli_env.project.rglob("left")
    assert (ask.question, ask.where) == ("Run: touch left", str(left.parent))


async def another_session_does_not_speak_to_it(house: House, cli_env: ClaudeEnv) -> None:
    """A second worker on the same machine writes to it, and is refused."""
    await hired(house, cli_env, "headless", "ann")
    script, name = cli_env.model.script, name_of(cli_env, house.worker("bob").session)
    tell = use("SendMessage", to=name, summary="x", message="zz-told")
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
