"""A sprint: the tasks that a worker does one after the other by itself, its limits, and how it stands. Pure."""

import re
from enum import StrEnum

from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.words import MessageId, Usage, Word

MOST_TASKS = 50
LONGEST_TASK = 4000
# What the agent says when its own plan has no task left.
PLAN_DONE = "SPRINT DONE"
_STOP = lazy_pattern(r"\bstop\b", re.IGNORECASE)
_STOP_NOW = lazy_pattern(r"\bstop\s+now\b", re.IGNORECASE)
_BARE_STOP = lazy_pattern(r"\W*stop(\s+now)?\W*", re.IGNORECASE)
_ITEM = lazy_pattern(r"\s*(?:[-*+]|\d+[.)])\s+(\[[ xX]\]\s*)?(\S.*)")


class SprintPhase(StrEnum):
    """What comes next: a prompt for the worker, the end of its turn, the check of what it did, or the verdict on it."""

    PROMPT = "prompt"
    TURN = "turn"
    CHECK = "check"
    REVIEW = "review"


class HowSprintEnded(StrEnum):
    """How a sprint came to its end."""

    DONE = "done"
    HALTED = "halted"
    STUCK = "stuck"
    LIMIT = "limit"


class SprintLimits(Word):
    """Where a sprint ends although it is not done; 0 is no limit."""

    tasks: int = 20
    rounds: int = 3
    minutes: float = 240.0
    tokens: int = 0
    dollars: float = 0.0
    # How full the conversation may become, in per cent of its context window.
    context: int = 0


class SprintOutcome(Word):
    """What became of one task."""

    task: str
    done: bool
    rounds: int = 1
    commit: str = ""
    why: str = ""


class SprintState(Word):
    """A sprint as it stands. Without tasks it follows the agent's own plan."""

    id: str
    began: float
    tasks: tuple[str, ...] = ()
    verifier: str = ""
    commits: bool = True
    limits: SprintLimits = SprintLimits()
    phase: SprintPhase = SprintPhase.PROMPT
    # Who must approve of a task, backends or workers; the folder's tree that was approved last.
    review: tuple[str, ...] = ()
    approved: str = ""
    # The review that the task waits for, and how many there were in this round.
    reviewing: str = ""
    reviews: int = 0
    # The task that it is at, from 0; how often it was tried, and how often in all a check has failed.
    at: int = 0
    round: int = 1
    failures: int = 0
    # What the worker is told beside the task: why the last round was not enough.
    trouble: str = ""
    message: MessageId = ""
    # The end of the last answer, and whether the one before was the same.
    said: str = ""
    repeated: bool = False
    outcomes: tuple[SprintOutcome, ...] = ()
    # What the worker had used before.
    before: Usage = Usage()
    # It ends after the turn that runs; or at once, whatever runs.
    halting: bool = False
    halting_now: bool = False
    # How full the conversation was after the last turn, in per cent; whether that was told as a warning.
    context: int = 0
    warned: bool = False

    @property
    def total(self) -> int:
        """How many tasks it has, at most."""
        most = self.limits.tasks or MOST_TASKS
        return min(len(self.tasks), most) if self.tasks else most

    @property
    def left_over(self) -> str:
        """What is left when all the tasks were done that it may do, in words; empty when nothing is."""
        count = len(self.tasks) - self.total
        if not self.tasks:
            return f"its plan may have more than {self.total} task{'s' * (self.total != 1)}"
        return "" if count <= 0 else "1 task is left" if count == 1 else f"{count} tasks are left"

    @property
    def ends_at(self) -> float | None:
        """When its time is over; None when it may last."""
        return self.began + self.limits.minutes * 60 if self.limits.minutes else None

    @property
    def task(self) -> str:
        """The task that it is at."""
        return self.tasks[self.at] if self.at < len(self.tasks) else "the next task of the plan"


def wants_stop(text: str) -> bool:
    """Whether a person says STOP, in any case, as a word of its own."""
    return _STOP.search(text) is not None


def wants_stop_now(text: str) -> bool:
    """Whether the running turn is to be interrupted, too."""
    return _STOP_NOW.search(text) is not None


def is_bare_stop(text: str) -> bool:
    """Whether nothing else is said."""
    return _BARE_STOP.fullmatch(text) is not None


def tasks_of(text: str) -> tuple[str, ...]:
    """The open items of a list, as Markdown has it; a text without a list is one task a line."""
    items = [found for line in text.splitlines() if (found := _ITEM.fullmatch(line))]
    if items:
        return tuple(one[2].strip() for one in items if (one[1] or "").strip().lower() != "[x]")
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def prompt(sprint: SprintState) -> str:
    """What the worker is told of the task that it is at."""
    number = f"Task {sprint.at + 1} of {sprint.total}"
    if not sprint.tasks:
        told = f"{number}: do the next task of your plan, and only that one. If none is left, say {PLAN_DONE}."
    else:
        told = f"{number}: {sprint.task}\nDo this one and no other, then say what you did."
    return f"{told}\n\nThe last try was not enough:\n{sprint.trouble}" if sprint.trouble else told


def used(sprint: SprintState, total: Usage) -> Usage:
    """What the sprint has used so far, when the worker has used that much in all."""
    dollars = total.cost_dollars
    return Usage(
        input_tokens=total.input_tokens - sprint.before.input_tokens,
        output_tokens=total.output_tokens - sprint.before.output_tokens,
        cost_dollars=None if dollars is None else dollars - (sprint.before.cost_dollars or 0.0),
    )


def reached_limit(sprint: SprintState, now: float, total: Usage) -> str:
    """Which limit the sprint has reached, in words; empty when none."""
    limits, usage = sprint.limits, used(sprint, total)
    if sprint.ends_at is not None and now >= sprint.ends_at:
        return f"{limits.minutes:g} minutes are over"
    if limits.tokens and usage.input_tokens + usage.output_tokens >= limits.tokens:
        return f"{limits.tokens:,} tokens are used"
    if limits.dollars and (usage.cost_dollars or 0.0) >= limits.dollars:
        return f"${limits.dollars:.2f} are spent"
    if limits.context and sprint.context >= limits.context:
        return f"{sprint.context} % of the context is used"
    return ""


def status_line(sprint: SprintState, now: float, usage: Usage) -> str:
    """The sprint on one line: `3/10 · tests ✗ 2 · 14 min · $0.80`."""
    done = sum(one.done for one in sprint.outcomes)
    dollars = usage.cost_dollars
    parts = [
        f"{done}/{sprint.total}",
        f"tests ✗ {sprint.failures}" if sprint.failures else "",
        f"{max(0, int((now - sprint.began) / 60))} min",
        f"${dollars:.2f}" if dollars is not None else "",
        f"context {sprint.context} %" if sprint.warned else "",
    ]
    return " · ".join(part for part in parts if part)


def outcome_lines(sprint: SprintState) -> str:
    """What became of each task, a line each."""
    lines = []
    for one in sprint.outcomes:
        rounds = f" ({one.rounds} rounds)" if one.rounds > 1 else ""
        commit = f" · {one.commit[:8]}" if one.commit else ""
        lines.append(f"{'✅' if one.done else '❌'} {one.task}{rounds}{commit}{f' – {one.why}' if one.why else ''}")
    return "\n".join(lines)
