"""What the real OpenCode asks, what it is told, and what it may do in each mode."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.conftest import tmux_in
from tests.interrupted import made_short_folder
from tests.live.opencode.conftest import opencode_env

from farhand.model import facts
from farhand.model.ports import Change, Deliver, Driver, NotTaken, Settle, Taken
from farhand.model.present import Message, Worker
from farhand.model.words import Attachment, HowEnded, HowSettled, Mode, Sender, replace
from farhand.testing.claude_env import red_pixel
from farhand.testing.contracts.driver import Talk, answered, talking
from farhand.testing.models.script import Failure, Hold, ScriptedReply, ScriptedText, say, use
from farhand.testing.opencode_env import OTHER_MODEL, OpenCodeEnv

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def shared_env() -> AsyncIterator[OpenCodeEnv]:
    """The environment of all tests that need one server and no more."""
    with made_short_folder() as folder, tmux_in(folder) as server:
        async with opencode_env(folder, server) as opened:
            yield opened


@pytest.fixture(scope="module")
async def driver(shared_env: OpenCodeEnv) -> AsyncIterator[Driver]:
    """The driver over the server, which runs for as long as its first worker is there."""
    over_http = shared_env.drivers()["opencode"]
    first = Worker(name="first", since=1, backend="opencode", directory=str(shared_env.project))
    async with over_http.open(first, ""):
        pass
    yield over_http
    await over_http.end(first)


@pytest.fixture
async def worker(shared_env: OpenCodeEnv, driver: Driver) -> AsyncIterator[Worker]:
    """A worker that asks; it is ended after the test."""
    hired = Worker(name="ann", since=1, backend="opencode", directory=str(shared_env.project))
    yield hired
    await driver.end(hired)
    shared_env.model.script.check()


def touch(name: str) -> ScriptedReply:
    """The model wants to touch a file."""
    return use("bash", command=f"touch {name}", description="Make a file")


async def settle(talk: Talk, raised: facts.AskRaised, choice: str, note: str = "") -> None:
    """Answers an ask."""
    settled = facts.AskSettled(ask=raised.ask, how=HowSettled.ANSWERED, choice=choice, note=note)
    ask = replace(answered(raised, talk.worker, "t"), settled=settled)
    assert await talk.link.perform(Settle(ask=ask)) == Taken()


async def test_what_is_allowed_for_the_session_asks_no_more(
    shared_env: OpenCodeEnv, driver: Driver, worker: Worker
) -> None:
    script = shared_env.model.script
    script.conversation("zz-one", touch("one"), touch("two"), say("done"))
    script.conversation(
        "zz-edit", use("write", filePath=str(shared_env.project / "x"), content="hello\n"), say("wrote")
    )
    script.conversation("zz-limit", Failure(429, "rate_limit_error", "come back later", {"retry-after": "7200"}))
    async with talking(driver, worker) as talk:
        await talk.say("t1", "zz-one")
        first = await talk.hear(facts.AskRaised)
        assert first.detail == "touch one"
        await settle(talk, first, "session")
        ended = await talk.ended("t1")
        assert ended.how is HowEnded.COMPLETED
        assert ended.usage is not None
        assert ended.usage.output_tokens == 30
        assert talk.count(facts.AskRaised) == 1
        # The person's own configuration allows edits: this worker asks all the same.
        await talk.say("t2", "zz-edit")
        second = await talk.hear(facts.AskRaised, lambda ask: ask.ask != first.ask)
        assert "+hello" in second.detail
        await settle(talk, second, "deny", "not there")
        await talk.ended("t2")
        await talk.say("t3", "zz-limit")
        limited = await talk.hear(facts.Limited)
        assert limited.until is not None
        assert limited.until > time.time() + 3600
        assert (await talk.ended("t3")).how is HowEnded.FAILED
    assert (shared_env.project / "two").exists()
    assert not (shared_env.project / "x").exists()
    assert "not there" in str((await shared_env.model.asked("zz-edit", times=2)).body)


async def test_a_question_with_choices_is_answered_and_the_helpers_of_a_worker_ask_too(
    shared_env: OpenCodeEnv, driver: Driver, worker: Worker
) -> None:
    """One after the other on one start of OpenCode, which is what costs."""
    colours = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]
    sizes = [{"label": "small", "description": "s"}, {"label": "large", "description": "l"}]
    questions = [
        {"question": "Which colour?", "header": "Colour", "options": colours},
        {"question": "Which sizes?", "header": "Size", "options": sizes, "multiple": True},
    ]
    task = use("task", description="help", prompt="zz-helper please", subagent_type="general")
    shared_env.model.script.conversation("zz-ask", use("question", questions=questions), say("thanks"))
    shared_env.model.script.conversation("zz-delegate", task, say("all done"))
    shared_env.model.script.conversation("zz-helper", touch("helped"), say("helped"))
    async with talking(driver, worker) as talk:
        await talk.say("t1", "zz-ask")
        colour = await talk.hear(facts.AskRaised, lambda ask: "colour" in ask.question)
        size = await talk.hear(facts.AskRaised, lambda ask: "sizes" in ask.question)
        assert size.several
        await settle(talk, size, "1,2")
        await settle(talk, colour, "2")
        await talk.ended("t1")
        output = (await talk.hear(facts.ToolEnded)).output
        assert '"Which colour?"="blue"' in output
        assert "small" in output
        assert "large" in output
        before = len(talk.heard)
        await talk.say("t2", "zz-delegate")
        raised = await talk.hear(facts.AskRaised, after=before)
        assert raised.detail == "touch helped"
        assert not (shared_env.project / "helped").exists()
        await settle(talk, raised, "once")
        assert (await talk.ended("t2")).how is HowEnded.COMPLETED
    assert (shared_env.project / "helped").exists()


async def test_modes_models_pictures_and_words_into_a_turn(
    shared_env: OpenCodeEnv, driver: Driver, worker: Worker, tmp_path: Path
) -> None:
    script = shared_env.model.script
    script.conversation("zz-free", touch("free"), say("made it"))
    script.conversation("zz-wants", touch("asks"), say("made it"))
    script.conversation("zz-look", say("a red pixel"))
    script.conversation("zz-slow", ScriptedReply((ScriptedText("one"), Hold("slow"))))
    script.conversation("zz-more", say("and more"))
    picture = tmp_path / "red.png"
    picture.write_bytes(red_pixel())
    free = replace(worker, mode=Mode.YOLO)
    async with talking(driver, free) as talk:
        await talk.say("t1", "zz-free")
        assert (await talk.ended("t1")).how is HowEnded.COMPLETED
        assert talk.count(facts.AskRaised) == 0
        refused = await talk.link.perform(Change(model="fake/none"))
        assert isinstance(refused, NotTaken)
        assert OTHER_MODEL in refused.why
        assert await talk.link.perform(Change(model=OTHER_MODEL, mode="default")) == Taken()
        await talk.say("t2", "zz-wants")
        await settle(talk, await talk.hear(facts.AskRaised), "once")
        await talk.ended("t2")
        assert (await shared_env.model.asked("zz-wants")).body["model"] == "other-model"
        shown = Attachment(path=str(picture), media_type="image/png")
        message = Message(id="t3", text="zz-look", at=0.0, by=Sender(via="test"), attachments=(shown,))
        await talk.link.perform(_deliver("t3", message))
        await talk.ended("t3")
        assert "data:image/png;base64," in str((await shared_env.model.asked("zz-look")).body)
        await talk.say("t4", "zz-slow")
        await shared_env.model.asked("zz-slow")
        more = Message(id="m5", text="zz-more", at=0.0, by=Sender(via="test"))
        await talk.link.perform(_deliver("t4", more, joins=True))
        script.release("slow")
        await talk.hear(facts.Seen, lambda seen: seen.message == "m5")
        await talk.ended("t4")
        assert talk.text("t4").split() == ["one", "and", "more"]


def _deliver(turn: str, message: Message, *, joins: bool = False) -> Deliver:
    return Deliver(turn=turn, message=message, joins=joins)


async def test_a_command_allowed_for_the_session_allows_no_other_command_and_no_edit(
    shared_env: OpenCodeEnv, driver: Driver, worker: Worker
) -> None:
    script = shared_env.model.script
    made = use("bash", command="mkdir three", description="Make a folder")
    both = use("bash", command="touch four && mkdir five", description="Make both")
    script.conversation("zz-first", touch("seven"), say("done"))
    script.conversation("zz-second", touch("eight"), made, say("done"))
    script.conversation("zz-third", both, say("done"))
    script.conversation(
        "zz-fourth", use("write", filePath=str(shared_env.project / "six"), content="x\n"), say("wrote")
    )
    seen: set[str] = set()
    async with talking(driver, worker) as talk:

        async def asked(turn: str, marker: str) -> facts.AskRaised:
            await talk.say(turn, marker)
            raised: facts.AskRaised = await talk.hear(facts.AskRaised, lambda ask: ask.ask not in seen)
            seen.add(raised.ask)
            return raised

        first = await asked("t1", "zz-first")
        assert next(choice.label for choice in first.choices if choice.id == "session") == (
            "Allow touch * for this session"
        )
        await settle(talk, first, "session")
        await talk.ended("t1")
        # What the patterns name runs unasked; any other command asks, alone or beside it, and so does an edit.
        for turn, marker, question in (
            ("t2", "zz-second", "Run: mkdir three"),
            ("t3", "zz-third", "Run: touch four && mkdir five"),
            ("t4", "zz-fourth", f"Edit {shared_env.project / 'six'}"),
        ):
            again = await asked(turn, marker)
            assert again.question == question
            await settle(talk, again, "deny")
            await talk.ended(turn)
    names = {"seven", "eight", "three", "four", "five", "six"}
    assert names & {file.name for file in shared_env.project.iterdir()} == {"seven", "eight"}
