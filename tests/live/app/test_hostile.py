"""What a hostile agent leaves for a person to open: no script of it runs, nothing is fetched, no name deceives."""

import subprocess
from pathlib import Path
from urllib.parse import urlparse

from playwright.sync_api import Locator, expect
from tests.live.app.conftest import Opens
from tests.live.app.net import until
from tests.live.app.phone import AppNode, Phone

SVG = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="window.ran = 1">
<style>@import url("http://trap.invalid/style");
@font-face { font-family: f; src: url("http://trap.invalid/font") }</style>
<script>window.ran = 1; (window.opener ?? window).ran = 1; fetch("http://trap.invalid/fetch")</script>
<script href="http://trap.invalid/script"/>
<image href="http://trap.invalid/image"/><use xlink:href="http://trap.invalid/use#one"/>
<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:window.parent.ran = 1"/></foreignObject>
<a href="javascript:window.ran = 1"><text y="20">tap me</text></a></svg>"""
# Read from right to left, the first ends in .txt; the second begins with a letter that is no p of ours.
TURNED, ALIKE = "report\u202etxt.exe", "\u0440aypal.py"


def test_nothing_that_is_hostile_runs_loads_deceives_or_answers(phone: Opens, node: AppNode) -> None:
    project = node.home.folder / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    node.done("hire", "--backend", "demo", "--dir", str(project), "ann")
    opened = phone()
    asked: list[str] = []
    opened.context.on("request", lambda request: asked.append(request.url))
    opened.pair()
    opened.open_worker("ann")
    a_picture_that_is_a_page(opened, project)
    a_page_in_the_folder(opened, project)
    names_that_deceive(opened, project)
    words_that_deceive(opened)
    the_second_click_of_two_on_another_window_answers_no_question(opened, node)
    assert opened.page.evaluate("window.ran") is None
    assert {urlparse(one).netloc for one in asked} <= {f"127.0.0.1:{node.port}", ""}


def a_picture_that_is_a_page(opened: Phone, project: Path) -> None:
    """The agent shows a picture, and puts something else in its place; opened by itself, it is only kept."""
    opened.say("ann", "image")
    picture = opened.answer("ann").locator("img")
    expect(picture).to_have_js_property("naturalWidth", 320)
    address = picture.get_attribute("src")
    (project / "sunrise.png").write_text(SVG)
    opened.page.reload()
    expect(opened.answer("ann").locator("a.file", has_text="sunrise.png")).to_be_visible()
    with opened.page.expect_download() as kept:
        opened.page.evaluate("(address) => { location.href = address }", address)
    assert Path(kept.value.path()).read_text() == SVG
    expect(opened.composer("ann")).to_be_visible()


def a_page_in_the_folder(opened: Phone, project: Path) -> None:
    """It is read as text."""
    (project / "chart.svg").write_text(SVG)
    opens_files(opened)
    opened.tap(opened.button("Files"))
    opened.tap(opened.page.get_by_role("button", name="chart.svg"))
    expect(opened.page.get_by_text("http://trap.invalid/fetch")).to_be_visible()
    expect(
        opened.page.locator(".pane iframe, .pane image, .pane use, .pane script, .pane foreignObject")
    ).to_have_count(0)


def names_that_deceive(opened: Phone, project: Path) -> None:
    """Hidden and foreign characters are told by their numbers."""
    for name in (TURNED, ALIKE):
        (project / name).write_text("one\n")
    opened.page.reload()
    expect(odd(opened.page.locator(".links"), "U+202E")).to_be_visible()
    expect(odd(opened.page.locator(".links"), "U+0440")).to_be_visible()
    opened.page.go_back()


def words_that_deceive(opened: Phone) -> None:
    """In an answer: a turned text, an address with a foreign letter, a command with one."""
    opened.say("ann", "\u202eturned [ours](https://\u0440aypal.com/) `sud\u043e` ![seen](http://trap.invalid/seen.png)")
    answer = opened.answer("ann")
    expect(odd(answer, "U+202E").first).to_be_visible()
    expect(odd(answer.locator("code"), "U+043E")).to_be_visible()
    expect(answer.locator("img")).to_have_count(0)


def odd(inside: Locator, code: str) -> Locator:
    return inside.locator(".odd", has_text=code)


def opens_files(opened: Phone) -> None:
    opened.tap(opened.page.get_by_role("link", name="Files and changes"))


def the_second_click_of_two_on_another_window_answers_no_question(opened: Phone, node: AppNode) -> None:
    """Another site lays a window of its own over the app and has it closed by the first click: the second is ours."""
    opened.page.goto(f"{node.address()}#/w/demo")
    opened.say("demo", "ask")
    allow = opened.button("Allow once").last
    expect(allow).to_be_visible()
    # It has stood there long enough for any tap.
    opened.page.evaluate("() => new Promise((done) => setTimeout(done, 2000))")
    allow.evaluate("(button) => { window.dispatchEvent(new Event('focus')); button.click() }")
    opened.say("demo", "behind it")
    expect(opened.page.get_by_text("behind it").first).to_be_visible()
    until("nobody has told the node", lambda: "behind it" in node.said())
    kinds = [fact["type"] for fact in node.facts()]
    assert "ask_raised" in kinds
    assert "ask_settled" not in kinds
    opened.answer_ask("Allow once")
    expect(opened.page.get_by_text("The note is written")).to_be_visible()
