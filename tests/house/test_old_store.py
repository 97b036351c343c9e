"""A store that an earlier version wrote: it is opened, nothing in it is said or done twice, and work goes on.

`stores/version-4.db.gz` was written by the version of commit 92ebb34, before the inbox had fingerprints: a node with
the ledger channel, Claude Code in tmux (ann) and headless (bob), Codex headless (cleo) and the demo (dan), each of
them the real CLI with a fake model, took five messages, answered them and was stopped.
"""

import gzip
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import anyio
import pytest

from farhand.drivers.claude.headless.state import ClaudeStreamCursor
from farhand.drivers.claude.tmux.state import ClaudeCursor
from farhand.drivers.codex.headless.state import CodexHeadlessCursor
from farhand.drivers.wires.cursor import read_cursor, write_cursor
from farhand.drivers.wires.holder.process import HolderCursor
from farhand.model import errors
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.commands import Hire, Say
from farhand.model.facts import Queued, TurnEnded
from farhand.model.words import Receipt
from farhand.testing import ledger
from farhand.testing.house import SAFETY_SECONDS, House, open_house, settings_in
from farhand.testing.ledger import LedgerChannel
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio
STORE = Path(__file__).parent / "stores" / "version-4.db.gz"
ANSWERED = {"ann": ["say-1", "say-2"], "bob": ["say-3"], "cleo": ["say-4"], "dan": ["say-5"]}
KINDS = ("claude", "claude-headless", "codex", "demo")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The old store, where today's node looks for its own."""
    path = settings_in(tmp_path).folder / "farhand.db"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.decompress(STORE.read_bytes()))
    return path


@asynccontextmanager
async def opened(folder: Path, driver: ScriptedDriver) -> AsyncIterator[House]:
    """Today's node on it, with a scripted agent in place of every CLI."""

    def channels(context: ChannelContext) -> list[Channel]:
        return [LedgerChannel(context, folder / "sent")]

    async with open_house(folder, driver, channels=channels, drivers=dict.fromkeys(KINDS, driver)) as house:
        with anyio.fail_after(SAFETY_SECONDS):
            await driver.wait_opened(len(ANSWERED))
        yield house


async def answered(house: House, worker: str) -> None:
    """One more turn."""
    accepted = await house.say("and now?", worker)
    await house.event(TurnEnded, lambda event: event.turn == accepted.message)


def stored_cursors(path: Path) -> dict[str, str]:
    """Where each worker's link stood, by the worker's name."""
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT owner, value FROM cursors WHERE owner LIKE 'worker:%'").fetchall()
    return {str(owner).split(":")[1]: str(value) for owner, value in rows}


async def test_the_team_is_there_and_every_link_goes_on_where_it_stood(store: Path, tmp_path: Path) -> None:
    cursors, driver = stored_cursors(store), ScriptedDriver()
    async with opened(tmp_path, driver) as house:
        workers = house.hub.present.workers
        assert {name: (one.kind, one.turn, one.queue) for name, one in workers.items()} == {
            "ann": ("claude", None, ()),
            "bob": ("claude-headless", None, ()),
            "cleo": ("codex", None, ()),
            "dan": ("demo", None, ()),
        }
        receipts = await house.node.journal.receipts()
    assert {receipts[f"test:{message}"] for ids in ANSWERED.values() for message in ids} == {Receipt.ANSWERED}
    assert dict(driver.opened) == cursors


async def test_nothing_is_delivered_or_sent_again_and_the_next_message_is_answered(store: Path, tmp_path: Path) -> None:
    driver = ScriptedDriver()
    async with opened(tmp_path, driver) as house:
        for worker in ANSWERED:
            await answered(house, worker)
        with anyio.fail_after(SAFETY_SECONDS):
            while len(sent := ledger.read(tmp_path / "sent")) < len(ANSWERED):  # noqa: ASYNC110 - a file tells nobody
                await anyio.sleep(0.01)
    assert sorted((line.chat, line.text) for line in sent) == [
        (name, "answer to and now?") for name in sorted(ANSWERED)
    ]
    assert len(driver.performed) == len(ANSWERED)


async def test_a_command_that_the_old_version_took_is_not_taken_again(store: Path, tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedDriver()) as house:
        before = len(await house.history())
        again = await house.send(Say(id="say-2", worker="ann", text="zz-two"))
        assert (again.again, again.message) == (True, "test:say-2")
        assert (await house.send(Hire(id="hire-dan", worker="dan", backend="demo"))).again
        assert len(await house.history()) == before
        # What is taken now has its fingerprint: the id cannot be used for something else.
        await house.send(Say(id="say-6", worker="dan", text="one"))
        with pytest.raises(errors.IdTaken):
            await house.send(Say(id="say-6", worker="dan", text="two"))
        told = [event.fact.message for event in await house.history() if isinstance(event.fact, Queued)]
        assert told.count("test:say-2") == 1


async def test_the_cursors_mean_the_same_today(store: Path) -> None:
    cursors = stored_cursors(store)
    ann = read_cursor(cursors["ann"], ClaudeCursor)
    assert (ann.offset, ann.state.turn, ann.state.concluded, ann.state.last_text) == (
        161013,
        "test:say-2",
        True,
        "the second answer",
    )
    bob = read_cursor(cursors["bob"], ClaudeStreamCursor)
    assert (HolderCursor.read(bob.wire), bob.state.session) == (HolderCursor(life=1, offset=7663), bob.session)
    cleo = read_cursor(cursors["cleo"], CodexHeadlessCursor)
    assert (HolderCursor.read(cleo.wire), cleo.state.begun) == (HolderCursor(life=1, offset=7688), ("test:say-4",))
    assert HolderCursor.read(cursors["dan"]) == HolderCursor(life=1, offset=5000)
    for name, read in (("ann", ann), ("bob", bob), ("cleo", cleo)):
        assert json.loads(write_cursor(read)) == json.loads(cursors[name])
