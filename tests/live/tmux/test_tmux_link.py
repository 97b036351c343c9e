"""The tmux link with a scripted CLI: messages typed, hooks and file deduplicated, asks settled once, deaths told."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.streams.memory import MemoryObjectSendStream
from tests.live.tmux.scripted_cli import ScriptedCli, ScriptedCursor, ScriptedState, record

from farhand.disk.watch import FolderWatcher
from farhand.drivers.wires.asks.build import ALLOW, CHANGED, digest_of
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.hooks.endpoint import HookArrival, HookAsk, HookReport
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.delivered_log import DeliveredLog, ExpectedMessage
from farhand.drivers.wires.tmux.link import TmuxLink
from farhand.drivers.wires.tmux.queue import InputQueue
from farhand.model.errors import AgentEnded
from farhand.model.facts import AskRaised, AskSettled, Fact, Noted, Said, Seen, TurnEnded
from farhand.model.ports import Batch, Change, Deliver, NotTaken, Settle, Stop, Taken
from farhand.model.present import Ask, Message
from farhand.model.words import HowSettled, Sender

pytestmark = pytest.mark.anyio
TYPIST = Path(__file__).with_name("typist.py")
AGENT, STRANGER = 77, 78


class Opened:
    """A link that is listened to, and the ways to it."""

    def __init__(
        self,
        link: TmuxLink[ScriptedState, str],
        cli: ScriptedCli,
        folder: Path,
        hooks: MemoryObjectSendStream[HookArrival],
    ) -> None:
        self.link = link
        self.cli = cli
        self.hooks = hooks
        self._folder = folder
        self._batches = link.facts()
        self.last = Batch(heard=())
        self._ready: list[Fact] = []

    async def fact(self) -> Fact:
        """The next fact."""
        with anyio.fail_after(240):
            while not self._ready:
                self.last = await anext(self._batches)
                self._ready = [one.fact for one in self.last.heard]
        return self._ready.pop(0)

    async def drained(self, tasks: anyio.abc.TaskGroup) -> list[Fact]:
        """All facts from now on, as they come."""
        facts: list[Fact] = []

        async def drain() -> None:
            while True:
                facts.append(await self.fact())

        tasks.start_soon(drain)
        return facts

    def write(self, line: bytes) -> None:
        """The agent writes into its own file."""
        with (self._folder / "own" / "file").open("ab") as file:
            file.write(line + b"\n")

    def spool(self, number: int, payload: bytes, agent: int = AGENT) -> Path:
        """A hook leaves a report, as the hook program does."""
        path = self._folder / "spool" / f"{number}-1-1.{agent}.Stop.json"
        path.parent.mkdir(exist_ok=True)
        path.with_suffix(".new").write_bytes(payload)
        return path.with_suffix(".new").rename(path)


@pytest.fixture
async def pane(tmux: Tmux, short_folder: Path) -> Pane:
    """A pane with an input box, which writes down what is submitted."""
    pane = await tmux.start("ann", [sys.executable, "-IS", str(TYPIST), str(short_folder)], short_folder, {})
    with anyio.fail_after(240):
        while not (short_folder / "ready").exists():  # noqa: ASYNC110
            await anyio.sleep(0.01)
    return pane


@pytest.fixture
async def folders() -> AsyncIterator[FolderWatcher]:
    async with FolderWatcher().opened() as opened:
        yield opened


@asynccontextmanager
async def opened(
    tmux: Tmux, pane: Pane, folder: Path, folders: FolderWatcher, *, steers: bool = True, follows: bool = True
) -> AsyncIterator[Opened]:
    """A link to the pane."""
    (folder / "own").mkdir(exist_ok=True)
    queue = InputQueue[str]()
    cli = ScriptedCli(queue, tmux, pane, folder / "own" / "file", pid=AGENT, steers=steers, follows=follows)
    link = TmuxLink(tmux, pane, folder, cli, queue)
    send, receive = anyio.create_memory_object_stream[HookArrival](8)
    with send, receive:
        async with link.listening(receive, folders):
            yield Opened(link, cli, folder, send)


def deliver(text: str, *, joins: bool = False, name: str = "m1") -> Deliver:
    message = Message(id=name, text=text, at=0.0, by=Sender(via="telegram", who="Ann"))
    return Deliver(turn="t1", message=message, joins=joins)


def asking(name: str, question: str, *, keyed: bool = False) -> HookAsk:
    payload = json.dumps({"tool_name": question}).encode()
    return HookAsk(HookReport(id=name, event="PermissionRequest", payload=payload, agent=AGENT, keyed=keyed))


def answer(name: str, question: str, choice: str = ALLOW) -> Settle:
    settled = AskSettled(ask=name, how=HowSettled.ANSWERED, choice=choice)
    digest = digest_of(question)
    ask = Ask(id=name, worker="ann", turn="t1", seq=1, question="?", choices=(), digest=digest, settled=settled)
    return Settle(ask=ask)


# --- messages


async def test_a_message_is_typed_and_proven_by_the_hook_that_saw_it(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders) as wire, anyio.create_task_group() as tasks:
        facts = await wire.drained(tasks)

        async def read_by_agent() -> None:
            with anyio.fail_after(240):
                while not (short_folder / "submitted").exists():  # noqa: ASYNC110
                    await anyio.sleep(0.01)
            wire.spool(1, record("1", "prompt", "go on"))

        tasks.start_soon(read_by_agent)
        assert await wire.link.perform(deliver("go on")) == Taken()
        # Had nobody said so, the outcome would have come from the screen alone.
        assert facts == [Seen(message="m1")]
        tasks.cancel_scope.cancel()
    assert (short_folder / "submitted").read_bytes() == b"go on\0"
    assert read_cursor(wire.last.cursor, ScriptedCursor).state.running == "t1"
    # A link that lost its cursor still knows whose turn it is.
    assert DeliveredLog(short_folder / "handed").all() == (ExpectedMessage(message="m1", text="go on", turn="t1"),)


async def test_what_was_not_typed_is_expected_no_more(tmux: Tmux, short_folder: Path, folders: FolderWatcher) -> None:
    # No box to type into.
    pane = await tmux.start("bob", ["cat", "-"], short_folder, {})
    async with opened(tmux, pane, short_folder, folders) as wire, anyio.create_task_group() as tasks:
        await wire.drained(tasks)
        assert isinstance(await wire.link.perform(deliver("go on")), NotTaken)
        tasks.cancel_scope.cancel()
    assert DeliveredLog(short_folder / "handed").all() == ()
    assert wire.cli.state.expected == ()


async def test_a_command_is_typed_without_proof_and_its_turn_is_the_clis_own(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders) as wire, anyio.create_task_group() as tasks:
        await wire.drained(tasks)
        assert await wire.link.perform(deliver("/help me")) == Taken()
        tasks.cancel_scope.cancel()
    assert wire.cli.commands == ["/help me"]


async def test_a_cli_that_takes_no_word_into_a_turn_is_not_typed_to(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders, steers=False) as wire, anyio.create_task_group() as tasks:
        await wire.drained(tasks)
        refused = await wire.link.perform(deliver("and this", joins=True))
        assert refused == NotTaken(why="Typist takes a message when its turn is over.")
        tasks.cancel_scope.cancel()
    assert not (short_folder / "submitted").exists()


async def test_other_errands_are_the_clis_own_and_what_follows_goes_through_the_queue(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders) as wire, anyio.create_task_group() as tasks:
        tasks.start_soon(wire.link.perform, Stop(turn="t1"))
        assert [await wire.fact(), await wire.fact()] == [Noted(text="stopped"), Noted(text="stop 1")]
        assert await wire.link.perform(Change(model="m", mode="plan")) == NotTaken(why="m plan")


# --- facts


@pytest.mark.parametrize("first", ["hook", "file"])
async def test_what_hook_and_file_both_bring_is_told_once(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher, first: str
) -> None:
    said, more = record("1", "said", "hello"), record("2", "said", "more")
    async with opened(tmux, pane, short_folder, folders) as wire:
        if first == "hook":
            wire.spool(1, said)
        else:
            wire.write(said)
        assert await wire.fact() == Said(text="hello")
        if first == "hook":
            wire.write(said)
        else:
            wire.spool(1, said)
        wire.write(more)
        assert await wire.fact() == Said(text="more")


async def test_what_was_left_before_something_was_posted_comes_first_and_a_stranger_never(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders) as wire:
        foreign = wire.spool(1, record("0", "said", "I am another"), agent=STRANGER)
        wire.spool(3, record("2", "said", "second"))
        wire.spool(2, record("1", "said", "first"))
        assert [await wire.fact(), await wire.fact()] == [Said(text="first"), Said(text="second")]
        wire.hooks.send_nowait(HookReport(id="p", event="Stop", payload=record("4", "said", "posted"), agent=AGENT))
        wire.spool(4, record("3", "said", "left"))
        assert [await wire.fact(), await wire.fact()] == [Said(text="left"), Said(text="posted")]
        assert not foreign.exists()


async def test_what_was_not_written_down_is_told_again(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders) as wire:
        left = wire.spool(1, record("1", "said", "important"))
        assert await wire.fact() == Said(text="important")
        # Nobody has asked for more: the node may have died before it wrote this down.
        assert left.exists()
    async with opened(tmux, pane, short_folder, folders) as wire:
        assert await wire.fact() == Said(text="important")
        wire.spool(2, record("2", "said", "more"))
        assert await wire.fact() == Said(text="more")
        assert not left.exists()


# --- asks


async def test_an_ask_is_answered_once_and_an_answer_to_something_else_is_none(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders) as wire, anyio.create_task_group() as tasks:
        one, two = asking("a", "rm x"), asking("b", "rm y")
        for asked in (one, two):
            wire.hooks.send_nowait(asked)
            raised = await wire.fact()
            assert isinstance(raised, AskRaised)
        facts = await wire.drained(tasks)
        one.close(delivered=True)
        assert await wire.link.perform(answer("a", "rm x")) == Taken()
        assert one.given == {"question": "rm x", "answer": "allow"}
        assert await wire.link.perform(answer("b", "rm -rf /")) == NotTaken(why=CHANGED)
        assert two.given == {"question": "rm y", "answer": "deny"}
        # Neither waits any more: nothing that comes later settles it again.
        assert not wire.cli.asks
        wire.cli.asks.dialog_opened()
        assert wire.cli.asks.dialog_closed() == []
        wire.write(record("1", "end"))
        with anyio.fail_after(240):
            while not facts:  # noqa: ASYNC110
                await anyio.sleep(0.01)
        assert [type(fact) for fact in facts] == [TurnEnded]
        tasks.cancel_scope.cancel()


async def test_a_question_that_two_hooks_ask_is_one_ask_and_both_have_the_answer(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders) as wire, anyio.create_task_group() as tasks:
        ours, theirs = asking("a", "rm x"), asking("posted-1", "rm x", keyed=True)
        wire.hooks.send_nowait(ours)
        wire.hooks.send_nowait(theirs)
        facts = await wire.drained(tasks)
        with anyio.fail_after(240):
            while not facts:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            tasks.start_soon(wire.link.perform, answer("a", "rm x"))
            assert await ours.wait() == {"question": "rm x", "answer": "allow"}
            ours.close(delivered=True)
            assert await theirs.wait() == ours.given
        assert [type(fact) for fact in facts] == [AskRaised]
        tasks.cancel_scope.cancel()


async def test_a_hook_that_is_killed_withdraws_its_ask_and_a_person_is_told(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders) as wire:
        asked = asking("a", "rm x")
        wire.hooks.send_nowait(asked)
        assert isinstance(await wire.fact(), AskRaised)
        asked.close(delivered=False)
        assert await wire.fact() == AskSettled(ask="a", how=HowSettled.WITHDRAWN)
        told = await wire.fact()
        assert isinstance(told, Noted)
        assert "was killed" in told.text
        assert "attach" in told.text


async def test_a_question_that_comes_with_the_end_of_the_turn_before_stays_open(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders, follows=False) as wire:
        wire.write(record("1", "end"))
        asked = asking("a", "rm x")
        wire.hooks.send_nowait(asked)
        assert [type(await wire.fact()), type(await wire.fact())] == [TurnEnded, AskRaised]
        assert wire.cli.asks
        assert not asked.answered


async def test_a_stranger_that_asks_is_sent_away(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders) as wire:
        asked = HookAsk(HookReport(id="s", event="PermissionRequest", payload=b"{}", agent=STRANGER))
        wire.hooks.send_nowait(asked)
        with anyio.fail_after(240):
            assert await asked.wait() is None


# --- ends


@pytest.mark.parametrize(("ending", "told"), [("exit 3", "Typist ended with status 3."), ("kill -9 $$", "was killed")])
async def test_a_death_is_told_and_ends_the_facts(
    tmux: Tmux, short_folder: Path, folders: FolderWatcher, ending: str, told: str
) -> None:
    pane = await tmux.start("bob", ["sh", "-c", f"echo bye; read x; {ending}"], short_folder, {})
    async with opened(tmux, pane, short_folder, folders) as wire:
        wire.write(record("1", "said", "before"))
        assert await wire.fact() == Said(text="before")
        await tmux.press(pane, "Enter")
        death = await wire.fact()
        assert isinstance(death, Noted)
        assert told in death.text
        assert "bye" in death.text
        with pytest.raises(StopAsyncIteration):
            await wire.fact()


async def test_a_clean_end_at_the_desk_is_no_accident(tmux: Tmux, short_folder: Path, folders: FolderWatcher) -> None:
    pane = await tmux.start("bob", ["sh", "-c", "read x; exit 0"], short_folder, {})
    async with opened(tmux, pane, short_folder, folders) as wire:
        await tmux.press(pane, "Enter")
        assert isinstance(await wire.fact(), Noted)
        with pytest.raises(AgentEnded, match="Typist was ended at the desk"):
            await wire.fact()


async def test_a_tmux_that_ends_is_told_as_that(
    tmux: Tmux, pane: Pane, short_folder: Path, folders: FolderWatcher
) -> None:
    async with opened(tmux, pane, short_folder, folders) as wire:
        await anyio.run_process([*tmux.server, "kill-server"])
        assert await wire.fact() == Noted(
            text="The tmux server has ended; its sessions ended with it. Typist is started again and keeps its memory."
        )
