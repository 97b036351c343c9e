"""What a model that was talked into it tries with the real OpenCode's own tools, and that it is asked about."""

from __future__ import annotations

import json

import pytest

from farhand.model.facts import AskRaised, TurnEnded
from farhand.model.words import Mode
from farhand.testing.house import House
from farhand.testing.models.script import say, use
from farhand.testing.opencode_env import OpenCodeEnv

pytestmark = pytest.mark.anyio
MAY = {"permission": {"bash": "allow"}}


async def refused(house: House, text: str) -> str:
    """Says it, refuses whatever is asked until the turn is over; what was asked."""
    said, asked = await house.say(text), list[str]()
    async for event in house.hub.watch(after=said.seq):
        if isinstance(event.fact, AskRaised):
            asked.append(event.fact.question)
            await house.answer(event.fact.ask, "deny")
        if isinstance(event.fact, TurnEnded):
            break
    return "\n".join(asked)


@pytest.mark.parametrize("wire", ["headless", "exec"])
async def test_leave_that_the_person_gave_a_helper_does_not_stand_above_the_mode(
    cli_env: OpenCodeEnv, wire: str
) -> None:
    usual = cli_env.settings.read_text()
    mine = {"description": "x", "mode": "subagent", "prompt": "x"}
    agents = {"general": MAY, "build": MAY, "mine": {**mine, **MAY}}
    cli_env.settings.write_text(json.dumps({**json.loads(usual), "agent": agents}))
    script = cli_env.model.script
    for helper in ("general", "mine"):
        script.conversation(
            f"zz-{helper}", use("task", description="x", prompt=f"zz-of-{helper}", subagent_type=helper), say("tried")
        )
        script.conversation(f"zz-of-{helper}", use("bash", command=f"touch {helper}", description="x"), say("done"))
    script.conversation("zz-own", use("bash", command="touch own", description="x"), say("done"))
    async with cli_env.open() as house:
        await house.hire(backend="opencode", directory=cli_env.project, mode=Mode.DEFAULT, wire=wire)
        for marker in ("zz-general", "zz-mine", "zz-own"):
            assert bool(await refused(house, marker)) is (wire == "headless")
    assert sorted(path.name for path in cli_env.project.iterdir()) == [".git"]
    script.forget()
    cli_env.settings.write_text(usual)


@pytest.mark.parametrize("wire", ["headless", "tmux"])
async def test_in_auto_edit_an_edit_is_asked_about_that_leaves_the_folder_and_a_command_is_with_its_folder(
    cli_env: OpenCodeEnv, wire: str
) -> None:
    async with cli_env.open() as house:
        await house.hire(backend="opencode", directory=cli_env.project, mode=Mode.AUTO_EDIT, wire=wire)
        await an_edit_is_asked_about_that_leaves_the_folder_or_configures_a_tool(house, cli_env)
        await a_command_runs_in_the_folder_that_its_card_names(house, cli_env)


async def an_edit_is_asked_about_that_leaves_the_folder_or_configures_a_tool(
    house: House, cli_env: OpenCodeEnv
) -> None:
    (cli_env.project / "notes").symlink_to(cli_env.folder)
    plain = cli_env.project / "plain.txt"
    outside, hook = cli_env.project / "notes" / "outside.txt", cli_env.project / ".git" / "hooks" / "post-commit"
    script = cli_env.model.script
    script.conversation("zz-plain", use("write", filePath=str(plain), content="x\n"), say("done"))
    script.conversation("zz-outside", use("write", filePath=str(outside), content="x\n"), say("done"))
    script.conversation("zz-hook", use("write", filePath=str(hook), content="x\n"), say("done"))
    assert not await refused(house, "zz-plain")
    assert str(outside) in await refused(house, "zz-outside")
    assert str(hook) in await refused(house, "zz-hook")
    assert plain.read_text() == "x\n"
    assert not outside.exists()
    assert not hook.exists()


async def a_command_runs_in_the_folder_that_its_card_names(house: House, cli_env: OpenCodeEnv) -> None:
    sub = cli_env.project / "sub"
    sub.mkdir()
    script = cli_env.model.script
    script.conversation("zz-sub", use("bash", command="touch left", description="x", workdir="sub"), say("done"))
    script.conversation("zz-top", use("bash", command="touch left", description="x"), say("done"))
    for marker, folder in (("zz-sub", sub), ("zz-top", cli_env.project)):
        said = await house.say(marker)
        ask = await house.fact(AskRaised, after=said.seq)
        await house.answer(ask.ask, "once")
        await house.fact(TurnEnded, after=said.seq)
        assert (ask.question, ask.where) == ("Run: touch left", str(folder))
        (folder / "left").unlink()
