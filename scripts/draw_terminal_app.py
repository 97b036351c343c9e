"""Draws the main states of the terminal app, at 80 × 24 and 140 × 40, light and dark, into a folder of pictures.

Run as `make terminal-pictures`; with names of states behind it, it draws those alone."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import anyio
from playwright.sync_api import sync_playwright

from farhand.model.action import run
from farhand.model.ask_text import as_shown
from farhand.model.facts import AskRaised
from farhand.model.live_session import MessageState, Role, SessionName, SessionPart, SessionStatus
from farhand.model.present import raised_ask
from farhand.model.words import Choice
from farhand.testing.desk import ScriptedDesk, ScriptedSession, piloted
from farhand.tui.app import TerminalApp
from farhand.tui.desk import EarlierSession, EarlierSessions
from farhand.tui.look import DARK, LIGHT

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "terminal"
CHROMIUM = shutil.which("chromium")
SIZES = ((80, 24), (140, 40))
STATUS = SessionStatus(
    agent_type="farhand", wire="sdk", model="gemini-3.8-flash", mode="default", directory="/home/ann/orchard"
)
ANSWER = """The reminder goes out twice because **two** timers are armed:

1. `schedule.py` arms one when the order is placed,
2. `retry.py` arms another one after the first failed payment, and never looks for the first.

```python
def arm(order: Order) -> None:
    cancel(order.timer)
    order.timer = timers.after(order.due, remind, order.id)
```

I made `arm` cancel what is there already; all 41 tests pass.
"""
DIFF = """--- a/orchard/retry.py
+++ b/orchard/retry.py
@@ -12,3 +12,4 @@ def arm(order: Order) -> None:
+    cancel(order.timer)
     order.timer = timers.after(order.due, remind, order.id)
-    log.info("armed")
"""
COMMAND = "git push --force-with-lease origin fix/reminder && \\\n  gh pr create --fill --base main"
TEAM = (
    SessionName(name="ann", state="working", cost="$0.42", doing="2 waiting"),
    SessionName(name="ben", state="waiting", cost="$1.80", unread=2, doing="sprint 3/10 · ✗ 1"),
    SessionName(name="codex-mia", state="available", cost="$0.07"),
    SessionName(name="zoe", state="offline"),
)


EARLIER = EarlierSessions(
    title="Earlier conversations of ~/orchard",
    sessions=tuple(
        EarlierSession(id=str(place), title=title, when=when, size=size, note=note)
        for place, (title, when, size, note) in enumerate(
            (
                ("Customers get the payment reminder twice", "just now", "2 messages", "this conversation"),
                ("Why does the export time out on large orders?", "3 hours ago", "14 messages", ""),
                ("Move the timers into a table", "1 day ago", "31 messages", ""),
                ("\x1b[2JRename \u202ethe fields of an order", "2 days ago", "6 messages", ""),
                ("Read the last month's invoices and tell which customers paid late", "9 days ago", "118 messages", ""),
            )
        )
    ),
)


class State(NamedTuple):
    """One picture: what is in the conversation, and what is typed."""

    name: str
    fill: Callable[[ScriptedSession], None]
    typed: tuple[str, ...] = ()
    names: tuple[SessionName, ...] = ()
    title: str = "farhand"


def talk(session: ScriptedSession) -> None:
    """A question and its answer, with what was done for it."""
    log = session.log
    log.add(Role.USER, "Customers get the payment reminder twice. Find out why, and fix it.")
    reply = log.add(Role.MODEL, "", MessageState.RUNNING).id
    log.append(reply, "thought", "Two timers? Look at who arms them.")
    log.add_part(reply, SessionPart(kind="tool", call="1", title="Run: rg -n 'timers.after' orchard", detail="rg"))
    log.end_tool(reply, "1", ok=True, output="orchard/schedule.py:31\norchard/retry.py:12")
    log.add_part(reply, SessionPart(kind="tool", call="2", title="Edit orchard/retry.py", detail=""))
    log.end_tool(reply, "2", ok=True, output=DIFF)
    log.append(reply, "text", ANSWER)
    log.mark(reply, MessageState.DONE)
    log.set_status(tokens=18_400)


def work(session: ScriptedSession) -> None:
    """A turn that runs, and messages that wait."""
    talk(session)
    log = session.log
    log.add(Role.USER, "Now write a test for it.")
    reply = log.add(Role.MODEL, "", MessageState.RUNNING).id
    log.append(reply, "text", "I look at how the other timers are tested")
    log.add_part(reply, SessionPart(kind="tool", call="3", title="Run: pytest -q tests/test_retry.py", detail=""))
    log.set_status(running=True)
    log.add(Role.USER, "and mention it in the changelog", MessageState.QUEUED)
    log.add(Role.USER, "then open a pull request", MessageState.QUEUED)


def ask(session: ScriptedSession) -> None:
    """A question that waits for the person."""
    work(session)
    choices = (Choice(id="allow", label="Allow once"), Choice(id="deny", label="Deny", allows=False, words=True))
    raised = AskRaised(
        ask="a1",
        question="Run: git push --force-with-lease origin fix/reminder && \\ ⏎ gh pr create --fill --base main",
        choices=choices,
        detail=COMMAND,
        action=run(COMMAND),
        why="Publish the fix for review",
    )
    session.log.set_asks((raised_ask(as_shown(raised, STATUS.directory), "ann", None, 1, None),))


STATES = (
    State("empty", lambda _: None),
    State("talk", talk),
    State("details", talk, ("ctrl+o",)),
    State("work", work),
    State("ask", ask),
    State("commands", talk, ("/",)),
    State("sessions", talk, (*"/sessions", "enter", "down")),
    State("team", ask, names=TEAM, title="ann"),
)


async def svg(state: State, size: tuple[int, int], theme: str) -> str:
    """The app in that state."""
    session = ScriptedSession(STATUS)
    state.fill(session)
    desk = ScriptedDesk(session, state.names, state.title)
    desk.recorded = EARLIER
    app = TerminalApp(desk, ready=session.set_ready, theme=theme, remote="remote :3000")
    async with piloted(app, size=size) as pilot:
        await pilot.pause()
        await pilot.press(*state.typed)
        await pilot.pause(0.3)
        return app.export_screenshot(title="farhand tui")


async def draw(wanted: list[str]) -> dict[str, str]:
    """The pictures as SVG, by their names."""
    drawn = {}
    for state in STATES:
        for columns, rows in SIZES if not wanted or state.name in wanted else ():
            for theme in (DARK.name, LIGHT.name):
                name = f"{state.name}-{columns}x{rows}-{theme.removeprefix('farhand-')}"
                drawn[name] = await svg(state, (columns, rows), theme)
    return drawn


def main(wanted: list[str]) -> int:
    """Draws them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    drawn = anyio.run(draw, wanted)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        for name, picture in drawn.items():
            page.set_content(f"<body style='margin:0'>{picture}</body>")
            page.locator("svg").first.screenshot(path=FOLDER / f"{name}.png")
            print(FOLDER / f"{name}.png")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
