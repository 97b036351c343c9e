"""The docs are true: examples are words that we read, pages name what exists, and a page that lies is found out."""

import re
from pathlib import Path

import pytest
from scripts import check_docs, write_reference

from farhand.model import frames
from farhand.model.wire import decode_command, decode_event

DOCS = Path(__file__).resolve().parents[2] / "docs"
_EXAMPLE = re.compile(r"^```json (\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_READERS = {"command": decode_command, "event": decode_event, "reply": frames.read_reply}
EXAMPLES = [
    (page.name, kind, line)
    for page in sorted(DOCS.rglob("*.md"))
    for kind, body in _EXAMPLE.findall(page.read_text("utf-8"))
    for line in body.splitlines()
]


def test_the_docs_have_no_complaint() -> None:
    assert list(check_docs.complaints()) == []


def test_what_the_code_tells_is_what_the_pages_say() -> None:
    assert write_reference.main(["--check"]) == 0


@pytest.mark.parametrize(("page", "kind", "line"), EXAMPLES)
def test_an_example_is_a_word_of_ours(page: str, kind: str, line: str) -> None:
    _READERS[kind](line.encode())


def test_there_are_examples_of_every_kind() -> None:
    assert {kind for _, kind, _ in EXAMPLES} == set(_READERS)


def test_the_python_of_the_http_page_compiles() -> None:
    found = re.findall(r"^```python\n(.*?)^```", (DOCS / "reference" / "http-api.md").read_text("utf-8"), re.S | re.M)
    assert found
    for code in found:
        compile(code, "http-api.md", "exec")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[a](nowhere.md)", "the link to nowhere.md leads nowhere"),
        ("[a](#no-such-heading)", "has no heading for #no-such-heading"),
        ("![picture](images/none.svg)", "the link to images/none.svg leads nowhere"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(text: str, complaint: str) -> None:
    page = DOCS / "glossary.md"
    assert [line for line in check_docs.broken_links(page, text) if complaint in line]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("`core/hut.py`", "there is no core/hut.py"),
        ("`core/hub.py::LocalHub.sned`", "core/hub.py has no LocalHub.sned"),
        ("`tests/live/test_kills.py::test_nothing`", "tests/live/test_kills.py has no test_nothing"),
    ],
)
def test_a_name_that_does_not_exist_is_found(text: str, complaint: str) -> None:
    assert [line for line in check_docs.missing_names(DOCS / "glossary.md", text) if complaint in line]


def test_a_how_to_names_what_exists_but_for_what_its_reader_writes() -> None:
    page = DOCS / "how-to" / "write-a-driver.md"
    text = "`core/hut.py` `core/hub.py::LocalHub.sned` `link.py::Link` `driver.py` `tmux/screen.py` `acp/mine.toml`"
    assert [line.partition(": ")[2] for line in check_docs.missing_names(page, text)] == [
        "there is no core/hut.py",
        "core/hub.py has no LocalHub.sned",
        "there is no link.py",
    ]


def test_what_exists_is_no_complaint() -> None:
    text = "`core/hub.py::LocalHub.send` [glossary](glossary.md#glossary) `docs/tutorial.md` `seq` [a](https://example.org)"
    assert list(check_docs.missing_names(DOCS / "glossary.md", text)) == []
    assert list(check_docs.broken_links(DOCS / "glossary.md", text)) == []


def test_what_is_not_told_and_what_is_invented_are_found() -> None:
    told = check_docs.rows("| `ONE` | a, `THREE` |\n| `TWO`, `FOUR` | b |\n")
    assert list(check_docs.differing("setting", "page.md", told, {"ONE", "THREE"})) == [
        "docs/page.md: setting THREE is not told",
        "docs/page.md: there is no setting FOUR",
        "docs/page.md: there is no setting TWO",
    ]


def road(*rows: str, counts: str = "1 hops, 1 files; in all 1 functions, 1 files.") -> str:
    table = "\n".join(f"| {row} |" for row in rows)
    return f"{counts}\n\n| | hop | what happens |\n|---|---|---|\n{table}\n"


SEND = "`core/hub.py::LocalHub.send`"
SHORT = check_docs.RoadCounts(1, 1, 1, 1)


def test_a_true_road_is_no_complaint() -> None:
    assert list(check_docs.road_complaints("x", road(f"1 | {SEND} | it is taken", "– | | the agent"), SHORT)) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (road("1 | `core/hub.py::LocalHub.sned` | a"), "core/hub.py::LocalHub.sned is no function"),
        (road("1 | `core/hub.py::LocalHub` | a"), "core/hub.py::LocalHub is no function"),
        (road("1 | `core/hut.py::send` | a"), "core/hut.py::send is no function"),
        (road(f"1 | {SEND}, `core/decide.py::decide` | a"), "hop 1 is not one function"),
        (road("1 | the hub | a"), "hop 1 is not one function"),
        (road(f"2 | {SEND} | a"), "hop 2 should be 1"),
        (road(f"1 | {SEND} | a", f"2 | {SEND} | a"), "2 hops, at most 1"),
        (road(f"1 | {SEND} | asks `core/decide.py::decide`"), "2 files, at most 1"),
        (road(f"1 | {SEND} | a") + "Asked on the way: `core/decide.py::decide`.", "2 functions in all, at most 1"),
        (road(f"1 | {SEND} | a", counts="3 hops, 1 files; in all 1 functions, 1 files."), "it has 1 hops, 1 files"),
        (road(f"1 | {SEND} | a", counts=""), "it has 1 hops, 1 files"),
    ],
)
def test_a_road_that_is_wrong_or_too_long_is_found(text: str, complaint: str) -> None:
    assert [line for line in check_docs.road_complaints("x", text, SHORT) if complaint in line]


def test_a_road_that_is_missing_is_found() -> None:
    assert [line for line in check_docs.roads_complaints("# no roads here") if "no road 'Claude in tmux'" in line]


def test_settings_and_routes_are_found_in_the_code() -> None:
    assert {"FARHAND_HOME", "PORT", "TELEGRAM_BOT_TOKEN", "FARHAND_RETENTION_DAYS"} <= check_docs.settings_read()
    assert {"GET /healthz", "POST /api/hub/commands", "POST /", "POST /hooks/of/{worker}"} <= check_docs.routes_served()


def test_a_route_is_found_however_it_is_written() -> None:
    text = """
PREFIX = "/api/toys"
ROUTES = [
    Route("/plain", plain),
    Route(PREFIX, partial(one, "x (y)"), methods=["GET", "POST"]),
    Route(PREFIX + "/{toy}", remove, methods=["DELETE"]),
    WebSocketRoute("/socket", follow),
    Route(given, elsewhere),
]
"""
    assert list(check_docs.routes_in(text)) == [
        "GET /plain",
        "GET /api/toys",
        "POST /api/toys",
        "DELETE /api/toys/{toy}",
        "GET /socket",
    ]


def test_a_variable_is_found_though_it_has_a_digit_or_stands_on_a_line_of_its_own() -> None:
    ways = (
        'environ.get("FARHAND_HTTP2")',
        'number(\n    environ, "FARHAND_LONG", 1.0)',
        'number(environ,\n    "FARHAND_X", 1)',
    )
    text = "\n".join(ways)
    assert {found[1] or found[2] for found in check_docs.READS.finditer(text)} == {
        "FARHAND_HTTP2",
        "FARHAND_LONG",
        "FARHAND_X",
    }
