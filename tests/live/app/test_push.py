"""Push in a real Chromium: a question of the demo comes through the browser's own push, and its button acts once."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Worker, expect, sync_playwright
from tests.live.app.google import Google, google
from tests.live.app.net import until
from tests.live.app.phone import ARGUMENTS, CHROMIUM, AppNode, Phone, running
from tests.live.nodes import SAFETY_SECONDS, Home

from farhand.server.web_app import NOT_BUILT, WebApp

expect.set_options(timeout=SAFETY_SECONDS * 1000)
# The notifications whose tag begins so, and with that title if one is given, once some are there, or none is. Looked
# for within the worker: a look from outside goes through four processes; and with the app's own lock, for a list that
# Chromium makes while a notification is being shown loses that one.
LISTED = """navigator.locks.request("farhand-notifications", () => self.registration.getNotifications())"""
SHOWN = """async ([tag, title, isThere, seconds]) => {
  const deadline = Date.now() + seconds * 1000;
  while (true) {
    const all = await LISTED;
    const found = all.filter((one) => one.tag.startsWith(tag) && ["", one.title].includes(title));
    if (found.length > 0 === isThere || Date.now() > deadline)
      return found.map((one) => ({
        title: one.title, body: one.body, tag: one.tag, silent: one.silent, data: one.data,
        actions: (one.actions ?? []).map((action) => action.action),
      }));
    await new Promise((done) => setTimeout(done, 100));
  }
}""".replace("LISTED", LISTED)

# What the browser does when a person taps: the real event, on the real notification, to the worker's own listener.
TAP = """async ([tag, action]) => {
  const [notification] = (await LISTED).filter((one) => one.tag.startsWith(tag));
  let work = Promise.resolve();
  const event = new NotificationEvent("notificationclick", { notification, action });
  event.waitUntil = (promise) => { work = promise; };
  self.dispatchEvent(event);
  await work.catch(() => undefined);
  return (await LISTED).map((one) => one.tag);
}""".replace("LISTED", LISTED)
# Pushes that come to the worker's own listener while somebody looks all the time; which of them are not to be found.
LOST = """async (count) => {
  let left = count;
  const looking = (async () => { while (left) await LISTED; })();
  const lost = [];
  for (; left; left -= 1) {
    const tag = `looked-at-${left}`;
    let work = Promise.resolve();
    const event = new PushEvent("push", { data: JSON.stringify({ notification: { title: tag, tag } }) });
    event.waitUntil = (promise) => { work = promise; };
    self.dispatchEvent(event);
    await work;
    const found = (await LISTED).filter((one) => one.tag === tag);
    if (!found.length) lost.push(tag);
    for (const one of found) one.close();
  }
  await looking;
  return lost;
}""".replace("LISTED", LISTED)
POST = """async (body) => (await fetch("/api/push/answer", {
  method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
})).status"""

# What the browser does when its service gave a subscription up and another took its place.
RENEW = """async () => {
  const old = await self.registration.pushManager.getSubscription();
  const event = new ExtendableEvent("pushsubscriptionchange");
  let work = Promise.resolve();
  event.waitUntil = (promise) => { work = promise; };
  Object.defineProperty(event, "oldSubscription", { value: { options: old.options } });
  await old.unsubscribe();
  self.dispatchEvent(event);
  await work;
  return (await self.registration.pushManager.getSubscription()).endpoint !== old.endpoint;
}"""
SUBSCRIBED = """async () => (await (await fetch("/api/push")).json()).subscribed"""
FORGET = """async () => (await fetch("/api/push", { method: "DELETE" })).status"""


@pytest.fixture
def service() -> Iterator[Google]:
    assert WebApp().files(), NOT_BUILT
    with TemporaryDirectory(prefix="farhand-") as folder, google(Path(folder)) as made:
        yield made


@pytest.fixture
def node(service: Google) -> Iterator[AppNode]:
    with TemporaryDirectory(prefix="farhand-", ignore_cleanup_errors=True) as folder:
        home = Home(Path(folder), **service.variables)
        with running(home) as made:
            yield made


class PushedPhone(Phone):
    """A phone whose browser has a profile on the disk, as push needs it."""

    def __init__(self, context: BrowserContext, node: AppNode) -> None:
        self.is_touch = False
        self.node = node
        self.context = context
        self.page: Page = context.new_page()
        self.problems: list[str] = []

    @property
    def worker(self) -> Worker:
        """The app's service worker."""
        return self.context.service_workers[0]

    def turns_on(self) -> None:
        """Switches notifications on; where they are permitted, the app may have done it by itself at its start."""
        self.page.goto(f"{self.node.address()}#/notifications")
        switch = self.page.get_by_role("switch", name="On this device")
        expect(switch).to_be_enabled()
        if not switch.is_checked():
            switch.click()
        expect(switch).to_be_checked()

    def shows(self, tag: str, title: str = "") -> dict[str, Any]:
        """The notification of that tag, and title, once it is there."""
        found: list[dict[str, Any]] = self.worker.evaluate(SHOWN, [tag, title, True, SAFETY_SECONDS])
        assert found, f"no notification has the tag {tag}… and the title '{title}'"
        return found[0]

    def shows_no_more(self, tag: str) -> None:
        """Waits until no notification has that tag."""
        assert self.worker.evaluate(SHOWN, [tag, "", False, SAFETY_SECONDS]) == []

    def taps(self, tag: str, action: str = "") -> list[str]:
        """A tap on it, or on one of its buttons; what is still shown after that."""
        left: list[str] = self.worker.evaluate(TAP, [tag, action])
        return left


@pytest.fixture
def phone(service: Google, node: AppNode, tmp_path: Path) -> Iterator[PushedPhone]:
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path / "profile",
            executable_path=CHROMIUM,
            args=[*ARGUMENTS, *service.arguments],
            locale="en",
            viewport={"width": 390, "height": 844},
        )
        context.grant_permissions(["notifications"], origin=f"http://127.0.0.1:{node.port}")
        context.set_default_timeout(SAFETY_SECONDS * 1000)
        yield PushedPhone(context, node)
        context.close()


def settled(node: AppNode) -> list[dict[str, Any]]:
    """What became of asks."""
    return [fact for fact in node.facts() if fact["type"] == "ask_settled"]


def ask(node: AppNode, text: str = "ask me", worker: str = "demo") -> None:
    """Has a demo ask something, from a program and not from the desk."""
    node.done("say", "--worker", worker, text)


def test_questions_come_through_the_browsers_own_push(phone: PushedPhone, node: AppNode, service: Google) -> None:
    phone.pair()
    node.done("quiet", "desk", "off")
    phone.turns_on()
    several_questions_are_one_notification_that_goes_with_the_last_of_them(phone, node)
    phone.turns_on()
    a_button_acts_once(phone, node, service)
    what_was_switched_off_on_this_device_stays_off(phone)
    a_lost_subscription_is_renewed(phone)
    what_is_shown_whole_is_allowed_once(phone, node)
    what_comes_while_somebody_looks_is_kept(phone)


def several_questions_are_one_notification_that_goes_with_the_last_of_them(phone: PushedPhone, node: AppNode) -> None:
    """After two quiet hours, and while they are answered elsewhere."""
    node.done("quiet", "2h")
    names = ("demo", "bea", "cora", "dan")
    for name in names[1:]:
        node.done("hire", name, "--backend", "demo")
    for name in names:
        ask(node, worker=name)
    phone.page.goto(f"{node.address()}#/inbox")
    expect(phone.page.locator(".cards > *")).to_have_count(len(names))
    node.done("quiet", "off")
    assert phone.shows("asks")["title"] == "While you were away: 4"
    asked = [line.split() for line in node.done("inbox").splitlines() if "Answer: farhand answer" in line]
    for left, words in reversed(list(enumerate(asked))):
        node.done("answer", words[3], "no")
        if left > 1:
            phone.shows("asks", f"While you were away: {left}")
    # Somebody looks: the end of the last needs no word.
    phone.shows_no_more("asks")


def a_button_acts_once(phone: PushedPhone, node: AppNode, service: Google) -> None:
    """A test comes first; no other token answers; a tap beside the buttons opens the question."""
    before = len(settled(node))
    phone.tap(phone.button("Send a test"))
    expect(phone.page.get_by_text("took it")).to_be_visible()
    assert phone.shows("test")["body"] == "It works: this is how your node reaches you."

    ask(node)
    shown = phone.shows("ask:")
    assert shown["title"] == "demo asks"
    # Allow is there only where the browser shows all of what is asked for, its folder too.
    assert shown["actions"][-1] == "deny"
    answer = {"ask": shown["data"]["ask"], "digest": shown["data"]["digest"], **shown["data"]["deny"]}
    assert phone.page.evaluate(POST, {**answer, "digest": "another"}) == 403
    assert phone.page.evaluate(POST, {**answer, "token": "9999999999.00"}) == 403
    assert len(settled(node)) == before
    left = phone.taps("ask:", "deny")
    assert shown["tag"] not in left
    fact = settled(node)[-1]
    assert (fact["choice"], fact["by"]["via"][:4]) == (answer["choice"], "web-")
    assert phone.page.evaluate(POST, answer) in (400, 403)
    assert len(settled(node)) == before + 1

    # A tap beside the buttons opens the question itself.
    ask(node, "ask me again")
    second = phone.shows("ask:")
    phone.taps("ask:")
    expect(phone.page.locator("dialog, .sheet").first).to_be_visible()
    assert second["data"]["ask"] in phone.page.evaluate("decodeURIComponent(location.hash)")
    assert len(service.posted) >= 3
    node.done("answer", second["data"]["ask"], "no")
    phone.shows_no_more("ask:")


def what_was_switched_off_on_this_device_stays_off(phone: PushedPhone) -> None:
    """Over a visit to come, until it is switched on again."""
    phone.turns_on()
    switch = phone.page.get_by_role("switch", name="On this device")
    switch.click()
    expect(switch).not_to_be_checked()
    expect(switch).to_be_enabled()
    phone.page.reload()
    # The app has looked after its subscription once its service worker is up and the page has had an idle moment.
    phone.page.evaluate("navigator.serviceWorker.ready.then(() => new Promise((done) => requestIdleCallback(done)))")
    expect(switch).to_be_enabled()
    expect(switch).not_to_be_checked()
    assert phone.page.evaluate(SUBSCRIBED) is False
    phone.turns_on()
    phone.page.reload()
    expect(switch).to_be_checked()


def a_lost_subscription_is_renewed(phone: PushedPhone) -> None:
    """The node and the service have lost it: the browser tells of another one by itself."""
    expect(phone.button("Send a test")).to_be_enabled()
    # Once after each start the app looks after its subscription, and may do so in this moment.
    until(
        "the node never forgets it",
        lambda: phone.page.evaluate(FORGET) < 300 and not phone.page.evaluate(SUBSCRIBED),
    )
    assert phone.worker.evaluate(RENEW) is True
    assert phone.page.evaluate(SUBSCRIBED) is True


def what_is_shown_whole_is_allowed_once(phone: PushedPhone, node: AppNode) -> None:
    """A short path leaves room for the question on the four lines that a notification has."""
    before = len(settled(node))
    with TemporaryDirectory(prefix="f-", dir="/tmp") as folder:
        node.done("hire", "cleo", "--backend", "demo", "--directory", folder)
        ask(node, worker="cleo")
        shown = phone.shows("ask:")
        assert shown["actions"] == ["allow", "deny"], shown["body"]
        answer = {"ask": shown["data"]["ask"], "digest": shown["data"]["digest"], **shown["data"]["allow"]}
        assert phone.page.evaluate(POST, {**answer, "choice": "no"}) == 403
        assert len(settled(node)) == before
        assert shown["tag"] not in phone.taps("ask:", "allow")
        fact = settled(node)[-1]
        assert (fact["choice"], fact["by"]["via"][:4]) == ("yes", "web-")
        # Acted on once: the same token again is refused, and changes nothing.
        assert phone.page.evaluate(POST, answer) in (400, 403)
        assert len(settled(node)) == before + 1
        expect(phone.page.get_by_text("cleo").first).to_be_visible()


def what_comes_while_somebody_looks_is_kept(phone: PushedPhone) -> None:
    """The app looks at what is shown whenever a question comes or goes, and so when a push is on its way."""
    assert phone.worker.evaluate(LOST, 50) == []
