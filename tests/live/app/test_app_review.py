"""A review in the phone app, in a real Chromium on a real node: verdict, findings sent back, grey, again, the gate."""

import re

from playwright.sync_api import Locator, Route, expect
from tests.house.reviewing import git, repository
from tests.live.app.conftest import Opens
from tests.live.app.net import until
from tests.live.app.phone import AppNode, Phone
from tests.live.nodes import SAFETY_SECONDS

expect.set_options(timeout=SAFETY_SECONDS * 1000)


def test_one_is_judged_and_merged_then_commits_then_at_the_desk(phone: Opens, node: AppNode) -> None:
    opened = phone()
    opened.pair()
    a_verdict_is_sent_back_goes_grey_and_opens_the_gate(opened, node)
    commits_up_to_one_of_them_are_judged_as_another_worker_would(opened, node)
    the_command_line_waits_for_a_verdict(node)


def a_verdict_is_sent_back_goes_grey_and_opens_the_gate(opened: Phone, node: AppNode) -> None:
    """What is not committed cannot be merged; committed as it was judged, it can."""
    shop = repository(node.home.folder / "shop")
    git(shop, "switch", "-qc", "work")
    node.done("hire", "ann", "--backend", "demo", "--dir", str(shop))
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
    opened.tap(opened.button("Merge into main"))
    expect(opened.page.locator(".gate")).to_contain_text("not committed")
    git(shop, "commit", "-qam", "two")
    opened.tap(opened.button("Merge into main"))
    expect(opened.page.locator(".gate")).to_contain_text("Merged.")
    assert git(shop, "rev-parse", "main") == git(shop, "rev-parse", "work")


def commits_up_to_one_of_them_are_judged_as_another_worker_would(opened: Phone, node: AppNode) -> None:
    """By the model that this worker has."""
    shop = repository(node.home.folder / "commits")
    for number in (2, 3):
        (shop / "a.py").write_text(f"print({number})\n")
        git(shop, "commit", "-qam", f"change {number}")
    for name, more in (("ben", ()), ("cleo", ("--model", "a-model"))):
        node.done("hire", name, "--backend", "demo", "--dir", str(shop), *more)
    opened.page.goto(f"{node.address()}#/w/ben")
    opened.tap(opened.button("About ben"))
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
    asked = [fact["review"] for fact in node.facts() if fact["type"] == "review_asked"][-1]
    assert (asked["scope"], asked["base"], asked["head"]) == ("commits", "main~2", "main~1")
    assert [(one["backend"], one["model"]) for one in asked["reviewers"]] == [("demo", "a-model")]


def test_who_judges_is_chosen_and_two_reviewers_have_a_tab_each(phone: Opens, node: AppNode) -> None:
    opened = phone()
    shop = repository(node.home.folder / "shop")
    opened.pair()
    for name in ("ann", "cleo"):
        node.done("hire", name, "--backend", "demo", "--dir", str(shop))
    (shop / "a.py").write_text("password = 1\n# TODO: later\n")
    opened.open_worker("ann")
    nobody_can_be_ticked_before_all_are_known_and_only_who_can_judge(opened, node)
    opened.page.reload()
    every_round_has_its_tabs_and_one_finding_goes_back(opened)


def nobody_can_be_ticked_before_all_are_known_and_only_who_can_judge(opened: Phone, node: AppNode) -> None:
    """What is ticked before the list comes would be lost."""
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    opened.page.route("**/api/hire*", hold)
    opened.page.goto(f"{node.address()}#/w/ann!review%3Aann")
    expect(opened.sheet.get_by_text("Who judges")).to_be_visible()
    expect(opened.sheet.get_by_role("status")).to_be_attached()
    assert opened.sheet.get_by_role("checkbox").count() == 0, "what is ticked now is lost when the list comes"
    until("nobody asks who is here", lambda: opened.page.evaluate("null") or late)[0].continue_()
    opened.tap(opened.sheet.locator("label", has_text=re.compile("^Demo$")))
    expect(opened.sheet.locator("label", has_text=re.compile("^Demo$")).get_by_role("checkbox")).to_be_checked()
    assert opened.sheet.locator("label", has_text="Bridge").count() == 0
    opened.page.unroute_all()


def every_round_has_its_tabs_and_one_finding_goes_back(opened: Phone) -> None:
    """The newest round comes first, and the one before stays there to be read."""
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
    expect(tabs).to_have_count(4)
    for number in (0, 1):
        expect(tabs.nth(number)).to_contain_text("Demo 2")
        expect(tabs.nth(number)).to_contain_text("Wants changes")
    opened.tap(opened.button("Minimise"))
    expect(panel).to_have_count(0)


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


def the_command_line_waits_for_a_verdict(node: AppNode) -> None:
    """By its exit code, too."""
    shop = repository(node.home.folder / "desk")
    node.done("hire", "eve", "--backend", "demo", "--dir", str(shop))
    (shop / "a.py").write_text("password = 1\n")
    judged = node.farhand("review", "--worker", "eve", "--by", "demo", "--wait")
    assert (judged.returncode, "1. P1 a.py:1 – This should not be shipped." in judged.stdout) == (1, True)
    assert "Sent back to eve." in node.done("review", "send", "1", "--worker", "eve")
    (shop / "a.py").write_text("fine = 1\n")
    node.done("review", "again", "--worker", "eve", "--wait")
    assert "round 2" in node.done("review", "status", "--worker", "eve")
    assert node.farhand("review", "cancel", "--worker", "eve").returncode == 1
