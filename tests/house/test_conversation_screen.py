"""The conversation in a real terminal: prompts that follow the worker, blocks under their names, what was missed."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from farhand.cli.conversation import TerminalConversation
from farhand.cli.live_terminal import LiveTerminal
from farhand.cli.typed_lines import LINES_FILE, TypedLines
from farhand.cli.while_away import ChatPlace
from farhand.client.door import SocketHub
from farhand.model.commands import Say
from farhand.model.facts import AskRaised, Said, ToolEnded, ToolStarted, TurnEnded
from farhand.model.ports import Hub
from farhand.model.words import AskKind, Choice, HowEnded, Sender
from farhand.testing.house import SAFETY_SECONDS, House

pytestmark = pytest.mark.anyio
YES_NO = (Choice(id="yes", label="Yes"), Choice(id="no", label="No", allows=False))
DONE = TurnEnded(how=HowEnded.COMPLETED)
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PIECE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


def settled(sent: str) -> str:
    """What stands on a tall screen after all that it was sent, a line a row."""
    rows, row, column = [""], 0, 0
    for number, code, control, words in PIECE.findall(sent):
        if control == "\n":
            row += 1
            rows += [""] * (row + 1 - len(rows))
        if control:
            column = 0
        elif words:
            rows[row] = rows[row][:column].ljust(column) + words + rows[row][column + len(words) :]
            column += len(words)
        elif code == "A":
            row -= int(number)
        elif code == "C":
            column += int(number)
        elif code == "J":
            rows = [*rows[:row], rows[row][:column]]
    return "\n".join(rows)


class ScreenDesk:
    """Somebody at a terminal: what it was sent, with and without the codes."""

    def __init__(self, screen: int) -> None:
        self._screen = screen
        self.raw = ""

    def type(self, text: str) -> None:
        """Presses keys."""
        os.write(self._screen, text.encode())

    @property
    def text(self) -> str:
        """What the screen shows; its last line is the one that is typed."""
        return settled(self.raw)

    async def see(self, true: Callable[[str], object]) -> None:
        """Waits until what was shown is so."""
        while not true(self.text):
            await anyio.wait_readable(self._screen)
            self.raw += os.read(self._screen, 65536).decode(errors="replace")


@asynccontextmanager
async def talking(
    house: House,
    place: ChatPlace | None = None,
    *,
    colours: bool = True,
    lines: TypedLines | None = None,
    hub: Hub | None = None,
    who: str = "",
) -> AsyncIterator[ScreenDesk]:
    """A conversation in a terminal, which is left at the end."""
    screen, side = os.openpty()
    with (
        os.fdopen(side, "r+b", buffering=0) as inside,
        open(screen, "r+b", buffering=0),  # noqa: PTH123 - a terminal, not a file
        anyio.fail_after(SAFETY_SECONDS),
    ):
        desk = ScreenDesk(screen)
        with LiveTerminal(inside, inside, colours=colours, lines=lines).open() as terminal:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(TerminalConversation(hub or house.hub, terminal, who=who, place=place).run)
                yield desk
                desk.type("\x15\x04")


async def test_the_prompt_follows_the_worker_though_nobody_presses_a_key(house: House) -> None:
    await house.hire("ann")
    house.agent.plays(Said(text="Done.\n"))
    async with talking(house) as desk:
        await desk.see(lambda text: text.endswith("ann> "))
        await house.say("on the phone")
        await desk.see(lambda text: "Done." in text and text.endswith("ann (working)> "))
        await house.agent.links["ann"].say(DONE)
        await desk.see(lambda text: text.endswith("ann> "))


async def test_what_was_typed_the_last_time_comes_back(house: House, tmp_path: Path) -> None:
    await house.hire("ann")
    async with talking(house, lines=TypedLines(tmp_path)) as desk:
        await desk.see(lambda text: text.endswith("ann> "))
        desk.type("first words\r")
        await desk.see(lambda text: "answer to first words" in text)
    async with talking(house, lines=TypedLines(tmp_path)) as desk:
        await desk.see(lambda text: text.endswith("ann> "))
        desk.type("half a thou\x1b[A")
        await desk.see(lambda text: text.endswith("ann> first words"))
        desk.type("\x1b[B")
        await desk.see(lambda text: text.endswith("ann> half a thou"))
    assert (tmp_path / LINES_FILE).stat().st_mode & 0o777 == 0o600


async def test_tab_names_what_it_could_be(house: House) -> None:
    await house.hire("ann")
    await house.hire("anton")
    async with talking(house) as desk:
        await desk.see(lambda text: text.endswith("anton> "))
        desk.type("@an\t")
        await desk.see(lambda text: "\n@ann  @anton\n" in text and text.endswith("anton> @an"))


def test_what_is_kept_of_the_lines_has_an_end(tmp_path: Path) -> None:
    lines = TypedLines(tmp_path)
    assert lines.read() == ()
    lines.keep((*(f"line {number}" for number in range(500)), "x" * 50_000))
    assert lines.read() == tuple(f"line {number}" for number in range(400, 500))
    for garbage in (b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000):
        (tmp_path / LINES_FILE).write_bytes(garbage)
        assert lines.read() == ()


async def test_markdown_is_shown_as_what_it_means(house: House) -> None:
    await house.hire("ann")
    house.agent.plays(Said(text="\n\nI am **sure**:\n\n- `one`\n"), Said(text="- two\n"), DONE)
    async with talking(house) as desk:
        await house.say("go")
        await desk.see(lambda text: "• two" in text and text.endswith("ann> "))
        assert "\x1b[1msure\x1b[0m" in desk.raw
        assert "ann:\n  I am sure:\n\n  • one\n  • two\nann> " in desk.text


async def test_without_colours_nothing_is_styled(house: House) -> None:
    await house.hire("ann")
    house.agent.plays(Said(text="I am **sure**"), DONE)
    async with talking(house, colours=False) as desk:
        await house.say("go")
        await desk.see(lambda text: "I am sure" in text and text.endswith("ann> "))
        assert not re.search(r"\x1b\[[0-9;]+m", desk.raw)


async def test_blocks_of_two_workers_do_not_mix(house: House) -> None:
    await house.hire("ann")
    await house.hire("bob")
    ann, bob = house.agent.links["ann"], house.agent.links["bob"]
    house.agent.plays(Said(text="ann begins "))
    house.agent.plays(Said(text="bob begins "))
    async with talking(house) as desk:
        await house.say("go", "ann")
        await house.event(Said, lambda event: event.worker == "ann")
        await house.say("go", "bob")
        await desk.see(lambda text: "bob begins" in text)
        await ann.say(Said(text="and ends.\n\n"))
        await bob.say(Said(text="and ends too.\n\n"))
        await ann.say(DONE)
        await bob.say(DONE)
        await desk.see(lambda text: "bob begins and ends too." in text and text.endswith("bob> "))
        assert "ann:\n  ann begins and ends.\n" in desk.text
        assert "bob:\n  bob begins and ends too.\nbob> " in desk.text


async def test_a_tool_that_comes_back_late_is_not_told_behind_the_answer(house: House) -> None:
    await house.hire("ann")
    late = ToolEnded(call="1", output="all of it"), ToolEnded(call="2", ok=False, output="no such file")
    house.agent.plays(
        ToolStarted(call="1", tool="Bash", title="ls"),
        ToolStarted(call="2", tool="Bash", title="cat"),
        Said(text="There you are."),
        *late,
        DONE,
    )
    async with talking(house) as desk:
        await house.say("go")
        shown = ("✗ no such file", "There you are.")
        await desk.see(lambda text: all(words in text for words in shown) and text.endswith("ann> "))
        assert "all of it" not in desk.text


async def test_a_plan_is_rendered(house: House) -> None:
    await house.hire("ann")
    plan = AskRaised(ask="a", question="Go ahead?", about=AskKind.PLAN, detail="# Plan\n\n1. **read**", choices=YES_NO)
    house.agent.plays(plan)
    async with talking(house) as desk:
        await house.say("go")
        await desk.see(lambda text: "Go ahead?" in text and text.endswith("ann 1-2> "))
        assert "ann:\n  Plan\n\n  1. read\n? ann asks: Go ahead?" in desk.text
        assert "**" not in desk.text


async def test_who_comes_back_reads_what_was_missed(house: House, tmp_path: Path) -> None:
    place = ChatPlace(tmp_path)
    await house.hire("ann")
    async with talking(house, place) as desk:
        await house.say("seen")
        await desk.see(lambda text: "answer to seen" in text and text.endswith("ann> "))
    await house.say("missed", via="telegram")
    await house.until(lambda present: present.workers["ann"].turn is None)
    house.agent.plays(Said(text="half"))
    await house.say("running", via="telegram")
    await house.fact(Said, lambda event: isinstance(event.fact, Said) and event.fact.text == "half")
    async with talking(house, place) as desk:
        await desk.see(lambda text: "half" in text and text.endswith("ann (working)> "))
        away = desk.text.partition("While you were away:\n")[2]
        assert away.startswith(
            "you (telegram) → ann: missed\n   answer to missed\nyou (telegram) → ann: running\n   half\n"
        )
        assert "seen" not in away
    async with talking(house, place) as desk:
        desk.type("/queue\r")
        await desk.see(lambda text: "No message waits." in text)
        assert "While you were away" not in desk.text


async def test_what_the_node_itself_tells_a_worker_is_nobodys_word(house: House) -> None:
    await house.hire()
    async with talking(house) as desk:
        await desk.see(lambda text: "ann>" in text)
        await house.hub.send(Say(id="welcome", text="You are ann, a long-lived worker."), Sender(via="files"))
        await desk.see(lambda text: "answer to You are ann" in text)
        await house.hub.send(Say(id="said", text="fix the till"), Sender(via="telegram", who="Mo"))
        await desk.see(lambda text: "Mo (telegram) → ann: fix the till" in text)
        assert "→ ann: You are ann" not in desk.text


async def test_ones_own_words_are_not_told_again_whoever_the_door_says_one_is(house: House) -> None:
    await house.hire()
    async with SocketHub(house.node.settings.door) as door, talking(house, hub=door, who="somebody else") as desk:
        await desk.see(lambda text: "ann>" in text)
        desk.type("fix the till\r")
        await desk.see(lambda text: "answer to fix the till" in text)
        assert "→ ann: fix the till" not in desk.text
