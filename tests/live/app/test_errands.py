"""Errands of somebody who has only seen the pictures: what to tap says so itself, and each is done to its end."""

import re

from playwright.sync_api import Browser, expect
from tests.live.app.conftest import Opens
from tests.live.app.phone import AppNode, Phone


def tab(opened: Phone, name: str) -> None:
    """One of the four at the foot."""
    opened.tap(opened.page.get_by_role("link", name=re.compile(f"^{name}")).last)


def test_what_was_said_is_found_and_a_turn_is_stopped(phone: Opens) -> None:
    opened = phone()
    opened.pair()
    opened.open_worker("demo")
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


def test_somebody_new_taps_what_the_demo_offers(phone: Opens) -> None:
    opened = phone()
    opened.pair()
    opened.open_worker("demo")
    opened.tap(opened.button("ask"))
    expect(opened.button("ask")).to_have_count(0)
    opened.answer_ask("Allow once")
    expect(opened.answer("demo")).to_contain_text("The note is written")


def test_quiet_for_an_hour_another_theme_and_another_language(phone: Opens) -> None:
    opened = phone()
    opened.pair()
    tab(opened, "More")
    opened.tap(opened.page.get_by_role("link", name="Notifications"))
    opened.tap(opened.button("Quiet for an hour"))
    expect(opened.button("Quiet for an hour")).to_have_count(0)
    told = opened.node.home.farhand("quiet", "--node", "app").stdout
    assert "until" in told, told
    tab(opened, "More")
    opened.page.get_by_label("Theme").select_option(label="Light")
    expect(opened.page.locator("html")).to_have_attribute("data-theme", "light")
    opened.page.get_by_label("Language").select_option(label="Deutsch")
    expect(opened.page.get_by_role("link", name="Sitzungen").first).to_be_visible()


def test_a_worker_is_let_go_for_good(phone: Opens) -> None:
    opened = phone()
    opened.pair()
    opened.open_worker("demo")
    opened.tap(opened.button("About demo"))
    opened.tap(opened.sheet.get_by_role("button", name="Let go…"))
    opened.tap(opened.button("Let go for good"))
    expect(opened.page.get_by_text("Nobody is on the team yet.")).to_be_visible()


def test_a_question_is_asked_in_the_persons_language(browser: Browser, node: AppNode) -> None:
    opened = Phone(browser, node, language="de-DE")
    opened.page.goto(node.address(node.code()))
    opened.tap(opened.button("Überspringen"))
    opened.tap(opened.page.locator('a[href="#/w/demo"]'))
    write = opened.page.get_by_role("textbox", name="An demo …")
    write.fill("ask")
    opened.tap(opened.button("Senden"))
    card = opened.page.locator(".ask-card").last
    expect(card).to_contain_text("schreibt im Ordner")
    opened.tap(card.get_by_role("button", name="Mehr Möglichkeiten"))
    expect(opened.sheet).to_contain_text("Risiko")
    expect(opened.sheet).not_to_contain_text("in the folder")
    opened.context.close()
