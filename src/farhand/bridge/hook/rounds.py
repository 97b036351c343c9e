"""A sprint that an agent CLI's hooks drive: a message starts it, every end of a turn brings the next task. Pure.

A copy of this module runs inside an agent CLI's hooks: it imports the standard library alone.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_TASKS = 5
DONE = "SPRINT DONE"
_START = r"(?is)\s*/sprint(?:\s+start)?\b[ \t]*(\d{1,3})?[ \t]*:?(.*)"
_BOX = r"\s*(?:[-*+]|\d+[.)])?\s*(\[[ xX]\])?\s*(.+)"


class Rounds(NamedTuple):
    """The sprint of one session: its tasks (none: the agent's own plan), how many are done, what was said last."""

    tasks: tuple[str, ...] = ()
    most: int = MOST_TASKS
    done: int = 0
    said: str = ""

    @property
    def total(self) -> int:
        """How many tasks it has at most."""
        return min(len(self.tasks), self.most) if self.tasks else self.most

    def stored(self) -> dict[str, object]:
        """As a file keeps it."""
        return {"tasks": list(self.tasks), "most": self.most, "done": self.done, "said": self.said}


class Decided(NamedTuple):
    """What the end of a turn leads to: the sprint if it goes on, the next prompt, what the phone is told."""

    rounds: Rounds | None
    prompt: str
    report: str


def read_rounds(stored: object) -> Rounds | None:
    """The sprint that a file kept, or None."""
    if not isinstance(stored, dict):
        return None
    tasks, most, done = stored.get("tasks"), stored.get("most"), stored.get("done")
    if not isinstance(tasks, list) or not isinstance(most, int) or not isinstance(done, int):
        return None
    return Rounds(tuple(str(one) for one in tasks), most, done, str(stored.get("said", "")))


def started(text: str) -> Rounds | None:
    """The sprint that a message starts: `/sprint`, `/sprint 3`, `/sprint start` and a list of tasks below it."""
    found = re.fullmatch(_START, text) if "/" in text else None
    if found is None:
        return None
    lines = (re.fullmatch(_BOX, line) for line in found[2].splitlines() if line.strip())
    tasks = tuple(line[2].strip() for line in lines if line and (line[1] or "[ ]") == "[ ]")
    if tasks and tasks[0].split()[0].lower() in ("stop", "status", "skip", "add"):
        return None
    return Rounds(tasks, max(1, int(found[1])) if found[1] else len(tasks) or MOST_TASKS)


def first_prompt(rounds: Rounds) -> str:
    """What the agent is told when the sprint begins."""
    return f"Sprint of {rounds.total} task{'s' * (rounds.total != 1)}. {prompt(rounds)}"


def prompt(rounds: Rounds) -> str:
    """What the agent is told of the next task."""
    number = f"Task {rounds.done + 1} of {rounds.total}"
    if rounds.tasks:
        return f"{number}: {rounds.tasks[rounds.done]}\nDo this one and no other, then say what you did."
    return f"{number}: do the next task of your plan, and only that one, then say what you did. None left: {DONE}."


def after_turn(rounds: Rounds, said: str, *, stopped: bool) -> Decided:
    """What follows when the agent has ended a turn with these words."""
    done = rounds.done + 1
    count = f"{done}/{rounds.total}"
    if stopped:
        return Decided(None, "", f"⛔ Sprint stopped at {count}.")
    if not said:
        return Decided(None, "", f"⚠ Sprint halted at {count}: the turn ended without a word.")
    if said == rounds.said:
        return Decided(None, "", f"⚠ Sprint halted at {count}: the agent says the same again.")
    left = len(rounds.tasks) - done
    if left > 0 and done >= rounds.total:
        told = "1 task is left" if left == 1 else f"{left} tasks are left"
        return Decided(None, "", f"🏁 Sprint ended at its limit: {count}. {told}.")
    if done >= rounds.total or (not rounds.tasks and DONE in said):
        return Decided(None, "", f"🏁 Sprint done: {count}.")
    following = rounds._replace(done=done, said=said)
    return Decided(following, prompt(following), f"✅ {count} done. Next: {_title(following)}")


def _title(rounds: Rounds) -> str:
    return rounds.tasks[rounds.done] if rounds.tasks else "the next task of the plan"
