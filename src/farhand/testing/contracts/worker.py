"""What every worker can rely on, whichever driver runs it, told in a whole node: for agents that can be scripted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

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
from farhand.model.words import HowEnded
from farhand.testing.house import House


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

    async def began(self, marker: str) -> None:
        """Returns when the agent works on the prompt with this marker."""
        ...

    async def kill_agent(self) -> None:
        """Kills the agent's process."""
        ...


async def hired(house: House, agent_script: AgentScript) -> None:
    """A worker who can be spoken to."""
    # `backend/wire` chooses among the wires of a backend.
    backend, _, wire = agent_script.backend.partition("/")
    await house.hire(backend=backend, directory=agent_script.directory, wire=wire)


async def said(house: House) -> str:
    """All that was said, without the gaps between its pieces."""
    return " ".join((await house.said()).split())


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
    texts = [event.fact.text.strip() for event in await house.history() if isinstance(event.fact, Said)]
    assert texts == ["one", "two", "three"]


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
    agent_script.answers("zz-before", "before")
    agent_script.answers("zz-after", "after")
    await hired(house, agent_script)
    await house.say("zz-before")
    ended = await house.event(TurnEnded)
    session = house.worker().session
    await agent_script.kill_agent()
    await house.event(Noted, after=ended.seq)
    offline = await house.event(WentOffline)
    await house.fact(CameOnline, after=offline.seq)
    await house.say("zz-after")
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED
    assert house.worker().session == session


async def an_ended_worker_is_gone(house: House, agent_script: AgentScript) -> None:
    """The worker leaves, and can be hired anew as somebody else."""
    agent_script.answers("zz-hello", "hello")
    await hired(house, agent_script)
    session = house.worker().session
    await house.end("ann")
    await house.fact(Ended)
    await hired(house, agent_script)
    await house.say("zz-hello")
    await house.event(TurnEnded)
    assert house.worker().session != session


async def before_a_restart(house: House, agent_script: AgentScript) -> Callable[[], None]:
    """The first half of a turn that outlives its node; the function lets the agent go on."""
    release = agent_script.holds("zz-away", "one", "two")
    await hired(house, agent_script)
    await house.say("zz-away")
    await agent_script.began("zz-away")
    return release


async def after_a_restart(house: House) -> None:
    """The second half: the answer is there, whole, once."""
    await house.event(TurnEnded, after=0)
    assert "".join((await said(house)).split()) == "onetwo"
    assert sum(isinstance(event.fact, TurnEnded) for event in await house.history()) == 1


PROMISES = (
    a_message_is_answered_in_its_own_turn,
    messages_are_answered_in_order,
    a_turn_is_stopped_and_the_next_one_runs,
    nothing_runs_before_it_is_allowed,
    a_relaunched_worker_keeps_its_session,
    a_killed_agent_is_told_and_comes_back,
    an_ended_worker_is_gone,
)
