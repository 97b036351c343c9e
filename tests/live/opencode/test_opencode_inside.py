"""What a model that was talked into it tries with the real OpenCode's own tools, and that it is asked about."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from farhand.model.facts import AskRaised, TurnEnded
from farhand.model.words import Mode
from farhand.testing.house import House
from farhand.testing.models.script import say, use
from farhand.testing.opencode_env import OpenCodeEnv

pytestmark = pytest.mark.anyio
MAY = {"permission": {"bash": "allow"}}


async def refused(house: House, text: str, worker: str) -> str:
    """Says it, refuses whatever is asked until the turn is over; what was asked."""
    said, asked = await house.say(text, worker), list[str]()
    async for event in house.hub.watch(after=said.seq):
        if isinstance(event.fact, AskRaised):
            asked.append(event.fact.question)
            await house.answer(event.fact.ask, "deny")
        if isinstance(event.fact, TurnEnded):
            break
    return "\n".join(asked)


@asynccontextmanager
async def with_leave_for_helpers(cli_env: OpenCodeEnv) -> AsyncIterator[None]:
    """The person's settings let the CLI's agents, and one of their own, run commands."""
    usual = cli_env.settings.read_text()
    mine = {"description": "x", "mode": "subagent", "prompt": "x"}
    agents = {"general": MAY, "build": MAY, "mine": {**mine, **MAY}}
    cli_env.settings.write_text(json.dumps({**json.loads(usual), "agent": agents}))
    yield
    cli_env.model.script.forget()
    cli_env.settings.write_text(usual)


async def leave_that_the_person_gave_a_helper_does_not_stand_above_the_mode(cli_env: OpenCodeEnv, wire: str) -> None:
    """Over the server it asks, and a run, which cannot, leaves it."""
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
            assert bool(await refused(house, marker, "ann")) is (wire == "headless")
    assert sorted(path.name for path in cli_env.project.iterdir()) == [".git"]


async def test_one_server_asks_for_leave_whatever_the_settings_the_mode_and_the_folder_say(
    cli_env: OpenCodeEnv,
) -> None:
    """One after the other on one start of OpenCode, which is what costs: a worker for each."""
    async with with_leave_for_helpers(cli_env):
        await leave_that_the_person_gave_a_helper_does_not_stand_above_the_mode(cli_env, "headless")
        await in_auto_edit_an_edit_that_leaves_the_folder_and_a_command_are_asked_about(cli_env, "headless")
        await no_repository_below_or_beside_runs_anything_at_a_turn(cli_env, "headless")


async def test_a_run_takes_no_leave_that_the_person_gave_a_helper_and_runs_nothing_of_a_repository(
    cli_env: OpenCodeEnv,
) -> None:
    async with with_leave_for_helpers(cli_env):
        await leave_that_the_person_gave_a_helper_does_not_stand_above_the_mode(cli_env, "exec")
        await no_repository_below_or_beside_runs_anything_at_a_turn(cli_env, "exec")


async def test_in_its_terminal_in_auto_edit_an_edit_that_leaves_the_folder_and_a_command_are_asked_about(
    cli_env: OpenCodeEnv,
) -> None:
    await in_auto_edit_an_edit_that_leaves_the_folder_and_a_command_are_asked_about(cli_env, "tmux")


async def in_auto_edit_an_edit_that_leaves_the_folder_and_a_command_are_asked_about(
    cli_env: OpenCodeEnv, wire: str
) -> None:
    """A command's card names its folder."""
    async with cli_env.open() as house:
        await house.hire("bob", backend="opencode", directory=cli_env.project, mode=Mode.AUTO_EDIT, wire=wire)
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
    assert not await refused(house, "zz-plain", "bob")
    assert str(outside) in await refused(house, "zz-outside", "bob")
    assert str(hook) in await refused(house, "zz-hook", "bob")
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
        said = await house.say(marker, "bob")
        ask = await house.fact(AskRaised, after=said.seq)
        await house.answer(ask.ask, "once")
        await house.fact(TurnEnded, after=said.seq)
        assert (ask.question, ask.where) == ("Run: touch left", str(folder))
        (folder / "left").unlink()


def repository(folder: Path, *settings: str, bare: bool = False) -> None:
    """A repository with one commit, as it may come in an archive; with settings of its own."""
    folder.mkdir(parents=True)
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    lines = [("init", "-q", "--bare")] if bare else [("init", "-q"), ("add", "."), ("commit", "-qm", "x")]
    (folder / "a.txt").write_text("x\n")
    for words in (*lines, ("config", *settings) if settings else ("status", "-s")):
        subprocess.run(["git", *who, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


async def no_repository_below_or_beside_runs_anything_at_a_turn(cli_env: OpenCodeEnv, wire: str) -> None:
    """OpenCode's own snapshots of a folder let git enter it, and a file of the repository says where they are kept."""
    project, ran, program = (
        cli_env.folder / f"hostile-{wire}",
        cli_env.folder / f"ran-{wire}",
        cli_env.folder / "run.sh",
    )
    program.write_text(f"#!/bin/sh\npwd >> {ran}\n")
    program.chmod(0o755)
    repository(project)
    repository(project / "inner", "core.fsmonitor", str(program))
    beside = cli_env.folder / f"snap-{wire}"
    repository(beside / hashlib.sha1(str(project).encode()).hexdigest(), "core.fsmonitor", str(program), bare=True)
    kept = cli_env.home / ".local/share/opencode/snapshot"
    path = str(project / "plain.txt")
    script = cli_env.model.script
    for marker, leads in (("zz-below", ""), ("zz-beside", os.path.relpath(beside, kept))):
        script.conversation(marker, use("write", filePath=path, content=f"{marker}\n"), say("done"))
        if leads:
            (project / ".git" / "opencode").write_text(leads)
        async with cli_env.open() as house:
            await house.hire(marker, backend="opencode", directory=project, mode=Mode.YOLO, wire=wire)
            said = await house.say(marker, worker=marker)
            await house.fact(TurnEnded, after=said.seq)
        assert Path(path).read_text() == f"{marker}\n"
        assert not ran.exists(), ran.read_text()
