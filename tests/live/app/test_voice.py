"""Voice notes in the app: recorded by a real browser, written down by a program of the node, corrected and sent."""

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Browser, expect
from tests.live.app.cable import Cable
from tests.live.app.phone import DESK, PHONE, SMALL, AppNode, Phone, running
from tests.live.nodes import Home

# Says how the recording begins: WebM has a mark of its own.
PROGRAM = "import sys; print('run the tests' if open(sys.argv[1], 'rb').read(4) == b'\\x1aE\\xdf\\xa3' else 'no WebM')"


@pytest.fixture
def node() -> Iterator[AppNode]:
    """A node that writes recordings down."""
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(PROGRAM)} {{file}}"
    with (
        TemporaryDirectory(prefix="farhand-", ignore_cleanup_errors=True) as folder,
        running(Home(Path(folder), FARHAND_VOICE_COMMAND=command)) as made,
    ):
        yield made


def test_a_voice_note_becomes_words_to_correct_also_after_a_tunnel(browser: Browser, node: AppNode) -> None:
    with Cable(node.port) as cable:
        node.reached_at = cable.port
        for size in (PHONE, SMALL, DESK):
            opened = Phone(browser, node, size)
            opened.pair()
            opened.open_worker("demo")
            notes_become_words(opened, cable, f"run the tests for {size['width']} pixels")
            assert opened.problems == []
            opened.context.close()


def notes_become_words(opened: Phone, cable: Cable, corrected: str) -> None:
    """Two notes, the second of them in a tunnel; what was heard is corrected, and said once."""
    record(opened)
    expect(opened.composer("demo")).to_have_value("run the tests")
    cable.pull_out()
    record(opened)
    # It stays with the draft until somebody can write it down.
    expect(opened.page.get_by_text(re.compile("^Voice note, "))).to_be_visible()
    cable.plug_in()
    opened.tap(opened.button("Write it down"))
    expect(opened.composer("demo")).to_have_value("run the tests run the tests")
    opened.composer("demo").fill(corrected)
    opened.tap(opened.button("Send"))
    expect(opened.answer("demo")).to_contain_text(f"You said: “{corrected}”")
    said = opened.node.said()
    assert (said[-1], said.count(corrected)) == (corrected, 1)
    assert "run the tests" not in said


def record(opened: Phone) -> None:
    """A second of the microphone, or more."""
    opened.tap(opened.button("Record a voice note"))
    expect(opened.page.get_by_text(re.compile(r"Recording (?!0:00)\d+:\d\d"))).to_be_visible()
    opened.tap(opened.button("Write it down"))
