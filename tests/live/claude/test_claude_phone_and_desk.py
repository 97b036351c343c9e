"""A phone, a desk and the real Claude Code: answered on one, told on the other, and after tmux was killed."""

from __future__ import annotations

import os
import signal

import anyio
import pytest
from tests.live.claude.test_claude_from_the_phone import phone

from farhand.testing.claude_env import ClaudeEnv, writes_plan
from farhand.testing.cli_env import CliEnv
from farhand.testing.models.script import ScriptedReply, ScriptedText, say, use
from farhand.testing.phone import SECONDS, Phone
from farhand.testing.telegram import ShownMessage

pytestmark = pytest.mark.anyio
__all__ = ["phone"]


async def tmux(cli_env: CliEnv, *words: str) -> str:
    done = await anyio.run_process([*cli_env.server, *words], env=cli_env.environment, check=False)
    return done.stdout.decode()


async def screen(phone: Phone, worker: str) -> str:
    return await tmux(phone.cli_env, "capture-pane", "-p", "-t", f"=claude-test-{worker}:")


async def shows(phone: Phone, worker: str, words: str) -> None:
    """Waits until the worker's screen has these words."""
    with anyio.fail_after(SECONDS):
        while words not in await screen(phone, worker):  # noqa: ASYNC110
            await anyio.sleep(0.1)


async def online(phone: Phone, worker: str) -> None:
    """Waits until the worker can be spoken to."""
    await phone.manager.says(f"/focus {worker}")
    with anyio.fail_after(SECONDS):
        while "Online: yes" not in await progress(phone):  # noqa: ASYNC110
            await anyio.sleep(0.3)


async def progress(phone: Phone) -> str:
    asked = await phone.manager.says("/progress")
    chat = await phone.manager.sees(lambda chat: any(one.reply_to == asked.message_id for one in chat))
    return next(one.text for one in chat if one.reply_to == asked.message_id)


async def test_asks_and_answers_on_the_phone_and_at_the_desk_until_tmux_is_killed(
    cli_env: ClaudeEnv, phone: Phone
) -> None:
    """A start of the agent costs seconds: each promise takes the workers as the one before has left them."""
    await an_ask_answered_at_the_desk_is_over_on_the_phone(cli_env, phone)
    await a_refusal_with_a_word_of_advice_reaches_the_agent(cli_env, phone)
    await several_choices_are_ticked_on_the_phone(cli_env, phone)
    await a_plan_is_read_on_the_phone_and_gone_ahead_with(cli_env, phone)
    await two_workers_at_once_a_long_answer_and_a_killed_tmux(cli_env, phone)


async def an_ask_answered_at_the_desk_is_over_on_the_phone(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Its message has no buttons any more."""
    cli_env.model.script.conversation("zz-desk", use("Bash", command="touch desk.txt", description="Desk"), say("made"))
    await phone.manager.says("zz-desk")
    ask = await phone.reads("touch desk.txt")
    await shows(phone, "ann", "Do you want to proceed?")
    # A dialog hears no key in its first moments; a key too many would be taken by what comes behind it.
    with anyio.fail_after(SECONDS):
        while "Do you want to proceed?" in await screen(phone, "ann"):
            await tmux(cli_env, "send-keys", "-t", "=claude-test-ann:", "1")
            with anyio.move_on_after(5):
                while "Do you want to proceed?" in await screen(phone, "ann"):  # noqa: ASYNC110
                    await anyio.sleep(0.05)
    settled = await phone.manager.reads("→ answered at the desk", seconds=SECONDS)
    assert settled.message_id == ask.message_id
    assert not settled.buttons
    await phone.manager.reads("made", seconds=SECONDS)
    assert (cli_env.project / "desk.txt").exists()


async def a_refusal_with_a_word_of_advice_reaches_the_agent(cli_env: ClaudeEnv, phone: Phone) -> None:
    """The advice is a reply to the message that asks for it."""
    cli_env.model.script.conversation("zz-no", use("Bash", command="touch no.txt", description="No"), say("I see"))
    await phone.manager.says("zz-no")
    await phone.manager.taps(await phone.reads("touch no.txt"), "Deny, and say why")
    request = await phone.manager.reads("as a reply to this message", seconds=SECONDS)
    await phone.manager.says("never on a Friday", reply_to=request.message_id)
    await phone.manager.reads("I see", seconds=SECONDS)
    assert not (cli_env.project / "no.txt").exists()
    assert any("never on a Friday" in text for text in cli_env.model.prompted("zz-no")[-1].texts)


async def several_choices_are_ticked_on_the_phone(cli_env: ClaudeEnv, phone: Phone) -> None:
    """And sent together."""
    options = [{"label": label, "description": ""} for label in ("Red", "Green", "Blue")]
    question = {"question": "Which colors?", "header": "Colors", "multiSelect": True, "options": options}
    cli_env.model.script.conversation("zz-many", use("AskUserQuestion", questions=[question]), say("thanks"))
    await phone.manager.says("zz-many")
    ask = await phone.reads("Which colors?")
    for label in ("Red", "Blue"):
        await phone.manager.taps(ask, f"☐ {label}")
        ask = await ticked(phone, ask, f"☑ {label}")
    await phone.manager.taps(ask, "✓ Send 2")
    await phone.manager.reads("thanks", seconds=SECONDS)
    assert any("Red, Blue" in text for text in cli_env.model.prompted("zz-many")[-1].texts)


async def ticked(phone: Phone, ask: ShownMessage, label: str) -> ShownMessage:
    def now(chat: tuple[ShownMessage, ...]) -> ShownMessage:
        return next(one for one in chat if one.message_id == ask.message_id)

    return now(await phone.manager.sees(lambda chat: label in now(chat).labels, seconds=SECONDS))


async def a_plan_is_read_on_the_phone_and_gone_ahead_with(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Pat is hired to plan."""
    plan = "# Plan\n\n1. Do one thing\n2. Do another"
    cli_env.model.script.conversation("zz-plan", writes_plan(plan), use("ExitPlanMode"), say("on it"))
    await phone.manager.says("/hire pat --mode plan")
    await phone.manager.reads("Pat is added", seconds=SECONDS)
    await phone.manager.says("@pat zz-plan")
    ask = await phone.reads("pat has a plan")
    assert "2. Do another" in ask.text
    await phone.manager.taps(ask, "Go ahead, ask before each edit")
    await phone.manager.reads("on it", seconds=SECONDS)


async def two_workers_at_once_a_long_answer_and_a_killed_tmux(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Both are told of it, and ann comes back with her memory."""
    long = " ".join(f"word{number}" for number in range(1500))
    cli_env.model.script.conversation("zz-ann", ScriptedReply((ScriptedText(long),)))
    cli_env.model.script.conversation("zz-pat", say("pat here"))
    cli_env.model.script.conversation("zz-again", say("ann again"))
    await phone.manager.says("@ann zz-ann")
    await phone.manager.says("@pat zz-pat")
    await phone.manager.reads("pat:\npat here", seconds=SECONDS)

    def pages_in(chat: tuple[ShownMessage, ...]) -> list[str]:
        return [one.text for one in chat if one.text.startswith("ann:\nword")]

    # Not the card that shows the newest words of a turn that runs.
    chat = await phone.manager.sees(lambda chat: "word1499" in "".join(pages_in(chat)), seconds=SECONDS)
    pages = pages_in(chat)
    assert len(pages) > 1
    assert " ".join(page.removeprefix("ann:\n") for page in pages) == long
    os.kill(int(await tmux(cli_env, "display-message", "-p", "#{pid}")), signal.SIGKILL)
    await phone.manager.reads("ann: The tmux server has ended", seconds=SECONDS)
    await phone.manager.reads("pat: The tmux server has ended", seconds=SECONDS)
    await online(phone, "ann")
    await phone.manager.says("@ann zz-again")
    await phone.manager.reads("ann again", seconds=SECONDS)
    assert any("word1499" in text for text in cli_env.model.prompted("zz-again")[-1].texts)
