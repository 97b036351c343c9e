"""How the start of an agent behind the line protocol went: it has a session, or it ended and says why."""

from contextlib import aclosing

import anyio

from farhand.drivers.wires.foreign_json import parse
from farhand.drivers.wires.holder.process import HeldProcess, sentence

# An agent that says nothing for so long may still start.
START_SECONDS = 60.0
# What a relay says before the reason.
GONE = "The agent is gone. "


async def start_problem(process: HeldProcess) -> str:
    """Why an agent ended before it had a session; empty when it has one, or takes longer than anybody would wait.

    One that is older than this look at it has told its session before: it is not asked again."""
    if not process.is_unread or process.ended_on_purpose:
        return ""
    problem = ""
    with anyio.move_on_after(START_SECONDS):
        async with aclosing(process.lines()) as batches:
            async for lines, _ in batches:
                for record in filter(None, map(parse, lines)):
                    if record.text("session"):
                        return ""
                    problem = record.text("text").removeprefix(GONE) or problem
        return problem or sentence(await process.exit())
    return ""
