"""Spec 2, message routing and Appendix B: who may speak, and who hears it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import segno
from tests.spec.promises import promise
from tests.spec.team import Team, team_house

from farhand.model.facts import Said
from farhand.model.slash import SLASHES
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


def modules(drawn: str) -> list[list[bool]]:
    """The dark modules of a code on a terminal, two rows in a line, without its margin of two."""
    rows: list[list[bool]] = []
    for line in drawn.splitlines():
        rows += [[one in " ▄" for one in line], [one in " ▀" for one in line]]
    return [row[2:-2] for row in rows[2 : len(rows[0]) - 2]]


def modules_of(link: str) -> list[list[bool]]:
    """The modules that a code for this link has."""
    return [[bool(one) for one in row] for row in segno.make(link, micro=False).matrix]


@promise("routing.1", "routing.2", "routing.4", "security.4", "states.2", "files.5")
async def test_the_first_who_writes_is_the_manager_and_nobody_else(team: Team) -> None:
    await team.hire("ann")
    stranger = team.bot.person(666, "Eve")
    await team.manager.says("mine")
    await team.manager.reads("answer to mine")
    assert (team.settings.folder / "last_chat_id").read_text() == "4242"
    for text in ("hello", "/team", "/hire eve", "@all hello", "/settings"):
        await stranger.says(text)
    await stranger.sends_document(b"x", "x.txt")
    await team.manager.says("after")
    await team.manager.reads("answer to after")
    assert not [one for one in await team.bot.messages(666) if one.from_bot]
    assert team.told() == ["mine", "after"]
    assert list(team.house.hub.present.workers) == ["ann"]


@promise("env.7")
@promise("routing.1")
async def test_a_manager_who_is_set_beforehand(tmp_path: Path, bot: FakeBot) -> None:
    async with team_house(tmp_path, bot, admin_chat_id="4242") as team:
        await bot.person(666, "Eve").says("/team")
        assert await team.asks("/team") == "No team members yet. Add someone with /hire <name>."
        assert not [one for one in await bot.messages(666) if one.from_bot]
        assert not (team.settings.folder / "last_chat_id").exists()


@promise("routing.1", "states.2")
async def test_with_pairing_the_code_of_the_terminal_is_needed(
    tmp_path: Path, bot: FakeBot, capsys: pytest.CaptureFixture[str]
) -> None:
    async with team_house(tmp_path, bot, pairing=True) as team:
        await bot.until_standing(lambda standing: standing.commands)
        shown = capsys.readouterr().err
        code = shown.split("send this code to the bot: ")[1].split()[0]
        assert f"https://t.me/{bot.username}?start={code}" in shown
        assert modules(shown.partition(f"start={code}\n")[2]) == modules_of(f"https://t.me/{bot.username}?start={code}")
        eve = bot.person(666, "Eve")
        for text in ("hello", "/start", "/start WRONGONE", "", code[:-1]):
            await eve.says(text or "?")
        greeting, _, more = (await team.asks(f"/start {code}")).partition("\n\n")
        assert greeting == "I'm online and ready.\nNo workers yet. Hire your first long-lived worker with /hire <name>."
        assert "you are the manager of this node now" in more
        await eve.says(code)
        await team.asks("/team")
        assert not [one for one in await bot.messages(666) if one.from_bot]
    async with team_house(tmp_path, bot, pairing=True) as team:
        # Who is the manager stays the manager.
        assert await team.asks("/team") == "No team members yet. Add someone with /hire <name>."


@promise("routing.8", "routing.9", "updates.4")
async def test_mentions_leave_the_focus_alone(team: Team) -> None:
    await team.hire("ann")
    await team.hire("bob", "codex")
    await team.hire("cleo", "codex")
    assert team.house.hub.present.focus == "cleo"
    everybody = await team.manager.says("@all stand up")
    for name in ("ann", "bob", "cleo"):
        await team.until_told("stand up", name)
    await team.manager.says("@ann only you")
    await team.until_told("only you", "ann")
    # A name that nobody has reaches nobody.
    assert (await team.asks("@eve who are you")).startswith("Can't find eve")
    assert team.house.hub.present.focus == "cleo"
    assert team.told("bob") == ["stand up"]
    await team.manager.sees(
        lambda chat: any(one.message_id == everybody.message_id and one.reactions == ("👀",) for one in chat)
    )


@promise("routing.10", "routing.11", "routing.12", "updates.5")
async def test_replies(team: Team) -> None:
    await team.hire("ann")
    await team.hire("bob", "codex")
    await team.manager.says("@ann hello")
    answer = await team.manager.reads("ann:\nanswer to hello")
    await team.manager.says("go on", reply_to=answer.message_id)
    assert await team.until_told("go on", "ann") == (
        "Manager reply:\ngo on\n\nContext (your previous message):\nanswer to hello"
    )
    spoken = await team.manager.says("/team")
    chat = await team.manager.sees(lambda chat: any(one.reply_to == spoken.message_id for one in chat))
    listed = next(one for one in chat if one.reply_to == spoken.message_id)
    await team.manager.says("and you?", reply_to=listed.message_id)
    assert await team.until_told("and you?", "bob") == (
        f"Manager reply:\nand you?\n\nContext (your previous message):\n{listed.text}"
    )
    assert team.house.hub.present.focus == "bob"


@promise("routing.6", "commands.4")
async def test_unknown_commands_and_learn_reach_the_focused_worker(team: Team) -> None:
    await team.hire("ann")
    await team.manager.says("/clear@some_bot now")
    assert await team.until_told("/clear") == "/clear now"
    await team.manager.says("/learn tmux")
    assert (await team.until_told("What did you learn about tmux today?")).count("\n") == 3


@promise("routing.7", "running.6", "commands.11")
async def test_the_menu_follows_the_team(team: Team) -> None:
    promised = ("team", "focus", "progress", "learn", "pause", "relaunch", "settings", "hire", "end")
    builtin = tuple(one.name for one in SLASHES if one.menu)
    assert builtin[: len(promised)] == promised
    await team.bot.until_standing(lambda standing: standing.commands == builtin)
    await team.manager.says("/hire back-end")
    await team.bot.until_standing(lambda standing: standing.commands == (*builtin, "back_end"))
    await team.manager.says("/end back-end")
    await team.bot.until_standing(lambda standing: standing.commands == builtin)


@promise("updates.1", "updates.9")
async def test_what_is_no_message_is_passed_over(team: Team) -> None:
    await team.hire("ann")
    await team.asks("/team")
    chat = {"id": 4242, "type": "private"}
    sender = {"id": 4242, "is_bot": False, "first_name": "Mo"}
    about = {"message_id": 900, "date": 1, "chat": chat, "from": sender}
    for kind in ("channel_post", "edited_channel_post", "poll"):
        await team.bot.update(kind, {**about, "text": "not for you"})
    odd: list[dict[str, Any]] = [
        {"sticker": {"file_id": "s", "file_unique_id": "s", "type": "regular"}},
        {"location": {"latitude": 1.0, "longitude": 1.0}},
        {"audio": {"file_id": "a", "file_unique_id": "a", "duration": 1}},
        {"video": {"file_id": "v", "file_unique_id": "v", "width": 1, "height": 1, "duration": 1}},
    ]
    for number, one in enumerate(odd):
        await team.bot.update("message", {**about, "message_id": 901 + number, **one})
    await team.asks("/team")
    # Of what cannot be taken only recordings are answered, with a sentence; nothing of it reaches a worker.
    recorded = [one for one in await team.bot.messages(4242) if one.from_bot and "recordings" in one.text]
    assert len(recorded) == 1
    assert team.told() == []


@promise("running.11", "texts.4")
async def test_a_message_that_was_taken_is_marked(team: Team) -> None:
    await team.hire("ann")
    spoken = await team.manager.says("hello")
    calls = await team.bot.until_calls(lambda calls: calls, "setMessageReaction")
    sent = calls[0].parameters
    assert (int(sent["chat_id"]), int(sent["message_id"])) == (4242, spoken.message_id)
    assert sent["reaction"] == [{"type": "emoji", "emoji": "👀"}]


@promise("running.10", "flows.2")
async def test_somebody_is_typing_while_a_worker_works(team: Team) -> None:
    await team.hire("ann")
    team.claude.plays(Said(text="busy"))
    await team.manager.says("work")
    calls = await team.bot.until_calls(lambda calls: calls, "sendChatAction")
    assert (int(calls[0].parameters["chat_id"]), calls[0].parameters["action"]) == (4242, "typing")


@promise("commands.2", "running.4", "files.5")
async def test_the_focus_outlives_the_node(tmp_path: Path, bot: FakeBot) -> None:
    agent = ScriptedDriver(backend="claude")
    async with team_house(tmp_path, bot, claude=agent) as team:
        await team.hire("ann")
        await team.hire("bob")
        assert await team.asks("/focus ann") == "Now talking to Ann."
        await team.manager.says("@bob hi")
        await team.until_told("hi", "bob")
        assert (team.settings.folder / "last_active").read_text() == "ann"
    async with team_house(tmp_path, bot, claude=agent) as team:
        await team.manager.says("still you?")
        await team.until_told("still you?", "ann")
