"""What spec 2 leaves open: repeats, kills in between, two answers, ends in mid-turn, a chat that is closed to us."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs
from tests.spec.team import Team, team_house
from tests.spec.test_http import known

from farhand.channels.files.channel import NAME
from farhand.model.facts import Said, TurnEnded
from farhand.model.provenance import FRAME, UNKNOWN_PROGRAM
from farhand.model.words import HowEnded
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.sdk_env import until
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "text",
    ["hello", "/bob hello", "@all hello", "/hire cleo", "/focus bob", "/learn", "/end bob", "/relaunch bob", "/team"],
)
async def test_a_repeated_update_does_nothing_more(team: Team, text: str) -> None:
    await team.hire("bob", "codex")
    await team.hire("ann")
    before = len(await team.house.history())
    spoken = await team.manager.says(text)
    await team.bot.deliver_again(spoken.update_id, copies=3)
    await team.asks("/progress")
    # A worker's name was hired by Telegram: then there is a welcome too, once.
    events = [type(event.fact).__name__ for event in (await team.house.history())[before:]]
    for once in ("Hired", "EndAsked", "RelaunchAsked", "Focused"):
        assert events.count(once) <= 1, once
    said = {"hello": 1, "/bob hello": 1, "@all hello": 2, "/learn": 1, "/hire cleo": 1}.get(text, 0)
    assert events.count("Queued") <= said
    replies = [
        one
        for one in await team.bot.messages(4242)
        if one.reply_to == spoken.message_id and "is working" not in one.text
    ]
    assert len({one.text for one in replies}) == len([one.text for one in replies])


async def test_an_update_that_was_cut_off_in_its_handling_is_finished(tmp_path: Path, bot: FakeBot) -> None:
    """The focus was written, the message not yet, and the node was killed: the repeat brings what is missing, once."""
    agents: dict[str, Any] = {"claude": ScriptedDriver(backend="claude"), "codex": ScriptedDriver(backend="codex")}
    async with team_house(tmp_path, bot, **agents) as team:
        await team.hire("ann")
        await team.hire("bob", "codex")
        await team.asks("/team")
        from farhand.model.commands import Focus
        from farhand.model.words import Sender

        number = bot.token.partition(":")[0]
        spoken_id = (await bot.messages(4242))[-1].message_id + 1
        await team.house.hub.send(Focus(id=f"m:{number}:4242:{spoken_id}:focus", worker="ann"), Sender(via="telegram"))
    async with team_house(tmp_path, bot, **agents) as team:
        online = await team.manager.sees(lambda chat: sum("I'm online" in one.text for one in chat) == 2)
        assert online
        spoken = await team.manager.says("/ann finish this")
        await bot.deliver_again(spoken.update_id)
        await team.manager.reads("answer to finish this")
        assert team.told() == ["finish this"]


async def test_two_answers_for_one_turn(team: Team) -> None:
    await known(team)
    team.claude.plays(Said(text="from the wire"), TurnEnded(how=HowEnded.COMPLETED))
    await team.manager.says("work")
    await team.manager.reads("from the wire")
    bodies = [{"session": "ann", "text": "from the hook", "id": "t1"}] * 2
    async with anyio.create_task_group() as tasks:
        for body in bodies:
            tasks.start_soon(team.post, "/response", body)
    await team.post("/response", {"session": "ann", "text": "the end"})
    chat = await team.manager.sees(lambda chat: any("the end" in one.text for one in chat))
    assert sum("from the hook" in one.text for one in chat) == 1
    assert sum(one.text == "ann:\nfrom the wire" for one in chat) == 1


async def test_an_answer_that_was_taken_outlives_the_node(tmp_path: Path, bot: FakeBot) -> None:
    agent = ScriptedDriver(backend="claude")
    async with team_house(tmp_path, bot, claude=agent) as team:
        await known(team)
        await bot.fault("sendMessage", "status", times=-1, contains="survives")
        body = {"session": "ann", "text": "this survives", "id": "s"}
        assert (await team.post("/response", body)).status_code == 200
    await bot.clear_faults()
    async with team_house(tmp_path, bot, claude=agent) as team:
        # A hook that got no answer asks again.
        assert (await team.post("/response", body)).status_code == 200
        await team.post("/response", {"session": "ann", "text": "after it"})
        chat = await team.manager.sees(lambda chat: any("after it" in one.text for one in chat))
        assert sum("this survives" in one.text for one in chat) == 1


@pytest.mark.parametrize("command", ["/end ann", "/relaunch ann"])
async def test_a_worker_that_goes_in_mid_turn(team: Team, command: str) -> None:
    await team.hire("ann")
    team.claude.plays(Said(text="half an answer"))
    await team.manager.says("work")
    await team.until_told("work")
    await team.manager.says(command)
    stopped = await team.manager.reads("■ Stopped.")
    assert stopped.text == "ann:\nhalf an answer\n■ Stopped."
    if command.startswith("/end"):
        await team.manager.reads("Ann removed from your team.")
        assert (await team.post("/response", {"session": "ann", "text": "late"})).status_code == 404
        assert await team.asks("hello") == "No team members yet. Add someone with /hire <name>."
    else:
        await team.claude.wait_opened(2)
        await team.manager.says("again")
        await team.manager.reads("answer to again")


async def test_a_chat_that_blocked_the_bot_gets_all_when_it_opens_again(tmp_path: Path, bot: FakeBot) -> None:
    agent = ScriptedDriver(backend="claude")
    async with team_house(tmp_path, bot, claude=agent) as team:
        await known(team)
        await bot.block(4242)
        assert (await team.post("/response", {"session": "ann", "text": "while you were away"})).status_code == 200
        await bot.until_calls(lambda calls: any(c.outcome.startswith("403") for c in calls), "sendMessage")
        # The node and its other workers go on.
        await anyio.to_thread.run_sync(team.pipe().write_text, "from a colleague\n")
        await team.until_told("from a colleague")
        await team.house.until(lambda present: present.workers["ann"].turn is None)
        await bot.block(4242, blocked=False)
    async with team_house(tmp_path, bot, claude=agent) as team:
        await team.manager.reads("ann:\nwhile you were away")
        await team.manager.reads("answer to [Message from a program on this machine, not from your manager")


async def test_a_worker_is_welcomed_once_however_often_the_node_starts(tmp_path: Path, bot: FakeBot) -> None:
    agent = ScriptedDriver(backend="claude")
    async with team_house(tmp_path, bot, claude=agent) as team:
        await team.manager.says("/hire ann")
        await team.until_told("You are ann")
        await team.house.until(lambda present: present.workers["ann"].turn is None)
        # As if the node had been killed before it could note that.
        await team.house.node.outbox.put(NAME, (), "0")
    async with team_house(tmp_path, bot, claude=agent) as team:
        await team.manager.says("hello")
        await team.manager.reads("answer to hello")
        assert [one.startswith("You are ann") for one in team.told()] == [True, False]


async def test_a_full_disk_holds_a_colleagues_line_back_and_loses_nothing(team: Team) -> None:
    await team.hire("ann")
    await team.house.until(lambda present: present.workers["ann"].online)
    database = team.house.node.journal._database
    pages = await database.write(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
    await database.write(lambda db: db.execute(f"PRAGMA max_page_count = {pages + 2}").fetchone())
    long = "x" * 200_000
    with capture_logs() as logged:
        await anyio.to_thread.run_sync(team.pipe().write_text, f"{long}\nand this\n")
        await until(lambda: any(line["event"] == "line waits" for line in logged))
    await database.write(lambda db: db.execute("PRAGMA max_page_count = 1000000").fetchone())
    await team.until_told("and this")
    heading = FRAME.format(who=UNKNOWN_PROGRAM)
    assert team.told() == [f"{heading}\n> {long}", f"{heading}\n> and this"]
