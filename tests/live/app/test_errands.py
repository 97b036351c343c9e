"""Errands of somebody who has only seen the pictures: what to tap says so itself, and each is done to its end."""

import re

from playwright.sync_api import Browser, expect
from tests.live.app.conftest import Opens
from tests.live.app.phone import AppNode, Phone


def tab(opened: Phone, name: str) -> None:
    """One of the four at the foot."""
    opened.tap(opened.page.get_by_role("link", name=re.compile(f"^{name}")).last)


def test_errands_of_somebody_who_has_only_seen_the_pictures(phone: Opens, browser: Browser, node: AppNode) -> None:
    opened = phone()
    opened.pair()
    opened.open_worker("demo")
    taps_what_the_demo_offers(opened)
    stops_a_turn_and_finds_what_was_said(opened)
    is_asked_in_the_persons_language(browser, node)
    wants_quiet_for_an_hour_and_another_theme(opened)
    lets_a_worker_go_for_good(opened)
    hires_one_and_speaks_to_it(opened)
    reads_another_language(opened)


def taps_what_the_demo_offers(opened: Phone) -> None:
    """Somebody new, to whom nothing was said yet."""
    opened.tap(opened.button("ask"))
    expect(opened.button("ask")).to_have_count(0)
    opened.answer_ask("Allow once")
    expect(opened.answer("demo")).to_contain_text("The note is written")


def stops_a_turn_and_finds_what_was_said(opened: Phone) -> None:
    """The search leads to the words themselves."""
    opened.say("demo", "stream")
    expect(opened.answer("demo")).to_contain_text("as I would write code for you.")
    opened.say("demo", "slow")
    expect(opened.answer("demo")).to_contain_text("I count to 10")
    opened.tap(opened.button("Stop"))
    expect(opened.answer("demo")).to_contain_text("topped")
    opened.page.go_back()
    tab(opened, "More")
    opened.tap(opened.page.get_by_role("link", name="Search").first)
    opened.page.get_by_role("searchbox").fill("lighthouse keeper")
    found = opened.page.locator("mark").first
    expect(found).to_be_visible()
    opened.tap(found)
    expect(opened.page.get_by_text("lighthouse keeper").first).to_be_visible()
    opened.page.goto(f"{opened.node.address()}#/more")


def is_asked_in_the_persons_language(browser: Browser, node: AppNode) -> None:
    """On a phone that speaks German, the question and its sheet do, too."""
    opened = Phone(browser, node, language="de-DE")
    opened.page.goto(node.address(node.code()))
    opened.tap(opened.button("Überspringen"))
    opened.tap(opened.page.locator('a[href="#/w/demo"]'))
    write = opened.page.get_by_role("textbox", name="An demo …")
    write.fill("ask")
    opened.tap(opened.button("Senden"))
    card = opened.page.locator(".ask-card").last
    expect(card).to_contain_text("schreibt im Ordner")
    opened.tap(card.get_by_role("button", name="mehr Auswahl"))
    expect(opened.sheet).to_contain_text("Risiko")
    expect(opened.sheet).not_to_contain_text("in the folder")
    opened.context.close()


def wants_quiet_for_an_hour_and_another_theme(opened: Phone) -> None:
    """The node knows of the hour, the page of the theme."""
    opened.tap(opened.page.get_by_role("link", name="Notifications"))
    opened.tap(opened.button("Quiet for an hour"))
    expect(opened.button("Quiet for an hour")).to_have_count(0)
    told = opened.node.done("quiet")
    assert "until" in told, told
    tab(opened, "More")
    opened.page.get_by_label("Theme").select_option(label="Light")
    expect(opened.page.locator("html")).to_have_attribute("data-theme", "light")


def lets_a_worker_go_for_good(opened: Phone) -> None:
    """Asked for twice."""
    tab(opened, "Team")
    opened.open_worker("demo")
    opened.tap(opened.button("About demo"))
    opened.tap(opened.sheet.get_by_role("button", name="Let go…"))
    opened.tap(opened.button("Let go for good"))
    expect(opened.page.get_by_text("Nobody is on the team yet.")).to_be_visible()


def hires_one_and_speaks_to_it(opened: Phone) -> None:
    """By the sheet, with the name that it offers."""
    opened.tap(opened.page.get_by_role("button", name=re.compile("^Hire")).first)
    opened.tap(opened.sheet.get_by_text("Demo", exact=True))
    opened.tap(opened.sheet.get_by_role("button", name=re.compile("^Hire ")))
    expect(opened.composer("ann")).to_be_visible()
    # What the node tells an agent of its team nobody has written, and nobody needs to read.
    introduced = opened.page.get_by_text("The node told ann about its team.")
    expect(introduced).to_be_visible()
    expect(opened.page.get_by_text("a long-lived worker")).to_have_count(0)
    # Until the agent has taken it, it stands among what waits, and moves from there.
    expect(opened.answer("ann")).to_contain_text("I am ready.")
    opened.tap(introduced)
    expect(opened.page.get_by_text("a long-lived worker")).to_be_visible()
    opened.say("ann", "hello")
    expect(opened.answer("ann")).to_contain_text("Hello! I am the demo.")


def reads_another_language(opened: Phone) -> None:
    """Chosen in the app, whatever the phone speaks."""
    opened.page.goto(f"{opened.node.address()}#/more")
    opened.page.get_by_label("Language").select_option(label="Deutsch")
    expect(opened.page.get_by_role("link", name="Sitzungen").first).to_be_visible()
