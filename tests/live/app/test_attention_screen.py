"""What buzzes, set in the phone app of a real node: kind by kind for each worker, and what buzzes in quiet hours."""

from typing import Any

from playwright.sync_api import Locator, expect
from tests.live.app.conftest import Opens
from tests.live.app.phone import AppNode, Phone
from tests.live.nodes import SAFETY_SECONDS

expect.set_options(timeout=SAFETY_SECONDS * 1000)


def settings(node: AppNode) -> dict[str, Any]:
    """What the node goes by."""
    found: dict[str, Any] = [fact["settings"] for fact in node.facts() if fact["type"] == "attention_set"][-1]
    return found


def switch(opened: Phone, name: str) -> Locator:
    """A switch by what stands beside it."""
    return opened.page.get_by_role("switch", name=name, exact=True)


def turn(opened: Phone, name: str, *, on: bool) -> None:
    """Taps a switch, and waits until the node has said that it is so."""
    opened.tap(switch(opened, name))
    expect(switch(opened, name)).to_be_checked(checked=on)


def test_what_is_set_on_the_screen_is_what_the_node_goes_by(phone: Opens, node: AppNode) -> None:
    node.done("quiet", "demo", "finished", "off")
    opened = phone()
    opened.pair()
    opened.page.goto(f"{node.address()}#/notifications")
    a_worker_is_quiet_for_some_kinds_and_is_so_again_after_it_was_switched_off(opened)
    every_kind_may_buzz_in_quiet_hours(opened)


def a_worker_is_quiet_for_some_kinds_and_is_so_again_after_it_was_switched_off(opened: Phone) -> None:
    kinds = opened.page.locator(".kinds summary", has_text="What may buzz")
    expect(kinds).to_have_text("What may buzz: 5 of 6")
    turn(opened, "demo", on=False)
    turn(opened, "demo", on=True)
    expect(kinds).to_have_text("What may buzz: 5 of 6")
    assert settings(opened.node)["workers"] == {"demo": ["finished"]}
    opened.tap(kinds)
    turn(opened, "demo: Usage limits", on=False)
    expect(kinds).to_have_text("What may buzz: 4 of 6")
    assert settings(opened.node)["workers"] == {"demo": ["finished", "limit"]}


def every_kind_may_buzz_in_quiet_hours(opened: Phone) -> None:
    turn(opened, "Every day", on=True)
    before = set(settings(opened.node).get("exceptions", []))
    opened.tap(opened.page.locator(".kinds summary", has_text="Buzzes all the same"))
    turn(opened, "Buzzes all the same: Failed turns", on=True)
    assert set(settings(opened.node)["exceptions"]) == before | {"failed"}
