"""How fast a surface may be written to, on whatever clock."""

import pytest

from farhand.channels.kit.card import removal, removed_slot
from farhand.channels.kit.pace import Bucket, Pace
from farhand.channels.kit.turn_cards import waiting
from farhand.channels.telegram.settings import group_limit
from farhand.testing.clock import ManualClock


def test_a_clock_that_is_set_back_makes_nobody_wait() -> None:
    bucket = Bucket(rate=1.0, size=8.0)
    assert bucket.wait(10_000.0) == 0.0
    assert bucket.wait(6_400.0) == 0.0
    bucket.level = 0.0
    assert bucket.wait(6_400.5) == 0.5


async def taken(pace: Pace, count: int) -> None:
    for _ in range(count):
        await pace.ready("c")


@pytest.mark.anyio
async def test_progress_leaves_one_message_for_each_answer_that_is_owed() -> None:
    pace = Pace(ManualClock(), per_chat=1.0, burst=8, overall=1000)
    assert pace.until_spare("c", owed=1) == 0.0
    await taken(pace, 4)
    assert pace.until_spare("c", owed=3) == 0.0
    assert pace.until_spare("c", owed=5) == 2.0


@pytest.mark.anyio
async def test_messages_leave_one_for_what_is_urgent() -> None:
    clock = ManualClock()
    pace = Pace(clock, per_chat=1.0, burst=1, overall=1000)
    began = clock.now()
    await pace.ready("c")
    await pace.ready("c", urgent=True)
    assert clock.now() == began


@pytest.mark.anyio
async def test_however_many_answers_are_owed_a_full_bucket_has_one_for_progress() -> None:
    clock = ManualClock()
    pace = Pace(clock, per_chat=1.0, burst=8, overall=1000)
    assert pace.until_spare("c", owed=100) == 0.0
    await taken(pace, 3)
    assert pace.until_spare("c", owed=100) == 3.0
    clock.advance(3.0)
    assert pace.until_spare("c", owed=100) == 0.0


@pytest.mark.anyio
async def test_progress_leaves_one_message_for_the_other_chats() -> None:
    pace = Pace(ManualClock(), per_chat=100.0, burst=8, overall=2)
    assert pace.until_spare("c", owed=0) == 0.0
    await taken(pace, 1)
    assert pace.until_spare("c", owed=0) == 0.5


@pytest.mark.anyio
async def test_a_chat_that_the_service_limits_more_than_others_waits_longer() -> None:
    clock = ManualClock()
    pace = Pace(clock, per_chat=1.0, burst=2, overall=1000, own_limit=group_limit)
    for chat in ("4242", "-4242"):
        for _ in range(2):
            await pace.ready(chat, urgent=True)
    assert pace.until_spare("4242", owed=0) == 1.0
    assert pace.until_spare("-4242", owed=0) == pytest.approx(3.0)


def test_a_removal_names_what_it_removes_and_no_other_card_does() -> None:
    card = waiting("ann", "m1", "hello")
    assert removed_slot(removal(card.slot).key) == card.slot
    assert not removed_slot(card.key)
