"""What becomes of a turn or an agent that ends badly, alike for every CLI: stopped, parked, killed, relaunched; what a
worker is told about how hard to think, and what it tells of a conversation that is nearly full."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from farhand.model.commands import Retry, Sprint, Tune
from farhand.model.facts import (
    AnswerDelivered,
    AskRaised,
    CameOnline,
    Event,
    Limited,
    Noted,
    Said,
    SprintEnded,
    Tuned,
    TurnEnded,
    WentOffline,
)
from farhand.model.sprint import HowSprintEnded
from farhand.model.words import HowEnded, UsageWindow
from farhand.testing.cli_env import CliEnv
from farhand.testing.house import House
from farhand.testing.models.script import ModelScript, ScriptedReply, ScriptedText, say


async def a_stopped_turn_makes_room(house: House, message: str) -> None:
    """Stops the turn that runs; the next message is answered."""
    await house.interrupt()
    ended = await house.event(TurnEnded)
    assert isinstance(ended.fact, TurnEnded)
    assert ended.fact.how is HowEnded.INTERRUPTED
    await house.say(message)
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED


async def an_ask_outlives_the_node(cli_env: CliEnv, hire: Callable[[House], Awaitable[None]]) -> None:
    """The agent asks at "zz-one"; the node is stopped and started anew, and the answer is given to the one after."""
    async with cli_env.open() as house:
        await hire(house)
        await house.say("zz-one")
        ask = await house.fact(AskRaised)
    async with cli_env.open() as house:
        await house.answer(ask.ask, "allow")
        assert (await house.fact(AnswerDelivered)).problem == ""
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert sum(isinstance(event.fact, AskRaised) for event in await house.history()) == 1


async def a_killed_agent_comes_back(house: House, kill: Callable[[], Awaitable[None]], noted: str = "") -> None:
    """Answers "zz-before", is killed (a note says so, with this word in it) and answers "zz-after" in its next life."""
    await house.say("zz-before")
    ended = await house.event(TurnEnded)
    await kill()
    if noted:
        assert noted in (await house.fact(Noted)).text
    offline = await house.event(WentOffline)
    await house.fact(CameOnline, after=offline.seq)
    await house.say("zz-after")
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED


async def a_relaunched_worker_goes_on(house: House, answers: str) -> None:
    """Answers "zz-before", is relaunched, and answers "zz-after" in the same session; `answers` is all that it says."""
    await house.say("zz-before")
    ended = await house.event(TurnEnded)
    session = house.worker().session
    await house.relaunch("ann")
    await house.fact(CameOnline, after=ended.seq)
    await house.say("zz-after")
    await house.event(TurnEnded, after=ended.seq)
    assert house.worker().session == session
    assert "".join(event.fact.text for event in await house.history() if isinstance(event.fact, Said)) == answers


async def a_limit_parks_the_message_and_a_try_brings_it_once(
    house: House, message: str, limit: str, answer: str
) -> None:
    """The agent meets its limit with these words; the message waits, and is answered when it is tried again."""
    await house.say(message)
    parked = await house.event(TurnEnded)
    assert isinstance(parked.fact, TurnEnded)
    assert parked.fact.how is HowEnded.PARKED
    assert limit in parked.fact.error
    assert limit in (await house.fact(Limited)).text
    assert house.worker().state_at(0.0) == "limited"
    await house.send(Retry(id="now", worker="ann"))
    assert (await house.fact(TurnEnded, after=parked.seq)).how is HowEnded.COMPLETED
    assert house.worker().queue == ()
    told = [event.fact.text for event in await house.history() if isinstance(event.fact, Said)]
    assert "".join(told) == answer


class AskedWith(Protocol):
    """A request that a fake model got."""

    @property
    def body(self) -> dict[str, Any]: ...


class EffortModel(Protocol):
    """The fake models with a `ModelScript`."""

    script: ModelScript

    async def asked(self, text: str, times: int = 1) -> AskedWith: ...


async def the_chosen_effort_reaches_the_model(
    house: House, model: EffortModel, kind: str, directory: Path, effort_of: Callable[[AskedWith], object]
) -> None:
    """Hired to think little and told to think more: the model is asked with the one, then with the other."""
    model.script.conversation("zz-little", say("a little"))
    model.script.conversation("zz-more", say("much more"))
    backend, wire = kind.split("/")
    await house.hire(backend=backend, wire=wire, directory=directory, effort="low")
    await house.say("zz-little")
    assert effort_of(await model.asked("zz-little")) == "low"
    ended = await house.event(TurnEnded)
    await house.send(Tune(id="t1", worker="ann", effort="high"))
    assert (await house.fact(Tuned)).refused == ""
    assert house.worker().effort == "high"
    await house.say("zz-more")
    assert effort_of(await model.asked("zz-more")) == "high"
    await house.event(TurnEnded, after=ended.seq)


def _tells_windows(event: Event) -> bool:
    fact = event.fact
    return isinstance(fact, TurnEnded) and fact.usage is not None and bool(fact.usage.windows)


async def the_usage_windows_are_told(
    house: House, model: EffortModel, headers: dict[str, str]
) -> tuple[UsageWindow, ...]:
    """The model's API tells with its answer how much of the account's windows is used; what the worker tells of it."""
    model.script.conversation("zz-count", ScriptedReply((ScriptedText("counted"),), headers=headers))
    await house.say("zz-count")
    await house.event(TurnEnded, _tells_windows)
    return house.worker().spent.total.windows


def counts(model: EffortModel, task: str, tokens: int) -> None:
    """The model says that so many tokens were asked of it."""
    model.script.conversation(task, ScriptedReply((ScriptedText(task),), input_tokens=tokens))


async def a_sprint_warns_of_a_context_that_is_nearly_full(
    house: House, window: int, counts: Callable[[str, int], None]
) -> None:
    """The model counts 82 % of its window in a sprint's second turn, and a little more in the third: told once."""
    tokens = window * 82 // 100
    counts("zz-light", 100)
    counts("zz-heavy", tokens)
    counts("zz-heavier", tokens + 1000)
    tasks = ("zz-light", "zz-heavy", "zz-heavier")
    await house.send(Sprint(id="s1", worker="ann", tasks=tasks, commits=False))
    ended = await house.fact(SprintEnded)
    assert (ended.how, len(ended.sprint.outcomes)) == (HowSprintEnded.DONE, 3)
    history = [event.fact for event in await house.history()]
    (told,) = [fact.text for fact in history if isinstance(fact, Noted) and "of the context is used" in fact.text]
    assert told.startswith("82 % of the context is used")
    assert f"of {window:,} tokens" in told
