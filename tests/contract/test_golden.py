"""The golden fixtures: what they say is what the fold makes and what the store keeps, and no fact is left out."""

from pathlib import Path
from typing import get_args

import msgspec
import pytest
from scripts.golden import STORIES, Fixture, fixture
from scripts.golden_story import Story

from farhand.model import facts
from farhand.model.team_view import ConversationView, TeamView, fold
from farhand.model.wire import encode
from farhand.model.words import Receipt
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
_fixtures = msgspec.json.Decoder(Fixture)
_stories = pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)


def test_every_fact_and_every_receipt_is_in_a_fixture() -> None:
    told = {type(event.fact) for story in STORIES for event in story.events}
    assert set(get_args(facts.Fact)) == told
    receipts = {one for story in STORIES for one in _read(story).view.receipts.values()}
    assert receipts == set(Receipt)


def test_every_file_is_of_a_story() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == {story.name for story in STORIES}


@_stories
def test_a_file_is_what_the_fold_makes(story: Story) -> None:
    assert (GOLDEN / f"{story.name}.json").read_text("utf-8").rstrip() == fixture(story).rstrip()


@_stories
def test_whoever_comes_in_the_middle_or_hears_twice_sees_the_same(story: Story) -> None:
    events, expected = story.events, _read(story).view
    for cut in range(len(events)):
        view = TeamView()
        for event in events[:cut]:
            view = fold(view, event)
        # As a client keeps it, and with some events that it has handled already.
        view = msgspec.json.decode(encode(view), type=TeamView)
        for event in events[max(0, cut - 3) :]:
            view = fold(view, event)
        assert view == expected, cut


@pytest.mark.anyio
@_stories
async def test_the_store_has_the_same_present_pages_and_receipts(story: Story, tmp_path: Path) -> None:
    database = Database(tmp_path / "farhand.db")
    try:
        journal, view = SqliteJournal(database), TeamView()
        await journal.load()
        for event in story.events:
            await journal.append([event])
            view = fold(view, event)
            page = await journal.history(event.worker, None, 500, event.seq)
            seen = view.conversations.get(event.worker, ConversationView())
            assert ConversationView(entries=page.entries, open=page.open) == seen, event.seq
            assert encode(await journal.load()) == encode(view.present), event.seq
            kept = await database.read(lambda db: db.execute("SELECT id, receipt FROM messages").fetchall())
            assert dict(kept) == view.receipts, event.seq
    finally:
        database.close()


def _read(story: Story) -> Fixture:
    return _fixtures.decode((GOLDEN / f"{story.name}.json").read_bytes())
