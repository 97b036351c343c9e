"""A sprint from the phone: begun, asked to stop after what it is at, and stopped at once in the middle of a check."""

import os
import subprocess
from pathlib import Path

from playwright.sync_api import expect
from tests.live.app.conftest import Opens
from tests.live.app.phone import AppNode, Phone

from farhand.disk.processes import started

# Tells which process it is, and holds a task while the test wants it held, and no longer than its folder is there.
CHECK = "echo $$ > ../begun; until test -e go || ! test -d .git; do sleep 0.05; done"


def test_a_sprint_is_begun_stopped_both_ways_and_waits_where_it_ended(phone: Opens, node: AppNode) -> None:
    project = node.home.folder / "project"
    begun = node.home.folder / "begun"
    os.mkfifo(begun)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    node.done("hire", "--backend", "demo", "--dir", str(project), "ann")
    opened = phone()
    opened.pair()
    opened.open_worker("ann")
    begins(opened, begun)
    opened.tap(opened.button("Stop after this turn"))
    expect(opened.sheet.get_by_role("button", name="stops after this turn")).to_be_disabled()
    (project / "go").touch()
    ends(opened, "The sprint was stopped: 1 of 2 done.")
    (project / "go").unlink()
    check = begins(opened, begun)
    opened.tap(opened.button("Stop now"))
    ends(opened, "The sprint was stopped: 0 of 2 done.")
    assert started(check) is None, "the check is gone, and nothing let it go on"
    waits_in_the_inbox_until_somebody_goes_on(opened)


def begins(opened: Phone, begun: Path) -> int:
    """Two tasks, the first of which is being checked, on the sheet of the sprint; which process checks it."""
    opened.tap(opened.button("About ann"))
    opened.tap(opened.button("Give a list of tasks…"))
    opened.sheet.get_by_label("Tasks, one a line").fill("Paint the tower\nLight the lamp")
    opened.sheet.get_by_label("Check", exact=True).fill(CHECK)
    opened.sheet.get_by_label("Commit after each task").uncheck()
    opened.tap(opened.button("Start the sprint · 2"))
    opened.tap(opened.page.locator(".queue-line", has_text="0/2 · checking"))
    expect(opened.sheet.locator(".sprint-task.now")).to_contain_text("Paint the tower")
    return int(begun.read_text())


def ends(opened: Phone, how: str) -> None:
    """The conversation tells it, and a new one could begin."""
    expect(opened.page.locator(".rows").get_by_text(how)).to_have_count(1)
    opened.tap(opened.sheet.get_by_role("button", name="Close"))
    expect(opened.page.locator(".queue-line")).to_have_count(0)


def waits_in_the_inbox_until_somebody_goes_on(opened: Phone) -> None:
    """A sprint that stopped before its end, and nobody stopped it."""
    told = (
        "sprint",
        "start",
        "Paint the tower",
        "--worker",
        "ann",
        "--no-commit",
        "--rounds",
        "1",
        "--verify",
        "false",
    )
    opened.node.done(*told)
    opened.page.goto(f"{opened.node.address()}#/inbox")
    row = opened.page.locator(".link-row", has_text="ann’s sprint has stopped: 1 round")
    expect(row).to_have_count(1)
    opened.tap(row)
    expect(opened.sheet).to_be_visible()
    opened.tap(opened.sheet.get_by_role("button", name="Close"))
    opened.say("ann", "hello")
    expect(opened.receipt("hello")).to_contain_text("answered")
    opened.page.goto(f"{opened.node.address()}#/inbox")
    expect(row).to_have_count(0)
