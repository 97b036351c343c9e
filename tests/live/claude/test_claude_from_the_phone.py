"""The whole way: a phone at a fake Telegram, `farhand run` in a process of its own, the real Claude Code."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from tests.live import phone_scenarios, sprint_scenarios
from tests.live.phone_scenarios import ScriptedPhoneModel

from farhand.model.facts import Said
from farhand.model.wire import decode_event
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal
from farhand.testing.claude_env import ClaudeEnv, red_pixel
from farhand.testing.models.anthropic import limited
from farhand.testing.models.script import Hold, ScriptedReply, say, use
from farhand.testing.phone import SECONDS, Phone, with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
HEADLESS = pytest.mark.parametrize("phone", [" --headless"], ids=["headless"], indirect=True)


@pytest.fixture
async def phone(request: pytest.FixtureRequest, cli_env: ClaudeEnv, bot: FakeBot) -> AsyncIterator[Phone]:
    """A phone with a hired worker, in tmux unless the test says otherwise."""
    async with with_phone(cli_env, bot) as opened:
        await opened.manager.says("/hire ann --ask" + getattr(request, "param", ""))
        await opened.reads("Ann is added")
        yield opened


@pytest.fixture
def model(cli_env: ClaudeEnv) -> ScriptedPhoneModel:
    """What the scenarios need of the fake model."""
    return ScriptedPhoneModel(
        cli_env.model,
        cli_env.project,
        lambda name: use("Bash", command=f"touch {name}", description="Create it"),
        limited("come back tomorrow"),
    )


async def test_one_worker_in_a_terminal_bears_all_that_comes_from_a_phone(
    cli_env: ClaudeEnv, phone: Phone, model: ScriptedPhoneModel
) -> None:
    """A start of the agent costs seconds: each promise takes it as the one before has left it."""
    await phone_scenarios.an_ask_is_allowed_and_another_denied(phone, model)
    await the_token_is_nowhere_an_agent_can_look(cli_env, phone)
    await a_picture_goes_both_ways(cli_env, phone)
    await phone_scenarios.an_ask_outlives_a_killed_node(phone, model)
    await phone_scenarios.a_node_killed_in_mid_turn_brings_the_answer_once(phone, model)
    await what_was_answered_while_the_node_was_dead_is_told(cli_env, phone)
    await a_node_killed_right_after_an_answer_does_not_repeat_it(cli_env, phone, model, with_its_agent=False)
    await phone.start()
    await a_hook_that_is_killed_lets_nothing_run(cli_env, phone)


@HEADLESS
async def test_one_worker_without_a_terminal_bears_all_that_comes_from_a_phone(
    phone: Phone, model: ScriptedPhoneModel
) -> None:
    await phone_scenarios.one_worker_bears_all_that_comes_from_a_phone(phone, model)


async def what_was_answered_while_the_node_was_dead_is_told(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Once."""
    wait = use("Bash", command="ls", description="Look")
    cli_env.model.script.conversation(
        "zz-dead", ScriptedReply((Hold("dead"), *wait.blocks)), say("all done while you were away")
    )
    await phone.manager.says("zz-dead")
    await cli_env.model.asked("zz-dead")
    await phone.kill()
    cli_env.model.script.release("dead")
    await cli_env.model.asked("zz-dead", times=2)
    await phone.start()
    await phone.hears("all done while you were away")
    assert await phone.answers("all done while you were away") == 1


async def test_a_node_killed_with_its_agent_right_after_an_answer_does_not_repeat_it(
    cli_env: ClaudeEnv, phone: Phone, model: ScriptedPhoneModel
) -> None:
    await a_node_killed_right_after_an_answer_does_not_repeat_it(cli_env, phone, model, with_its_agent=True)


async def a_node_killed_right_after_an_answer_does_not_repeat_it(
    cli_env: ClaudeEnv, phone: Phone, model: ScriptedPhoneModel, *, with_its_agent: bool
) -> None:
    """Whether its agent lives on or not; at last the node is dead."""
    for name in ("first", "second", "third"):
        model.says(f"zz-{name}", f"the {name} answer")
    for name in ("first", "second"):
        await phone.manager.says(f"zz-{name}")
        await phone.hears(f"the {name} answer")
        # The transcript has it 100 ms later.
        await phone.kill()
        if with_its_agent:
            for pid in await anyio.to_thread.run_sync(cli_env.agents):
                os.kill(pid, signal.SIGKILL)
        await phone.start()
    await phone.manager.says("zz-third")
    await phone.hears("the third answer")
    await phone.kill()
    # A message that was being sent when the node was killed may be sent once more; the journal has each answer once.
    answers = [text for text in await _said(cli_env) if "answer" in text]
    assert answers == ["the first answer", "the second answer", "the third answer"]


async def _said(cli_env: ClaudeEnv) -> list[str]:
    """All that the worker has said, as the journal of the dead node has it."""
    with closing(Database(cli_env.folder / "farhand" / "nodes" / "test" / "farhand.db")) as database:
        events = [decode_event(body) for _, body in await SqliteJournal(database).read(0, 1_000_000)]
    return [event.fact.text for event in events if isinstance(event.fact, Said)]


async def the_token_is_nowhere_an_agent_can_look(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Not in its environment, nor in a file."""
    cli_env.model.script.conversation("zz-look", say("looked"))
    await phone.manager.says("zz-look")
    await phone.reads("looked")
    token = phone.bot.token.encode()
    for pid in await anyio.to_thread.run_sync(cli_env.agents):
        assert token not in await anyio.Path(f"/proc/{pid}/environ").read_bytes()
    written = [path for path in Path(cli_env.folder).rglob("*") if path.is_file() and path.suffix in (".json", ".log")]
    assert not [path for path in written if token in path.read_bytes()]


async def a_hook_that_is_killed_lets_nothing_run(cli_env: ClaudeEnv, phone: Phone) -> None:
    """And that is told."""
    cli_env.model.script.conversation("zz-kill", use("Bash", command="touch no.txt", description="No"))
    await phone.manager.says("zz-kill")
    await phone.reads("touch no.txt")
    found = await anyio.run_process(["pgrep", "-f", f"{cli_env.folder}/.*farhand-hook.pyc ask"])
    for pid in found.stdout.split():
        os.kill(int(pid), signal.SIGKILL)
    await phone.reads("nothing was allowed")
    assert not (cli_env.project / "no.txt").exists()


async def a_picture_goes_both_ways(cli_env: ClaudeEnv, phone: Phone) -> None:
    """The model sees the manager's, and the manager the model's."""

    def read(texts: list[str]) -> ScriptedReply:
        path = re.search(r"Manager sent image: (\S+)", "\n".join(texts))
        assert path is not None
        return use("Read", file_path=path.group(1))

    shown = cli_env.project / "shown.png"
    shown.write_bytes(red_pixel())
    cli_env.model.script.conversation("zz-photo", read, say(f"I saw it. [[image:{shown}|mine]]"))
    await phone.manager.sends_photo(red_pixel(), name="red.png", caption="zz-photo")
    # A picture lies outside the project: Claude Code asks before it reads it.
    await phone.manager.taps(await phone.asks(""), "Allow once")
    await phone.manager.sees(lambda chat: any(one.from_bot and one.photo for one in chat), seconds=SECONDS)
    await phone.reads("I saw it.")
    assert cli_env.model.prompted("zz-photo")[-1].images == 1


@HEADLESS
async def test_a_sprint_outlives_three_kills_and_a_usage_limit(phone: Phone, model: ScriptedPhoneModel) -> None:
    await sprint_scenarios.a_sprint_outlives_three_kills_and_a_usage_limit(phone, model)
