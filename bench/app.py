"""The phone app in a real Chromium: how soon an agent's text, the app and a long conversation are painted."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from bench.conversations import A_TURN, WORKERS, build
from bench.rows import Row, beside
from bench.timing import median, percentile
from farhand.client.door import SocketHub
from farhand.core.clock import SystemClock
from farhand.drivers.demo.driver import DemoDriver
from farhand.sandbox.holders import LocalHolders
from farhand.server.web_app import NOT_BUILT, WebApp
from farhand.testing.house import House, open_house, settings_in

ROOT = Path(__file__).resolve().parents[1]
SCREEN = {"width": 390, "height": 844}
# Messages of one conversation, the answers counted.
MESSAGES = 5000
TOKENS_A_SECOND, SECONDS = 100, 10
ROUNDS = 5
# Four times three seconds of a quick thumb. A frame that takes as long as two is one that was missed.
FRAMES, FRAME_PIXELS, SCROLLS = 180, 60, 4
MOST_FRAMES = 1.5
SLOW_PHONE = 4
# How many times slower than this machine the phone is that text streams to.
SLOWED = (1, SLOW_PHONE)

# Keeps for every piece how long after its writing it was painted, and every task that took the page long.
WATCH = """() => {
  window.painted = [];
  window.tasks = [];
  const seen = new Set();
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: "longtask" });
  const channel = new MessageChannel();
  channel.port1.onmessage = ({ data }) => {
    const now = performance.timeOrigin + performance.now();
    for (const at of data) window.painted.push(now - at);
  };
  new MutationObserver(() => {
    const last = [...document.querySelectorAll(".turn .md")].at(-1);
    const fresh = [...(last?.textContent ?? "").slice(-400).matchAll(/@(\\d+\\.\\d)@/g)]
      .map((found) => Number(found[1])).filter((at) => !seen.has(at));
    for (const at of fresh) seen.add(at);
    // A message to itself is handled after the picture is drawn.
    if (fresh.length) channel.port2.postMessage(fresh);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""
# Milliseconds from the beginning of the visit until this is drawn and the page answers.
DRAWN = """(wanted) => new Promise((done) => {
  const look = () => document.querySelector(wanted)
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now())))
    : requestAnimationFrame(look);
  look();
})"""
TAPPED = """(wanted) => new Promise((done) => {
  const began = performance.now();
  document.querySelector('a[href="#/w/worker-1"]').click();
  const look = () => document.querySelector(wanted)
    ? setTimeout(() => done(performance.now() - began))
    : requestAnimationFrame(look);
  requestAnimationFrame(look);
})"""

# Milliseconds between one frame and the next while it is scrolled up, and how many pixels it came.
SCROLLED = """([wanted, frames, pixels]) => new Promise((done) => {
  const box = document.querySelector(wanted);
  const took = [];
  const began = box.scrollTop;
  let before = null;
  const step = (now) => {
    if (before !== null) took.push(now - before);
    before = now;
    if (took.length >= frames) return done({ took, came: Math.abs(box.scrollTop - began) });
    box.scrollTop -= pixels;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""
# A scroller that is as high as its scrolling needs, and empty.
EMPTY_SCROLLER = """<body style="margin: 0"><div class="scroller"
  style="height: 100vh; overflow-y: auto; display: flex; flex-direction: column-reverse">
  <div style="flex: none; height: 100000px"></div></div></body>"""


async def measure() -> list[Row]:
    """Every figure, measured in this run."""
    assert WebApp().files(), NOT_BUILT
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as name:
        folder = Path(name)
        build(settings_in(folder).store, 2 * WORKERS + MESSAGES // 2 * WORKERS * A_TURN)
        async with _house(folder) as house, _browser() as browser:
            context = await _paired(house, browser)
            first = await _first_visits(house, browser)
            long = await _long_conversation(house, context)
            scrolled = [row for slowed in SLOWED for row in await _scrolling(house, context, slowed)]
            streaming = [row for slowed in SLOWED for row in await _streaming(house, context, slowed)]
            return [*streaming, *long, *scrolled, *first]


@asynccontextmanager
async def _house(folder: Path) -> AsyncIterator[House]:
    holders = LocalHolders(folder / "holders")
    agent = DemoDriver(
        holders,
        python=sys.executable,
        environment={"PATH": os.environ["PATH"]},
        program=ROOT / "bench" / "app_agent.py",
        arguments=[str(ROOT / "src")],
        backend="stamps",
    )
    async with open_house(folder, clock=SystemClock(), drivers={"stamps": agent}) as house:
        for slowed in SLOWED:
            await house.hire(f"ann{slowed}", "stamps", directory=folder)
        yield house
        for slowed in SLOWED:
            await house.end(f"ann{slowed}")
        await house.until(lambda present: not any(name.startswith("ann") for name in present.workers))


@asynccontextmanager
async def _browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        await browser.close()


def _address(house: House) -> str:
    return f"http://127.0.0.1:{house.node.port}/app/"


async def _paired(house: House, browser: Browser) -> BrowserContext:
    """A phone that the node knows, with the tour behind it."""
    context = await browser.new_context(viewport=SCREEN, has_touch=True, is_mobile=True, locale="en")  # type: ignore[arg-type]
    async with SocketHub(house.node.settings.door) as hub:
        code = (await hub.pair()).code
    page = await context.new_page()
    await page.goto(f"{_address(house)}#pair={code}")
    await page.get_by_role("button", name="Skip").tap()
    await page.locator(".team-link", has_text="live").wait_for()
    await page.close()
    return context


@asynccontextmanager
async def _page(context: BrowserContext, slowed: int) -> AsyncIterator[Page]:
    """A page on a machine that is so many times slower than this one."""
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    yield page
    await page.close()


async def _streaming(house: House, context: BrowserContext, slowed: int) -> list[Row]:
    async with _page(context, slowed) as page:
        await page.goto(f"{_address(house)}#/w/ann{slowed}")
        await page.locator(".composer-field").wait_for()
        await page.evaluate(WATCH)
        await house.say(f"{TOKENS_A_SECOND * SECONDS} {1 / TOKENS_A_SECOND}", f"ann{slowed}")
        await page.get_by_text("the end of it").last.wait_for(timeout=120_000)
        found: dict[str, Any] = await page.evaluate("({ painted: window.painted, tasks: window.tasks })")
    delays, longest = found["painted"], max(found["tasks"], default=0.0)
    how, note = (f" at {slowed} × throttle", "") if slowed > 1 else ("", f"{len(delays)} pieces were painted")
    return [
        Row(f"agent text → painted, p50{how}", median(delays), "ms", limit=None if slowed > 1 else 100.0, note=note),
        Row(f"agent text → painted, p99{how}", percentile(delays, 0.99), "ms"),
        Row(
            f"longest task while {TOKENS_A_SECOND} tokens/s stream{how}",
            longest,
            "ms",
            limit=None if slowed > 1 else 50.0,
            note="" if longest else "none took 50 ms",
        ),
    ]


async def _long_conversation(house: House, context: BrowserContext) -> list[Row]:
    """Opened by its address with what the phone keeps, and by a tap in the team."""
    opened: list[float] = []
    tapped: list[float] = []
    for _ in range(ROUNDS):
        async with _page(context, SLOW_PHONE) as page:
            await page.goto(f"{_address(house)}#/w/worker-1")
            opened.append(await page.evaluate(DRAWN, ".row .md"))
        async with _page(context, SLOW_PHONE) as page:
            await page.goto(_address(house))
            await page.locator(".team-link", has_text="live").wait_for()
            tapped.append(await page.evaluate(TAPPED, ".row .md"))
    name = f"first paint of a conversation of {MESSAGES:,} messages at {SLOW_PHONE} × throttle"
    return [
        Row(f"{name}, the app opened with it", median(opened), "ms", limit=1000.0),
        Row(f"{name}, tapped in the team", median(tapped), "ms", limit=1000.0),
    ]


async def _scrolling(house: House, context: BrowserContext, slowed: int) -> list[Row]:
    """Up through the long conversation, beside a scroller with nothing in it; a frame that is missed counts twice.

    One and the other take turns, so that what else the machine does costs both the same."""
    empty: list[float] = []
    found: list[float] = []
    async with _page(context, slowed) as blank, _page(context, slowed) as page:
        await blank.set_content(EMPTY_SCROLLER)
        await page.goto(f"{_address(house)}#/w/worker-1")
        await page.locator(".row .md").first.wait_for()
        for _ in range(SCROLLS):
            empty += await _scrolled(blank)
            found += await _scrolled(page)
    missed = [sum(took > MOST_FRAMES * median(empty) for took in one) for one in (found, empty)]
    how = f" at {slowed} × throttle" if slowed > 1 else ""
    return [
        beside(
            f"frame while {MESSAGES:,} messages are scrolled, p95{how}",
            percentile(found, 0.95),
            "ms",
            "an empty scroller",
            percentile(empty, 0.95),
            limit=None if slowed > 1 else MOST_FRAMES,
            note=f"of {len(found)} frames {missed[0]} were missed, in the empty one {missed[1]}",
        ),
        beside(
            f"mean frame while {MESSAGES:,} messages are scrolled{how}",
            sum(found) / len(found),
            "ms",
            "an empty scroller",
            sum(empty) / len(empty),
        ),
    ]


async def _scrolled(page: Page) -> list[float]:
    await page.bring_to_front()
    took: list[float] = (await page.evaluate(SCROLLED, [".scroller", FRAMES, FRAME_PIXELS]))["took"]
    return took


async def _first_visits(house: House, browser: Browser) -> list[Row]:
    """A browser that never saw the app: nothing is kept, nothing is cached."""
    took: list[float] = []
    for _ in range(ROUNDS):
        context = await browser.new_context(viewport=SCREEN, has_touch=True, is_mobile=True, locale="en")  # type: ignore[arg-type]
        async with SocketHub(house.node.settings.door) as hub:
            code = (await hub.pair()).code
        async with _page(context, SLOW_PHONE) as page:
            await page.goto(f"{_address(house)}#pair={code}")
            took.append(await page.evaluate(DRAWN, "a.worker"))
        await context.close()
    return [
        Row(
            f"first visit → the team is there and answers, at {SLOW_PHONE} × throttle", median(took), "ms", limit=1500.0
        )
    ]
