"""What every journal and outbox promises. A test class inherits this and gives `journal` and `outbox` fixtures."""

import anyio
import pytest

from farhand.model import errors
from farhand.model.commands import Accepted
from farhand.model.facts import (
    AskRaised,
    Draft,
    Fact,
    HandedOver,
    Hired,
    Limited,
    LimitLifted,
    Noted,
    Queued,
    Said,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from farhand.model.history import FactEntry, HistoryEntry, TurnEntry
from farhand.model.present import Present
from farhand.model.present_fold import fold
from farhand.model.store_ports import Cursor, InboxEntry, Journal, Outbox, Parcel
from farhand.model.wire import decode_event
from farhand.model.words import HowEnded, Sender

ME = Sender(via="test")
HIRED = Draft(worker="ann", fact=Hired(backend="demo", directory="/", by=ME))


def said(text: str) -> Draft:
    """A draft of talk."""
    return Draft(worker="ann", fact=Said(text=text))


@pytest.mark.anyio
class StoreContract:
    """Inherit, and give the fixtures."""

    async def test_events_are_numbered_without_gaps_and_read_back(self, journal: Journal) -> None:
        await journal.load()
        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(journal.append, journal.stamp([said(str(number))], at=1.0))
        rows = await journal.read(0, 1000)
        assert [seq for seq, _ in rows] == list(range(1, 201))
        assert [decode_event(body).fact for _, body in rows] == [Said(text=str(number)) for number in range(200)]
        assert [seq for seq, _ in await journal.read(150, 10)] == list(range(151, 161))

    async def test_a_command_is_remembered_with_its_answer_and_its_facts(self, journal: Journal) -> None:
        await journal.load()
        entry = InboxEntry(via="tg", accepted=Accepted(id="1", seq=1, worker="ann"), fingerprint="f")
        await journal.append(journal.stamp([HIRED], at=1.0), inbox=entry, cursor=Cursor(owner="w", value="7"))
        assert await journal.seen("tg", "1") == entry
        assert await journal.seen("web", "1") is None
        assert await journal.cursor("w") == "7"
        assert await journal.cursor("other") == ""

    async def test_what_cannot_be_written_is_not_half_written(self, journal: Journal) -> None:
        await journal.load()
        entry = InboxEntry(via="tg", accepted=Accepted(id="1", seq=1))
        await journal.append(journal.stamp([HIRED], at=1.0), inbox=entry)
        before = await journal.load()
        with pytest.raises(errors.StoreError):
            await journal.append(journal.stamp([said("x")], at=1.0), inbox=entry)
        journal.rewind(1)
        assert await journal.load() == before
        await journal.append(journal.stamp([said("y")], at=1.0))
        assert len(await journal.read(0, 10)) == 2

    async def test_the_tables_follow_the_journal(self, journal: Journal) -> None:
        await journal.load()
        stray = Draft(worker="gone", fact=Queued(message="q", text="", by=ME))
        present = Present()
        limited = Draft(worker="ann", fact=Limited(text="limit", until=9.0))
        for event in journal.stamp([HIRED, Draft(worker="ann", fact=Noted(text="x")), stray, limited], at=1.0):
            await journal.append([event])
            present = fold(present, event)
        assert await journal.load() == present
        started = Draft(worker="ann", turn="t", fact=TurnStarted())
        asked = Draft(worker="ann", turn="t", fact=AskRaised(ask="a", question="?", choices=(), several=True))
        ended = Draft(worker="ann", turn="t", fact=TurnEnded(how=HowEnded.COMPLETED))
        for event in journal.stamp([started, asked, ended], at=2.0):
            await journal.append([event])
            present = fold(present, event)
        assert await journal.load() == present

    async def test_the_tables_put_back_what_a_limit_stopped(self, journal: Journal) -> None:
        await journal.load()
        present = Present()
        messages = [Queued(message=name, text=name, by=ME, steer=name == "c") for name in "abc"]
        parked = TurnEnded(how=HowEnded.PARKED)
        facts: list[tuple[Fact, str | None]] = [
            (TurnStarted(message="a"), "a"),
            (HandedOver(message="a"), "a"),
            (HandedOver(message="c"), "a"),
            (ToolStarted(call="1", tool="t", title="t"), "a"),
            (Limited(text="limit"), "a"),
            (parked, "a"),
            (LimitLifted(), None),
            (TurnStarted(message="a~2"), "a~2"),
            (Limited(text="limit", again=1), "a~2"),
            (parked, "a~2"),
        ]
        drafts = [HIRED, *(Draft(worker="ann", fact=fact) for fact in messages)]
        drafts += [Draft(worker="ann", turn=turn, fact=fact) for fact, turn in facts]
        for event in journal.stamp(drafts, at=1.0):
            await journal.append([event])
            present = fold(present, event)
            assert await journal.load() == present
        assert [one.id for one in present.workers["ann"].queue] == ["a~3", "c~2", "b"]

    async def test_the_outbox_keeps_order_and_coalesces_edits(self, outbox: Outbox) -> None:
        def parcel(key: str, body: bytes, *, slot: str = "", edit: bool = False) -> Parcel:
            return Parcel(key=key, chat="c", body=body, slot=slot, edit=edit)

        await outbox.put("tg", [parcel("1", b"progress", slot="p"), parcel("2", b"edit 1", slot="p", edit=True)], "5")
        await outbox.put("tg", [parcel("3", b"edit 2", slot="p", edit=True), parcel("4", b"answer")], "6")
        await outbox.put("tg", [parcel("4", b"answer")], "6")
        waiting = await outbox.waiting("tg", "c")
        assert [one.parcel.body for one in waiting] == [b"progress", b"edit 2", b"answer"]
        assert await outbox.cursor("tg") == "6"
        await outbox.begin(waiting[0].id)
        assert (await outbox.waiting("tg", "c"))[0].doubtful
        await outbox.sent(waiting[0].id, "99")
        assert await outbox.reference("tg", "p") == "99"
        assert await outbox.slot("tg", "c", "99") == "p"
        assert await outbox.slot("tg", "c", "98") == await outbox.slot("tg", "d", "99") == ""
        assert len(await outbox.waiting("tg", "c")) == 2
        await outbox.put("tg", [parcel("5", b"held", slot="held:a 1"), parcel("6", b"held", slot="held:b 1")])
        assert await outbox.slots("tg", "held:a") == ["held:a 1"]
        assert await outbox.slots("tg", "held:") == ["held:a 1", "held:b 1"]
        assert await outbox.slots("other", "held:") == []
        assert await outbox.waiting("other", "c") == []
        assert (await outbox.lanes("tg"), await outbox.lanes("other")) == ([("c", False)], [])

    async def test_what_is_urgent_has_a_lane_of_its_own_and_its_order_stays(self, outbox: Outbox) -> None:
        await outbox.put("tg", [Parcel(key="1", chat="c", body=b"answer"), Parcel(key="2", chat="d", body=b"answer")])
        await outbox.put("tg", [Parcel(key=key, chat="c", body=b"ask", urgent=True) for key in ("3", "4")])
        assert await outbox.lanes("tg") == [("c", True), ("c", False), ("d", False)]
        assert [one.parcel.key for one in await outbox.waiting("tg", "c", urgent=True)] == ["3", "4"]
        assert [one.parcel.key for one in await outbox.waiting("tg", "c")] == ["1"]
        assert all(one.parcel.urgent for one in await outbox.waiting("tg", "c", urgent=True))

    async def test_a_send_in_doubt_is_counted_and_one_that_a_kill_cut_off_is_not(self, outbox: Outbox) -> None:
        await outbox.put("tg", [Parcel(key="1", chat="c", body=b"x")], "1")
        (first,) = await outbox.waiting("tg", "c")
        await outbox.begin(first.id)
        (cut,) = await outbox.waiting("tg", "c")
        assert (cut.doubts, cut.cut_off, cut.doubtful) == (0, True, True)
        await outbox.doubt(first.id)
        (doubted,) = await outbox.waiting("tg", "c")
        assert (doubted.doubts, doubted.cut_off, doubted.doubtful) == (1, False, True)
        await outbox.failed(first.id, "enough")
        assert await outbox.waiting("tg", "c") == []

    async def test_a_finished_turn_is_history_and_a_running_one_is_open(self, journal: Journal) -> None:
        await journal.load()
        await _turn(journal, "m1", "first question", ["An", "swer", " one"])
        await _turn(journal, "m2", "second question", ["Half an"], end=False)
        page = await journal.history("ann", None, 10, up_to=100)
        assert [_summary(entry) for entry in page.entries] == ["hired", ("first question", "Answer one")]
        assert page.open is not None
        assert _summary(page.open) == ("second question", "Half an")
        assert not page.more

    async def test_a_page_ends_before_its_number_and_says_whether_there_is_more(self, journal: Journal) -> None:
        await journal.load()
        for number in range(6):
            await _turn(journal, f"m{number}", f"question {number}", [f"answer {number}"])
        newest = await journal.history("ann", None, 2, up_to=1000)
        assert [_summary(one) for one in newest.entries] == [("question 4", "answer 4"), ("question 5", "answer 5")]
        assert newest.more
        older = await journal.history("ann", newest.entries[0].seq, 10, up_to=1000)
        assert [_summary(one) for one in older.entries][-1] == ("question 3", "answer 3")
        assert (len(older.entries), older.more, older.open) == (5, False, None)

    async def test_a_page_is_as_of_its_number(self, journal: Journal) -> None:
        await journal.load()
        await _turn(journal, "m1", "question", ["one ", "two"])
        seqs = [seq for seq, _ in await journal.read(0, 100)]
        # Just before the end of the turn it was open still, and had all its words.
        page = await journal.history("ann", None, 10, up_to=seqs[-2])
        assert [_summary(entry) for entry in page.entries] == ["hired"]
        assert page.open is not None
        assert (_summary(page.open), page.open.view.ended) == (("question", "one two"), None)

    async def test_the_history_of_a_turn_is_whole_after_a_restart_in_its_middle(self, journal: Journal) -> None:
        await journal.load()
        await _turn(journal, "m1", "question", ["before, "], end=False)
        await journal.load()
        await journal.append(journal.stamp([_of_turn("m1", Said(text="after"))], at=3.0))
        await journal.append(journal.stamp([_of_turn("m1", TurnEnded(how=HowEnded.COMPLETED))], at=4.0))
        page = await journal.history("ann", None, 10, up_to=100)
        assert _summary(page.entries[-1]) == ("question", "before, after")

    async def test_the_history_of_a_turn_is_whole_after_a_write_that_failed(self, journal: Journal) -> None:
        await journal.load()
        await _turn(journal, "m1", "question", ["before, "], end=False)
        seq = (await journal.load()).seq
        entry = InboxEntry(via="tg", accepted=Accepted(id="1", seq=1))
        await journal.append((), inbox=entry)
        with pytest.raises(errors.StoreError):
            await journal.append(journal.stamp([_of_turn("m1", Said(text="never written"))], at=3.0), inbox=entry)
        journal.rewind(seq)
        await journal.append(journal.stamp([_of_turn("m1", Said(text="after"))], at=3.0))
        await journal.append(journal.stamp([_of_turn("m1", TurnEnded(how=HowEnded.COMPLETED))], at=4.0))
        page = await journal.history("ann", None, 10, up_to=100)
        assert _summary(page.entries[-1]) == ("question", "before, after")

    async def test_what_was_said_is_found_newest_first(self, journal: Journal) -> None:
        await journal.load()
        await _turn(journal, "m1", "Why is the Übersetzung slow?", ["The ca", "che is cold."])
        await _turn(journal, "m2", "And now?", ['The cache is warm, quote " and * and OR too.'])
        assert [one.seq for one in await journal.search("cache", "", 10)] == sorted(
            (entry.seq for entry in (await journal.history("ann", None, 2, up_to=100)).entries), reverse=True
        )
        (found,) = await journal.search("ubersetz", "ann", 10)
        assert "Übersetzung" in found.excerpt
        assert await journal.search("cache", "bob", 10) == []
        assert await journal.search("cache frozen", "", 10) == []
        assert len(await journal.search('quote " * OR', "", 10)) == 1
        assert await journal.search('"*', "", 10) == []


async def _turn(journal: Journal, message: str, question: str, pieces: list[str], *, end: bool = True) -> None:
    """A whole turn, each fact in a write of its own."""
    hired = [HIRED] if not (await journal.load()).workers else []
    queued = Draft(worker="ann", fact=Queued(message=message, text=question, by=ME))
    drafts = [
        *hired,
        queued,
        _of_turn(message, TurnStarted(message=message)),
        _of_turn(message, HandedOver(message=message)),
    ]
    drafts += [_of_turn(message, Said(text=piece)) for piece in pieces]
    drafts += [_of_turn(message, TurnEnded(how=HowEnded.COMPLETED))] if end else []
    for draft in drafts:
        await journal.append(journal.stamp([draft], at=2.0))


def _of_turn(turn: str, fact: Fact) -> Draft:
    return Draft(worker="ann", turn=turn, fact=fact)


def _summary(entry: HistoryEntry) -> str | tuple[str, str]:
    match entry:
        case TurnEntry(view=seen, messages=messages):
            return messages[0].text, seen.text
        case FactEntry(event=event):
            return type(event.fact).__name__.lower()
