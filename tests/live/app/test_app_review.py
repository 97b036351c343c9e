"""A review in the phone app, in a real Chromium on a real node: verdict, findings sent back, grey, again, the gate."""

import json
import re
import subprocess

from playwright.sync_api import Locator, Route, expect
from tests.house.reviewing import git, repository
from tests.live.app.conftest import Opens
from tests.live.app.net import until
from tests.live.app.phone import NODE, AppNode, Phone
from tests.live.nodes import SAFETY_SECONDS

expect.set_options(timeout=SAFETY_SECONDS * 1000)


def test_a_verdict_is_sent_back_goes_grey_and_opens_the_gate(phone: Opens, node: AppNode) -> None:
    opened = phone()
    shop = repository(node.home.folder / "shop")
    git(shop, "switch", "-qc", "work")
    opened.pair()
    hired = node.home.farhand("hire", "ann", "--backend", "demo", "--dir", str(shop), "--node", NODE)
    assert hired.returncode == 0, hired.stderr
    (shop / "a.py").write_text("password = 1\n# TODO: later\n")
    opened.open_worker("ann")
    opened.tap(opened.button("About ann"))
    opened.tap(opened.sheet.get_by_role("button", name="Review", exact=True))
    sheet = opened.page.get_by_role("dialog")
    opened.tap(sheet.locator("label", has_text="Demo"))
    take_off(opened, ticked(opened, has_not_text="Demo"))
    expect(sheet.get_by_role("checkbox", checked=True)).to_have_count(1)
    opened.tap(opened.button("Start the review"))
    tabs = opened.page.get_by_role("tab")
    expect(tabs.first).to_contain_text("Wants changes · 2")
    opened.tap(tabs.first)
    expect(opened.page.locator(".finding").first).to_contain_text("a.py:1")
    opened.tap(opened.button("Send 2 back"))
    expect(opened.page.locator(".rows")).to_contain_text("A review of your work found this")
    (shop / "a.py").write_text("fine = 1\n")
    opened.say("ann", "hello")
    expect(opened.page.locator(".review-tab.stale")).to_be_visible()
    opened.tap(opened.button("Review again"))
    expect(tabs.first).to_contain_text("Approves")
    opened.tap(tabs.first)
    expect(opened.page.locator(".gate")).to_contain_text("Gate open")
    # What is not committed cannot be merged; committed as it was judged, it can.
    opened.tap(opened.button("Merge into main"))
    expect(opened.page.locator(".gate")).to_contain_text("not committed")
    git(shop, "commit", "-qam", "two")
    opened.tap(opened.button("Merge into main"))
    expect(opened.page.locator(".gate")).to_contain_text("Merged.")
    assert git(shop, "rev-parse", "main") == git(shop, "rev-parse", "work")


def test_commits_up_to_one_of_them_are_judged_as_another_worker_would(phone: Opens, node: AppNode) -> None:
    opened = phone()
    shop = repository(node.home.folder / "shop")
    for number in (2, 3):
        (shop / "a.py").write_text(f"print({number})\n")
        git(shop, "commit", "-qam", f"change {number}")
    opened.pair()
    for name, more in (("ann", ()), ("cleo", ("--model", "a-model"))):
        hired = node.home.farhand("hire", name, "--backend", "demo", "--dir", str(shop), *more, "--node", NODE)
        assert hired.returncode == 0, hired.stderr
    opened.open_worker("ann")
    opened.tap(opened.button("About ann"))
    opened.tap(opened.sheet.get_by_role("button", name="Review", exact=True))
    sheet = opened.page.get_by_role("dialog")
    opened.tap(sheet.locator("label", has_text="Commits since"))
    sheet.get_by_role("textbox", name="Commits since").fill("main~2")
    sheet.get_by_role("textbox", name="up to").fill("main~1")
    cleo = sheet.locator("label", has_text="cleo")
    opened.tap(cleo)
    take_off(opened, ticked(opened, has_not_text="cleo"))
    opened.tap(opened.button("Start the review"))
    expect(opened.page.get_by_role("tab").first).to_be_visible()
    told = node.home.farhand("events", "--node", NODE).stdout.splitlines()
    facts = [json.loads(line)["fact"] for line in told if line.startswith("{")]
    (asked,) = [fact["review"] for fact in facts if fact["type"] == "review_asked"]
    assert (asked["scope"], asked["base"], asked["head"]) == ("commits", "main~2", "main~1")
    assert [(one["backend"], one["model"]) for one in asked["reviewers"]] == [("demo", "a-model")]


def test_two_reviewers_have_a_tab_each_for_every_round_and_one_finding_goes_back(phone: Opens, node: AppNode) -> None:
    opened = phone()
    shop = repository(node.home.folder / "shop")
    opened.pair()
    for name in ("ann", "cleo"):
        hired = node.home.farhand("hire", name, "--backend", "demo", "--dir", str(shop), "--node", NODE)
        assert hired.returncode == 0, hired.stderr
    (shop / "a.py").write_text("password = 1\n# TODO: later\n")
    opened.open_worker("ann")
    opened.page.goto(f"{node.address()}#/w/ann!review%3Aann")
    for label in (re.compile("^Demo$"), "cleo"):
        opened.tap(opened.sheet.locator("label", has_text=label))
    take_off(opened, ticked(opened, has_not_text=re.compile("Demo|cleo")))
    opened.tap(opened.button("Start the review"))
    tabs, panel = opened.page.get_by_role("tab"), opened.page.get_by_role("tabpanel")
    expect(tabs).to_have_count(2)
    expect(panel).to_have_count(0)
    for number in (0, 1):
        expect(tabs.nth(number)).to_contain_text("Wants changes · 2")
        opened.tap(tabs.nth(number))
        expect(tabs.nth(number)).to_have_attribute("aria-selected", "true")
        expect(panel.locator(".finding")).to_have_count(2)
    opened.tap(panel.locator(".finding").nth(1))
    opened.tap(opened.button("Send 1 back"))
    expect(panel.locator(".finding", has_text="sent back")).to_have_count(1)
    opened.tap(opened.button("Review again"))
    # The newest round comes first, and the one before stays there to be read.
    expect(tabs).to_have_count(4)
    for number in (0, 1):
        expect(tabs.nth(number)).to_contain_text("Demo 2")
        expect(tabs.nth(number)).to_contain_text("Wants changes")
    opened.tap(opened.button("Minimise"))
    expect(panel).to_have_count(0)


def test_nobody_can_be_ticked_before_all_are_known_and_only_who_can_judge(phone: Opens, node: AppNode) -> None:
    opened = phone()
    opened.pair()
    assert node.home.farhand("hire", "ann", "--backend", "demo", "--node", NODE).returncode == 0
    opened.open_worker("ann")
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    opened.page.route("**/api/hire*", hold)
    opened.page.goto(f"{node.address()}#/w/ann!review%3Aann")
    expect(opened.sheet.get_by_text("Who judges")).to_be_visible()
    expect(opened.sheet.get_by_role("status")).to_be_attached()
    assert opened.sheet.get_by_role("checkbox").count() == 0, "what is ticked now is lost when the list comes"
    until("nobody asks who is here", lambda: opened.page.evaluate("null") or late)[0].continue_()
    opened.tap(opened.sheet.locator("label", has_text="Demo"))
    expect(opened.sheet.get_by_role("checkbox", name="Demo")).to_be_checked()
    assert opened.sheet.locator("label", has_text="Bridge").count() == 0


def ticked(opened: Phone, has_not_text: str | re.Pattern[str]) -> Locator:
    """Who else is chosen to judge: that depends on which agents this machine has."""
    chosen = opened.page.get_by_role("checkbox", checked=True)
    return opened.sheet.locator("label", has_not_text=has_not_text).filter(has=chosen)


def take_off(opened: Phone, ticked: Locator) -> None:
    """Takes each tick off, and sees that it is off before the next: a second tap would set it again."""

    def is_off() -> bool:
        if ticked.count():
            box = ticked.first.get_by_role("checkbox").element_handle()
            opened.tap(ticked.first)
            opened.page.wait_for_function("(box) => !box.checked", arg=box)
        return not ticked.count()

    until(f"{ticked} is still ticked", is_off)


def test_the_command_line_waits_for_a_verdict(node: AppNode) -> None:
    home, shop = node.home, repository(node.home.folder / "shop")

    def farhand(*words: str) -> "subprocess.CompletedProcess[str]":
        return home.farhand(*words, "--node", NODE)

    assert farhand("hire", "ann", "--backend", "demo", "--dir", str(shop)).returncode == 0
    (shop / "a.py").write_text("password = 1\n")
    judged = farhand("review", "--worker", "ann", "--by", "demo", "--wait")
    assert (judged.returncode, "1. P1 a.py:1 – This should not be shipped." in judged.stdout) == (1, True)
    assert "Sent back to ann." in farhand("review", "send", "1", "--worker", "ann").stdout
    (shop / "a.py").write_text("fine = 1\n")
    assert farhand("review", "again", "--worker", "ann", "--wait").returncode == 0
    assert "round 2" in farhand("review", "status", "--worker", "ann").stdout
    assert farhand("review", "cancel", "--worker", "ann").returncode == 1
