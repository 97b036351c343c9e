"""What every agent's CLI must bear from the phone app in a real Chromium: hired, asked, watched, taken up again."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
from playwright.async_api import Browser, FilePayload, Locator, Page, async_playwright, expect
from playwright.async_api import TimeoutError as NotInTime
from tests.live.app.cable import Cable
from tests.live.app.phone import ARGUMENTS, HEADLESS
from tests.live.app.test_voice import PROGRAM
from tests.live.nodes import SAFETY_SECONDS
from tests.live.phone_scenarios import FIRST, SECOND, PhoneModel
from tests.live.turn_scenarios import AskedWith, EffortModel

from farhand.drivers.demo.replies import sunrise
from farhand.testing.http import local_client
from farhand.testing.models.script import say
from farhand.testing.phone import Phone

# What every worker is told first.
WELCOME = "a long-lived worker on this team"
# How the bytes of every PNG begin where a request carries them.
PNG_IN_BASE64 = "iVBORw0KGgo"
# What the program of the node writes down of every recording that is one.
SPOKEN = "run the tests"
# A node that writes recordings down.
WITH_VOICE = {"FARHAND_VOICE_COMMAND": f"{shlex.quote(sys.executable)} -c {shlex.quote(PROGRAM)} {{file}}"}
expect.set_options(timeout=SAFETY_SECONDS * 1000)


@dataclass
class AppInHand:
    """The app on a phone's screen, the cable to its node, and what is done there with one worker."""

    page: Page
    cable: Cable
    phone: Phone
    browser: Browser
    name: str = "ann"

    async def another_device(self) -> Page:
        """The app in a profile of its own, paired by a code of its own."""
        return await _paired(self.browser, self.cable, self.phone)

    def button(self, name: str) -> Locator:
        """A button by what it says."""
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def sheet(self) -> Locator:
        """The sheet that is open."""
        return self.page.get_by_role("dialog")

    async def go(self, place: str) -> None:
        """To another screen of the app."""
        await self.page.goto(self.page.url.partition("#")[0] + f"#/{place}")

    async def tap_until_gone(self, what: Locator, button: Locator | None = None) -> None:
        """Taps it, or that button, until it counts: one that has just come takes no tap that was meant for another."""
        await expect(what).to_be_visible()
        while await what.is_visible():
            with suppress(NotInTime):
                await (button or what).tap(timeout=2000)

    async def say(self, text: str) -> None:
        """Writes and sends."""
        await self.page.get_by_role("textbox", name=f"Message {self.name}…").fill(text)
        await self.button("Send").tap()

    def receipt(self, text: str) -> Locator:
        """What is told of the message that says this."""
        message = self.page.get_by_role("article", name="Message of you").filter(has_text=text)
        return message.locator(".receipt").first

    async def hears(self, text: str) -> None:
        """One answer has this text."""
        answer = self.page.get_by_role("article", name=f"{self.name}’s answer").filter(has_text=text)
        await expect(answer).to_have_count(1)

    async def hire(self, agent: str, wire: str, effort: str = "", mode: str = "") -> None:
        """By the sheet: the agent, the name, how it is run, how hard it thinks, what it may do."""
        await self.page.get_by_role("button", name=re.compile("^Hire")).first.tap()
        await self.sheet.get_by_text(agent, exact=True).tap()
        await self.sheet.get_by_label("Name").fill(self.name)
        await self.sheet.get_by_label("How it is run").select_option(wire)
        if effort:
            await self.sheet.get_by_label("Effort").select_option(effort)
        if mode:
            await self.sheet.get_by_role("radio", name=re.compile(f"^{mode}", re.IGNORECASE)).check()
        await self.sheet.get_by_role("button", name=f"Hire {self.name}").tap()
        await expect(self.page.get_by_role("textbox", name=f"Message {self.name}…")).to_be_visible()

    async def let_go(self) -> None:
        """Asked for twice."""
        await self.button(f"About {self.name}").tap()
        await self.tap_until_gone(self.button("Let go…"))
        await self.tap_until_gone(self.button("Let go for good"))
        await expect(self.page.get_by_role("heading", name="farhand")).to_be_visible()
        await expect(self.page.locator(f'a[href="#/w/{self.name}"]')).to_have_count(0)


@dataclass
class AskedEffort:
    """How hard an agent is to think, as its model hears it."""

    model: EffortModel
    of: Callable[[AskedWith], object]


@asynccontextmanager
async def with_app(phone: Phone) -> AsyncIterator[AppInHand]:
    """The app of that phone's node, paired, on a screen of 390 by 844 pixels; nothing may go wrong in its page."""
    await _answers(f"http://127.0.0.1:{phone.port}/healthz")
    problems: list[str] = []
    with Cable(phone.port) as cable:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=HEADLESS, args=ARGUMENTS)
            page = await _paired(browser, cable, phone)
            page.on("pageerror", lambda error: problems.append(str(error)))
            yield AppInHand(page, cable, phone, browser)
            await browser.close()
    assert problems == []


async def _paired(browser: Browser, cable: Cable, phone: Phone) -> Page:
    """A device's page: the app, and live."""
    code = (await phone.types("pair", "--node", "test")).splitlines()[0].removeprefix("Code: ")
    context = await browser.new_context(
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        locale="en",
        permissions=["clipboard-read", "clipboard-write", "microphone"],
    )
    context.set_default_timeout(SAFETY_SECONDS * 1000)
    page = await context.new_page()
    await page.goto(f"http://127.0.0.1:{cable.port}/app/#pair={code}")
    await page.get_by_role("button", name="Skip", exact=True).tap()
    await expect(page.locator(".team-link", has_text="live")).to_be_visible()
    return page


async def _answers(address: str) -> None:
    async with local_client() as client:
        with anyio.fail_after(SAFETY_SECONDS):
            while True:
                with suppress(httpx2.HTTPError):
                    await client.get(address)
                    return
                await anyio.sleep(0.05)


async def a_day_in_the_app(
    app: AppInHand, model: PhoneModel, agent: str, wire: str, folder: Path, effort: AskedEffort | None = None
) -> None:
    """Everything that one does with a worker from the app, in one life of the agent and the next."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    model.says(WELCOME, "I am ready")
    await app.hire(agent, wire, effort="low" if effort else "")
    await app.hears("I am ready")
    if effort:
        await thinks_more(app, effort)
    await one_ask_is_allowed_and_another_denied_with_words(app, model)
    await comments_on_a_line(app, model, folder)
    await sends_a_picture(app, model)
    await speaks(app, model)
    if wire == "tmux":
        await types_into_its_terminal(app, "made one")
    await what_waits_is_put_in_order_while_an_answer_streams(app, model, streams=wire != "tmux")
    await revokes_another_device(app)
    model.says("zz-again", "still the same one")
    model.says(WELCOME, "here again")
    await app.let_go()
    await taken_up_again(app)
    await app.hears("here again")
    await app.say("zz-again")
    await app.hears("still the same one")


async def one_ask_is_allowed_and_another_denied_with_words(app: AppInHand, model: PhoneModel) -> None:
    """By the card, and by the sheet; what is written beside No reaches the model."""
    one, two = model.touches("one", "made one"), model.touches("two", "left two")
    await app.say("zz-one")
    await expect(app.page.locator(".ask-card")).to_contain_text("touch one.txt")
    assert not one.exists()
    await app.tap_until_gone(app.button("Allow once").last)
    await app.hears("made one")
    assert one.exists()
    later = model.hears_words("not on a Monday", "on Tuesday then")
    await app.say("zz-two")
    await app.button("Say why, or more choices…").last.tap()
    await expect(app.sheet).to_contain_text("touch two.txt")
    await app.sheet.locator(".words").fill("not on a Monday")
    await app.tap_until_gone(app.sheet.get_by_role("button", name="Deny", exact=True))
    if model.goes_on:
        await app.hears("left two")
    if later:
        await app.hears("on Tuesday then")
    assert not two.exists()
    assert model.was_told("not on a Monday")


async def comments_on_a_line(app: AppInHand, model: PhoneModel, folder: Path) -> None:
    """What is said of a line of a file that came into the folder reaches the model with that line."""
    (folder / "lamp.txt").write_text("light\nblink seven times\n")
    model.says("zz-comment", "six times then")
    await app.page.get_by_role("link", name="Files and changes").tap()
    await app.page.get_by_role("button", name=re.compile("lamp.txt")).tap()
    await app.page.locator(".diff-line", has_text="blink seven times").tap()
    await app.page.get_by_placeholder("Your comment").fill("zz-comment: why seven?")
    await app.button("Add comment").tap()
    await app.button("Send the comment").tap()
    await app.hears("six times then")
    assert model.was_told("blink seven times")


async def sends_a_picture(app: AppInHand, model: PhoneModel) -> None:
    """Its bytes are in what the model is asked; an agent that has to read a file for that asks first."""
    asks = model.looks_at_a_picture("zz-look", "a sunrise")
    picture: FilePayload = {"name": "sunrise.png", "mimeType": "image/png", "buffer": sunrise()}
    await app.page.locator("input[type=file]").set_input_files(files=[picture])
    await expect(app.page.get_by_role("button", name="Remove sunrise.png")).to_be_visible()
    assert not model.was_told(PNG_IN_BASE64)
    await app.say("zz-look")
    if asks:
        await app.tap_until_gone(app.button("Allow once").last)
    await app.hears("a sunrise")
    assert model.was_told(PNG_IN_BASE64)


async def speaks(app: AppInHand, model: PhoneModel) -> None:
    """A second of the microphone or more, which the node writes down; what is sent are the words."""
    model.says(SPOKEN, "all of them pass")
    await app.button("Record a voice note").tap()
    await expect(app.page.get_by_text(re.compile(r"Recording (?!0:00)\d+:\d\d"))).to_be_visible()
    await app.button("Write it down").tap()
    await expect(app.page.get_by_role("textbox", name=f"Message {app.name}…")).to_have_value(SPOKEN)
    await app.button("Send").tap()
    await app.hears("all of them pass")
    assert model.was_told(SPOKEN)


async def what_waits_is_put_in_order_while_an_answer_streams(
    app: AppInHand, model: PhoneModel, *, streams: bool
) -> None:
    """While the model speaks its first half is read, three messages wait, one of them written without a network.

    One more is taken back, and the two that were first in the queue change places.
    """
    go_on = model.pauses("zz-away")
    waiting = {"zz-later": "later said", "zz-sooner": "sooner said", "zz-tunnel": "said in a tunnel"}
    for marker, text in waiting.items():
        model.says(marker, text)
    await app.say("zz-away")
    await model.asked("zz-away")
    if streams:
        await app.hears(FIRST.strip())
    for marker in ("zz-never", "zz-later", "zz-sooner"):
        await app.say(marker)
    await app.page.get_by_role("button", name=re.compile("3 queued")).tap()
    waits = app.sheet.locator(".queued")
    await waits.filter(has_text="zz-never").get_by_role("button", name="Drop").tap()
    await expect(waits).to_have_count(2)
    await waits.filter(has_text="zz-later").get_by_role("button", name="Later").tap()
    await expect(waits.first).to_contain_text("zz-sooner")
    await app.sheet.get_by_role("button", name="Close").tap()
    app.cable.pull_out()
    await app.say("zz-tunnel")
    await expect(app.receipt("zz-tunnel")).to_contain_text("on this")
    app.cable.plug_in()
    await expect(app.page.get_by_role("button", name=re.compile("3 queued"))).to_be_visible()
    go_on()
    await app.hears(SECOND)
    for text in waiting.values():
        await app.hears(text)
    answers = app.page.get_by_role("article", name=f"{app.name}’s answer")
    said = [text for one in await answers.all_inner_texts() for text in waiting.values() if text in one]
    assert said == ["sooner said", "later said", "said in a tunnel"]
    assert not model.was_told("zz-never")


async def reads_an_answer_while_it_streams(app: AppInHand, model: PhoneModel) -> None:
    """Its first half is on the screen before the model has said the other."""
    go_on = model.pauses("zz-halves")
    await app.say("zz-halves")
    await app.hears(FIRST.strip())
    await expect(app.page.get_by_text(SECOND)).to_have_count(0)
    go_on()
    await app.hears(SECOND)


async def thinks_more(app: AppInHand, effort: AskedEffort) -> None:
    """Hired to think little, and told to think more in the worker's sheet: the model is asked with each."""
    for marker, answer in (("zz-little", "a little"), ("zz-more", "much more")):
        effort.model.script.conversation(marker, say(answer))
    await app.say("zz-little")
    await app.hears("a little")
    assert effort.of(await effort.model.asked("zz-little")) == "low"
    await app.button(f"About {app.name}").tap()
    chosen = app.sheet.get_by_label("Effort")
    await expect(chosen).to_have_value("low")
    await chosen.select_option("high")
    await app.sheet.get_by_role("button", name="Close").tap()
    await expect(app.page.get_by_text("Effort high")).to_be_visible()
    await app.say("zz-more")
    await app.hears("much more")
    assert effort.of(await effort.model.asked("zz-more")) == "high"


async def types_into_its_terminal(app: AppInHand, shown: str) -> None:
    """What is on the agent's own screen; a text is pasted there, and taken back by a key."""
    await app.page.get_by_role("link", name="Terminal").tap()
    screen = app.page.get_by_role("region", name=f"Terminal of {app.name}")
    await expect(screen).to_contain_text(shown)
    await app.page.evaluate("navigator.clipboard.writeText('half a thought')")
    await app.button("Paste what was copied").tap()
    await expect(screen).to_contain_text("half a thought")
    await app.button("^C").tap()
    await expect(screen).not_to_contain_text("half a thought")
    await app.page.get_by_role("link", name=f"Back to {app.name}").tap()


async def another_in_its_terminal(app: AppInHand, model: PhoneModel, agent: str, mode: str = "") -> None:
    """A second worker, whose terminal is typed into; the steps that follow are done with it."""
    model.says(WELCOME, "ready as well")
    await app.go("")
    app.name = "bob"
    await app.hire(agent, "tmux", mode=mode)
    await app.hears("ready as well")
    await types_into_its_terminal(app, "ready as well")


async def answers_a_questionnaire(app: AppInHand, sides: tuple[str, ...]) -> None:
    """At `zz-ask` the agent asks for a color and, where it can ask two things at once, for sides."""
    await app.say("zz-ask")
    await app.button("Answer").first.tap()
    await app.sheet.get_by_label("Blue").check()
    await app.tap_until_gone(app.sheet.locator(".ask-question", has_text="color"), app.button("Send answer"))
    for side in sides:
        await app.sheet.get_by_label(side).check()
    if sides:
        await app.tap_until_gone(app.button("Send answer"))
    await app.hears("thanks")


async def agrees_to_a_plan(app: AppInHand) -> None:
    """At `zz-plan` the agent has a plan of two steps, which is read whole before it begins."""
    await app.say("zz-plan")
    await app.button("Read the plan").last.tap()
    await expect(app.sheet.locator(".plan li")).to_have_count(2)
    await app.tap_until_gone(app.sheet.get_by_role("button", name="Go ahead"))
    await app.hears("on it")


async def revokes_another_device(app: AppInHand) -> None:
    """One that has the conversation open is put out at once, and this one stays where it is."""
    other = await app.another_device()
    await other.locator(f'a[href="#/w/{app.name}"]').tap()
    await expect(other.get_by_role("article", name=f"{app.name}’s answer").filter(has_text=SECOND)).to_have_count(1)
    await app.go("devices")
    devices = app.page.locator("li.worker", has=app.page.locator(".button.danger"))
    row = devices.filter(has_not=app.page.get_by_text("this one"))
    await row.get_by_role("button", name="Revoke").tap()
    await row.get_by_role("button", name="Really?").tap()
    await expect(other.get_by_label("Code")).to_be_visible()
    await expect(devices).to_have_count(1)
    await expect(devices).to_contain_text("this one")
    await other.context.close()
    await app.go(f"w/{app.name}")


async def taken_up_again(app: AppInHand) -> None:
    """From the list of conversations, which has it now that its worker is gone."""
    await app.page.get_by_role("link", name="Sessions").first.tap()
    await app.page.get_by_role("button", name="Resume").first.tap()
    await expect(app.page.get_by_role("textbox", name=f"Message {app.name}…")).to_be_visible()
