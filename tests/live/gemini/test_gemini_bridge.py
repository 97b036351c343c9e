"""The real Gemini CLI, started by hand, reached through the two files of the bridge alone."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from tests.live.bridge_scenarios import (
    Desk,
    ForeignScript,
    a_sprint_goes_on_by_itself,
    nothing_goes_on_after_stop,
    stop_ends_a_sprint_with_its_turn,
    wait,
)

from farhand.bridge.hook.rules import STOP_SENTENCE
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import USAGE, answers, chunk, held, says
from farhand.testing.phone import MANAGER, with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def desk(cli_env: GeminiEnv) -> Desk:
    """Gemini CLI at a desk, its project bridged."""
    opened = Desk(cli_env)
    await opened.install("gemini")
    home = cli_env.folder / "desk"
    (home / ".gemini").mkdir(parents=True)
    signed_in = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    quiet = {"general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}}
    (home / ".gemini" / "settings.json").write_text(json.dumps({**signed_in, **quiet}))
    trusted = {"GEMINI_CLI_HOME": str(home), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    await opened.start(["gemini"], "Type your message", **trusted)
    return opened


@pytest.fixture
def script(cli_env: GeminiEnv) -> ForeignScript:
    return ForeignScript(cli_env.project)


def half_written(path: Path) -> None:
    """Half a file, and nobody is writing it any more."""
    beside = path.with_name("half")
    beside.write_text("{")
    os.utime(beside, (1_000_000_000, 1_000_000_000))
    beside.rename(path)


async def test_one_agent_at_its_desk_keeps_every_promise_of_the_files(
    cli_env: GeminiEnv, desk: Desk, script: ForeignScript
) -> None:
    """One after the other on one start of the CLI, which is what costs."""
    await a_missing_or_malformed_inbox_costs_the_agent_nothing(cli_env, desk, script)
    script.begins_anew()
    await a_message_reaches_the_agent_and_its_answer_comes_back(cli_env, desk, script)
    script.begins_anew()
    await a_sprint_goes_on(cli_env, desk, script)
    script.begins_anew()
    await stop_ends_a_sprint(cli_env, desk, script)
    script.begins_anew()
    await stop_is_told_to_the_agent_with_its_sentence(cli_env, desk, script)


async def a_missing_or_malformed_inbox_costs_the_agent_nothing(
    cli_env: GeminiEnv, desk: Desk, script: ForeignScript
) -> None:
    """AC-6 by the files alone."""
    inbox = cli_env.project / ".gemini/wa_inbox.json"
    cli_env.model.expect(says("Nobody wrote."), says("I am here."))
    assert not inbox.exists()
    await desk.types("hello")
    await script.hears("Nobody wrote.")
    half_written(inbox)
    await desk.types("once more")
    await wait(script.heard, lambda heard: "I am here." in str(heard), "the answer")
    assert "wa_inbox.json made no sense and was set aside" in script.heard()[1]


async def a_sprint_goes_on(cli_env: GeminiEnv, desk: Desk, script: ForeignScript) -> None:
    cli_env.model.expect(says("did one"), says("did two"))
    await a_sprint_goes_on_by_itself(desk, script)
    assert "Task 2 of 2: zz-two" in json.dumps(cli_env.model.last["contents"][-1])


async def stop_ends_a_sprint(cli_env: GeminiEnv, desk: Desk, script: ForeignScript) -> None:
    gate, before = Event(), len(cli_env.model.requests)
    cli_env.model.expect(held(gate, "did ", "one", before=1), says("as before"))
    await stop_ends_a_sprint_with_its_turn(desk, script, lambda: cli_env.model.requests[before:])
    gate.set()
    await nothing_goes_on_after_stop(desk, script, "tell me")
    assert len(cli_env.model.requests) == before + 2, "no task was begun after STOP"


async def stop_is_told_to_the_agent_with_its_sentence(cli_env: GeminiEnv, desk: Desk, script: ForeignScript) -> None:
    cli_env.model.expect(says("I halt."))
    script.writes("please STOP")
    await desk.types("go on")
    await script.hears("I halt.")
    assert STOP_SENTENCE in json.dumps(cli_env.model.last["contents"][-1], ensure_ascii=False)


async def a_message_reaches_the_agent_and_its_answer_comes_back(
    cli_env: GeminiEnv, desk: Desk, script: ForeignScript
) -> None:
    """AC-1 and AC-2 by the files alone, and AC-7 at the end."""
    cli_env.model.expect(says("Startup ", "complete."), says("Nothing new."), says("Tidied up."))
    script.writes("Run /startup <now>")
    await desk.types("look at your messages")
    await script.hears("Startup complete.")
    assert script.is_read()
    asked = json.dumps(cli_env.model.last["contents"][-1])
    assert "<hook_context>WhatsApp messages:\\nRun /startup &lt;now&gt;</hook_context>" in asked
    await desk.types("and now")
    await script.hears("Startup complete.", "Nothing new.")
    assert "hook_context" not in json.dumps(cli_env.model.last["contents"][-1])
    script.fills(120)
    script.writes("tidy up")
    await desk.types("once more")
    await script.hears("Tidied up.")
    assert "WhatsApp messages:\\ntidy up" in json.dumps(cli_env.model.last["contents"][-1])
    assert script.longest() <= 100


async def test_the_phone_reaches_the_agent_at_the_desk_and_wakes_it(
    cli_env: GeminiEnv, desk: Desk, script: ForeignScript, bot: FakeBot
) -> None:
    """AC-1 to AC-7, from Telegram: the node is on the files, and the agent was started by hand."""
    gate = Event()
    inbox = cli_env.project / ".gemini/wa_inbox.json"
    # Gemini CLI asks four times before it gives up.
    silence = [answers(chunk(finish="STOP", usage=USAGE))] * 4
    talk = (says("I am here."), says("Startup complete. ", "3 tasks."), says("Told."), *silence, says("Well."))
    cli_env.model.expect(*talk, says("Tidied."), says("did one"), held(gate, "did ", "two", before=1))
    async with with_phone(cli_env, bot) as phone:
        await phone.manager.says(f"/hire ann --bridge {cli_env.project}")
        await phone.reads("ann sits at its own desk")
        await desk.types("hello")
        await phone.hears("I am here.")
        said = await phone.manager.says("/startup")
        await phone.hears("Startup complete. 3 tasks.")
        asked = json.dumps(cli_env.model.last["contents"][-1])
        assert "<hook_context>WhatsApp messages:\\n/startup</hook_context>" in asked
        answer = next(one for one in await bot.messages(MANAGER) if one.buzzed and "Startup complete." in one.text)
        assert answer.reply_to == said.message_id
        await phone.manager.says("and tell me more")
        await phone.hears("Told.")
        await phone.manager.says("and nothing")
        await phone.reads("It ended its turn without a word")
        log = (cli_env.folder / "node.log").read_text()
        assert "📥 Received: /startup" in log
        assert "📤 Sent: Startup complete. 3 tasks." in log
        half_written(inbox)
        await phone.reads("wa_inbox.json made no sense and was set aside")
        # What somebody has half written at the desk is not sent.
        await desk.writes("zz-half")
        await phone.manager.says("are you well")
        await phone.reads("something is typed or asked at its desk")
        assert not any("zz-half" in str(one.body) for one in cli_env.model.requests)
        await desk.presses("C-u")
        await phone.hears("Well.")
        script.fills(120)
        await phone.manager.says("tidy up")
        await phone.hears("Tidied.")
        assert script.longest() <= 100
        await phone.manager.says("/sprint start --no-commit\n- zz-one\n- zz-two\n- zz-three")
        await phone.reads("did one")
        await phone.reads("sprint 1/3")
        await cli_env.asked("zz-two")
        await phone.manager.says("Stop")
        await wait(partial(phone.types, "events"), lambda told: '"halt_asked"' in str(told), "a sprint that halts")
        gate.set()
        await phone.hears("ann's sprint was halted")
        assert not any("zz-three" in str(one.body) for one in cli_env.model.requests)
