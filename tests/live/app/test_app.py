"""The phone app end to end, in a real Chromium on a real node: nothing lost, nothing twice, back by itself."""

import base64
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Route, expect
from tests.live.app.cable import Cable
from tests.live.app.conftest import Opens
from tests.live.app.net import until
from tests.live.app.phone import DESK, AppNode, Phone, running
from tests.live.app.scroll_scripts import TWO_FRAMES
from tests.live.nodes import Home

import farhand
from farhand.drivers.demo.replies import sunrise

# As large as the pieces in which the app brings a file.
PIECE_BYTES = 256 * 1024
# No picture is made smaller before `goOn`.
HELD_BACK = """() => {
  const made = window.createImageBitmap;
  window.createImageBitmap = (...given) => new Promise((done) => {
    window.goOn = () => { window.createImageBitmap = made; done(made(...given)); };
  });
}"""
# What a browser does with a picture that is pasted or dropped.
HANDED_OVER = """(field, [how, bytes]) => {
  const picture = Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0));
  const given = new DataTransfer();
  given.items.add(new File([picture], "dot.png", { type: "image/png" }));
  const about = { bubbles: true, cancelable: true };
  const event = how === "paste"
    ? new ClipboardEvent("paste", { ...about, clipboardData: given })
    : new DragEvent("drop", { ...about, dataTransfer: given });
  if (field.dispatchEvent(event)) throw new Error("the browser would do with the file what it likes");
}"""


def test_a_typed_code_pairs_and_a_revoked_device_is_out_at_once_and_can_be_paired_again(
    phone: Opens, node: AppNode
) -> None:
    opened = phone()
    opened.page.goto(node.address())
    code = opened.page.get_by_label("Code")
    code.fill("AAAAA-AAAAA")
    pair = opened.page.get_by_role("button", name=re.compile("Pair"))
    opened.tap(pair)
    expect(opened.page.get_by_role("alert")).to_be_visible()
    code.fill(node.code())
    opened.tap(pair)
    opened.tap(opened.button("Skip"))
    opened.is_live()
    node.done("devices", "revoke", node.done("devices").split()[0])
    code.fill(node.code())
    opened.tap(pair)
    opened.is_live()


def test_a_draft_written_offline_outlives_a_reload_and_is_sent_once(phone: Opens, node: AppNode) -> None:
    with Cable(node.port) as cable:
        node.reached_at = cable.port
        opened = phone()
        opened.pair()
        opened.open_worker("demo")
        opened.say("demo", "hello")
        expect(opened.receipt("hello")).to_contain_text("answered")
        opened.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        cable.pull_out()
        opened.context.set_offline(True)
        opened.say("demo", "sent in a tunnel")
        opened.composer("demo").fill("half a thought")
        expect(opened.receipt("sent in a tunnel")).to_contain_text("on this")
        opened.page.reload()
        # The app opens without a network, with the last state, the draft and what waits.
        expect(opened.composer("demo")).to_have_value("half a thought")
        expect(opened.receipt("sent in a tunnel")).to_contain_text("on this")
        answer = opened.page.get_by_role("article", name="demo’s answer").first
        expect(answer).to_contain_text("Hello! I am the demo.")
        assert node.said() == ["hello"]
        cable.plug_in()
        opened.context.set_offline(False)
        expect(opened.receipt("sent in a tunnel")).to_contain_text("answered")
        expect(opened.composer("demo")).to_have_value("half a thought")
        assert node.said() == ["hello", "sent in a tunnel"]


def test_what_goes_along_and_what_comes_back_is_the_same_on_two_phones(phone: Opens) -> None:
    one, other = phone(), phone(DESK)
    for opened in (one, other):
        opened.pair()
        opened.open_worker("demo")
    what_an_agent_writes_is_shown_and_never_run(one)
    a_picture_goes_along(one)
    what_is_sent_while_a_picture_is_made_smaller_goes_when_it_is(one)
    how_far_a_file_has_come_is_seen_while_it_is_brought(one)
    a_picture_is_handed_over(other, "paste")
    one.say("demo", "think")
    expect(other.answer("demo")).to_contain_text("I have thought about it")
    a_picture_is_handed_over(other, "drop")
    other.say("demo", "choose")
    expect(one.page.get_by_text("It is a long day. What shall I bring you?").first).to_be_visible()


def a_picture_goes_along(opened: Phone) -> None:
    """Chosen from the phone's own."""
    picture: FilePayload = {"name": "dot.png", "mimeType": "image/png", "buffer": sunrise()}
    opened.page.locator("input[type=file]").set_input_files(files=[picture])
    expect(opened.page.get_by_role("button", name="Remove dot.png")).to_be_visible()
    opened.tap(opened.button("Send"))
    expect(opened.answer("demo")).to_contain_text(f"{len(sunrise()):,} bytes of it")


def what_is_sent_while_a_picture_is_made_smaller_goes_when_it_is(opened: Phone) -> None:
    """Nobody taps twice; who writes on or takes the picture out in the meantime sends once more."""
    opened.page.evaluate(HELD_BACK)
    odd: FilePayload = {"name": "slow.bmp", "mimeType": "image/bmp", "buffer": sunrise()}
    opened.composer("demo").fill("look, not at all")
    opened.page.locator("input[type=file]").set_input_files(files=[odd])
    opened.tap(opened.button("Send"))
    opened.tap(opened.button("Remove slow.bmp"))
    expect(opened.button("Remove slow.bmp")).to_have_count(0)
    expect(opened.composer("demo")).to_have_value("look, not at all")
    opened.page.evaluate("goOn()")
    opened.page.evaluate(HELD_BACK)
    opened.composer("demo").fill("look, slowly")
    opened.page.locator("input[type=file]").set_input_files(files=[odd])
    expect(opened.page.get_by_role("button", name="Remove slow.bmp")).to_be_visible()
    opened.tap(opened.button("Send"))
    expect(opened.composer("demo")).to_have_value("look, slowly")
    opened.page.evaluate("goOn()")
    expect(opened.composer("demo")).to_have_value("")
    expect(opened.receipt("look, slowly")).to_contain_text("answered")


def a_picture_is_handed_over(opened: Phone, how: str) -> None:
    """Pasted or dropped: the text of the draft stands, and nothing that the browser would make of the file."""
    opened.composer("demo").fill(f"look at this {how}")
    opened.composer("demo").evaluate(HANDED_OVER, [how, base64.b64encode(sunrise()).decode()])
    expect(opened.page.get_by_role("button", name="Remove dot.png")).to_be_visible()
    expect(opened.composer("demo")).to_have_value(f"look at this {how}")
    opened.tap(opened.button("Send"))
    expect(opened.answer("demo")).to_contain_text(f"{len(sunrise()):,} bytes of it")


def how_far_a_file_has_come_is_seen_while_it_is_brought(opened: Phone) -> None:
    """The first of four pieces is there, and the second is under way."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        # What comes after the first that was held goes through.
        route.continue_() if held else held.append(route)

    opened.page.route(re.compile(r"/api/uploads/.*offset=[1-9]"), hold)
    large: FilePayload = {"name": "notes.bin", "mimeType": "application/octet-stream", "buffer": bytes(4 * PIECE_BYTES)}
    opened.composer("demo").fill("read it")
    opened.page.locator("input[type=file]").set_input_files(files=[large])
    # Not waited for: what is sent while the phone still reads the file goes when it has.
    opened.tap(opened.button("Send"))
    bar = opened.page.get_by_role("progressbar")
    expect(bar).to_have_js_property("value", 0.25)
    held[0].continue_()
    expect(bar).to_have_count(0)
    expect(opened.answer("demo")).to_contain_text(f"{4 * PIECE_BYTES:,} bytes of it")


def what_an_agent_writes_is_shown_and_never_run(opened: Phone) -> None:
    """Whatever a browser would make of it."""
    hostile = (
        "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'> [tap](javascript:window.ran=1) **bold**"
    )
    opened.say("demo", hostile)
    expect(opened.answer("demo")).to_contain_text("<script>window.ran = 1</script><img src=x onerror=")
    expect(opened.answer("demo").locator("strong")).to_have_text("bold")
    # The app's own link to the changes of the turn comes with its end.
    expect(opened.answer("demo").locator(".turn-end")).to_be_visible()
    expect(opened.answer("demo").locator("script, img, a:not(.turn-end a)")).to_have_count(0)
    assert opened.page.evaluate("window.ran") is None


def test_a_picture_that_comes_late_moves_nothing(phone: Opens) -> None:
    opened = phone()
    opened.pair()
    opened.open_worker("demo")
    opened.say("demo", "image")
    expect(opened.receipt("image")).to_contain_text("answered")
    for comes in (False, True):
        in_sight(opened, comes=comes)
    above_what_is_read(opened)


def in_sight(opened: Phone, *, comes: bool) -> None:
    """It comes, or it never comes."""
    held = held_pictures(opened)
    expect(opened.receipt("image")).to_contain_text("answered")
    above = opened.page.get_by_role("article", name="Message of you")
    below = opened.answer("demo").locator(".turn-end")
    expect(below).to_be_visible()
    picture = first_of(opened, held)
    before = top_of(above), top_of(below)
    if comes:
        picture.continue_()
        expect(opened.page.locator("figure.picture img")).to_have_js_property("naturalWidth", 320)
    else:
        picture.abort()
        expect(opened.answer("demo").locator("a.file")).to_be_visible()
    opened.page.evaluate(TWO_FRAMES)
    assert (top_of(above), top_of(below)) == pytest.approx(before, abs=1)


def above_what_is_read(opened: Phone) -> None:
    """Text streams below all the while."""
    for word, answer in (("long", ""), ("stream", "as I would write code for you.")):
        opened.say("demo", word)
        expect(opened.receipt(word)).to_contain_text("answered")
        expect(opened.answer("demo")).to_contain_text(answer)
    held = held_pictures(opened)
    opened.say("demo", "slow")
    expect(opened.answer("demo")).to_contain_text("Stop me whenever you like. 1")
    read = opened.page.get_by_role("article", name="Message of you").filter(has_text="long")
    read.evaluate("(row) => row.scrollIntoView({ block: 'start' })")
    expect(opened.page.locator(".jump")).to_be_visible()
    picture = first_of(opened, held)
    before = top_of(read)
    picture.continue_()
    expect(opened.page.locator("figure.picture img")).to_have_js_property("naturalWidth", 320)
    expect(opened.answer("demo")).to_contain_text("Done, and nobody stopped me.")
    assert abs(top_of(read) - before) < 1


def held_pictures(opened: Phone) -> list[Route]:
    """Opens the app anew; the pictures that it asks for come when the test lets them."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    opened.page.unroute_all()
    opened.page.route(re.compile(r"/shown\?path="), hold)
    opened.page.reload()
    opened.page.locator("figure.picture").wait_for(state="attached")
    return held


def first_of(opened: Phone, held: list[Route]) -> Route:
    """The first picture that the app asks for: it does so when the picture is nearly in sight."""
    return until("no picture was asked for", lambda: opened.page.evaluate(TWO_FRAMES) and held)[0]


def top_of(what: Locator) -> float:
    """How far below the top of the screen it stands."""
    box = what.bounding_box()
    assert box is not None
    return box["y"]


def test_a_new_version_is_taken_when_the_person_says_so_and_no_draft_is_lost(browser: Browser, tmp_path: Path) -> None:
    package = tmp_path / "source" / "farhand"
    shutil.copytree(Path(farhand.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    home = Home(tmp_path / "home", PYTHONPATH=str(package.parent))
    home.folder.mkdir()
    with running(home) as node:
        opened = Phone(browser, node)
        opened.pair()
        opened.open_worker("demo")
        opened.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        # The first worker takes the page over only when it is loaded again.
        opened.page.reload()
        expect(opened.composer("demo")).to_be_visible()
        build_anew(package / "server" / "app_files")
        opened.page.reload()
        expect(opened.composer("demo")).to_be_visible()
        assert opened.page.title() == "farhand"
        opened.composer("demo").fill("half a thought")
        opened.tap(opened.button("Update"))
        expect(opened.page).to_have_title("farhand, the next")
        expect(opened.composer("demo")).to_have_value("half a thought")
        assert opened.problems == []
        opened.context.close()


def build_anew(files: Path) -> None:
    """Another build of the app: a page with another title, and a service worker that knows of it."""
    for name, old, new in (("index.html", "<title>farhand<", "<title>farhand, the next<"), ("sw.js", '="', '="next-')):
        for ending in (".br", ".gz"):
            (files / f"{name}{ending}").unlink()
        text = (files / name).read_text()
        assert old in text
        (files / name).write_text(text.replace(old, new, 1))
