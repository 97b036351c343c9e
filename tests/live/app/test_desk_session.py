"""A conversation at the desk is read in the phone app before anybody takes it up."""

import shutil
from pathlib import Path

from playwright.sync_api import expect
from tests.live.app.conftest import Opens
from tests.live.app.phone import AppNode

RECORDING = Path(__file__).parents[2] / "pure" / "claude" / "recordings" / "transcript-tui.jsonl"
SESSION = "6095bb26-aaaa-4333-8444-555555555555"


def test_what_was_said_at_the_desk_is_read_and_nobody_is_hired(phone: Opens, node: AppNode) -> None:
    kept = Path(node.home.environment["HOME"]) / ".claude" / "projects" / "-srv-shop" / f"{SESSION}.jsonl"
    kept.parent.mkdir(parents=True)
    shutil.copy(RECORDING, kept)
    opened = phone()
    opened.pair()
    opened.page.goto(f"{node.address()}#/sessions")
    opened.tap(opened.page.get_by_role("button", name="What was said").first)
    sheet = opened.page.get_by_role("dialog", name="What was said")
    expect(sheet.get_by_role("article", name="Message of At the desk").first).to_be_visible()
    expect(sheet.get_by_text("First paragraph of the answer.").first).to_be_visible()
    opened.tap(sheet.get_by_role("button", name="Close"))
    opened.page.goto(f"{node.address()}#/")
    expect(opened.page.locator('a[href^="#/w/"]')).to_have_count(1)
