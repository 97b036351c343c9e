"""While you were away: five lines at most, what matters most first, and answered questions are none of them."""

from farhand.model.attention import AttentionKind
from farhand.model.attention_rules import Matter
from farhand.model.digest import MOST_LINES, NOTHING, DigestLine, digest, digest_text, leads_to, line_text
from farhand.model.grammar import CHAT


def matter(kind: AttentionKind, worker: str, text: str, at: float = 0.0) -> Matter:
    return Matter(key=f"{kind}:{worker}:{text}", kind=kind, at=at, worker=worker, text=text)


def test_what_matters_most_comes_first_and_like_things_are_one_line() -> None:
    ask = matter(AttentionKind.ASK, "ann", "Run: make deploy", 5)
    told = [
        matter(AttentionKind.FINISHED, "ann", "One", 1),
        matter(AttentionKind.FINISHED, "ann", "Two", 2),
        matter(AttentionKind.FAILED, "bob", "no network", 3),
        ask,
        matter(AttentionKind.ASK, "bob", "answered", 4),
    ]
    lines = digest(told, frozenset((ask.key,)))
    assert [line_text(line) for line in lines] == [
        "ann asks: Run: make deploy",
        "bob failed: no network",
        "ann finished 2 turns, the last: Two",
    ]
    assert lines[2].key == told[1].key


def test_there_are_never_more_than_five_lines() -> None:
    lines = digest([matter(AttentionKind.FINISHED, f"w{n}", "done", n) for n in range(9)], frozenset())
    assert len(lines) == MOST_LINES
    assert lines[-1].more == 4
    assert line_text(lines[-1]).endswith("w4 is done: done (and 4 more)")


def test_nothing_is_told_as_nothing() -> None:
    assert digest_text(digest([], frozenset()), leads_to("")) == NOTHING


def test_each_line_leads_to_what_it_tells_of() -> None:
    told = [matter(AttentionKind.ASK, "ann", "Run it?"), matter(AttentionKind.FINISHED, "bob", "All green.")]
    lines = digest(told, frozenset(one.key for one in told))
    assert digest_text(lines, leads_to("https://team.example/")).splitlines() == [
        "• ann asks: Run it?",
        "   https://team.example/app/#/w/ann!ask%3Aann%3ARun%20it%3F",
        "• bob is done: All green.",
        "   https://team.example/app/#/w/bob",
    ]
    assert digest_text(lines, leads_to("")).splitlines()[1::2] == ["   /inbox", "   /history bob"]


def test_where_there_is_no_way_in_every_kind_has_a_command_that_shows_it() -> None:
    lead = leads_to("")
    for kind in AttentionKind:
        command = lead(DigestLine(kind=kind, key="k", at=0.0, worker="ann")).split()[0]
        assert CHAT.find(command.removeprefix("/")), kind
