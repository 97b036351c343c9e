"""What hooks leave for a link: taken at once, in order, only from the agent itself, and never lost by a kill."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import pytest
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from farhand.disk.watch import FolderWatcher
from farhand.drivers.wires.hooks.endpoint import HookArrival, HookReport
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.link import News, SeatedLink
from farhand.model.facts import Noted
from farhand.model.ports import Batch, Heard

pytestmark = pytest.mark.anyio
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "TERM": "xterm-256color"}
AGENT, STRANGER = 77, 78


class Listener(SeatedLink[None]):
    """A link that tells what hooks brought, and nothing else."""

    _hooks_of = AGENT

    def listen(
        self, tasks: anyio.abc.TaskGroup, arrivals: MemoryObjectReceiveStream[HookArrival], folders: FolderWatcher
    ) -> None:
        self._attend(tasks, folders)
        tasks.start_soon(self._hear, arrivals)

    async def _hear(self, arrivals: MemoryObjectReceiveStream[HookArrival]) -> None:
        async for arrival in arrivals:
            self._put(arrival)

    def _position(self) -> object:
        return 0

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard))

    def _read(self) -> list[Heard]:
        return []

    async def _reported(self, arrived: HookReport) -> list[Heard]:
        return [Heard(fact=Noted(text=arrived.payload.decode()))]

    async def _take(self, item: News | None) -> list[Heard]:
        return await self._reported(item) if isinstance(item, HookReport) else []


@pytest.fixture
async def tmux(tmux_server: tuple[str, ...]) -> AsyncIterator[Tmux]:
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as wire:
        yield wire


@pytest.fixture
async def pane(tmux: Tmux, short_folder: Path) -> Pane:
    return await tmux.start("ann", [sys.executable, "-IS", "-c", "input()"], short_folder, {})


@pytest.fixture
async def folders() -> AsyncIterator[FolderWatcher]:
    async with FolderWatcher().opened() as opened:
        yield opened


Posted = MemoryObjectSendStream[HookArrival]


@asynccontextmanager
async def listening(
    tmux: Tmux, pane: Pane, folder: Path, folders: FolderWatcher
) -> AsyncIterator[tuple[AsyncIterator[str], Posted]]:
    """What a link tells, and the way for what is posted to it."""
    link = Listener(tmux, pane, folder)
    send, receive = anyio.create_memory_object_stream[HookArrival](8)

    async def told() -> AsyncIterator[str]:
        async for batch in link.facts():
            for one in batch.heard:
                assert isinstance(one.fact, Noted)
                yield one.fact.text

    with send, receive:
        async with link.at_work(receive, folders):
            yield told(), send


def leave(folder: Path, number: int, text: str, agent: int = AGENT) -> Path:
    """Leaves a payload as the hook program does."""
    spool = folder / "spool"
    spool.mkdir(exist_ok=True)
    path = spool / f"{number}-1-1.{agent}.Stop.json"
    path.with_suffix(".new").write_text(text)
    return path.with_suffix(".new").rename(path)


async def following(told: AsyncIterator[str]) -> str:
    with anyio.fail_after(60):
        return await anext(told)


async def test_what_is_left_is_taken_at_once_and_in_order(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    leave(short_folder, 2, "second")
    leave(short_folder, 1, "first")
    async with listening(tmux, pane, short_folder, folders) as (told, _):
        assert [await following(told), await following(told)] == ["first", "second"]
        leave(short_folder, 3, "third")
        assert await following(told) == "third"


async def test_what_was_left_before_something_was_posted_comes_first(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with listening(tmux, pane, short_folder, folders) as (told, posted):
        leave(short_folder, 1, "one")
        assert await following(told) == "one"
        posted.send_nowait(HookReport(id="p", event="Stop", payload=b"posted"))
        leave(short_folder, 2, "left")
        assert [await following(told), await following(told)] == ["left", "posted"]


async def test_another_agent_that_ours_started_is_not_heard(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    foreign = leave(short_folder, 1, "I am another", agent=STRANGER)
    leave(short_folder, 2, "it is me")
    async with listening(tmux, pane, short_folder, folders) as (told, _):
        assert await following(told) == "it is me"
    assert not foreign.exists()


async def test_what_was_not_written_down_is_told_again(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    left = leave(short_folder, 1, "important")
    async with listening(tmux, pane, short_folder, folders) as (told, _):
        assert await following(told) == "important"
        # Nobody has asked for more: the node may have died before it wrote this down.
        assert left.exists()
    async with listening(tmux, pane, short_folder, folders) as (told, _):
        assert await following(told) == "important"
        leave(short_folder, 2, "more")
        assert await following(told) == "more"
        assert not left.exists()
