"""The live wire: whoever comes back gets everything that was missed, or is told that something is missing."""

import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, get_args

import anyio
import httpx2
import pytest

from farhand.client.door import SocketHub
from farhand.model import errors
from farhand.model.facts import Draft, Noted, Said, SessionKnown, Thought, ToolEnded, ToolStarted, TurnEnded
from farhand.model.session_events import SessionEventName
from farhand.model.stream import HEARTBEAT_SECONDS, MOST_RESUMED, MOST_RESUMED_BYTES
from farhand.model.words import HowEnded, Usage
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House, open_house
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio


@pytest.fixture
def clock(house: House) -> ManualClock:
    assert isinstance(house.clock, ManualClock)
    return house.clock


@asynccontextmanager
async def _connected(
    house: House, resume: dict[str, Any] | None = None, last_event: str = "", names: str = "facts"
) -> AsyncIterator[AsyncIterator[tuple[str, Any]]]:
    """The frames of a stream, each with its id: over POST, or over GET when an event id is given."""
    address = f"http://127.0.0.1:{house.node.port}"
    headers = {"Authorization": f"Bearer {house.node.settings.key.read_text()}"}
    method, content = ("GET", b"") if last_event else ("POST", json.dumps({"resume": resume, "names": names}).encode())
    headers |= {"Last-Event-ID": last_event} if last_event else {}
    async with (
        local_client(base_url=address, headers=headers, timeout=SAFETY_SECONDS) as client,
        client.stream(method, "/api/hub/stream", content=content) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield _frames(response)


async def _frames(response: httpx2.Response) -> AsyncIterator[tuple[str, Any]]:
    name = ""
    async for line in response.aiter_lines():
        if line.startswith("id: "):
            name = line.removeprefix("id: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))
            name = ""


async def _until_seq(frames: AsyncIterator[tuple[str, Any]], seq: int) -> tuple[list[int], str]:
    """The numbers that come until that one has come, and the id of the last frame."""
    numbers: list[int] = []
    async for name, frame in frames:
        numbers += [event["seq"] for event in frame.get("events", ())]
        if numbers and numbers[-1] >= seq:
            return numbers, name
    raise AssertionError("the stream ended")


async def _note(house: House, count: int = 1) -> None:
    drafts = [Draft(worker="ann", fact=Noted(text=str(number))) for number in range(count)]
    await house.hub.record("ann", lambda _: drafts)


async def test_a_client_that_comes_back_gets_what_it_missed_over_both_methods(house: House) -> None:
    await house.hire("ann")
    async with _connected(house) as frames:
        _, hello = await anext(frames)
        assert (hello["hello"], hello["resume"], hello["seq"]) == (1, "gap", house.hub.present.seq)
        await _note(house)
        seen, name = await _until_seq(frames, house.hub.present.seq)
        assert seen == [hello["seq"] + 1]
    assert name == f"{hello['journal']}:{seen[-1]}"
    await _note(house, 5)
    expected = list(range(seen[-1] + 1, house.hub.present.seq + 1))
    for again in ({"resume": {"journal": hello["journal"], "after": seen[-1]}}, {"last_event": name}):
        async with _connected(house, **again) as frames:
            assert (await anext(frames))[1]["resume"] == "whole"
            assert (await _until_seq(frames, house.hub.present.seq))[0] == expected


async def test_the_verdict_after_a_restart_of_the_node(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.hire("ann")
        await _note(house)
        journal, seq = house.hub.epoch, house.hub.present.seq
    async with open_house(tmp_path) as house:
        assert house.hub.epoch != journal
        async with _connected(house, {"journal": journal, "after": seq - 1}) as frames:
            assert (await anext(frames))[1]["resume"] == "whole"
            assert (await _until_seq(frames, seq))[0][0] == seq


async def test_another_journal_and_numbers_that_were_never_reached_are_gaps(house: House) -> None:
    await house.hire("ann")
    for resume in (
        {"journal": "another", "after": 1},
        {"journal": house.hub.epoch, "after": house.hub.present.seq + 100},
    ):
        async with _connected(house, resume) as frames:
            _, hello = await anext(frames)
            assert (hello["resume"], hello["seq"]) == ("gap", house.hub.present.seq)
            await _note(house)
            # After a gap only what is new comes.
            assert (await _until_seq(frames, house.hub.present.seq))[0] == [hello["seq"] + 1]


async def test_a_restored_backup_is_a_gap_although_its_numbers_go_on(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.hire("ann")
        folder = house.node.settings.folder
    store, backup = folder / "farhand.db", tmp_path / "backup.db"
    shutil.copy(store, backup)
    async with open_house(tmp_path) as house:
        await _note(house, 3)
        journal, after = house.hub.epoch, house.hub.present.seq
    shutil.copy(backup, store)
    async with open_house(tmp_path) as house:
        # The same numbers again, for other events.
        await _note(house, 10)
        assert house.hub.present.seq > after
        async with _connected(house, {"journal": journal, "after": after}) as frames:
            assert (await anext(frames))[1]["resume"] == "gap"


async def test_a_backup_of_the_same_run_is_a_gap_beyond_its_end(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.hire("ann")
        journal, at_backup = house.hub.epoch, house.hub.present.seq
        store, backup = house.node.settings.folder / "farhand.db", tmp_path / "backup.db"
        with closing(sqlite3.connect(store)) as source, closing(sqlite3.connect(backup)) as target:
            source.backup(target)
        await _note(house, 3)
        after = house.hub.present.seq
    for suffix in ("-wal", "-shm"):
        store.with_name(store.name + suffix).unlink(missing_ok=True)
    shutil.copy(backup, store)
    async with open_house(tmp_path) as house:
        await _note(house, 10)
        for seen, verdict in ((after, "gap"), (at_backup, "whole")):
            async with _connected(house, {"journal": journal, "after": seen}) as frames:
                assert (await anext(frames))[1]["resume"] == verdict


async def test_pruned_events_are_a_gap_and_never_a_silent_hole(house: House, clock: ManualClock) -> None:
    await house.hire("ann")
    await _note(house, 20)
    clock.advance(1000)
    await _note(house)
    await house.node.journal.prune(clock.now() - 1)
    assert (await house.node.journal.bounds())[0] > 2
    async with _connected(house, {"journal": house.hub.epoch, "after": 2}) as frames:
        assert (await anext(frames))[1]["resume"] == "gap"


async def test_a_watch_says_what_it_cannot_give(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_house(tmp_path, clock=clock) as house:
        await house.hire("ann")
        await _note(house, 20)
        clock.advance(1000)
        await _note(house)
        await house.node.journal.prune(clock.now() - 1)
    # Another run has none of the old events in memory.
    async with open_house(tmp_path) as house, SocketHub(house.node.settings.door) as hub:
        first, last = await house.node.journal.bounds()
        with anyio.fail_after(SAFETY_SECONDS):
            with pytest.raises(errors.EventsGone, match=f"the oldest that is kept is {first}"):
                await anext(hub.watch(after=2))
            with pytest.raises(errors.EventsGone, match=f"the journal ends at {last}"):
                await anext(hub.watch(after=last + 5))
            # Zero asks for all there is.
            assert (await anext(hub.watch(after=0))).seq == first


async def test_who_missed_too_much_reads_the_history_instead(house: House) -> None:
    await house.hire("ann")
    after = house.hub.present.seq
    await _note(house, MOST_RESUMED + 1)
    async with _connected(house, {"journal": house.hub.epoch, "after": after}) as frames:
        assert (await anext(frames))[1]["resume"] == "gap"


async def test_who_missed_few_events_but_large_ones_reads_the_history_instead(house: House) -> None:
    await house.hire("ann")
    large = [Draft(worker="ann", fact=Noted(text="x" * (MOST_RESUMED_BYTES // 2)))]
    for missed, verdict in ((1, "whole"), (3, "gap")):
        after = house.hub.present.seq
        for _ in range(missed):
            await house.hub.record("ann", lambda _: large)
        async with _connected(house, {"journal": house.hub.epoch, "after": after}) as frames:
            assert (await anext(frames))[1]["resume"] == verdict


async def test_a_quiet_stream_has_heartbeats(house: House, clock: ManualClock) -> None:
    await clock.until_asleep(1)  # the retention
    before = clock.sleepers
    async with _connected(house) as frames:
        await anext(frames)
        await clock.until_asleep(before + 1)
        clock.advance(HEARTBEAT_SECONDS)
        assert (await anext(frames))[1] == {"now": {"at": clock.now()}}


async def test_the_page_and_the_stream_fit_together(house: House) -> None:
    await house.hire("ann")
    said = await house.say("first")
    await house.event(TurnEnded, after=said.seq)
    page = await house.hub.history("ann")
    async with _connected(house, {"journal": house.hub.epoch, "after": page.seq}) as frames:
        assert (await anext(frames))[1]["resume"] == "whole"
        said = await house.say("second")
        ended = await house.event(TurnEnded, after=said.seq)
        numbers, _ = await _until_seq(frames, ended.seq)
        assert numbers == list(range(page.seq + 1, numbers[-1] + 1))


async def test_a_client_that_asks_gets_the_names_of_session_adapters(house: House) -> None:
    await house.hire("ann")
    house.agent.plays(
        Thought(text="hm"),
        ToolStarted(call="c1", tool="Bash", title="Bash ls", detail="ls"),
        ToolEnded(call="c1", output="a.txt"),
        Said(text="one "),
        Said(text="two"),
        SessionKnown(session="s2"),
        TurnEnded(how=HowEnded.FAILED, error="No network.", usage=Usage(input_tokens=3, output_tokens=2)),
    )
    after, journal = house.hub.present.seq, house.hub.epoch
    said = await house.say("hello")
    ended = await house.event(TurnEnded, after=said.seq)
    resume = {"journal": journal, "after": after}
    named: list[tuple[str, Any]] = []
    async with _connected(house, resume, names="session") as frames:
        assert (await anext(frames))[1]["resume"] == "whole"
        async for name, frame in frames:
            named += [(one["name"], one["data"]) for one in frame["session_events"]]
            assert name == f"{journal}:{frame['seq']}"
            if frame["seq"] >= ended.seq:
                break
    told = dict(named)
    assert set(told) == set(get_args(SessionEventName))
    assert [name for name, _ in named][-4:] == ["new-messages", "status-update", "session-error", "session-idle"]
    first = next(data for name, data in named if name == "new-messages")["messages"][0]
    assert (first["id"], first["role"], first["content"]) == (
        said.message,
        "user",
        [{"type": "text", "text": "hello"}],
    )
    assert [data["text"] for name, data in named if name == "streaming-text"] == ["one ", "two"]
    assert told["new-messages"]["messages"][0]["content"] == [
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "id": "c1", "name": "Bash", "input": "ls"},
        {"type": "tool_result", "tool_use_id": "c1", "content": "a.txt", "is_error": False},
        {"type": "text", "text": "one two"},
    ]
    assert told["session-rekeyed"] == {"session": "s2"}
    assert told["session-error"] == {"error": "No network."}
    assert told["status-update"] == {"tokens": {"input": 3, "output": 2}}
    assert told["session-idle"] == {"turn": said.message, "how": "failed"}


async def test_the_stream_needs_the_key_and_an_opening(house: House) -> None:
    address = f"http://127.0.0.1:{house.node.port}"
    key = house.node.settings.key.read_text()
    async with local_client(base_url=address, timeout=SAFETY_SECONDS) as client:
        assert (await client.post("/api/hub/stream")).status_code == 403
        refused = await client.post(
            "/api/hub/stream", content=b'{"resume": 7}', headers={"Authorization": f"Bearer {key}"}
        )
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_frame")
