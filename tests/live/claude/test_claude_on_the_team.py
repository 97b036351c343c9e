"""Spec 2's main paths with the real Claude Code as the worker: hired, welcomed, spoken to, found by others, let go."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from tests.spec.promises import promise

from farhand.model.provenance import FRAME, UNKNOWN_PROGRAM
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say
from farhand.testing.phone import MANAGER, SECONDS, Phone, with_phone
from farhand.testing.sdk_env import until
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def phone(cli_env: ClaudeEnv, bot: FakeBot) -> AsyncIterator[Phone]:
    """A phone with a worker who was welcomed."""
    cli_env.model.script.conversation("You are ann", say("Ann is ready."))
    async with with_phone(cli_env, bot) as opened:
        await opened.manager.says("/hire ann")
        await opened.manager.reads("ann:\nAnn is ready.", seconds=SECONDS)
        yield opened


async def tmux(cli_env: ClaudeEnv, *words: str) -> str:
    done = await anyio.run_process([*cli_env.server, *words], env=cli_env.environment, check=False)
    return done.stdout.decode()


def port(phone: Phone) -> int:
    return int(phone.port)


async def called(phone: Phone, path: str, body: Any = None) -> Any:
    """A request of a program on the node's machine."""

    def call() -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port(phone)}{path}", data)
        with urllib.request.urlopen(request, timeout=240) as answer:
            return answer.read().decode()

    return await anyio.to_thread.run_sync(call)


@promise("flows.1", "backend.13", "claude.3", "claude.4", "security.1", "files.8")
@promise("flows.2", "running.11", "routing.10", "routing.12")
@promise("workers.6", "http.16", "http.5", "flows.3", "claude.2")
@promise("media.2", "updates.8")
@promise("commands.5", "commands.6", "commands.9", "states.1", "workers.5")
@promise("media.18", "media.12", "texts.17")
@promise("commands.3", "commands.7", "commands.14", "routing.6", "texts.1")
async def test_one_worker_goes_all_the_ways_of_a_team(cli_env: ClaudeEnv, phone: Phone) -> None:
    """A start of the agent costs seconds: each promise takes her as the one before has left her."""
    await whoever_is_hired_is_welcomed_and_knows_the_node(cli_env, phone)
    await what_the_manager_asks_the_bot_about_it(cli_env, phone)
    await a_message_its_answer_and_a_reply_to_it(cli_env, phone)
    await others_find_it_and_write_to_it(cli_env, phone)
    await a_file_from_the_phone_is_read_once(cli_env, phone)
    await files_in_its_answer_go_by_the_rules(cli_env, phone)
    await a_long_answer_while_the_node_is_dead_is_told_whole(cli_env, phone)
    await paused_and_relaunched(cli_env, phone)
    await relaunched_in_mid_turn(cli_env, phone)
    await mentions_and_colleagues(cli_env, phone)
    await let_go(cli_env, phone)
    await let_go_in_mid_turn(cli_env, phone)


async def whoever_is_hired_is_welcomed_and_knows_the_node(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Its environment names the node and has no secret of it."""
    welcome = json.dumps((await cli_env.model.asked("You are ann")).body)
    assert f"http://localhost:{port(phone)}/workers" in welcome
    folder = cli_env.folder / "farhand" / "nodes" / "test"
    assert (folder / "sessions" / "ann" / "backend").read_text() == "claude"
    shown = await tmux(cli_env, "show-environment", "-t", "claude-test-ann")
    expected = {
        "BRIDGE_URL": f"http://localhost:{port(phone)}",
        "PORT": str(port(phone)),
        "SESSIONS_DIR": str(folder / "sessions"),
        "TMUX_PREFIX": "claude-test-",
        "WORKER_BACKEND": "claude",
    }
    known = dict(line.split("=", maxsplit=1) for line in shown.splitlines() if "=" in line)
    assert {name: known.get(name) for name in expected} == expected
    assert phone.bot.token not in shown
    assert phone.bot.token not in await tmux(cli_env, "show-environment", "-g")
    assert len(await anyio.to_thread.run_sync(cli_env.agents)) == 1
    await phone.manager.says("/progress")
    progress = await phone.manager.reads("Progress for focused worker: ann", seconds=SECONDS)
    assert "Working: no\nBackend: claude\nOnline: yes\nReady: yes\nMode: tmux\n" in progress.text


async def a_message_its_answer_and_a_reply_to_it(cli_env: ClaudeEnv, phone: Phone) -> None:
    """The reply comes with what it replies to."""
    cli_env.model.script.conversation("zz-what", say("**All** is `well` & good"))
    cli_env.model.script.conversation("zz-sure", say("I am sure"))
    spoken = await phone.manager.says("zz-what is up?")
    answer = await phone.manager.reads("ann:\nAll is well", seconds=SECONDS)
    assert answer.text == "ann:\nAll is well & good"
    await phone.manager.says("zz-sure?", reply_to=answer.message_id)
    await phone.manager.reads("I am sure", seconds=SECONDS)
    told = str((await cli_env.model.asked("zz-sure")).body)
    assert "Manager reply:\\nzz-sure?\\n\\nContext (your previous message):\\nAll is well & good" in told
    chat = await phone.bot.messages(MANAGER)
    assert next(one for one in chat if one.message_id == spoken.message_id).reactions == ("👀",)


async def others_find_it_and_write_to_it(cli_env: ClaudeEnv, phone: Phone) -> None:
    """By its pipe, by the example that the node gives, and by hand."""
    cli_env.model.script.conversation("zz-pipe", say("the pipe is heard"))
    cli_env.model.script.conversation("> your message", say("the example is heard"))
    (entry,) = json.loads(await called(phone, "/workers"))["workers"]
    assert (entry["name"], entry["protocol"], entry["address"]) == ("ann", "tmux", "claude-test-ann")
    pipe = cli_env.folder / "temporary" / "test" / "ann" / "in.pipe"
    await anyio.to_thread.run_sync(pipe.write_text, "zz-pipe from bob\n")
    await phone.manager.reads("the pipe is heard", seconds=SECONDS)
    await anyio.run_process(["sh", "-c", entry["send_example"]], env=cli_env.environment)
    await phone.manager.reads("the example is heard", seconds=SECONDS)
    asked = str((await cli_env.model.asked("> your message")).body)
    assert f"{FRAME.format(who=UNKNOWN_PROGRAM)}\\n> your message" in asked
    assert await called(phone, "/response", {"session": "ann", "text": "<b>by</b> hand", "id": 1}) == "OK"
    assert (await phone.manager.reads("by hand", seconds=SECONDS)).text == "ann:\nby hand"


async def a_file_from_the_phone_is_read_once(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Its place stands once in what the model is told."""
    cli_env.model.script.conversation("zz-file", say("read it"))
    await phone.manager.sends_document(b"1,2\n", "data.csv", mime_type="text/csv", caption="zz-file, please")
    await phone.manager.reads("read it", seconds=SECONDS)
    told = str((await cli_env.model.asked("zz-file")).body)
    found = re.search(r"zz-file, please\\n\\nManager sent file: data\.csv \(4 B, text/csv\)\\nPath: (\S+?\.csv)", told)
    assert found
    assert Path(found.group(1)).read_bytes() == b"1,2\n"
    assert told.count(found.group(1)) == 1


async def paused_and_relaunched(cli_env: ClaudeEnv, phone: Phone) -> None:
    """A turn is stopped from the phone, and the agent started anew."""
    cli_env.model.script.conversation("zz-long", ScriptedReply((ScriptedText("thinking"), Hold("for ever"))))
    cli_env.model.script.conversation("zz-again", say("here again"))
    await phone.manager.says("zz-long")
    await cli_env.model.asked("zz-long")
    await phone.manager.says("/pause")
    await phone.manager.reads("Ann is paused. I'll pick up where we left off.", seconds=SECONDS)
    await stopped(phone, 1)
    await phone.manager.says("/relaunch")
    await phone.manager.reads("Bringing Ann back online...", seconds=SECONDS)
    await phone.manager.says("zz-again")
    await phone.manager.reads("here again", seconds=SECONDS)


async def stopped(phone: Phone, times: int) -> None:
    """Waits until so many turns were told as stopped."""
    await phone.manager.sees(
        lambda chat: sum("■ Stopped." in one.text for one in chat if not one.deleted) == times, seconds=SECONDS
    )


async def relaunched_in_mid_turn(cli_env: ClaudeEnv, phone: Phone) -> None:
    """The turn is stopped, and the next message answered."""
    cli_env.model.script.conversation("zz-one", ScriptedReply((ScriptedText("half of one"), Hold("one"))))
    cli_env.model.script.conversation("zz-next", say("and once more"))
    await phone.manager.says("zz-one")
    await cli_env.model.asked("zz-one")
    await phone.manager.says("/relaunch")
    await stopped(phone, 2)
    await phone.manager.says("zz-next")
    await phone.manager.reads("and once more", seconds=SECONDS)


async def let_go(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Bob, who has nothing to do, leaves nothing behind."""
    await phone.manager.says("/end bob")
    await phone.manager.reads("Bob removed from your team.", seconds=SECONDS)
    folder = cli_env.folder / "temporary" / "test" / "bob"
    await until(lambda: not folder.exists())
    assert "claude-test-bob" not in await tmux(cli_env, "list-sessions")
    (left,) = json.loads(await called(phone, "/workers"))["workers"]
    assert left["name"] == "ann"


async def let_go_in_mid_turn(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Ann, the last of the team, is let go while she works."""
    cli_env.model.script.conversation("zz-two", ScriptedReply((ScriptedText("half of two"), Hold("two"))))
    await phone.manager.says("@ann zz-two")
    await cli_env.model.asked("zz-two")
    await phone.manager.says("/end ann")
    await phone.manager.reads("Ann removed from your team.", seconds=SECONDS)
    await stopped(phone, 3)
    assert "claude-test-ann" not in await tmux(cli_env, "list-sessions")
    assert json.loads(await called(phone, "/workers")) == {"workers": []}
    await until(lambda: not cli_env.agents())
    folder = cli_env.folder / "temporary" / "test" / "ann"
    await until(lambda: not folder.exists())


async def files_in_its_answer_go_by_the_rules(cli_env: ClaudeEnv, phone: Phone) -> None:
    """One is sent, one is not there, one stands in code, and one may not go."""
    notes = cli_env.project / "notes.md"
    notes.write_text("for the manager")
    answer = f"Here. [[file:{notes}|the notes]] [[image:/no/such.png]] `[[file:/in/code.md]]` [[file:/etc/x.pem]]"
    cli_env.model.script.conversation("zz-sends", say(answer))
    await phone.manager.says("zz-sends")
    await phone.manager.reads("ann: [Image failed: /no/such.png]", seconds=SECONDS)
    await phone.manager.reads("ann: [File failed: /etc/x.pem]", seconds=SECONDS)
    assert "[[file:/in/code.md]]" in (await phone.manager.reads("ann:\nHere.", seconds=SECONDS)).text
    sent = await phone.bot.until_calls(lambda calls: calls, "sendDocument")
    assert [call.parameters["caption"] for call in sent] == ["ann: the notes"]


async def what_the_manager_asks_the_bot_about_it(cli_env: ClaudeEnv, phone: Phone) -> None:
    """The team, the settings, a command that is not there, what was learned."""

    async def asks(text: str) -> str:
        spoken = await phone.manager.says(text)
        chat = await phone.manager.sees(lambda seen: any(one.reply_to == spoken.message_id for one in seen))
        return next(one.text for one in chat if one.reply_to == spoken.message_id)

    team = "Your team:\nFocused: ann\nWorkers:\n- ann (focused, available, backend=claude)"
    assert (await asks("/team")).startswith(f"{team}\n")
    settings = await asks("/settings")
    assert phone.bot.token not in settings
    assert f"Bot token: {phone.bot.token[:4]}...{phone.bot.token[-4:]}" in settings
    assert "ann" in settings
    assert "not supported" in await asks("/compact")
    cli_env.model.script.conversation("What did you learn", say("Problem, fix, why."))
    assert "zz" not in await asks("/focus ann")
    await phone.manager.says("/learn")
    await phone.manager.reads("Problem, fix, why.", seconds=SECONDS)


async def mentions_and_colleagues(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Bob is hired beside her: one message for both, one for her alone."""
    cli_env.model.script.conversation("You are bob", say("Bob is ready."))
    cli_env.model.script.conversation("zz-everyone", say("one of us"))
    cli_env.model.script.conversation("zz-everyone", say("one of us"))
    cli_env.model.script.conversation("zz-only", say("ann alone"))
    await phone.manager.says("/hire bob")
    await phone.manager.reads("bob:\nBob is ready.", seconds=SECONDS)
    await phone.manager.says("@all zz-everyone")
    for name in ("ann", "bob"):
        await phone.manager.reads(f"{name}:\none of us", seconds=SECONDS)
    await phone.manager.says("@ann zz-only you")
    await phone.manager.reads("ann:\nann alone", seconds=SECONDS)
    listed = json.loads(await called(phone, "/workers"))["workers"]
    assert [(one["name"], one["protocol"]) for one in listed] == [("ann", "tmux"), ("bob", "tmux")]


async def a_long_answer_while_the_node_is_dead_is_told_whole(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Each paragraph once."""
    long = "\n\n".join(f"Paragraph {number}: " + "word " * 60 for number in range(40)).strip()
    cli_env.model.script.conversation(
        "zz-dead", ScriptedReply((Hold("dead"), ScriptedText(f"the first line\n\n{long}\n\nthe last line")))
    )
    await phone.manager.says("zz-dead")
    await cli_env.model.asked("zz-dead")
    await phone.kill()
    cli_env.model.script.release("dead")
    await until(
        lambda: any(
            "the last line" in path.read_text() for path in cli_env.folder.glob("home/.claude/projects/*/*.jsonl")
        )
    )
    await phone.start()
    await phone.manager.reads("the last line", seconds=SECONDS)
    pages = [one.text for one in await phone.bot.messages(MANAGER) if one.from_bot and not one.deleted]
    told = "\n".join(page for page in pages if page.startswith("ann:\n") and "is working" not in page)
    assert all(told.count(f"Paragraph {number}:") == 1 for number in range(40))
    assert told.count("word") == 40 * 60
    assert told.count("the first line") == told.count("the last line") == 1
