"""The phone app without a finger and without a mouse, and for whoever wants nothing to move."""

from playwright.sync_api import Locator, Page, expect
from tests.live.app.conftest import Opens
from tests.live.app.net import until
from tests.live.app.phone import DESK, AppNode, Phone

# Whether the element that has the keys is this one.
HAS_KEYS = "(one) => one === document.activeElement"
# What has the keys, unless something about it shows that.
UNMARKED = """() => {
  const one = document.activeElement;
  const shown = one === document.body || one.matches("h1, h2");
  const marked = getComputedStyle(one).outlineStyle !== "none" || getComputedStyle(one).boxShadow !== "none";
  return shown || marked ? "" : one.outerHTML.slice(0, 200);
}"""
MOVING = "() => document.getAnimations().filter((one) => one.playState === 'running').length"
# More than any screen has.
MOST_TABS = 80


def tabs_to(page: Page, what: Locator) -> None:
    """Goes there by the tabulator alone, and sees on the whole way where it is."""
    expect(what).to_be_visible()
    for _ in range(MOST_TABS):
        if what.evaluate(HAS_KEYS):
            return
        page.keyboard.press("Tab")
        assert page.evaluate(UNMARKED) == ""
    raise AssertionError(f"the tabulator never came to {what}")


def is_gone_after_enter(opened: Phone) -> bool:
    """A key on what has just come does not count, either."""
    opened.page.keyboard.press("Enter")
    return not opened.sheet.is_visible()


def test_everything_is_done_by_keys_alone(phone: Opens, node: AppNode) -> None:
    opened = phone(DESK)
    page, keys = opened.page, opened.page.keyboard
    page.goto(node.address())
    tabs_to(page, page.get_by_label("Code"))
    keys.type(node.code())
    keys.press("Enter")
    expect(opened.sheet).to_contain_text("1 of 4")
    keys.press("Escape")
    expect(opened.sheet).to_have_count(0)
    opened.is_live()
    keys.press("j")
    expect(opened.composer("demo")).to_be_visible()
    keys.press("i")
    keys.type("ask")
    keys.press("Control+Enter")
    tabs_to(page, opened.button("Say why, or more choices…").last)
    keys.press("Enter")
    tabs_to(page, opened.sheet.locator(".words"))
    keys.type("not on a Monday")
    deny = opened.sheet.get_by_role("button", name="Deny")
    tabs_to(page, deny)
    until("the answer does not count", lambda: is_gone_after_enter(opened))
    expect(opened.answer("demo")).to_contain_text("And you said: “not on a Monday”")
    # A sheet gives the keys back to where they were.
    about = opened.button("About demo")
    tabs_to(page, about)
    keys.press("Enter")
    expect(opened.sheet).to_be_visible()
    keys.press("Escape")
    expect(opened.sheet).to_have_count(0)
    expect(about).to_be_focused()
    keys.press("?")
    expect(opened.sheet).to_contain_text("Ctrl")
    keys.press("Escape")
    # Until it is gone, the keys are the sheet's.
    expect(opened.sheet).to_have_count(0)
    keys.press("f")
    expect(page).to_have_url(f"{node.address()}#/w/demo/files")
    keys.press("h")
    tabs_to(page, opened.sheet.get_by_label("Name"))
    keys.press("ControlOrMeta+a")
    keys.type("ben")
    tabs_to(page, opened.sheet.get_by_role("button", name="Hire ben"))
    keys.press("Enter")
    expect(opened.composer("ben")).to_be_visible()


def test_nothing_moves_for_whoever_wants_that(phone: Opens, node: AppNode) -> None:
    opened = phone()
    opened.pair()
    opened.open_worker("demo")
    opened.say("demo", "slow")
    expect(opened.answer("demo")).to_contain_text("slowly. Stop me whenever you like. 1")
    until("nothing moves while it works", lambda: opened.page.evaluate(MOVING) > 0)
    opened.page.emulate_media(reduced_motion="reduce")
    assert opened.page.evaluate(MOVING) == 0
    opened.tap(opened.button("About demo"))
    expect(opened.sheet).to_be_visible()
    assert opened.page.evaluate(MOVING) == 0
