"""Who is buzzed when: situations over all channels, played on a clock that a table moves."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripts.golden import STORIES
from tests.pure.attention_world import START, TELEGRAM, WHATSAPP, Row, World

from farhand.model import attention_rules as rules
from farhand.model.attention import (
    ALL_KINDS,
    AttentionKind,
    AttentionSettings,
    LockScreen,
    QuietHours,
    may_buzz,
    problem_of,
    quiet_end,
)
from farhand.model.attention_rules import APP, Matter
from farhand.model.matters import OF_INTEREST, matter_of, person_of, settled_ask
from farhand.model.words import replace

ASK, FINISHED, FAILED = AttentionKind.ASK, AttentionKind.FINISHED, AttentionKind.FAILED
NIGHT = AttentionSettings(hours=QuietHours(start=0, end=7 * 60), zone="UTC")


TABLE = (
    Row(
        "an ask goes from the app to the chat and comes again in the app",
        ((0, "ask ann"),),
        ((0, APP, "ask:ann"), (3, TELEGRAM, "ask:ann"), (18, APP, "ask:ann")),
    ),
    Row("an ask that is answered buzzes no more", ((0, "ask ann"), (1, "answer ann")), ((0, APP, "ask:ann"),)),
    Row(
        "answered in the chat, it does not come again in the app",
        ((0, "ask ann"), (4, "answer ann")),
        ((0, APP, "ask:ann"), (3, TELEGRAM, "ask:ann")),
    ),
    Row(
        "without the app the first chat buzzes, and no other beside it",
        ((0, "ask ann"),),
        ((0, TELEGRAM, "ask:ann"), (3, TELEGRAM, "ask:ann"), (18, TELEGRAM, "ask:ann")),
        app=False,
        chats=(TELEGRAM, WHATSAPP),
    ),
    Row(
        "with WhatsApp alone it escalates there",
        ((0, "ask ann"),),
        ((0, APP, "ask:ann"), (3, WHATSAPP, "ask:ann"), (18, APP, "ask:ann")),
        chats=(WHATSAPP,),
    ),
    Row(
        "with the app alone it comes again there",
        ((0, "ask ann"),),
        ((0, APP, "ask:ann"), (3, APP, "ask:ann"), (18, APP, "ask:ann")),
        chats=(),
    ),
    Row("with nothing that can buzz nothing does", ((0, "ask ann"),), (), app=False, chats=()),
    Row(
        "whoever looks at the worker is asked on the screen, and buzzed soon after they have left it",
        ((0, "looks ann"), (0, "ask ann"), (1, "leaves ann")),
        ((1.25, APP, "ask:ann"), (4.25, TELEGRAM, "ask:ann"), (19.25, APP, "ask:ann")),
    ),
    Row(
        "whoever leaves it for a moment is not buzzed for that",
        ((0, "looks ann"), (0, "ask ann"), (1, "leaves ann"), (1.2, "looks ann"), (2, "answer ann")),
        (),
    ),
    Row(
        "a moment away leaves the time as it was",
        ((0, "looks ann"), (0, "ask ann"), (1, "leaves ann"), (1.2, "looks ann")),
        ((3, APP, "ask:ann"),),
        until=60,
    ),
    Row(
        "whoever leaves, and answers elsewhere, is not buzzed",
        ((0, "looks ann"), (0, "ask ann"), (1, "leaves ann"), (1.1, "answer ann")),
        (),
    ),
    Row(
        "whoever leaves the screen for the desk is there still",
        ((0, "looks ann"), (0, "ask ann"), (1, "desk"), (1.1, "leaves ann")),
        ((3, APP, "ask:ann"), (6, TELEGRAM, "ask:ann"), (21, APP, "ask:ann")),
    ),
    Row(
        "whoever was at the desk, and looks at something else later, has left no screen",
        ((0, "desk"), (1, "ask ann"), (2.5, "looks bob"), (2.6, "leaves bob")),
        ((4, APP, "ask:ann"), (7, TELEGRAM, "ask:ann"), (22, APP, "ask:ann")),
    ),
    Row(
        "whoever leaves late is buzzed when it is time",
        ((0, "looks ann"), (0, "ask ann"), (2.9, "leaves ann")),
        ((3, APP, "ask:ann"), (6, TELEGRAM, "ask:ann"), (21, APP, "ask:ann")),
    ),
    Row(
        "leaving buzzes nothing that has buzzed, and nothing in quiet hours",
        ((0, "ask ann"), (1, "looks ann"), (1.5, "leaves ann"), (2, "answer ann")),
        ((0, APP, "ask:ann"),),
    ),
    Row(
        "leaving in quiet hours leaves the ask for their end",
        ((60, "looks ann"), (60, "ask ann"), (61, "leaves ann")),
        ((420, APP, "ask:ann"), (423, TELEGRAM, "ask:ann"), (438, APP, "ask:ann")),
        settings=NIGHT,
    ),
    Row(
        "whoever answers what they look at is never buzzed",
        ((0, "looks ann"), (0, "ask ann"), (2, "answer ann")),
        (),
    ),
    Row(
        "looking at somebody else helps nothing",
        ((0, "looks bob"), (0, "ask ann"), (1, "answer ann")),
        ((0, APP, "ask:ann"),),
    ),
    Row(
        "an ask that waits under the eyes of somebody is told all the same, once",
        ((0, "looks ann"), (0, "ask ann")),
        ((3, APP, "ask:ann"),),
        until=60,
    ),
    Row(
        "an ask on one device's screen buzzes on none, and soon after that device has left it",
        ((0, "looks bob on phone"), (0, "looks ann on tablet"), (0, "ask ann"), (1, "leaves ann on tablet")),
        ((1.25, APP, "ask:ann"), (4.25, TELEGRAM, "ask:ann"), (19.25, APP, "ask:ann")),
    ),
    Row(
        "while two devices have it on their screens, one that leaves changes nothing",
        ((0, "looks ann on phone"), (0, "looks ann on tablet"), (0, "ask ann"), (1, "leaves ann on phone")),
        ((3, APP, "ask:ann"),),
        until=60,
    ),
    Row(
        "when the last of two devices has left it, it is due",
        (
            (0, "looks ann on phone"),
            (0, "looks ann on tablet"),
            (0, "ask ann"),
            (1, "leaves ann on phone"),
            (2, "leaves ann on tablet"),
        ),
        ((2.25, APP, "ask:ann"), (5.25, TELEGRAM, "ask:ann"), (20.25, APP, "ask:ann")),
    ),
    Row(
        "what one device looks at is no news, and what none does is, once for all of them",
        ((0, "looks bob on phone"), (0, "looks ann on tablet"), (0, "finished ann"), (0, "finished cleo")),
        ((0, APP, "finished:cleo"),),
    ),
    Row(
        "answered on one device, an ask comes again on no other",
        ((0, "looks bob on tablet"), (0, "ask ann"), (1, "looks ann on phone"), (2, "answer ann")),
        ((0, APP, "ask:ann"),),
    ),
    Row("a finished turn that somebody watches is no news", ((0, "looks ann"), (0, "finished ann")), ()),
    Row("a finished turn buzzes once", ((0, "finished ann"),), ((0, APP, "finished:ann"),)),
    Row(
        "an answer goes back to the chat that its message came from",
        ((0, "finished ann via telegram"),),
        ((0, TELEGRAM, "finished:ann"),),
    ),
    Row("at the desk the phone is quiet", ((0, "desk"), (1, "finished ann"), (1, "failed bob")), ()),
    Row(
        "two minutes after the last word at the desk it is not",
        ((0, "desk"), (2, "finished ann")),
        ((2, APP, "finished:ann"),),
    ),
    Row(
        "an ask at the desk reaches the phone when nobody answers it there",
        ((0, "desk"), (1, "ask ann")),
        ((4, APP, "ask:ann"), (7, TELEGRAM, "ask:ann"), (22, APP, "ask:ann")),
    ),
    Row(
        "the desk may be switched off as a sign",
        ((0, "desk"), (1, "finished ann")),
        ((1, APP, "finished:ann"),),
        settings=AttentionSettings(desk=False),
    ),
    Row(
        "quiet hours hold an ask until they end",
        ((60, "ask ann"),),
        ((420, APP, "ask:ann"), (423, TELEGRAM, "ask:ann"), (438, APP, "ask:ann")),
        settings=NIGHT,
    ),
    Row(
        "an ask that was answered in the night is no news in the morning",
        ((60, "ask ann"), (61, "answer ann")),
        (),
        NIGHT,
    ),
    Row(
        "an exception buzzes in quiet hours",
        ((60, "ask ann"), (61, "answer ann"), (70, "finished bob")),
        ((60, APP, "ask:ann"), (420, APP, "finished:bob")),
        settings=replace(NIGHT, exceptions=(ASK,)),
    ),
    Row(
        "what happened in the night is one notification in the morning",
        ((60, "finished ann/1"), (70, "failed bob"), (80, "finished ann/2")),
        ((420, APP, "finished:ann/1+2"),),
        settings=NIGHT,
    ),
    Row(
        "five asks of the night are one notification",
        tuple((60 + n, f"ask w{n}") for n in range(5)),
        ((420, APP, "ask:w0+4"), (423, TELEGRAM, "ask:w0+4"), (438, APP, "ask:w0+4")),
        settings=NIGHT,
    ),
    Row(
        "what is left of the night's asks comes again as one",
        (*((60 + n, f"ask w{n}") for n in range(5)), *((421, f"answer w{n}") for n in range(3))),
        ((420, APP, "ask:w0+4"), (423, TELEGRAM, "ask:w3"), (423, TELEGRAM, "ask:w4"), (438, APP, "ask:w3+1")),
        settings=NIGHT,
    ),
    Row(
        "quiet for a while ends by itself",
        ((0, "finished ann"), (31, "finished bob")),
        ((30, APP, "finished:ann"), (31, APP, "finished:bob")),
        settings=AttentionSettings(until=START + 30 * 60),
    ),
    Row(
        "a kind that is off does not buzz",
        ((0, "finished ann"), (1, "failed ann")),
        ((1, APP, "failed:ann"),),
        settings=AttentionSettings(off=(FINISHED,)),
    ),
    Row(
        "a worker that is off does not buzz, but its ask is told once, late",
        ((0, "finished ann"), (0, "ask ann"), (0, "finished bob")),
        ((0, APP, "finished:bob"), (15, APP, "ask:ann")),
        settings=AttentionSettings(workers={"ann": ALL_KINDS}),
    ),
    Row(
        "many finished turns buzz three times, and the rest as one",
        tuple((n / 60, f"finished ann/{n}") for n in range(10)),
        (
            (0, APP, "finished:ann/0"),
            (1 / 60, APP, "finished:ann/1"),
            (2 / 60, APP, "finished:ann/2"),
            (1, APP, "finished:ann/3+6"),
        ),
    ),
    Row(
        "in a chat every answer is a message of its own, and sounds",
        tuple((0, f"finished ann/{n}") for n in range(5)),
        tuple((0, TELEGRAM, f"finished:ann/{n}") for n in range(5)),
        app=False,
    ),
    Row(
        "an ask is never held up by what is no ask",
        (*((0, f"finished ann/{n}") for n in range(5)), (0.5, "ask bob"), (0.6, "answer bob")),
        (
            (0, APP, "finished:ann/0"),
            (0, APP, "finished:ann/1"),
            (0, APP, "finished:ann/2"),
            (0.5, APP, "ask:bob"),
            (1, APP, "finished:ann/3+1"),
        ),
    ),
    Row(
        "the times are the person's own",
        ((0, "ask ann"),),
        ((0, APP, "ask:ann"), (1, TELEGRAM, "ask:ann"), (3, APP, "ask:ann")),
        settings=AttentionSettings(next_minutes=1, again_minutes=2),
    ),
)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_who_is_buzzed_when(row: Row) -> None:
    world = World(settings=row.settings, app=row.app, chats=row.chats)
    for minute, what in row.steps:
        world.pass_to(minute)
        world.do(what)
    world.pass_to(row.until)
    assert [(round(minute, 4), place, what) for minute, place, what in world.heard()] == [
        (round(minute, 4), place, what) for minute, place, what in row.expected
    ]


CHANNELS = [(app, chats) for app in (True, False) for chats in ((), (TELEGRAM,), (WHATSAPP,), (TELEGRAM, WHATSAPP))]
STEPS = st.lists(
    st.tuples(
        st.floats(min_value=0, max_value=2000, allow_nan=False),
        st.sampled_from(
            [
                *("looks ann", "looks bob", "looks ", "leaves ann", "looks ann on tablet", "leaves ann on tablet"),
                *("desk", "finished ann", "failed bob", "finished bob"),
            ]
        ),
    ),
    max_size=12,
)
SETTINGS = st.builds(
    AttentionSettings,
    off=st.lists(st.sampled_from(ALL_KINDS), unique=True, max_size=7).map(tuple),
    workers=st.dictionaries(st.sampled_from(["ann", "bob"]), st.just(ALL_KINDS), max_size=2),
    hours=st.none() | st.builds(QuietHours, start=st.integers(0, 700), end=st.integers(701, 1439)),
    until=st.sampled_from([0.0, START + 3600]),
    exceptions=st.lists(st.sampled_from(ALL_KINDS), unique=True, max_size=3).map(tuple),
    zone=st.just("UTC"),
    desk=st.booleans(),
    next_minutes=st.sampled_from([15.0, 60.0]),
    again_minutes=st.sampled_from([15.0, 60.0]),
)


@settings(max_examples=100, deadline=None)
@given(wanted=SETTINGS, steps=STEPS, channels=st.sampled_from(CHANNELS), raised=st.floats(0, 2000))
def test_an_ask_is_never_told_twice_at_once_and_never_not_at_all(
    wanted: AttentionSettings, steps: list[tuple[float, str]], channels: tuple[bool, tuple[str, ...]], raised: float
) -> None:
    app, chats = channels
    world = World(settings=wanted, app=app, chats=chats)
    numbered = ((at, f"{what}/{n}" if "ed " in what else what) for n, (at, what) in enumerate(steps))
    for minute, what in sorted([*numbered, (raised, "ask ann")]):
        world.pass_to(minute)
        world.do(what)
    world.pass_to(5000)
    about = [(at, one) for at, one in world.buzzed if any(matter.key == "ask:ann" for matter in one.matters)]
    assert len({at for at, _ in about}) == len(about), "twice at one moment"
    assert len(about) <= rules.LAST_STEP
    assert bool(about) == bool(app or chats), "never none"
    keys = [one.key for _, one in world.buzzed]
    assert len(set(keys)) == len(keys), "every notification is another one"
    for at, one in world.buzzed:
        assert all(quiet_end(wanted, matter.kind, at) is None for matter in one.matters), "in a quiet time"
        assert all(may_buzz(wanted, matter.kind, matter.worker) or matter.kind is ASK for matter in one.matters)


def test_the_same_fact_taken_twice_buzzes_once() -> None:
    world = World()
    matter = Matter(key="ask:ann", kind=ASK, at=START, worker="ann")
    world.take(matter)
    world.take(matter)
    assert len(world.buzzed) == 1


def test_a_flood_of_a_hundred_turns_is_four_buzzes() -> None:
    world = World()
    for number in range(100):
        world.pass_to(number * 0.2 / 60)
        world.do(f"finished ann/{number}")
    world.pass_to(60)
    assert [len(one.matters) for _, one in world.buzzed] == [1, 1, 1, 97]


def test_a_device_that_comes_later_is_told_what_waits() -> None:
    world = World(app=False, chats=())
    world.do("ask ann")
    world.pass_to(30)
    world.app = True
    world.state = rules.renew(world.state, world.settings, world.now)
    world.pass_to(60)
    assert world.heard()[0] == (33, APP, "ask:ann")


def test_a_question_that_may_not_buzz_and_had_nowhere_to_is_told_to_a_device_that_comes_later() -> None:
    world = World(AttentionSettings(off=(ASK,)), app=False, chats=())
    world.do("ask ann")
    world.pass_to(60)
    world.app = True
    world.state = rules.renew(world.state, world.settings, world.now)
    world.pass_to(600)
    assert world.heard() == [(63, APP, "ask:ann")]


def test_a_question_that_lost_its_place_on_the_way_goes_on_where_there_is_one() -> None:
    world = World(chats=())
    world.do("ask ann")
    world.app = False
    world.pass_to(60)
    world.app = True
    world.state = rules.renew(world.state, world.settings, world.now)
    world.pass_to(600)
    assert world.heard() == [(0, APP, "ask:ann"), (63, APP, "ask:ann"), (78, APP, "ask:ann")]


def test_a_quiet_time_that_the_person_ends_early_is_over_for_what_it_held() -> None:
    world = World(settings=AttentionSettings(until=START + 7200))
    world.do("ask ann")
    world.do("finished bob")
    world.pass_to(10)
    world.settings = replace(world.settings, lock_screen=LockScreen.NAME)
    world.state = rules.settings_changed(world.state, world.now)
    world.pass_to(11)
    assert world.heard() == [], "it is quiet still"
    world.settings = AttentionSettings()
    world.state = rules.settings_changed(world.state, world.now)
    world.pass_to(12)
    assert world.heard() == [(11, APP, "ask:ann"), (11, APP, "finished:bob")]


def _problems() -> Iterator[AttentionSettings]:
    yield AttentionSettings(hours=QuietHours(start=-1, end=3))
    yield AttentionSettings(hours=QuietHours(start=3, end=1440))
    yield AttentionSettings(hours=QuietHours(start=3, end=3))
    yield AttentionSettings(next_minutes=0)
    yield AttentionSettings(again_minutes=float("nan"))
    yield AttentionSettings(zone="Nowhere/Land")
    yield AttentionSettings(zone="../etc/passwd")
    yield AttentionSettings(until=float("nan"))


@pytest.mark.parametrize("wrong", list(_problems()), ids=str)
def test_settings_that_cannot_be_are_refused(wrong: AttentionSettings) -> None:
    assert problem_of(wrong)


def test_quiet_hours_go_over_midnight_in_the_persons_own_zone() -> None:
    berlin = AttentionSettings(hours=QuietHours(start=22 * 60, end=7 * 60), zone="Europe/Berlin")
    # 23:30 UTC on a day in January is 0:30 in Berlin.
    at = START + 23.5 * 3600
    end = quiet_end(berlin, FINISHED, at)
    assert end == at + 6.5 * 3600
    assert quiet_end(berlin, FINISHED, end) is None


def test_what_was_missed_is_told_from_the_last_time_that_somebody_was_there() -> None:
    world = World()
    world.do("desk")
    world.pass_to(5)
    world.do("finished early")
    world.pass_to(30)
    world.do("finished ann")
    world.do("failed bob")
    world.pass_to(60)
    missed = [one.key for one in rules.missed(world.state, world.now)]
    assert missed == ["finished:early", "finished:ann", "failed:bob"]
    world.do("looks ann")
    world.pass_to(61)
    assert [one.key for one in rules.missed(world.state, world.now)] == missed
    world.pass_to(62)
    world.do("finished late")
    assert [one.key for one in rules.missed(world.state, world.now)] == missed


def test_a_fact_that_the_rules_pass_over_is_no_matter_and_shows_nobody() -> None:
    events = [event for story in STORIES for event in story.events]
    for event in events:
        via = (matter_of(event, None), person_of(event), settled_ask(event))
        assert type(event.fact) in OF_INTEREST or via == (None, None, "")
    # Each that they do not pass over has a reason, in one story or another.
    telling = {type(event.fact) for event in events if matter_of(event, None) or person_of(event)}
    assert telling <= OF_INTEREST
    assert len(telling) > 8
