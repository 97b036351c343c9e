"""What every hub promises, wherever its team lives. A test class inherits this and gives `hub` and `house` fixtures."""

import anyio
import pytest

from farhand.model import errors
from farhand.model.commands import Answer, Focus, Hire, Say
from farhand.model.facts import Event, Hired, Queued, Said, TurnEnded
from farhand.model.ports import Hub, SessionFound
from farhand.model.words import Sender, replace
from farhand.testing.house import SAFETY_SECONDS, House

ME = Sender(via="contract")


async def collect(hub: Hub, after: int | None, count: int) -> list[Event]:
    """So many events after that number."""
    found: list[Event] = []
    with anyio.fail_after(SAFETY_SECONDS):
        async for event in hub.watch(after=after):
            found.append(event)
            if len(found) == count:
                break
    return found


@pytest.mark.anyio
class HubContract:
    """Inherit, and give a `hub` that leads to the team of `house`."""

    async def test_a_command_is_taken_once(self, hub: Hub) -> None:
        command = Hire(id="h1", worker="ann", backend="scripted")
        first, second = await hub.send(command, ME), await hub.send(command, ME)
        assert (first.worker, first.again, second.again) == ("ann", False, True)
        assert first.seq == second.seq
        assert list((await hub.look()).workers) == ["ann"]

    async def test_the_same_command_at_the_same_moment_is_taken_once(self, hub: Hub) -> None:
        command = Hire(id="h1", worker="ann", backend="scripted")
        answers = []

        async def send() -> None:
            answers.append(await hub.send(command, ME))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(send)
        assert sorted(answer.again for answer in answers) == [False, True, True, True, True]

    async def test_a_refusal_keeps_its_kind_and_its_sentence(self, hub: Hub) -> None:
        with pytest.raises(errors.UnknownWorker, match="No worker called 'nobody-here'"):
            await hub.send(Say(id="s", worker="nobody-here", text="hi"), ME)
        with pytest.raises(errors.NoFocus):
            await hub.send(Say(id="s", text="hi"), ME)
        with pytest.raises(errors.UnknownAsk):
            await hub.send(Answer(id="a", ask="none", choice="yes"), ME)

    async def test_what_was_refused_may_be_sent_again(self, hub: Hub) -> None:
        command = Focus(id="f", worker="ann")
        with pytest.raises(errors.UnknownWorker):
            await hub.send(command, ME)
        await hub.send(Hire(id="h", worker="ann", backend="scripted", focus=False), ME)
        assert not (await hub.send(command, ME)).again
        assert (await hub.look()).focus == "ann"

    async def test_watching_replays_and_then_follows(self, hub: Hub, house: House) -> None:
        await house.hire("ann")
        await house.say("first")
        await house.event(TurnEnded)
        past = await collect(hub, 0, house.hub.present.seq)
        assert [event.seq for event in past] == list(range(1, len(past) + 1))
        assert isinstance(past[0].fact, Hired)
        found: list[Event] = []

        async def follow() -> None:
            found.extend(await collect(hub, past[-1].seq, 1))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            await house.say("second")
        assert isinstance(found[0].fact, Queued)
        assert found[0].seq == past[-1].seq + 1

    async def test_two_watchers_see_the_same(self, hub: Hub, house: House) -> None:
        await house.hire("ann")
        for number in range(20):
            await house.say(f"message {number}")
        await house.event(Said, lambda event: event.fact == Said(text="answer to message 19"))
        count = house.hub.present.seq
        assert await collect(hub, 0, count) == await collect(hub, 0, count)

    async def test_conversations_are_listed_and_taken_up(self, hub: Hub, house: House) -> None:
        here = str(house.node.settings.working_directory)
        found = SessionFound(id="one", directory=here, title="ünïcödé", at=2.5, answer="done", open=None)
        house.agent.conversations = [found]
        assert await hub.sessions("scripted", here) == [replace(found, backend="scripted")]
        assert await hub.sessions("scripted", "/b") == []
        await hub.send(Hire(id="h", worker="ann", backend="scripted", session="one"), ME)
        assert [one.worker for one in await hub.sessions()] == ["ann"]
        with pytest.raises(errors.UnknownBackend):
            await hub.sessions("nobody")

    async def test_what_is_sent_arrives_whole(self, hub: Hub, house: House) -> None:
        await house.hire("ann")
        text = "ünïcödé 😀 \u202e\x07 -;\\ \n" * 1000
        await hub.send(Say(id="long", text=text), ME)
        assert (await house.fact(Queued)).text == text

    async def test_the_past_is_read_in_pages_and_searched(self, hub: Hub, house: House) -> None:
        await house.hire("ann")
        for number in range(3):
            said = await house.say(f"message {number}")
            await house.event(TurnEnded, after=said.seq)
        page = await hub.history("ann", limit=2)
        assert page.seq <= house.hub.present.seq
        assert len(page.entries) == 2
        assert page.more
        older = await hub.history("ann", before=page.entries[0].seq, limit=10)
        assert not older.more
        assert (await hub.history("nobody")).entries == ()
        (found, *_) = await hub.search("answer to")
        assert found.worker == "ann"
