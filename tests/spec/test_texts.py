"""Spec 2, Appendix A: what the bot says, to the character."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.spec.promises import promise
from tests.spec.team import ABLE, MANAGER, Team, team_house

from farhand import __version__
from farhand.channels.kit import texts
from farhand.model.facts import Said
from farhand.model.present import Present, Worker
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@promise("commands.1", "texts.5", "routing.5")
async def test_team(team: Team) -> None:
    assert await team.asks("/team") == "No team members yet. Add someone with /hire <name>."
    await team.hire("ann")
    await team.hire("bob", "codex")
    team.claude.plays(Said(text="busy"))
    await team.manager.says("@ann work")
    await team.until_told("work")
    shown, _, more = (await team.asks("/team")).partition("\n\n")
    folder = team.settings.working_directory
    assert more.splitlines() == [
        f"{name}: mode default (asks before it acts), its agent's own model, in {folder}" for name in ("ann", "bob")
    ]
    assert shown == (
        "Your team:\nFocused: bob\nWorkers:\n- ann (working, backend=claude)\n- bob (focused, available, backend=codex)"
    )


@promise("commands.3", "texts.6")
async def test_progress(team: Team) -> None:
    nobody = "No one assigned. Who should I talk to? Use /team or /focus <name>."
    assert await team.asks("/progress") == nobody
    await team.hire("bob", "codex")
    assert (await team.asks("/progress")).partition("\n\n")[0] == (
        "Progress for focused worker: bob\nFocused: yes\nWorking: no\nBackend: codex\nOnline: yes\nReady: yes\n"
        "Mode: codex exec (stateless)"
    )
    await team.hire("ann")
    team.claude.plays(Said(text="busy"))
    await team.manager.says("work")
    await team.until_told("work")
    assert (await team.asks("/progress")).partition("\n\n")[0] == (
        "Progress for focused worker: ann\nFocused: yes\nWorking: yes\nBackend: claude\nOnline: yes\nReady: yes\n"
        "Mode: tmux"
    )
    team.claude.refuses_to_open = "claude does not start"
    await team.claude.links["ann"].die()
    await team.house.until(lambda present: present.workers["ann"].why_offline == "claude does not start")
    assert (await team.asks("/progress")).partition("\n\n")[0] == (
        "Progress for focused worker: ann\nFocused: yes\nWorking: no\nBackend: claude\nOnline: no\nReady: no\n"
        "Needs attention: worker app is not running. Use /relaunch.\nMode: tmux"
    )


@promise("texts.6")
def test_progress_of_somebody_who_is_gone() -> None:
    assert texts.progress(Present(focus="ann"), (), 0.0) == "Can't find them. Check /team for who's available."


@promise("commands.7", "texts.7")
async def test_settings(tmp_path: Path, bot: FakeBot) -> None:
    async with team_house(tmp_path, bot, webhook_secret="a-long-secret-of-mine") as team:
        await team.hire("ann")
        await team.hire("bob", "codex")
        token = f"{bot.token[:4]}...{bot.token[-4:]}"
        assert await team.asks("/settings") == (
            f"claudecode-telegram v{__version__}\nThey'll stay on your team.\n\n"
            f"Bot token: {token}\nAdmin: {MANAGER}\nWebhook verification: a-lo...mine\n"
            f"Team storage: {team.settings.folder}\n\n"
            "Team state\nFocused worker: bob\nWorkers: ann, bob\n\n"
            "Sandbox: disabled (direct execution)\nWorkers run with full system access."
        )


@promise("texts.7")
def test_redaction_and_settings_of_an_empty_node() -> None:
    assert [texts.redacted(one) for one in ("", "12345678", "123456789")] == ["(not set)", "***", "1234...6789"]
    told = texts.settings(Present(), texts.About(version="1", token="***", storage="/s"))
    assert "Admin: (auto-learn)\nWebhook verification: (disabled)\n" in told
    assert "Focused worker: (none)\nWorkers: (none)\n" in told


@promise("commands.8", "texts.8", "backend.12")
async def test_hire(team: Team) -> None:
    await team.manager.says("/hire Ann")
    added = await team.manager.reads("is added")
    assert added.text == "Ann is added and assigned. They'll stay on your team."
    assert team.house.hub.present.focus == "ann"
    assert await team.asks("/hire !!!") == "Name must use letters, numbers, and hyphens only."
    assert await team.asks("/hire TEAM") == 'Cannot use "team" - reserved command. Choose another name.'
    taken = "There is a worker called 'ann' already. Choose another name, or end that one first."
    assert await team.asks("/hire ann") == f'Could not hire "ann". {taken}'
    unknown = "No backend called 'nosuch'. Known: claude, codex."
    assert await team.asks("/hire bob --backend nosuch") == f'Could not hire "bob". {unknown}'


@promise("commands.9", "texts.9")
async def test_end(team: Team) -> None:
    await team.hire("ann")
    await team.manager.says("/end ANN")
    assert (await team.manager.reads("removed")).text == "Ann removed from your team."
    assert team.claude.ended == ["ann"]
    nobody = "No worker called 'ann'. The team is empty; hire somebody first."
    assert await team.asks("/end ann") == f'Could not offboard "ann". {nobody}'


@promise("commands.2", "commands.12", "commands.13", "texts.10", "updates.3")
async def test_focus(team: Team) -> None:
    await team.hire("ann")
    await team.hire("back-end", "codex")
    assert await team.asks("/focus ann") == "Now talking to Ann."
    assert await team.asks("/back_end") == "Now talking to Back-end."
    assert team.house.hub.present.focus == "back-end"
    nobody = "No worker called 'eve'. The team: ann, back-end."
    assert await team.asks("/focus eve") == f'Could not focus "eve". {nobody}'
    spoken = await team.manager.says("/ann hello")
    await team.until_told("hello")
    chat = await team.manager.sees(lambda chat: any(one.text == "ann:\nanswer to hello" for one in chat))
    replies = [one.text for one in chat if one.reply_to == spoken.message_id and one.text.startswith("Now")]
    assert replies == ["Now talking to Ann."]
    again = await team.manager.says("/ann again")
    chat = await team.manager.sees(lambda chat: any(one.text == "ann:\nanswer to again" for one in chat))
    assert not [one for one in chat if one.reply_to == again.message_id and one.text.startswith("Now")]
    assert (team.house.hub.present.focus, team.told()) == ("ann", ["hello", "again"])


@promise("texts.13", "routing.6")
async def test_route_fallbacks(team: Team) -> None:
    assert await team.asks("hello") == "No team members yet. Add someone with /hire <name>."
    assert await team.asks("@all hello") == "No one's online to share with."
    await team.hire("ann")
    await team.hire("bob", "codex")
    await team.manager.says("/end bob")
    await team.manager.reads("Bob removed")
    assert await team.asks("hello") == "No one assigned. Your team: ann\nWho should I talk to?"
    assert await team.asks("/clear") == "Needs decision - No focused worker. Use /focus <name> first."
    team.claude.refuses_to_open = "claude does not start"
    await team.claude.links["ann"].die()
    await team.house.until(lambda present: present.workers["ann"].why_offline == "claude does not start")
    kept = "Your message was not kept: send it again then."
    assert await team.asks("/ann hello") == f"Now talking to Ann.\nAnn is offline. Try /relaunch.\n{kept}"
    assert await team.asks("@all hello") == "No one's online to share with."
    assert team.told() == []


async def test_a_name_alone_answers_who_should_be_talked_to(team: Team) -> None:
    await team.hire("ann")
    await team.hire("bob", "codex")
    await team.manager.says("/end bob")
    await team.manager.reads("Bob removed")
    assert (await team.asks("zoe")).endswith("Who should I talk to?")
    assert await team.asks("Ann") == "Now talking to Ann."
    assert team.told() == []


@promise("texts.13")
def test_what_is_said_when_a_worker_leaves_in_between() -> None:
    from farhand.model.commands import Say
    from farhand.model.errors import Leaving, UnknownWorker

    say = Say(id="1", worker="ann", text="hi")
    assert texts.refused(say, UnknownWorker("ann", ())) == "Can't find ann. Check /team for who's available."
    assert texts.refused(say, Leaving("ann")) == "Could not send to Ann. Try /relaunch."


@promise("commands.5", "commands.6", "texts.14", "states.1")
async def test_pause_and_relaunch(team: Team) -> None:
    for command in ("/pause", "/relaunch"):
        assert await team.asks(command) == "No one assigned."
    await team.hire("ann")
    paused = "Ann is paused. I'll pick up where we left off."
    assert await team.asks("/pause") == f"{paused}\nNothing was running, and nothing waits."
    team.claude.plays(Said(text="busy"))
    await team.manager.says("work")
    await team.until_told("work")
    assert await team.asks("/pause") == (
        f"{paused}\nWhat ann was at is being stopped, and nothing goes on by itself: say what comes next."
    )
    await team.house.until(lambda present: present.workers["ann"].turn is None)
    assert await team.asks("/relaunch") == "Bringing Ann back online..."
    await team.claude.wait_opened(2)
    assert await team.asks("/relaunch eve") == ("Could not relaunch \"eve\". No worker called 'eve'. The team: ann.")


@promise("texts.18", "running.7")
async def test_the_first_word_is_greeted(team: Team) -> None:
    await team.manager.says("/team")
    first = await team.manager.reads("I'm online")
    expected = "I'm online and ready.\nNo workers yet. Hire your first long-lived worker with /hire <name>."
    # Below it stand what this is, how to speak, and who became the manager.
    assert first.text.startswith(f"{expected}\n\nThis is Farhand: ")
    assert "\n\nMo (user 4242), you are the manager of this node now" in first.text
    await team.manager.says("/team")
    chat = await team.manager.sees(lambda chat: sum("No team members" in one.text for one in chat) == 2)
    assert sum("I'm online" in one.text for one in chat) == 1


@promise("texts.18", "running.8", "running.5", "routing.3", "states.2")
async def test_a_restart_is_told_to_the_one_who_is_known(tmp_path: Path, bot: FakeBot) -> None:
    agent = ScriptedDriver(backend="claude")
    async with team_house(tmp_path, bot, claude=agent) as team:
        await team.hire("ann")
        await team.hire("bob")
        await team.asks("/ann")
    async with team_house(tmp_path, bot, claude=agent) as team:
        again = await team.manager.reads("Focused: ann")
        assert again.text == "I'm online and ready.\nTeam: ann, bob\nFocused: ann"
        stranger = bot.person(666, "Eve")
        await stranger.says("/team")
        await team.asks("/team")
        assert [one.text for one in await bot.messages(666)] == ["/team"]


@promise("texts.1", "texts.2", "running.13")
async def test_replies_are_plain_and_answers_are_html(team: Team) -> None:
    await team.manager.says("/hire 1bob")
    await team.manager.reads("1bob is added")
    await team.manager.says("/hire ann")
    await team.manager.reads("Ann is added")
    await team.asks("/team")
    await team.manager.says("a <b> & `c`")
    await team.manager.reads("answer to a")
    calls = await team.bot.calls("sendMessage")
    by_text = {str(call.parameters["text"]): call.parameters for call in calls}
    for text in ("1bob is added and assigned.", "Ann is added and assigned.", "Your team:", "I'm online"):
        found = [one for known, one in by_text.items() if known.startswith(text)]
        assert found
        assert all("parse_mode" not in one for one in found)
    answer = next(one for known, one in by_text.items() if "answer to a" in known)
    assert answer["parse_mode"] == "HTML"
    assert answer["text"].startswith("<b>ann:</b>\nanswer to a &lt;b&gt; &amp; <code>c</code>")


@promise("texts.18")
def test_the_lines_that_apply() -> None:
    ann = Worker(name="ann", since=1, backend="claude", directory="/")
    assert texts.online(Present(workers={"ann": ann})) == "I'm online and ready.\nTeam: ann"
    assert texts.OFFLINE == "Going offline briefly. Your team stays the same."


@promise("commands.5", "states.1")
async def test_a_pause_takes_back_what_waits_for_a_worker_that_is_not_there(tmp_path: Path, bot: FakeBot) -> None:
    claude = ScriptedDriver(ABLE, backend="claude")
    claude.refuses_to_open = "claude does not start"
    async with team_house(tmp_path, bot, claude=claude) as team:
        await team.manager.says("/hire ann")
        await team.house.until(lambda present: "ann" in present.workers and bool(present.workers["ann"].why_offline))
        pending = team.session() / "pending"
        await team.manager.sees(lambda _: pending.exists())
        # The welcome waits: nobody is at work all the same.
        assert "working" not in await team.asks("/team")
        assert (await team.asks("/pause")).startswith("Ann is paused. I'll pick up where we left off.")
        present = await team.house.until(lambda present: not present.workers["ann"].queue)
        assert present.workers["ann"].turn is None
        await team.asks("/team")
        await team.manager.sees(lambda _: not pending.exists())
