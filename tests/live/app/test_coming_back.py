"""The app comes back by itself: after a network that was gone, a phone that slept, a node whose backup was restored."""

from playwright.sync_api import expect
from tests.live.app.cable import Cable
from tests.live.app.conftest import Opens
from tests.live.app.phone import DESK, NODE, AppNode, Phone

# Where the app tells that it is cut off.
BANNER = "#app > .banner"


def answers(opened: Phone) -> list[str]:
    """Every answer on the screen, in order."""
    return opened.page.get_by_role("article", name="demo’s answer").all_inner_texts()


def stands_still(opened: Phone) -> None:
    """From now on the page's time moves when the test says so, however long this machine takes."""
    opened.page.clock.pause_at(opened.page.evaluate("Date.now()") / 1000 + 10)
    opened.is_live()


def test_a_network_that_was_gone_loses_nothing_and_is_told_late(phone: Opens, node: AppNode) -> None:
    with Cable(node.port) as cable:
        node.reached_at = cable.port
        # On a desk the team's line tells at once that the connection is gone.
        opened = phone(DESK)
        # The page's time is the test's.
        opened.page.clock.install()
        opened.pair()
        opened.open_worker("demo")
        opened.say("demo", "hello")
        expect(opened.receipt("hello")).to_contain_text("answered")
        slept_for_an_hour(opened, cable)
        half_a_minute_in_the_dark(opened, cable)


def slept_for_an_hour(opened: Phone, cable: Cable) -> None:
    """Nothing runs on the phone, and its connection dies unheard; it shows what happened."""
    cable.pull_out()
    opened.node.done("say", "--worker", "demo", "said while it slept")
    cable.plug_in()
    opened.page.clock.fast_forward("01:00:00")
    opened.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(opened.page.locator(BANNER)).to_have_count(0)
    opened.page.clock.run_for(5_000)
    expect(opened.answer("demo")).to_contain_text("said while it slept")
    expect(opened.page.locator(BANNER)).to_have_count(0)
    assert len(answers(opened)) == 2


def half_a_minute_in_the_dark(opened: Phone, cable: Cable) -> None:
    """The banner comes late, and all that was said in the meantime comes."""
    stands_still(opened)
    cable.pull_out()
    expect(opened.page.locator(".team-link")).to_contain_text("connecting")
    opened.say("demo", "written in the dark")
    opened.page.clock.run_for(3_900)
    expect(opened.receipt("written in the dark")).to_contain_text("on this")
    expect(opened.page.locator(BANNER)).to_have_count(0)
    opened.page.clock.run_for(26_100)
    expect(opened.page.locator(BANNER)).to_have_count(1)
    # Meanwhile the team went on.
    opened.node.done("say", "--worker", "demo", "said at the desk")
    cable.plug_in()
    opened.page.clock.resume()
    expect(opened.answer("demo")).to_contain_text("written in the dark")
    expect(opened.page.locator(BANNER)).to_have_count(0)
    said = ["hello", "said at the desk", "said while it slept", "written in the dark"]
    assert sorted(opened.node.said()) == said
    assert len(answers(opened)) == 4


def test_a_killed_node_comes_back(phone: Opens, node: AppNode) -> None:
    opened = phone()
    opened.pair()
    opened.open_worker("demo")
    nothing_is_missing_or_twice(opened, node)
    a_terminal_comes_back_by_itself(opened, node)
    a_restored_backup_is_shown_as_it_is(opened, node)


def nothing_is_missing_or_twice(opened: Phone, node: AppNode) -> None:
    """Killed in the middle of an answer, and written to while it was dead."""
    opened.say("demo", "slow")
    expect(opened.answer("demo")).to_contain_text("I count to 10, slowly. Stop me whenever you like. 1")
    node.kill()
    # Cut off, and still there to read and to write.
    opened.say("demo", "written while the node was dead")
    expect(opened.receipt("written while")).to_contain_text("on this")
    node.start()
    expect(opened.answer("demo")).to_contain_text("You said: “written while the node was dead”")
    slow = opened.page.get_by_role("article", name="demo’s answer").first
    expect(slow).to_contain_text("1 2 3 4 5 6 7 8 9 10 Done, and nobody stopped me.")
    expect(opened.page.get_by_role("article", name="demo’s answer")).to_have_count(2)
    assert node.said() == ["slow", "written while the node was dead"]


def a_terminal_comes_back_by_itself(opened: Phone, node: AppNode) -> None:
    """Nobody touches the screen until what is written there is heard again."""
    opened.tap(opened.page.get_by_role("link", name="Terminal"))
    screen = opened.page.get_by_role("region", name="Terminal of demo")
    expect(screen).to_contain_text("The demo worker's own terminal")
    lost = opened.page.locator(".pane .banner", has_text="connecting")
    node.kill()
    expect(lost).to_be_visible()
    node.start()
    expect(lost).to_have_count(0)
    expect(screen).to_contain_text("The demo worker's own terminal")
    opened.page.get_by_placeholder("Sent as one paste").fill("heard again")
    opened.tap(opened.page.locator(".pane", has=screen).get_by_role("button", name="Send"))
    expect(screen).to_contain_text("demo> heard again")
    opened.page.go_back()
    expect(opened.composer("demo")).to_be_visible()


def a_restored_backup_is_shown_as_it_is(opened: Phone, node: AppNode) -> None:
    """What it does not have, nobody has."""
    mine = opened.page.get_by_role("article", name="Message of you")
    expect(mine.filter(has_text="written while the node was dead")).to_have_count(1)
    before = mine.count()
    opened.say("demo", "before the backup")
    expect(opened.receipt("before the backup")).to_contain_text("answered")
    node.kill()
    backup = {path: path.read_bytes() for path in node.home.node_folder(NODE).glob("farhand.db*")}
    node.start()
    opened.say("demo", "after the backup")
    expect(opened.receipt("after the backup")).to_contain_text("answered")
    node.kill()
    for path in node.home.node_folder(NODE).glob("farhand.db*"):
        path.unlink()
    for path, content in backup.items():
        path.write_bytes(content)
    node.start()
    opened.say("demo", "in the restored one")
    expect(opened.answer("demo")).to_contain_text("in the restored one")
    assert node.said().count("before the backup") == 1
    assert node.said().count("in the restored one") == 1
    # What the backup does not have is on the screen no more, and neither is its answer.
    expect(mine.filter(has_text="after the backup")).to_have_count(0)
    expect(mine).to_have_count(before + 2)
    assert mine.filter(has_text="before the backup").count() == 1
    assert "after the backup" not in node.said()
    assert not [answer for answer in answers(opened) if "after the backup" in answer]
    expect(opened.page.locator(BANNER)).to_have_count(0)
