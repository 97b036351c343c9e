"""A comment on a line, while the worker goes on changing what is commented on."""

import subprocess
from pathlib import Path

from playwright.sync_api import Locator, expect
from tests.live.app.conftest import Opens
from tests.live.app.phone import AppNode, Phone


def test_a_comment_that_is_being_written_outlives_every_reading_anew(phone: Opens, node: AppNode) -> None:
    project = node.home.folder / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / "poem.txt").write_text("one\ntwo\nthree\n")
    node.done("hire", "--backend", "demo", "--dir", str(project), "ann")
    opened = phone()
    opened.pair()
    opened.open_worker("ann")
    opened.composer("ann").fill("half a thought")
    writes_on_the_second_line(opened)
    the_worker_adds_a_file_and_a_line(opened, project)
    the_page_is_left(opened)
    the_file_is_gone(opened, project)
    opened.tap(opened.button("Add comment"))
    opened.tap(opened.button("Send the comment"))
    expect(opened.receipt("Why two?")).to_contain_text("answered")
    # It was no answer to what stands in the composer.
    expect(opened.composer("ann")).to_have_value("half a thought")


def comment(opened: Phone) -> Locator:
    return opened.page.get_by_placeholder("Your comment")


def is_read_anew(opened: Phone, shows: str) -> None:
    """A turn ends, and its changes are on the screen."""
    opened.node.done("say", "--worker", "ann", "hello")
    expect(opened.page.get_by_text(shows)).to_be_visible()


def writes_on_the_second_line(opened: Phone) -> None:
    opened.tap(opened.page.get_by_role("link", name="Files and changes"))
    opened.tap(opened.page.get_by_role("button", name="poem.txt"))
    opened.tap(opened.page.locator(".diff-line", has_text="two"))
    comment(opened).fill("Why two?")


def the_worker_adds_a_file_and_a_line(opened: Phone, project: Path) -> None:
    """The file is second in the list now, and its second line the third."""
    (project / "another.txt").write_text("before it\n")
    (project / "poem.txt").write_text("zero\none\ntwo\nthree\n")
    is_read_anew(opened, "2 of 2")
    expect(opened.page.locator(".diff-line", has_text="zero")).to_be_visible()
    expect(opened.page.locator(".diff-line.picked")).to_contain_text("two")
    expect(comment(opened)).to_have_value("Why two?")


def the_page_is_left(opened: Phone) -> None:
    opened.page.reload()
    opened.tap(opened.page.get_by_role("button", name="poem.txt"))
    expect(comment(opened)).to_have_value("Why two?")


def the_file_is_gone(opened: Phone, project: Path) -> None:
    (project / "poem.txt").unlink()
    is_read_anew(opened, "This file has no changes any more.")
    expect(comment(opened)).to_have_value("Why two?")
