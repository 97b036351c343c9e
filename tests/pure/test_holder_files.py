"""What a ledger proves, and which processes a killed holder left behind."""

import pytest

from farhand.model.holder_ports import Fed
from farhand.sandbox.folder import Life, feed_outcome
from farhand.sandbox.sweep import Process, leftovers

LIFE = Life(holder=10, child=11, ticks=500, boot="this", at=0.0)


@pytest.mark.parametrize(
    ("ledger", "expected"),
    [
        (b"", Fed.NOT_TAKEN),
        (b'begun "b"\ntaken "b"\n', Fed.NOT_TAKEN),
        (b'begun "a"\n', Fed.UNKNOWN),
        (b'begun "a"\ntaken "a"\n', Fed.TAKEN),
        (b'begun "a"\nlost "a"\n', Fed.NOT_TAKEN),
        (b'begun "a"\nlost "a"\nbegun "a"\n', Fed.UNKNOWN),
        (b'begun "a', Fed.NOT_TAKEN),
        (b'begun "a"\ntaken "a"', Fed.UNKNOWN),
        (b"\0\0\0\n\xff", Fed.NOT_TAKEN),
    ],
)
def test_a_ledger_proves_what_it_says_and_no_more(ledger: bytes, expected: Fed) -> None:
    assert feed_outcome(ledger.splitlines(keepends=True), "a") is expected


def test_keys_may_have_any_characters() -> None:
    assert feed_outcome([b'taken "\\u00fc \\n\\" b"\n'], 'ü \n" b') is Fed.TAKEN


def test_the_session_of_the_child_is_what_it_left() -> None:
    child, grandchild = Process(11, 11, 500), Process(12, 11, 600)
    assert leftovers(LIFE, "this", [Process(1, 1, 0), child, grandchild]) == [child, grandchild]
    assert leftovers(LIFE, "this", [Process(1, 1, 0), grandchild]) == [grandchild]


def test_another_process_with_the_same_number_is_left_alone() -> None:
    assert leftovers(LIFE, "this", [Process(11, 11, 501), Process(12, 11, 600)]) == []
    assert leftovers(LIFE, "next", [Process(11, 11, 500)]) == []
