"""The conversation in the terminal app, with Textual's pilot: scrolled, folded, marked, in any size."""

from __future__ import annotations

import re

import anyio
import pytest
from tests.sdk.shown_app import SAFETY_SECONDS, shown

from farhand.model.live_session import MessageState, Role, SessionPart
from farhand.testing.desk import ScriptedSession

pytestmark = pytest.mark.anyio


async def test_who_reads_above_stays_there() -> None:
    session = ScriptedSession()
    for number in range(40):
        session.log.add(Role.MODEL, f"Paragraph {number}.")
    async with shown(session) as person:
        await person.see("Paragraph 39.")
        await person.pilot.press("pageup")
        await person.until(lambda: "Paragraph 39." not in person.text())
        before = person.text().splitlines()[1:10]
        reply = session.log.add(Role.MODEL, "", MessageState.RUNNING).id
        for number in range(30):
            session.log.append(reply, "text", f"New line {number}.\n\n")
        await person.until(lambda: "New line 29." in person.laid_out())
        await person.pilot.pause()
        assert person.text().splitlines()[1:10] == before
        await person.pilot.press("ctrl+end")
        await person.see("New line 29.")


async def test_a_long_conversation_shows_its_end_and_the_rest_on_the_way_up() -> None:
    session = ScriptedSession()
    for number in range(5000):
        session.log.add(Role.USER if number % 2 else Role.MODEL, f"Message {number} of many.")
    async with shown(session) as person:
        await person.see("Message 4999 of many.")
        assert person.is_bounded()
        with anyio.fail_after(SAFETY_SECONDS):
            while min(int(number) for number in re.findall(r"Message (\d+) of", person.text())) > 4950:
                await person.pilot.press("pageup")
        await person.pilot.press("ctrl+end")
        await person.see("Message 4999 of many.")


async def test_a_thousand_messages_at_once_are_never_many_on_the_screen() -> None:
    session = ScriptedSession()
    async with shown(session) as person:
        for number in range(1000):
            session.log.add(Role.USER, f"message {number}.")
        await person.see("message 999.")
        assert person.is_bounded()
        while "message 900." not in person.text():
            await person.pilot.press("pageup")
            await person.pilot.pause()
        assert person.is_bounded()
        # Somebody reads above: what comes meanwhile is found on the way down, with all that was left behind.
        for number in range(1000, 1100):
            session.log.add(Role.USER, f"message {number}.")
        while "message 1099." not in person.text():
            await person.pilot.press("pagedown")
            await person.pilot.pause()
        assert person.is_bounded()
        await person.pilot.press("pageup", "pageup", "ctrl+end")
        await person.see("message 1099.")


async def test_tools_and_thoughts_are_folded_and_open_together() -> None:
    session = ScriptedSession()
    reply = session.log.add(Role.MODEL, "").id
    session.log.append(reply, "thought", "Look first.\nThen leap.")
    session.log.add_part(reply, SessionPart(kind="tool", call="1", title="Run: ls", detail="ls -l"))
    session.log.end_tool(reply, "1", ok=True, output="a.txt")
    async with shown(session) as person:
        await person.see("✓ Run: ls")
        assert "a.txt" not in person.text()
        await person.pilot.press("ctrl+o")
        await person.see("a.txt")
        await person.see("Then leap.")


async def test_the_keyboard_reaches_every_line_that_opens() -> None:
    session = ScriptedSession()
    reply = session.log.add(Role.MODEL, "").id
    for call in ("one", "two"):
        session.log.add_part(
            reply, SessionPart(kind="tool", call=call, title=f"Run: {call}", text=f"{call} done", ok=True)
        )
    async with shown(session) as person:
        await person.see("✓ Run: two")
        person.app.transcript.focus()
        await person.pilot.press("tab", "tab", "enter")
        await person.see("two done")
        assert "one done" not in person.text()
        await person.pilot.press("enter", "shift+tab", "space")
        await person.see("one done")
        assert "two done" not in person.text()
        await person.pilot.press("tab", "tab")
        await person.until(lambda: not person.app.transcript.has_focus)


async def test_a_click_opens_a_line_and_two_mark_a_paragraph() -> None:
    session = ScriptedSession()
    reply = session.log.add(Role.MODEL, "").id
    session.log.add_part(reply, SessionPart(kind="tool", call="1", title="Run: ls", text="a.txt", ok=True))
    session.log.append(reply, "text", "many words " * 12)
    async with shown(session) as person:
        await person.see("✓ Run: ls")
        row = next(place for place, line in enumerate(person.text().splitlines()) if "Run: ls" in line)
        await person.pilot.click(offset=(10, row))
        await person.see("a.txt")
        row = next(place for place, line in enumerate(person.text().splitlines()) if "many words" in line)
        # The title is above it.
        await person.pilot.double_click(person.app.transcript, offset=(10, row - 1))
        await person.until(lambda: person.app.screen.get_selected_text() is not None)
        # As it was said, not as it was wrapped.
        assert (person.app.screen.get_selected_text() or "").strip() == ("many words " * 12).strip()


async def test_another_size_shows_the_same_place() -> None:
    session = ScriptedSession()
    for number in range(60):
        session.log.add(Role.USER, f"Message {number} of many. " + "And more words. " * 8)
    async with shown(session) as person:
        await person.see("Message 59 of")
        await person.pilot.press("pageup", "pageup", "pageup")
        await person.until(lambda: "Message 59 of" not in person.text())
        top = min(int(number) for number in re.findall(r"Message (\d+) of", person.text()))
        for size in ((60, 20), (132, 40), (80, 24)):
            await person.pilot.resize_terminal(*size)
            await person.until(lambda: f"Message {top} of" in person.text() or f"Message {top - 1} of" in person.text())
        await person.pilot.press("ctrl+end")
        await person.see("Message 59 of")
        await person.pilot.resize_terminal(60, 20)
        await person.see("Message 59 of")


async def test_a_screen_that_grows_at_the_end_stays_there() -> None:
    session = ScriptedSession()
    for number in range(40):
        session.log.add(Role.MODEL, f"Paragraph {number}.")
    async with shown(session) as person:
        await person.see("Paragraph 39.")
        # An input of more lines takes some of the conversation's, and gives them back.
        await person.pilot.press("a", "ctrl+j", "ctrl+j", "b")
        await person.until(lambda: person.prompt.size.height == 3)
        await person.pilot.press("ctrl+c")
        await person.until(lambda: person.prompt.size.height == 1)
        session.log.add(Role.MODEL, "One more.")
        await person.see("One more.")
