"""Every recording of Codex translated and compared; a mutated line gives facts or a counted skip, never an error."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pure.recordings import (
    REMOVED,
    Translator,
    hook_payloads,
    lines_of,
    mutated,
    places,
    same_as_snapshot,
    translated,
)

from farhand.drivers.codex.asks import METHODS, CodexQuestion, to_ask
from farhand.drivers.codex.exec.state import CodexExecState
from farhand.drivers.codex.exec.translate import translate_event
from farhand.drivers.codex.headless import translate
from farhand.drivers.codex.headless.state import CodexServerState
from farhand.drivers.codex.tmux import translate as rollout
from farhand.drivers.codex.tmux.hooks import question_of, translate_hook
from farhand.drivers.codex.tmux.screen import (
    is_all_of,
    is_asking,
    is_ready,
    is_starting,
    is_stopped,
    read_box,
    refusals,
    takes_escape,
)
from farhand.drivers.codex.tmux.state import CodexRolloutState
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.tmux.delivered_log import ExpectedMessage

HERE = Path(__file__).parent
EVERY = sorted((HERE / "recordings").iterdir())
ROLLOUTS = [path for path in EVERY if path.name.startswith("rollout")]
HOOKS = [path for path in EVERY if path.name.startswith("hooks-")]
SERVERS = [path for path in EVERY if path.name == "app-server.jsonl"]
STREAMS = [path for path in EVERY if path.suffix == ".out"]
RECORDINGS = [*ROLLOUTS, *HOOKS, *SERVERS, *STREAMS]
SCREENS = [path for path in EVERY if path.suffix == ".txt"]


@pytest.fixture(autouse=True)
def _greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Codex tells hours by the machine's clock."""
    with monkeypatch.context() as here:
        here.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def records(path: Path) -> list[bytes]:
    """The CLI's own lines in a recording, without what the recorder put around them."""
    if path in HOOKS:
        return hook_payloads(path)
    if path in SERVERS:
        both = [json.loads(line) for line in lines_of(path)]
        return [msgspec.json.encode(named(one["msg"])) for one in both if one["dir"] == "out"]
    return lines_of(path)


def named(message: dict[str, Any]) -> dict[str, Any]:
    """The recorder numbered its requests; ours have names."""
    names = {2: "open", 3: "turn:t1", 4: "turn:t2", 5: "turn:t3", 6: "stop t3"}
    return message if "method" in message else {**message, "id": names.get(message["id"], str(message["id"]))}


def way(path: Path) -> tuple[Translator, Any]:
    """Which translation a recording needs, and where it starts."""
    if path in ROLLOUTS:
        expected = (
            ExpectedMessage(message="m1", text="say:  second", turn="t1"),
            ExpectedMessage(message="m2", text="more please"),
        )
        return rollout.translate, CodexRolloutState(expected=expected)
    if path in HOOKS:
        return translate_hook, CodexRolloutState()
    if path in SERVERS:
        return translate.translate, CodexServerState()
    return translate_event, CodexExecState(turn="t1")


def told(path: Path) -> dict[str, Any]:
    """All that a recording says, as plain data."""
    return translated(records(path), *way(path))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_a_recording_says_what_it_said(path: Path) -> None:
    assert same_as_snapshot(HERE, path.name, told(path))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_nothing_in_a_recording_is_unknown(path: Path) -> None:
    assert told(path)["skipped"] == 0


def shapes() -> list[tuple[Path, dict[str, Any]]]:
    """One record of each shape in each recording."""
    found: dict[str, tuple[Path, dict[str, Any]]] = {}
    for path in RECORDINGS:
        for line in records(path):
            record = json.loads(line)
            inner = record.get("payload") or record.get("params") or record
            item = inner.get("item") if isinstance(inner.get("item"), dict) else {}
            kinds = (record.get("type"), record.get("method"), record.get("hook_event_name"), inner.get("type"))
            found.setdefault(str((way(path)[0], *kinds, item.get("type"))), (path, record))
    return list(found.values())


SHAPES = shapes()
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


@given(data=st.data())
def test_no_mutation_is_an_error(data: st.DataObject) -> None:
    path, record = data.draw(st.sampled_from(SHAPES))
    place = data.draw(st.sampled_from(places(record)))
    fresh = mutated(record, place, data.draw(st.just(REMOVED) | ANYTHING))
    line = msgspec.json.encode(fresh)
    line = line[: data.draw(st.integers(0, len(line)))] if data.draw(st.integers(0, 9)) == 0 else line
    translator, state = way(path)
    for _ in range(2):
        heard, state = translator(line, state)
        assert isinstance(heard, list)
    assert state.skipped in (0, 2)
    question = Fields(fresh)
    if question.text("method") in METHODS:
        asked = CodexQuestion(method=question.text("method"), params=question.fields("params").plain)
        assert to_ask("a", asked, None).choices
    if question.text("hook_event_name") == "PermissionRequest":
        assert to_ask("a", question_of(question), None).choices


TRANSLATORS = [
    (rollout.translate, CodexRolloutState()),
    (translate_hook, CodexRolloutState()),
    (translate.translate, CodexServerState()),
    (translate_event, CodexExecState()),
]
STRANGE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b"\xff\xfe",
    b'{"type":"brand-new"}',
    b"[" * 5000,
    b'{"method":"new/one"}',
]


@pytest.mark.parametrize("translator", TRANSLATORS)
@pytest.mark.parametrize("line", STRANGE)
def test_what_is_unknown_is_counted(translator: tuple[Translator, Any], line: bytes) -> None:
    translates, state = translator
    heard, state = translates(line, state)
    assert heard == []
    assert state.skipped == 1


BOXES = {
    "tui-busy.txt": "Ask Codex to do anything",
    "tui-busy-thinking.txt": "Ask Codex to do anything",
    "tui-fresh-1.txt": "Ask Codex to do anything",
    "tui-idle.txt": "Ask Codex to do anything",
    "tui-idle-after.txt": "Ask Codex to do anything",
    "tui-interrupted.txt": "Ask Codex to do anything",
}


@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.name)
def test_a_screen_has_a_box_or_a_dialog(path: Path) -> None:
    screen = path.read_text("utf-8")
    # A recorded screen has no colours: what is a faint hint on a real one stands in its box.
    assert read_box(screen) == BOXES.get(path.name)
    assert is_asking(screen) == (path.name not in BOXES)


def test_a_hint_is_no_text() -> None:
    footer = "\n\n  fake-model default · ~/project\n  ? for shortcuts"
    assert read_box("\x1b[1m›\x1b[0m \x1b[2mAsk Codex to do anything\x1b[0m" + footer) == ""
    assert read_box("\x1b[1m›\x1b[0m half typed\n  and more" + footer) == "half typed\n  and more"


def test_a_message_that_waits_for_the_start_is_no_dialog() -> None:
    screen = "_ OpenAI Codex (v0.166.0)\n\n› /zed hi\n\n  Waiting for startup  · esc cancel\n"
    assert is_starting(screen)
    assert not is_asking(screen)
    assert not is_starting("› \n\n  gpt-5 · 100% context left\n")


FOOTER = "\n\n  fake-model default · ~/project\n  ⚠ 1 warning · f2 to view\n\n"
HIGH = "\n".join(f"  line {number}" for number in range(40))


@pytest.mark.parametrize(
    ("box", "text", "all_of"),
    [
        ("› fix it", "fix it\n", True),
        ("› fix it", "fix it all", False),
        ("› fix it, and more", "fix it", False),
        ("› one\n\n  two is wrap\n  ped", "one\n\ntwo is wrapped", True),
        ("› one\n\n  mine", "one", False),
        (f"› end of a line      \x1b[2m↑\x1b[0m\n{HIGH}", f"begins\nend of a line\n{HIGH}", True),
        (f"› end of a line\n{HIGH}", f"begins\nend of a line\n{HIGH}", False),
        ("› \x1b[2mAsk Codex to do anything\x1b[0m", "", False),
        ("› [Pasted Content 2000 chars]", "x" * 2000, False),
    ],
)
def test_a_box_is_all_of_a_text_when_nobody_added_anything(box: str, text: str, all_of: bool) -> None:
    screen = "› said before\n\n• answer\n\n" + box + FOOTER
    assert is_all_of(screen, text) is all_of
    assert is_all_of(screen.rstrip() + "\n\x1b[39m\n\n", text) is all_of


def test_a_screen_without_a_footer_is_all_of_nothing() -> None:
    assert not is_all_of("› fix it", "fix it")
    assert not is_all_of("• answer", "answer")


@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.name)
def test_a_stopped_turn_is_the_newest_on_its_screen(path: Path) -> None:
    screen = path.read_text("utf-8")
    assert is_stopped(screen) == (path.name == "tui-interrupted.txt")
    assert not is_stopped(screen.replace("› Ask", "› the next one\n\n• answer\n\n› Ask"))


@pytest.mark.parametrize(
    "above",
    [
        "  └ Tip: When the composer is empty, press Esc to step back and edit your last message; Enter confirms.",
        "• Press enter to confirm or esc to cancel",
        "› enter confirm · esc skip\n\n• It is one of Codex's own dialogs.",
    ],
)
def test_words_above_the_box_are_no_dialog(above: str) -> None:
    screen = f"{above}\n\n  Worked for <1s • 12:17\n\n› \x1b[2mAsk Codex to do anything\x1b[0m{FOOTER}"
    assert read_box(screen) == ""
    assert is_ready(screen)
    assert not is_asking(screen)
    assert not takes_escape(screen)


def test_commands_that_it_does_not_know_are_counted() -> None:
    refused = "• Unrecognized command '/zed'. Type \"/\" for a list of supported commands.\n\n"
    said = "› what is this\n\n• It says: Unrecognized command '/zed'.\n\n"
    assert [refusals(said + refused * count + "› /zed hi" + FOOTER) for count in (0, 1, 2)] == [0, 1, 2]


def test_whoever_browses_the_transcript_has_no_box() -> None:
    """Enter would take the conversation back to the prompt that is chosen there."""
    screen = "› one\n\n• answer\n\n› Ask Codex to do anything\n\n  fake-model default · ~/project\n"
    footer = "  Browsing transcript · ↑↓/jk scroll · ←→/hl prompts · ^t details · ↵ rewind · esc back"
    assert read_box(screen) is not None
    assert read_box(screen + footer) is None
    assert is_asking(screen + footer)


@pytest.mark.parametrize(
    ("shown", "takes"),
    [
        ("• Working (0s • esc to interrupt)", True),
        ("• half an ans", True),
        ("• answer\n\n  Worked for <1s • 05:17", False),
        ("■ Conversation interrupted", False),
        ("", False),
    ],
)
def test_a_turn_is_stopped_while_its_answer_is_written_and_nothing_is_pressed_at_rest(shown: str, takes: bool) -> None:
    screen = f"› one\n\n{shown}\n\n› Ask Codex to do anything\n\n  fake-model default · ~/project\n"
    assert takes_escape(screen) is takes
    assert not takes_escape(screen.replace("esc to", "") + "  esc again to edit previous message")
