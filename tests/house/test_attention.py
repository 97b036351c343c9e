"""The rules in a whole node: asks escalate from the app to a chat, a restart forgets nothing, nothing comes twice."""

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.house.push_house import DONE, PushHouse, asks, push_house

from farhand.attention.service import QUIET_SECONDS
from farhand.model.attention import AttentionKind, AttentionSettings
from farhand.model.commands import SetAttention
from farhand.model.errors import BadInput
from farhand.model.facts import AskRaised, AskSettled, AttentionSet, Said, TurnEnded
from farhand.model.stream import Looking
from farhand.model.words import HowEnded
from farhand.testing.house import SAFETY_SECONDS, settings_in
from farhand.testing.push_service import push_service

pytestmark = pytest.mark.anyio


async def silenced(push: PushHouse, kind: type[object], channel: str) -> bool:
    """Whether that channel shows the first such fact without a sound."""
    event = await push.house.event(kind)
    return push.attention.silences(channel, event)


async def test_an_ask_goes_from_the_app_to_the_chat_and_comes_again(tmp_path: Path) -> None:
    async with push_house(tmp_path, chat=True) as push:
        phone = await push.pair()
        await push.ask()
        first = phone.reads((await push.service.receives(1))[0])["notification"]
        assert await silenced(push, AskRaised, "toychat")
        push.clock.advance(180)
        assert [(one.place, one.step) for one in await push.chat.says(1)] == [("toychat", 2)]
        push.clock.advance(900)
        again = phone.reads((await push.service.receives(2))[1])["notification"]
        assert (first["tag"], again["tag"], again["renotify"], again["title"]) == (
            "ask:a1",
            "ask:a1",
            True,
            "ann still waits",
        )
        await push.house.answer("a1", "yes")
        await push.service.receives(3)
        assert push.chat.withdrawn == [("a1", (2,))]


async def test_without_a_device_the_chat_is_loud_and_the_ask_comes_again_there(tmp_path: Path) -> None:
    async with push_house(tmp_path, chat=True) as push:
        await push.ask()
        assert not await silenced(push, AskRaised, "toychat")
        push.clock.advance(180)
        assert [one.step for one in await push.chat.says(1)] == [2]


async def test_a_device_that_only_looks_keeps_nothing_from_the_chat(tmp_path: Path) -> None:
    async with push_house(tmp_path, chat=True) as push:
        watcher = await push.pair("watcher", read_only=True)
        connected = push.house.node.views.connected(watcher.id, "watcher", answers=False)
        push.stack.enter_context(connected)(Looking(worker="ann", visible=True))
        await push.ask()
        assert not await silenced(push, AskRaised, "toychat")


async def test_a_device_that_only_looks_is_told_where_nobody_else_can_be(tmp_path: Path) -> None:
    async with push_house(tmp_path) as push:
        watcher = await push.pair("watcher", read_only=True)
        await push.ask()
        (request,) = await push.service.receives(1)
        assert "make deploy" in str(watcher.reads(request))


async def test_an_answer_is_loud_where_its_message_came_from(tmp_path: Path) -> None:
    async with push_house(tmp_path, chat=True) as push:
        await push.pair()
        push.agent.plays(Said(text="hello"), DONE)
        await push.house.say("hi", "ann", via="toychat")
        assert not await silenced(push, TurnEnded, "toychat")
        assert push.service.requests == []


async def test_a_restart_goes_on_where_it_was_and_buzzes_nothing_twice(tmp_path: Path) -> None:
    async with push_house(tmp_path, chat=True) as push:
        clock = push.clock
        async with push_service(clock.now()) as service:
            async with push_house(tmp_path / "node", chat=True, service=service, clock=clock) as first:
                await first.pair()
                await first.ask()
                await service.receives(1)
            async with push_house(tmp_path / "node", chat=True, service=service, clock=clock) as second:
                assert await silenced_in(second)
                clock.advance(180)
                assert [one.step for one in await second.chat.says(1)] == [2]
                assert len(service.requests) == 1


async def silenced_in(push: PushHouse) -> bool:
    """Whether the chat would still show the old question without a sound."""
    raised = next(event for event in await push.house.history() if isinstance(event.fact, AskRaised))
    return push.attention.silences("toychat", raised)


async def test_settings_are_a_fact_that_every_device_sees_and_nonsense_is_refused(tmp_path: Path) -> None:
    async with push_house(tmp_path) as push:
        wanted = AttentionSettings(off=(AttentionKind.FINISHED,), zone="Europe/Berlin")
        await push.house.send(SetAttention(id="s1", settings=wanted))
        assert (await push.house.fact(AttentionSet)).settings == wanted
        assert push.house.hub.present.attention == wanted
        assert (await push.house.node.journal.load()).attention == wanted
        with pytest.raises(BadInput):
            await push.house.send(SetAttention(id="s2", settings=AttentionSettings(zone="Moon/Base")))


async def test_the_digest_says_what_happened_while_nobody_was_there(tmp_path: Path) -> None:
    async with push_house(tmp_path) as push:
        phone = await push.pair()
        await push.house.say("hello", "ann", via=f"web-{phone.id}")
        await push.house.until(lambda present: present.workers["ann"].turn is None)
        push.clock.advance(3600)
        await push.plays(Said(text="All green."), DONE)
        await push.house.until(lambda present: present.workers["ann"].turn is None)
        push.agent.plays(TurnEnded(how=HowEnded.FAILED, error="no network"))
        await push.house.say("again", "ann", via="pipe")
        await push.house.fact(TurnEnded, lambda event: isinstance(event.fact, TurnEnded) and event.fact.error != "")
        lines = (await phone.client.get("/api/digest")).json()["digest"]
        assert [(one["kind"], one["worker"], one["text"]) for one in lines] == [
            ("failed", "ann", "no network"),
            ("finished", "ann", "All green."),
        ]
        (tmp_path / "nodes").symlink_to(tmp_path)
        command = [sys.executable, "-m", "farhand", "digest", "--node", "test"]
        shown = await anyio.run_process(command, env={**os.environ, "FARHAND_HOME": str(tmp_path)})
        link = f"   http://127.0.0.1:{push.house.node.port}/app/#/w/ann"
        assert shown.stdout.decode().splitlines() == [
            "• ann failed: no network",
            link,
            "• ann is done: All green.",
            link,
        ]


async def test_an_ask_whose_turn_ends_is_over_everywhere(tmp_path: Path) -> None:
    async with push_house(tmp_path) as push:
        phone = await push.pair()
        await push.plays(asks(), DONE)
        await push.house.fact(AskSettled)
        requests = await push.service.receives(1)
        shown = [phone.reads(one)["notification"] for one in requests]
        assert shown[-1]["tag"] in ("ask:a1", "turn:ann")
        assert push.house.hub.present.ask("a1") is None


def stored(folder: Path) -> int:
    """Up to which event the state of the rules is in the store."""
    with closing(sqlite3.connect(settings_in(folder).store)) as store:
        row = store.execute("SELECT json_extract(CAST(state AS TEXT), '$.seq') FROM attention_state").fetchone()
        return int(row[0] or 0) if row else 0


async def test_what_buzzes_nobody_is_stored_a_moment_later_and_what_buzzes_at_once(tmp_path: Path) -> None:
    async with push_house(tmp_path) as push:
        before, asleep = stored(tmp_path), push.clock.sleepers
        await push.plays(Said(text="All green."), DONE)
        ended = await push.house.event(TurnEnded)
        await push.clock.until_asleep(asleep + 1)
        assert stored(tmp_path) == before < ended.seq
        push.clock.advance(QUIET_SECONDS)
        with anyio.fail_after(SAFETY_SECONDS):
            while stored(tmp_path) < ended.seq:
                await anyio.lowlevel.checkpoint()
        await push.ask()
        raised = await push.house.event(AskRaised)
        with anyio.fail_after(SAFETY_SECONDS):
            while stored(tmp_path) < raised.seq:
                await anyio.lowlevel.checkpoint()


async def test_a_stop_stores_what_was_not_stored_yet(tmp_path: Path) -> None:
    async with push_house(tmp_path) as push:
        await push.plays(Said(text="All green."), DONE)
        ended = await push.house.event(TurnEnded)
    assert stored(tmp_path) >= ended.seq
