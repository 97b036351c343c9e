"""What every worker can rely on, whichever driver runs it, told in a whole node: for agents that can be scripted.

A start of an agent's CLI costs seconds: each promise takes the worker as the one before it has left it, hires one where
there is none, and looks only at what came since."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

import anyio
import msgspec

from farhand.drivers.wires.tmux.screen import plain
from farhand.model.facts import (
    AnswerDelivered,
    AskRaised,
    CameOnline,
    Ended,
    HandedOver,
    Noted,
    Said,
    Seen,
    TurnEnded,
    WentOffline,
)
from farhand.model.history import HistoryEntry, TurnEntry
from farhand.model.words import HowEnded, Seq, TurnId
from farhand.testing.house import House
from farhand.testing.http import local_client
from farhand.testing.wire_phone import WirePhone

SECONDS = 240.0


class WireShows(msgspec.Struct, frozen=True, kw_only=True):
    """What of a model's work comes over a wire; every CLI keeps something to itself."""

    # The tool that reads a file, as the wire calls it.
    reads_with: str
    thoughts: bool = True
    output: bool = True
    # Whether it asks in this mode even before it reads.
    asks: bool = False


class AgentScript(Protocol):
    """Where a driver can be made to play: its agent does what a marker in the prompt says."""

    @property
    def backend(self) -> str:
        """The backend that is tried, `<backend>/<wire>` for one of its wires."""
        ...

    @property
    def directory(self) -> str:
        """Where the worker works."""
        ...

    def answers(self, marker: str, text: str) -> None:
        """A prompt with this marker gets this answer."""
        ...

    def holds(self, marker: str, first: str, rest: str) -> Callable[[], None]:
        """A prompt with this marker gets the first words, and the rest when the returned function is called."""
        ...

    def asks(self, marker: str, text: str) -> Callable[[], bool]:
        """A prompt with this marker wants a tool, then says this text; the function tells whether the tool ran."""
        ...

    @property
    def shows(self) -> WireShows:
        """What of the work in `works` comes over this wire."""
        ...

    def works(self, marker: str, thought: str, file: str, first: str, rest: str) -> Callable[[], None]:
        """A prompt with this marker is thought about, a file is read, and the answer has two parts: the rest comes when
        the returned function is called."""
        ...

    async def began(self, marker: str) -> None:
        """Returns when the agent works on the prompt with this marker."""
        ...

    async def kill_agent(self) -> None:
        """Kills the agent's process."""
        ...


async def hired(house: House, agent_script: AgentScript) -> None:
    """A worker who can be spoken to: the one who is there, or a new one; what was before counts no more."""
    house.started = house.hub.present.seq
    if "ann" in house.hub.present.workers:
        return
    # `backend/wire` chooses among the wires of a backend.
    backend, _, wire = agent_script.backend.partition("/")
    await house.hire(backend=backend, directory=agent_script.directory, wire=wire)


async def said(house: House) -> str:
    """All that was said since the promise began, without the gaps between its pieces."""
    return " ".join("".join(await pieces(house)).split())


async def pieces(house: House) -> list[str]:
    """Every piece that was said since the promise began."""
    events = [event for event in await house.history() if event.seq > house.started]
    return [event.fact.text for event in events if isinstance(event.fact, Said)]


async def a_message_is_answered_in_its_own_turn(house: House, agent_script: AgentScript) -> None:
    """The answer belongs to the message, and the receipts never claim more than was proven."""
    agent_script.answers("zz-hello", "hello manager")
    await hired(house, agent_script)
    accepted = await house.say("zz-hello")
    ended = await house.event(TurnEnded)
    assert ended.turn == accepted.message
    assert isinstance(ended.fact, TurnEnded)
    assert ended.fact.how is HowEnded.COMPLETED
    assert await said(house) == "hello manager"
    handed, seen = await house.event(HandedOver), await house.event(Seen)
    assert max(handed.seq, seen.seq) < ended.seq
    assert house.worker().session


async def messages_are_answered_in_order(house: House, agent_script: AgentScript) -> None:
    """What is said while a turn runs waits for it."""
    for name in ("one", "two", "three"):
        agent_script.answers(f"zz-{name}", name)
    await hired(house, agent_script)
    for name in ("one", "two", "three"):
        await house.say(f"zz-{name}")
    await house.until(lambda present: not present.workers["ann"].queue and present.workers["ann"].turn is None)
    assert [text.strip() for text in await pieces(house)] == ["one", "two", "three"]


async def a_turn_is_stopped_and_the_next_one_runs(house: House, agent_script: AgentScript) -> None:
    """Stopping ends the turn as interrupted, and harms nothing."""
    agent_script.holds("zz-slow", "started", "never said")
    agent_script.answers("zz-next", "next")
    await hired(house, agent_script)
    await house.say("zz-slow")
    await agent_script.began("zz-slow")
    await house.fact(Seen)
    await house.interrupt()
    ended = await house.event(TurnEnded)
    assert isinstance(ended.fact, TurnEnded)
    assert ended.fact.how is HowEnded.INTERRUPTED
    await house.say("zz-next")
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED
    assert (await said(house)).endswith("next")


async def nothing_runs_before_it_is_allowed(house: House, agent_script: AgentScript) -> None:
    """An ask is open until it is answered; allowed, the tool runs, denied, it does not."""
    ran_allowed, ran_denied = agent_script.asks("zz-yes", "thank you"), agent_script.asks("zz-no", "what a pity")
    await hired(house, agent_script)
    await house.say("zz-yes")
    ask = await house.fact(AskRaised)
    assert ask.digest
    assert ask.detail
    assert not ran_allowed()
    await house.answer(ask.ask, next(choice.id for choice in ask.choices if choice.allows))
    delivered = await house.fact(AnswerDelivered)
    assert delivered.problem == "", delivered
    ended = await house.event(TurnEnded)
    assert ran_allowed()
    await house.say("zz-no")
    second = await house.fact(AskRaised, after=ended.seq)
    await house.answer(second.ask, next(choice.id for choice in second.choices if not choice.allows))
    await house.event(TurnEnded, after=ended.seq)
    assert not ran_denied()


async def a_relaunched_worker_keeps_its_session(house: House, agent_script: AgentScript) -> None:
    """Another process, the same conversation."""
    agent_script.answers("zz-before", "before")
    agent_script.answers("zz-after", "after")
    await hired(house, agent_script)
    await house.say("zz-before")
    ended = await house.event(TurnEnded)
    session = house.worker().session
    await house.relaunch("ann")
    await house.fact(CameOnline, after=ended.seq)
    await house.say("zz-after")
    await house.event(TurnEnded, after=ended.seq)
    assert house.worker().session == session
    assert await said(house) == "beforeafter"


async def a_killed_agent_is_told_and_comes_back(house: House, agent_script: AgentScript) -> None:
    """A death is noticed, told, and healed with the session kept."""
    agent_script.answers("zz-alive", "alive")
    agent_script.answers("zz-healed", "healed")
    await hired(house, agent_script)
    await house.say("zz-alive")
    ended = await house.event(TurnEnded)
    session = house.worker().session
    await agent_script.kill_agent()
    await house.event(Noted, after=ended.seq)
    offline = await house.event(WentOffline)
    await house.fact(CameOnline, after=offline.seq)
    await house.say("zz-healed")
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED
    assert house.worker().session == session


async def an_ended_worker_is_gone(house: House, agent_script: AgentScript) -> None:
    """The worker leaves, and can be hired anew as somebody else."""
    agent_script.answers("zz-anew", "anew")
    await hired(house, agent_script)
    session = house.worker().session
    await house.end("ann")
    await house.fact(Ended)
    await hired(house, agent_script)
    await house.say("zz-anew")
    await house.event(TurnEnded)
    assert house.worker().session != session


THOUGHT, NOTES, NOTED = "**Reading** what the notes say", "notes.txt", "written in the file"


def _works(agent_script: AgentScript) -> Callable[[], None]:
    file = Path(agent_script.directory, NOTES)
    file.write_text(f"{NOTED}\n")
    return agent_script.works("zz-wire", THOUGHT, str(file), "the first words\n\n", "and the last words")


async def _allow_reading(house: House) -> None:
    ask = await house.fact(AskRaised)
    assert NOTES in ask.detail, ask
    await house.answer(ask.ask, next(choice.id for choice in ask.choices if choice.allows))


def _shows_the_work(turn: TurnEntry, shows: WireShows) -> None:
    """The thought and the tool of a turn, as the wire gives them."""
    # A CLI may set the subject of a thought apart.
    assert re.findall(r"\w+", turn.view.thought) == (re.findall(r"\w+", THOUGHT) if shows.thoughts else [])
    (tool,) = turn.view.tools
    assert (tool.tool, tool.ok) == (shows.reads_with, True), tool
    assert NOTES in f"{tool.title} {tool.detail}", tool
    assert (NOTED in tool.output) is shows.output, tool


async def a_phone_sees_what_the_model_says(house: House, agent_script: AgentScript) -> None:
    """While it is said, line by line at least; in the history; and in the agent's own records, taken up or not. So are
    its thoughts and its tools seen, as far as the CLI gives them away."""
    release = _works(agent_script)
    await hired(house, agent_script)
    worker = house.worker()
    phone = WirePhone(house.node.port, house.node.settings.key.read_text(), "socket", looks_at="ann")
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(phone.run)
            await phone.reaches(1)
            await house.say("zz-wire")
            await agent_script.began("zz-wire")
            if agent_script.shows.asks:
                await _allow_reading(house)
            if not worker.kind.endswith("/exec"):
                # A process a turn says what it said at its end.
                await phone.shows("ann", "the first words")
            release()
            ended = await house.event(TurnEnded)
            await phone.reaches(ended.seq)
            tasks.cancel_scope.cancel()
    assert isinstance(ended.fact, TurnEnded)
    wanted = "the first words and the last words"
    (turn,) = entries_of(ended.turn, (await house.hub.history("ann")).entries)
    assert " ".join(turn.view.text.split()) == wanted
    assert [turn] == entries_of(ended.turn, phone.view.conversations["ann"].entries)
    _shows_the_work(turn, agent_script.shows)
    if turn.view.usage is not None:
        assert turn.view.usage.output_tokens > 0
    await _at_the_desk(house, wanted)
    await _on_its_terminal(house, "the last words")


def entries_of(turn: TurnId | None, entries: Iterable[HistoryEntry]) -> list[TurnEntry]:
    """What is told of that turn."""
    return [one for one in entries if isinstance(one, TurnEntry) and one.view.turn == turn]


async def _at_the_desk(house: House, wanted: str) -> None:
    worker = house.worker()
    if worker.backend not in {one.backend for one in await house.hub.sessions()}:
        return
    past = await house.hub.messages(worker.backend, worker.session, None, 10)
    said_there = [one.view for one in past.entries if isinstance(one, TurnEntry) and "zz-wire" in one.view.typed]
    assert [" ".join(view.text.split()) for view in said_there] == [wanted]


async def _on_its_terminal(house: House, words: str) -> None:
    """Where the agent has a terminal, a device sees on it what was said."""
    headers = {"Authorization": f"Bearer {house.node.settings.key.read_text()}"}
    address = f"http://127.0.0.1:{house.node.port}/api/workers/ann"
    shown = ""
    async with local_client(headers=headers, timeout=SECONDS) as client:
        if not (await client.get(address)).json()["worker"]["can"].get("terminal"):
            return
        with anyio.fail_after(SECONDS):
            async with client.stream("GET", f"{address}/pane") as answer:
                async for line in answer.aiter_lines():
                    if line.startswith("data: "):
                        pane = json.loads(line.removeprefix("data: "))["now"]["pane"]
                        shown += plain(base64.b64decode(pane["data"]).decode("utf-8", "replace"))
                    # A blank may be drawn as a step of the cursor.
                    if "".join(words.split()) in "".join(shown.split()):
                        return
    raise AssertionError(shown)


async def before_a_restart(house: House, agent_script: AgentScript) -> Callable[[], None]:
    """The first half of a turn that outlives its node; the function lets the agent go on."""
    release = agent_script.holds("zz-away", "one", "two")
    await hired(house, agent_script)
    await house.say("zz-away")
    await agent_script.began("zz-away")
    return release


async def after_a_restart(house: House, since: Seq) -> None:
    """The second half: the answer is there, whole, once."""
    house.started = since
    await house.event(TurnEnded)
    assert "".join((await said(house)).split()) == "onetwo"
    events = [event for event in await house.history() if event.seq > since]
    assert sum(isinstance(event.fact, TurnEnded) for event in events) == 1


# In the order in which one worker keeps them: its agent is started anew only where a promise is about that, and no
# conversation is taken up a second time.
PROMISES = (
    a_message_is_answered_in_its_own_turn,
    messages_are_answered_in_order,
    nothing_runs_before_it_is_allowed,
    a_phone_sees_what_the_model_says,
    a_relaunched_worker_keeps_its_session,
    a_turn_is_stopped_and_the_next_one_runs,
    an_ended_worker_is_gone,
    a_killed_agent_is_told_and_comes_back,
)
