"""A reader that falls behind what the journal keeps is told so: it never skips an event in silence."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.abc
import httpx2
import pytest
from websockets.asyncio.client import connect

from farhand.client.door import connect as connect_door
from farhand.client.http import HttpHub
from farhand.core.tail import CACHED_EVENTS
from farhand.model import errors, frames
from farhand.model.facts import Draft, Event, Noted, Queued, Said, TurnEnded, TurnStarted
from farhand.model.frames import DoorRequest
from farhand.model.wire import decode_event
from farhand.model.words import HowEnded, Sender
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House, open_house
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio
# What sockets hold on the way at the most (a sender's 4 MB; readers here have little) is less than all large events.
LARGE, LARGE_EVENTS = 1024 * 1024, 8
LITTLE = [(socket.SOL_SOCKET, socket.SO_RCVBUF, 256 * 1024)]


async def _overtake(house: House) -> None:
    """Writes more than the cache and the sockets hold, and prunes all of it but the last event."""
    # Whoever does not read has no more than these in hand.
    for _ in range(LARGE_EVENTS):
        await house.hub.record("ann", lambda _: [Draft(worker="ann", fact=Noted(text="x" * LARGE))])
    small = [Draft(worker="ann", fact=Noted(text="x"))] * (2 * CACHED_EVENTS)
    await house.hub.record("ann", lambda _: small)
    assert isinstance(house.clock, ManualClock)
    house.clock.advance(1000)
    await house.hub.record("ann", lambda _: [Draft(worker="ann", fact=Noted(text="last"))])
    await house.node.journal.prune(house.clock.now() - 1)


def _client(house: House) -> httpx2.AsyncClient:
    """A client that takes little from the node before it is read."""
    return local_client(
        base_url=f"http://127.0.0.1:{house.node.port}",
        headers={"Authorization": f"Bearer {house.node.settings.key.read_text()}"},
        timeout=SAFETY_SECONDS,
        transport=httpx2.AsyncHTTPTransport(socket_options=LITTLE),
    )


@pytest.mark.parametrize("kind", ["inside", "http"])
async def test_a_watch_that_is_overtaken_ends_with_what_is_missing(house: House, kind: str) -> None:
    await house.hire("ann")
    await house.hub.record("ann", lambda _: [Draft(worker="ann", fact=Noted(text="first"))])
    start = house.hub.present.seq - 1
    seen: list[Event] = []
    far = HttpHub("http://unused", "")
    await far._client.aclose()
    far._client = _client(house)
    with anyio.fail_after(SAFETY_SECONDS):
        async with far:
            watch = (house.hub if kind == "inside" else far).watch(after=start)
            seen.append(await anext(watch))
            await _overtake(house)
            with pytest.raises(errors.EventsGone, match="the oldest that is kept is"):
                await _take_all(watch, seen)
    numbers = [event.seq for event in seen]
    assert numbers == list(range(start + 1, start + 1 + len(seen)))
    assert numbers[-1] < house.hub.present.seq - 1


async def _take_all(watch: AsyncIterator[Event], into: list[Event]) -> None:
    async for event in watch:
        into.append(event)  # noqa: PERF401 - what came before an error counts


async def test_a_watch_at_the_door_that_is_overtaken_ends_with_what_is_missing(house: House) -> None:
    await house.hire("ann")
    start = house.hub.present.seq
    link = connect_door(house.node.settings.door)
    with anyio.fail_after(SAFETY_SECONDS):
        async with await anyio.abc.UNIXSocketStream.from_socket(link) as door:
            await door.send(frames.write(DoorRequest(id=7, do="watch", after=start)))
            assert frames.read_reply(await door.receive()).watching
            await _overtake(house)
            read = b""
            while b'"error"' not in read[-2000:]:
                read += await door.receive()
    replies = [frames.read_reply(line) for line in read.splitlines()]
    numbers = [decode_event(bytes(body)).seq for reply in replies for body in reply.events or ()]
    assert numbers == list(range(start + 1, start + 1 + len(numbers)))
    assert 0 < len(numbers) <= LARGE_EVENTS
    assert replies[-1].error is not None
    assert (replies[-1].id, replies[-1].error.code) == (7, "events_gone")


async def test_a_stream_that_is_overtaken_ends_and_its_client_is_told_of_the_gap(house: House) -> None:
    await house.hire("ann")
    numbers: list[int] = []
    last_event = ""
    start = house.hub.present.seq
    async with _client(house) as client:
        async with client.stream("GET", "/api/hub/stream") as response:
            lines = response.aiter_lines()
            assert '"hello":1' in await anext(lines)
            await _overtake(house)
            async for line in lines:
                if line.startswith("id: "):
                    last_event = line.removeprefix("id: ")
                elif line.startswith("data: "):
                    frame = json.loads(line.removeprefix("data: "))
                    numbers += [event["seq"] for event in frame.get("events", ())]
        assert numbers == list(range(start + 1, start + 1 + len(numbers)))
        assert 0 < len(numbers) <= LARGE_EVENTS
        async with client.stream("GET", "/api/hub/stream", headers={"Last-Event-ID": last_event}) as response:
            assert '"resume":"gap"' in await anext(response.aiter_lines())


async def test_a_socket_that_is_overtaken_is_closed(house: House) -> None:
    await house.hire("ann")
    start = house.hub.present.seq
    headers = {"Authorization": f"Bearer {house.node.settings.key.read_text()}"}
    address = f"ws://127.0.0.1:{house.node.port}/api/hub/socket"
    numbers: list[int] = []
    with anyio.fail_after(SAFETY_SECONDS):
        link = socket.create_connection(("127.0.0.1", house.node.port))
        link.setsockopt(*LITTLE[0])
        opened = connect(address, additional_headers=headers, proxy=None, max_size=None, max_queue=1, sock=link)
        async with opened as wire:
            await wire.send("{}")
            assert json.loads(await wire.recv())["hello"] == 1
            await _overtake(house)
            async for text in wire:
                numbers += [event["seq"] for event in json.loads(text).get("events", ())]
    assert numbers == list(range(start + 1, start + 1 + len(numbers)))
    assert 0 < len(numbers) <= LARGE_EVENTS
    assert wire.close_code == 1001
    assert "the oldest that is kept is" in (wire.close_reason or "")


async def test_what_is_left_of_a_run_of_text_does_not_hide_what_went_between_its_pieces(tmp_path: Path) -> None:
    """The pieces of a turn stand in the row of the last one, and stay as long: others' events between them may go."""
    clock = ManualClock()
    async with open_house(tmp_path, clock=clock) as house:
        await house.hire("ann")
        queued, piece = Queued(message="m", text="go", by=Sender(via="test")), Said(text="piece ")
        drafts = [Draft(worker="ann", turn="m", fact=fact) for fact in (queued, TurnStarted(message="m"), piece)]
        await house.hub.record("ann", lambda _: [*drafts, Draft(worker="bea", fact=Noted(text="between"))])
        before = house.hub.present.seq - 2
        clock.advance(1000)
        ends = [Draft(worker="ann", turn="m", fact=fact) for fact in (piece, TurnEnded(how=HowEnded.COMPLETED))]
        await house.hub.record("ann", lambda _: ends)
        await house.node.journal.prune(clock.now() - 1)
    # Another run has none of the old events in memory.
    async with open_house(tmp_path) as house:
        kept = [seq for seq, _ in await house.node.journal.read(before, 10)]
        assert kept[:2] == [before + 1, before + 3]
        with pytest.raises(errors.EventsGone):
            await house.hub.bodies_after(before)
        # Zero asks for all there is.
        assert (await house.hub.bodies_after(0))[1] == kept[-1]
