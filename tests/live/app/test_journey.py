"""A whole day on one phone, on each size of screen: everything that the app is for, with the demo worker."""

import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, expect
from tests.live.app.cable import Cable
from tests.live.app.conftest import Opens
from tests.live.app.large_picture import large_picture
from tests.live.app.phone import DESK, PHONE, SMALL, AppNode, Phone

from farhand.drivers.demo.replies import sunrise


@pytest.mark.parametrize("size", [PHONE, SMALL, DESK], ids=["390x844", "360x740", "1280x800"])
def test_a_day_at_every_size(phone: Opens, node: AppNode, size: dict[str, int]) -> None:
    project = node.home.folder / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    with Cable(node.port) as cable:
        node.reached_at = cable.port
        opened = phone(size)
        sees_the_tour_once(opened)
        hires(opened, "ann", project)
        denies_with_words(opened)
        accepts_a_plan(opened)
        answers_a_questionnaire(opened)
        comments_on_a_diff(opened)
        assert node.said()[-1].startswith("**lighthouse.py**, line ")
        opened.page.goto(f"{node.address()}#/w/demo")
        reads_a_stream_and_allows(opened)
        types_into_the_terminal(opened)
        puts_the_queue_into_another_order(opened)
        # A large one takes a quarter of the day's processor time, and is made smaller in the same way at every size.
        sends_several_pictures(opened, large_picture() if size == PHONE else sunrise())
        writes_in_a_tunnel(opened, cable)
        revokes_another_device(opened, phone(PHONE))


def sees_the_tour_once(opened: Phone) -> None:
    """Four cards at the first visit; not at the second."""
    opened.page.goto(opened.node.address(opened.node.code()))
    expect(opened.sheet).to_be_visible()
    assert "pair=" not in opened.page.url
    for number in (1, 2, 3):
        expect(opened.sheet).to_contain_text(f"{number} of 4")
        opened.tap(opened.button("Next"))
    expect(opened.sheet).to_contain_text("4 of 4")
    opened.tap(opened.button("Let’s go"))
    opened.is_live()
    opened.page.reload()
    opened.is_live()
    expect(opened.sheet).to_have_count(0)


def hires(opened: Phone, name: str, folder: Path) -> None:
    """A demo worker with a name, in a folder of its own."""
    opened.tap(opened.button("Hire"))
    opened.tap(opened.sheet.get_by_text("Demo", exact=True))
    opened.sheet.get_by_label("Name").fill(name)
    opened.sheet.get_by_label("Folder").fill(str(folder))
    opened.tap(opened.sheet.get_by_role("button", name=f"Hire {name}"))
    expect(opened.composer(name)).to_be_visible()


def denies_with_words(opened: Phone) -> None:
    """The sheet has the whole question; what is written beside No reaches the agent."""
    opened.say("ann", "ask")
    opened.tap(opened.button("Say why, or more choices…").last)
    expect(opened.sheet).to_contain_text("a-note-from-the-demo.txt")
    opened.sheet.locator(".words").fill("not on a Monday")
    opened.tap_until_gone(opened.sheet.get_by_role("button", name="Deny"))
    expect(opened.answer("ann")).to_contain_text("And you said: “not on a Monday”")


def accepts_a_plan(opened: Phone) -> None:
    """The plan is read whole, and then it is kept to."""
    opened.say("ann", "plan")
    opened.tap(opened.button("Read the plan").last)
    expect(opened.sheet.locator(".plan li")).to_have_count(3)
    opened.tap_until_gone(opened.sheet.get_by_role("button", name="Go ahead"))
    expect(opened.answer("ann")).to_contain_text("I have changed lighthouse.py.")


def answers_a_questionnaire(opened: Phone) -> None:
    """Both parts on one sheet after the other, one with several choices."""
    opened.say("ann", "questions")
    parts = opened.page.locator(".waiting-asks").get_by_role("button", name="Answer", exact=True)
    expect(parts).to_have_count(2)
    opened.tap(parts.first)
    expect(opened.sheet).to_contain_text("1 of 2")
    for ship in ("Petrel", "Tern"):
        opened.sheet.get_by_label(ship).check()
    opened.tap_until(opened.button("Send answer"), opened.sheet.locator(".ask-question", has_text="Which ships"))
    opened.sheet.get_by_label("At dusk").check()
    opened.tap_until_gone(opened.sheet.get_by_role("button", name="Send answer"))
    expect(opened.answer("ann")).to_contain_text("I greet Petrel and Tern, at dusk.")


def comments_on_a_diff(opened: Phone) -> None:
    """Two lines are commented on, and it is one message."""
    opened.tap(opened.page.get_by_role("link", name="Files and changes"))
    opened.tap(opened.page.get_by_role("button", name=re.compile("lighthouse.py")))
    for line, text in ((2, "Why seven?"), (5, "Name it greet.")):
        opened.tap(opened.page.locator(".diff-line.added").nth(line))
        opened.page.get_by_placeholder("Your comment").fill(text)
        opened.tap(opened.button("Add comment"))
    opened.tap(opened.button("Send 2 as one message"))
    message = opened.page.get_by_role("article", name="Message of you").last
    expect(message).to_contain_text("Why seven?")
    expect(message).to_contain_text("Name it greet.")
    expect(opened.receipt("Why seven?")).to_contain_text("answered")


def reads_a_stream_and_allows(opened: Phone) -> None:
    """An answer comes word by word, and a question is answered where it stands; both were said once."""
    before = opened.node.said()
    opened.say("demo", "stream")
    expect(opened.answer("demo")).to_contain_text("lighthouse keeper")
    expect(opened.answer("demo")).to_contain_text("as I would write code for you.")
    expect(opened.receipt("stream")).to_contain_text("answered")
    opened.say("demo", "ask")
    opened.answer_ask("Allow once")
    expect(opened.answer("demo")).to_contain_text("The note is written")
    assert opened.node.said() == [*before, "stream", "ask"]


def types_into_the_terminal(opened: Phone) -> None:
    """A text from the composer, a key from the row."""
    opened.tap(opened.page.get_by_role("link", name="Terminal"))
    screen = opened.page.get_by_role("region", name="Terminal of demo")
    expect(screen).to_contain_text("The demo worker's own terminal")
    opened.page.get_by_placeholder("Sent as one paste").fill("hello from the phone")
    opened.tap(opened.page.locator(".pane", has=screen).get_by_role("button", name="Send"))
    expect(screen).to_contain_text("demo> hello from the phone")
    expect(screen).to_contain_text("You typed 20 characters.")
    opened.tap(opened.button("Up"))
    expect(screen).to_contain_text("(Up)")
    opened.page.go_back()
    expect(opened.composer("demo")).to_be_visible()


def puts_the_queue_into_another_order(opened: Phone) -> None:
    """Of two messages that wait for an answer, the second goes first."""
    opened.say("demo", "ask")
    expect(opened.button("Say why, or more choices…").last).to_be_visible()
    opened.say("demo", "the first")
    opened.say("demo", "the second")
    opened.tap(opened.page.get_by_role("button", name=re.compile("2 queued")))
    opened.tap(opened.sheet.get_by_role("button", name="Later").first)
    expect(opened.sheet.locator(".queued").first).to_contain_text("the second")
    opened.tap(opened.sheet.get_by_role("button", name="Close"))
    opened.answer_ask("Deny")
    answers = opened.page.get_by_role("article", name="demo’s answer")
    expect(answers.nth(-2)).to_contain_text("You said: “the second”")
    expect(answers.last).to_contain_text("You said: “the first”")


def sends_several_pictures(opened: Phone, first: bytes) -> None:
    """Two at once; a large one is made smaller on the phone."""
    files: list[FilePayload] = [
        {"name": "first.png", "mimeType": "image/png", "buffer": first},
        {"name": "dot.png", "mimeType": "image/png", "buffer": sunrise()},
    ]
    opened.page.locator("input[type=file]").set_input_files(files=files)
    expect(opened.page.locator(".thumb")).to_have_count(2)
    expect(opened.page.locator(".thumb img")).to_have_count(2)
    opened.tap(opened.button("Send"))
    small = f"png, all {len(sunrise()):,} bytes of it."
    if first == sunrise():
        expect(opened.answer("demo")).to_contain_text(re.compile(f"{small}.*{small}", re.DOTALL))
        return
    expect(opened.answer("demo")).to_contain_text(small)
    told = re.search(r"jpg, all ([\d,]+) bytes", opened.answer("demo").inner_text())
    assert told is not None
    assert int(told[1].replace(",", "")) < len(first) / 4


def writes_in_a_tunnel(opened: Phone, cable: Cable) -> None:
    """What is sent without a network goes out by itself, once."""
    cable.pull_out()
    opened.say("demo", "sent in a tunnel")
    expect(opened.receipt("sent in a tunnel")).to_contain_text("on this")
    cable.plug_in()
    expect(opened.receipt("sent in a tunnel")).to_contain_text("answered")
    assert opened.node.said().count("sent in a tunnel") == 1


def revokes_another_device(opened: Phone, other: Phone) -> None:
    """From one phone another one is put out, at once."""
    other.pair()
    opened.page.goto(opened.node.address() + "#/devices")
    opened.is_paired_with(2)
    row = opened.page.locator("li.worker").filter(has_not=opened.page.get_by_text("this device"))
    opened.tap(row.get_by_role("button", name="Revoke"))
    opened.tap(row.get_by_role("button", name="Really?"))
    expect(other.page.get_by_label("Code")).to_be_visible()
    opened.is_paired_with(1)
