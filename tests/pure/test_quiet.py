"""`/quiet` reads what a person types, in a chat, a terminal and on the command line, and says how it is set."""

import re

import pytest
from inline_snapshot import snapshot

from farhand.model import commands
from farhand.model.attention import ALL_KINDS, USUAL_ATTENTION, AttentionKind, AttentionSettings, LockScreen, QuietHours
from farhand.model.errors import BadInput
from farhand.model.grammar import read
from farhand.model.present import Present, Worker
from farhand.model.quiet import changed, settings_words
from farhand.model.wishes import InfoRequest, Wrong

# 12:00 UTC.
NOON = 1_800_100_800.0
UTC = AttentionSettings(zone="UTC")
TEAM = {"ann": "ann", "claude-bob": "claude-bob"}


def typed(text: str, settings: AttentionSettings = UTC) -> AttentionSettings:
    return changed(settings, text.split(), lambda name: TEAM.get(name.lower(), ""), NOON)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30m", AttentionSettings(zone="UTC", until=NOON + 1800)),
        ("2h", AttentionSettings(zone="UTC", until=NOON + 7200)),
        ("until 8:00", AttentionSettings(zone="UTC", until=NOON + 20 * 3600)),
        ("until 13", AttentionSettings(zone="UTC", until=NOON + 3600)),
        ("22:00-7:30", AttentionSettings(zone="UTC", hours=QuietHours(start=1320, end=450))),
        ("22-7", AttentionSettings(zone="UTC", hours=QuietHours(start=1320, end=420))),
        ("except ask,failed", AttentionSettings(zone="UTC", exceptions=(AttentionKind.ASK, AttentionKind.FAILED))),
        ("finished off", AttentionSettings(zone="UTC", off=(AttentionKind.FINISHED,))),
        ("ann off", AttentionSettings(zone="UTC", workers={"ann": ALL_KINDS})),
        ("ann finished off", AttentionSettings(zone="UTC", workers={"ann": (AttentionKind.FINISHED,)})),
        ("times 1 5", AttentionSettings(zone="UTC", next_minutes=1, again_minutes=5)),
        ("desk off", AttentionSettings(zone="UTC", desk=False)),
        ("show name", AttentionSettings(zone="UTC", lock_screen=LockScreen.NAME)),
    ],
)
def test_what_is_typed_is_set(text: str, expected: AttentionSettings) -> None:
    assert typed(text) == expected


def test_what_was_set_can_be_taken_back() -> None:
    night = typed("22-7", typed("2h"))
    assert typed("off", night) == UTC
    assert typed("ann on", typed("ann off")) == UTC
    assert typed("finished on", typed("finished off")) == UTC
    assert typed("except none", typed("except ask")) == UTC


@pytest.mark.parametrize(
    "text", ["nobody off", "25:00-7", "until 24", "22", "ann", "show all of it", "times 0 5", "x y z"]
)
def test_what_makes_no_sense_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(BadInput) as told:
        typed(text)
    assert len(told.value.text) > 20


def test_it_is_one_entry_of_the_table() -> None:
    present = Present(workers={"ann": Worker(name="ann", since=1, backend="demo", directory="/")})
    assert read("1", "/quiet", present) == InfoRequest(id="1", about="quiet")
    wish = read("1", "/quiet ann off", present)
    assert wish == commands.SetAttention(id="1", settings=AttentionSettings(workers={"ann": ALL_KINDS}))
    assert isinstance(read("1", "/quiet nobody off", present), Wrong)


def test_how_it_is_set_is_told_in_plain_words() -> None:
    assert settings_words(USUAL_ATTENTION, NOON) == snapshot("""\
Not quiet: the phone buzzes for anything.
/quiet 2h, /quiet until 8:00 or, every day, /quiet 22:00-7:00 makes it quiet.
A question that waits goes on to the next channel after 3 min, and comes again 15 min later.
The phone is quiet while you are at the desk.
Notifications show what is asked and said.\
""")
    some = typed("ann finished off", typed("22:00-7:30", typed("except ask", typed("2h"))))
    assert settings_words(some, NOON) == snapshot("""\
Quiet until 14:00 UTC; then it buzzes again by itself.
Quiet every day from 22:00 to 7:30 (UTC).
Buzzes all the same: questions. What does not buzz is in the chat without a sound.
/quiet off ends it.
ann does not buzz for finished turns.
A question that waits goes on to the next channel after 3 min, and comes again 15 min later.
The phone is quiet while you are at the desk.
Notifications show what is asked and said.\
""")


def test_no_space_stands_before_the_semicolon_where_the_zone_has_no_name() -> None:
    at_home = AttentionSettings(until=NOON + 7200)
    first = settings_words(at_home, NOON).splitlines()[0]
    assert re.fullmatch(r"Quiet until \d\d:\d\d( on \d\d \w+)?; then it buzzes again by itself\.", first)
