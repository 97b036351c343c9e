"""The screens of the phone app on their fixture, in a real Chromium: nothing jumps, and everybody can read them."""

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from scripts.take_screenshots import SHOTS, SIZES, build, served, take
from tests.live.app.phone import CHROMIUM, HEADLESS
from tests.live.app.scroll_scripts import (
    CLIMB,
    FOLLOW,
    MADE_AT_ONCE,
    SCROLL_AND_GROW,
    TWO_FRAMES,
    WATCH,
    WATCH_BOTH,
)
from tests.live.nodes import SAFETY_SECONDS

# An answer that grew by this many pixels has moved whatever it could move.
ENOUGH_PIXELS = 200
FINGER_PIXELS = 44


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The app on its fixture, built once."""
    with TemporaryDirectory() as folder:
        build(Path(folder))
        with served(Path(folder)) as at:
            yield f"{at}/app/"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=HEADLESS, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def phone(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport=SIZES["phone"], has_touch=True, is_mobile=True, locale="en-GB")
    context.set_default_timeout(SAFETY_SECONDS * 1000)
    yield context
    context.close()


@pytest.fixture
def page(phone: BrowserContext) -> Page:
    """Steps of a test go from place to place in it; a place with another question mark is loaded anew."""
    return phone.new_page()


def opened(page: Page, address: str) -> Page:
    """The page at that address, with its conversation."""
    page.goto(address)
    page.locator(".row").first.wait_for()
    # Letters of another width break lines elsewhere: a font that comes while one measures moves what it measures.
    page.evaluate("() => Promise.all([...document.fonts].map((font) => font.load())).then(() => true)")
    return page


def test_nothing_that_is_read_moves(page: Page, address: str) -> None:
    text_streams_below(opened(page, f"{address}?long=400&stream=1#/w/ann"))
    text_streams_below_and_older_messages_come_above(opened(page, f"{address}?long=30&stream=1#/w/ann"))
    who_reads_the_newest_stays_with_it(opened(page, f"{address}?stream=1#/w/ann"))
    a_row_grows_while_somebody_scrolls(opened(page, f"{address}?long=400#/w/ann"))
    a_fold_that_is_opened_stays_under_the_finger(opened(page, f"{address}?#/w/otto"))


def text_streams_below(page: Page) -> None:
    page.locator(".scroller").evaluate("(box) => { box.scrollTop = -1500 }")
    page.locator(".jump").wait_for()
    assert page.evaluate(WATCH, ENOUGH_PIXELS) < 1


def text_streams_below_and_older_messages_come_above(page: Page) -> None:
    assert page.evaluate(WATCH_BOTH, ENOUGH_PIXELS) < 1
    page.locator(".jump").wait_for()


def who_reads_the_newest_stays_with_it(page: Page) -> None:
    assert page.evaluate(FOLLOW, ENOUGH_PIXELS) < 1


def a_row_grows_while_somebody_scrolls(page: Page) -> None:
    page.locator(".scroller").evaluate("(box) => { box.scrollTop = -1500 }")
    page.locator(".jump").wait_for()
    page.evaluate(TWO_FRAMES)
    assert page.evaluate(SCROLL_AND_GROW) < 1


def a_fold_that_is_opened_stays_under_the_finger(page: Page) -> None:
    line = page.locator("summary").last
    line.scroll_into_view_if_needed()
    before = line.bounding_box()
    line.tap()
    page.locator("details[open] .fold-body").last.wait_for()
    page.evaluate(TWO_FRAMES)
    after = line.bounding_box()
    assert before is not None
    assert after is not None
    assert abs(after["y"] - before["y"]) < 1


def test_of_5000_rows_at_most_300_are_on_the_page_and_few_are_made_at_a_time(page: Page, address: str) -> None:
    opened(page, f"{address}?long=5000#/w/ann")
    assert page.locator(".row").count() < 50
    assert 0 < page.evaluate(MADE_AT_ONCE) <= 5
    most = page.evaluate(CLIMB)
    assert 100 < most <= 300
    page.locator(".jump").tap()
    page.get_by_text("And tell me when it is out").wait_for()


# What is drawn for every device, and what only one that may write is offered there.
OFFERED = {
    "": (".workers li", ["Hire"]),
    "w/ann": (".turn-end a", ["Review"]),
    "w/demo": (".row", ["help", "stream"]),
    "w/ann!queue%3Aann": (".queued", ["Reword", "Earlier", "Later", "Now", "Drop"]),
    "w/ann!worker%3Aann": (".circumstances", ["Review", "Relaunch", "Let go"]),
    "w/ann!review%3Aann": (".backends .backend", ["Start the review"]),
    "!hire": ("dialog", ["Hire"]),
    "sessions": (".worker", ["Resume"]),
    "devices": (".worker", ["Revoke"]),
    "notifications": (".body p:has-text('reaches this device')", ["Quiet for an hour"]),
}


def test_a_device_that_may_only_look_is_offered_nothing_else_and_told_why(page: Page, address: str) -> None:
    for place, (drawn, offered) in OFFERED.items():
        goes_to(page, address, place, drawn)
        for words in offered:
            page.get_by_role("button", name=re.compile(f"^{words}")).first.wait_for()
    for place, (drawn, offered) in OFFERED.items():
        goes_to(page, f"{address}?readonly=1", place, drawn)
        page.evaluate(TWO_FRAMES)
        named = [re.compile(f"^{words}") for words in offered]
        assert [words.pattern for words in named if page.get_by_role("button", name=words).count()] == [], place
    an_answer_is_not_offered(opened(page, f"{address}?readonly=1#/w/ann"))
    page.goto(f"{address}?readonly=1#/w/ann/terminal")
    a_terminal_says_why_it_takes_no_keys(page)


def goes_to(page: Page, address: str, place: str, drawn: str) -> None:
    """There from a screen that has nothing of it, so that what is drawn there is what is seen."""
    page.goto(f"{address}#/search")
    page.get_by_role("searchbox").wait_for()
    expect(page.locator(drawn)).to_have_count(0)
    page.goto(f"{address}#/{place}")
    page.locator(drawn).first.wait_for()


def an_answer_is_not_offered(page: Page) -> None:
    """The question itself is there to be read."""
    page.get_by_text("This device may look, not write.").wait_for()
    answers = page.get_by_role("button", name=re.compile("^(Allow|Deny)"))
    assert answers.count() == 0
    page.get_by_role("button", name="Read it").tap()
    expect(page.get_by_role("dialog")).to_contain_text("git push origin main")
    assert answers.count() == 0


def a_terminal_says_why_it_takes_no_keys(page: Page) -> None:
    page.get_by_text("? for shortcuts").wait_for()
    expect(page.get_by_text("This device may look, not write.")).to_be_visible()
    assert page.locator(".terminal-keys").count() == 0


def test_what_is_over_empty_or_has_failed_is_told_and_not_called_anything_else(page: Page, address: str) -> None:
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{address}?state=failed#/w/ann/terminal")
    a_terminal_that_has_ended_is_not_called_live_and_takes_no_keys(page)
    for state in ("failed", "empty"):
        page.goto(f"{address}?state={state}#/w/ann/files")
        changes_that_are_none_or_not_known_are_not_counted(page)
    page.goto(f"{address}?state=failed#/search")
    a_search_that_fails_says_so(page)
    assert problems == []


def a_terminal_that_has_ended_is_not_called_live_and_takes_no_keys(page: Page) -> None:
    page.get_by_text("ann has no terminal right now.").wait_for()
    assert page.get_by_text("terminal, live").count() == 0
    assert page.locator(".terminal-keys").count() == 0


def changes_that_are_none_or_not_known_are_not_counted(page: Page) -> None:
    page.get_by_role("button", name="Files", exact=True).wait_for()
    page.locator(".notice").wait_for()
    assert "+0" not in page.locator(".top").inner_text()


def a_search_that_fails_says_so(page: Page) -> None:
    page.get_by_role("searchbox").fill("race")
    page.get_by_text("The node did not answer.").wait_for()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def test_what_is_drawn_can_be_read_and_tapped(page: Page, address: str) -> None:
    what_a_worker_may_do_stands_whole_beside_a_long_folder(opened(page, f"{address}#/w/ann"))
    two_characters_are_never_drawn_as_one(page, address)
    what_a_finger_taps_is_44_pixels_high_and_wide(page, address)


def what_a_worker_may_do_stands_whole_beside_a_long_folder(page: Page) -> None:
    how = page.locator(".top-where .one").last
    expect(how).to_contain_text("opus · asks")
    assert how.evaluate("(one) => one.scrollWidth <= one.clientWidth")


def two_characters_are_never_drawn_as_one(page: Page, address: str) -> None:
    """In a command that is asked about, in code, in a terminal."""
    places = {
        "w/ann!ask%3Aa1": page.locator("pre.command"),
        "w/otto": page.locator(".code pre"),
        "w/ann/terminal": page.locator("pre", has_text="? for shortcuts"),
    }
    for place, what in places.items():
        page.goto(f"{address}#/{place}")
        what.first.wait_for(state="attached")
        assert what.first.evaluate("(one) => getComputedStyle(one).fontVariantLigatures") == "none", place


def what_a_finger_taps_is_44_pixels_high_and_wide(page: Page, address: str) -> None:
    """A line of a change, a key of a terminal, and what stands in the banner."""
    for place, buttons in (
        ("#/w/ann/terminal", ".terminal-keys button"),
        ("#/w/ann/files", "button.diff-line"),
        ("?link=offline", ".banner button"),
    ):
        page.goto(f"{address}{place}")
        if place.endswith("/files"):
            page.get_by_role("button", name="cart/session.py").tap()
        expect(page.locator(buttons).first).to_be_visible()
        sizes = page.locator(buttons).evaluate_all("all => all.map((one) => one.getBoundingClientRect().toJSON())")
        assert sizes
        assert min(one["height"] for one in sizes) >= FINGER_PIXELS, place
        assert min(one["width"] for one in sizes) >= FINGER_PIXELS, place


def test_what_is_tapped_and_typed_does_what_it_says(page: Page, address: str) -> None:
    an_agent_that_is_not_installed_says_so_and_how_to_get_it(page, address)
    a_session_that_a_worker_has_leads_to_that_worker(page, address)
    enter_is_a_newline_on_touch_and_ctrl_enter_sends(page, address)
    a_worker_that_has_heard_nothing_says_what_one_may_try(page, address)
    page.goto(address)
    the_way_back_closes_a_sheet_and_then_the_conversation(page)


def an_agent_that_is_not_installed_says_so_and_how_to_get_it(page: Page, address: str) -> None:
    page.goto(f"{address}#/!hire")
    tile = page.locator("label.backend", has_text="OpenCode")
    tile.get_by_text("not installed").wait_for()
    tile.click()
    page.get_by_role("status").get_by_text("npm install -g opencode-ai").wait_for()
    expect(page.get_by_role("button", name="Hire ben")).to_be_disabled()


def a_session_that_a_worker_has_leads_to_that_worker(page: Page, address: str) -> None:
    page.goto(f"{address}#/sessions")
    page.get_by_role("link", name="Open ann").click()
    page.locator(".composer-field").wait_for()


def enter_is_a_newline_on_touch_and_ctrl_enter_sends(page: Page, address: str) -> None:
    page.goto(f"{address}#/w/otto")
    field = page.get_by_role("textbox", name="Message otto…")
    field.fill("first")
    field.press("Enter")
    field.press_sequentially("second")
    assert field.input_value() == "first\nsecond"
    field.press("Control+Enter")
    page.get_by_role("article", name="Message of you").filter(has_text="second").wait_for()
    expect(field).to_have_value("")


def a_worker_that_has_heard_nothing_says_what_one_may_try(page: Page, address: str) -> None:
    page.goto(f"{address}#/w/demo")
    tries = page.locator(".tries")
    tries.get_by_role("button", name="stream").tap()
    page.get_by_role("article", name="Message of you").filter(has_text="stream").wait_for()
    expect(tries).to_have_count(0)


def the_way_back_closes_a_sheet_and_then_the_conversation(page: Page) -> None:
    page.get_by_role("link", name="ann").click()
    page.get_by_role("button", name="Say why, or more choices…").click()
    page.get_by_role("dialog").wait_for()
    page.go_back()
    page.get_by_role("dialog").wait_for(state="detached")
    page.locator(".composer-field").wait_for()
    page.go_back()
    page.get_by_role("heading", name="farhand").wait_for()


def test_a_microphone_that_the_browser_denies_is_told(browser: Browser, address: str) -> None:
    """By the whole browser: its shell hears nobody, and says nothing about it."""
    with browser.browser_type.launch(executable_path=CHROMIUM, args=["--no-sandbox"]) as whole:
        context = whole.new_context(viewport=SIZES["phone"], has_touch=True, is_mobile=True, locale="en-GB")
        context.set_default_timeout(SAFETY_SECONDS * 1000)
        page = context.new_page()
        for voice in ("The node", "The browser"):
            page.goto(f"{address}?#/more")
            page.get_by_label("Voice").select_option(voice)
            page.get_by_role("link", name="Team").first.click()
            page.get_by_role("link", name="ivy").click()
            page.get_by_role("button", name=re.compile("^(Record|Speak)")).tap()
            expect(page.get_by_role("alert")).to_contain_text("The browser gives no microphone to this page.")


# What somebody new wants, what they tap from the first screen on by what it says or shows, and what tells that they are
# there.
ERRANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "hire somebody": (("Hire",), "Hire ben"),
    "tell otto something": (("otto",), "Message otto…"),
    "let ann push": (("Allow once",), "Answered: once"),
    "refuse, and say why": (("Say why, or more choices…",), "Say why, or what instead…"),
    "read gus’s plan": (("Read the plan",), "Keep planning"),
    "send the second message first": (("ann", "3 queued", "Earlier"), "These go to ann one after the other"),
    "type into ann’s terminal": (("ann", "Terminal"), "? for shortcuts"),
    "put a lost phone out": (("More", "Devices", "Revoke"), "Really?"),
    "go on with a session of yesterday": (("Sessions", "Resume"), "Take it over?"),
    "sleep without a buzz": (("More", "Notifications"), "Quiet for an hour"),
}


def test_what_to_tap_leads_there(page: Page, address: str) -> None:
    for errand, (taps, there) in ERRANDS.items():
        # Without a place it is loaded anew, and nothing is left of the errand before.
        page.goto(address)
        for name in taps:
            tap_what_says(page, name)
        seen = page.get_by_text(there).or_(page.get_by_placeholder(there)).locator("visible=true").first
        expect(seen, errand).to_be_visible()


def tap_what_says(page: Page, name: str) -> None:
    """The last of its kind is the nearest to the thumb; what is sought may stand further up."""
    button, link = (page.get_by_role(role, name=re.compile(f"^{re.escape(name)}")) for role in ("button", "link"))
    sought = button.or_(link).locator("visible=true").and_(page.locator(":not([disabled])")).last
    sought.wait_for()
    # What has just come to stand there is not answered by a tap that was meant for something else.
    page.wait_for_function("since => performance.now() - since > 400", arg=page.evaluate("performance.now()"))
    sought.tap()


@pytest.mark.parametrize(
    "name",
    [
        "team",
        "conversation-folds",
        "conversation-failed",
        "ask",
        "ask-questions",
        "ask-read-only",
        "queue",
        "hire",
        "diff",
        "session-sheet",
        "terminal-ended",
        "more",
        "pairing",
    ],
)
def test_a_screen_has_nothing_that_axe_is_against(browser: Browser, address: str, tmp_path: Path, name: str) -> None:
    shot = next(one for one in SHOTS if one.name == name)
    theme, size = ("light", "phone") if len(name) % 2 else ("dark", "desk")
    assert take(browser, address.removesuffix("/app/"), shot, size, theme, tmp_path) == []
