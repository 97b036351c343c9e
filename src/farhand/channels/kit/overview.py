"""What a manager is told of the workers beyond spec 2's templates: how each is set, what it used, what waits. Pure."""

from collections.abc import Sequence

from farhand.channels.kit.history import Exchange
from farhand.model.present import Ask, Present, Worker
from farhand.model.words import HowEnded, Mode, Usage

NOTHING_WAITS = "Nothing waits for you."
NO_HISTORY = "Nothing was said yet, as far back as is kept."
QUESTION_CHARACTERS = 200
HISTORY_CHARACTERS = 300


def details(worker: Worker) -> str:
    """One line: mode, model, folder, cost and what waits."""
    parts = [
        f"mode {worker.mode} ({worker.mode.meaning})",
        f"model {worker.model}" if worker.model else "its agent's own model",
        f"in {worker.directory}",
        spent_words(worker.spent.total),
        f"{counted(len(worker.queue), 'message')} waiting" if worker.queue else "",
        f"{counted(len(open_asks_of(worker)), 'question')} for you" if open_asks_of(worker) else "",
        f"offline: {worker.why_offline}" if worker.is_offline else "",
    ]
    return f"{worker.name}: {', '.join(part for part in parts if part)}"


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def spent_words(spent: Usage) -> str:
    """What was used so far; nothing when nothing is known."""
    tokens = f"{_short(spent.input_tokens)} in, {_short(spent.output_tokens)} out"
    known = spent.input_tokens or spent.output_tokens
    if spent.cost_dollars is None:
        return f"{tokens} (tokens)" if known else ""
    return f"${spent.cost_dollars:.2f}"


def _short(number: int) -> str:
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 1_000_000 else f"{number / 1_000_000:.1f}M"


def usage(present: Present) -> str:
    """`/usage`: tokens and money by worker, since each was hired."""
    if not any(spent_words(one.spent.total) for one in present.workers.values()):
        return "No worker has told what it used yet."
    lines = [f"{one.name}: {_usage_line(one.spent.total)}" for one in present.workers.values()]
    return "\n".join(["Used since hired:", *lines])


def _usage_line(spent: Usage) -> str:
    tokens = f"{_short(spent.input_tokens)} tokens in, {_short(spent.output_tokens)} out"
    if not (spent.input_tokens or spent.output_tokens or spent.cost_dollars):
        return "nothing that it told"
    return tokens if spent.cost_dollars is None else f"${spent.cost_dollars:.2f}, {tokens}"


def settings_of(worker: Worker) -> str:
    """`/mode` and `/tune` alone: how the worker is set, and how to change that."""
    model = worker.model or "as its agent is set"
    others = ", ".join(f"/mode {mode} ({mode.meaning})" for mode in Mode if mode is not worker.mode)
    return (
        f"{worker.name}: mode {worker.mode} ({worker.mode.meaning}), model {model}, in {worker.directory}.\n"
        f"Change it: {others}; /tune model=<model>."
    )


def open_asks_of(worker: Worker) -> list[Ask]:
    """Its questions that nobody has answered."""
    return [ask for ask in worker.asks if ask.settled is None]


def inbox(present: Present) -> str:
    """`/inbox`: what waits for the manager, worker by worker."""
    lines: list[str] = []
    for worker in present.workers.values():
        for ask in open_asks_of(worker):
            choices = ", ".join(f"{number} {choice.label}" for number, choice in enumerate(ask.choices, 1))
            lines += [f"? {worker.name} asks: {_cut(ask.question, QUESTION_CHARACTERS)}", f"   {choices}"]
            lines.append(f"   Answer: @{worker.name} 1")
        if worker.is_offline:
            lines.append(
                f"✗ {worker.name} is offline: {_cut(worker.why_offline, QUESTION_CHARACTERS)} /relaunch tries."
            )
        if worker.resumes_at is not None and worker.turn is None:
            lines.append(f"⏸ {worker.name} has reached its usage limit; /retry tries now.")
    return "\n".join(lines) or NOTHING_WAITS


def history(exchanges: Sequence[Exchange]) -> str:
    """`/history`: what was said and answered last, oldest first."""
    lines: list[str] = []
    for one in exchanges:
        who = f"{one.who or 'you'}{f' ({one.via})' if one.via else ''}"
        lines.append(f"{who} → {one.worker}: {_cut(one.said, HISTORY_CHARACTERS)}" if one.said else f"{one.worker}:")
        lines.append(f"   {_cut(one.answered, HISTORY_CHARACTERS) or _end_words(one.how)}")
    return "\n".join(lines) or NO_HISTORY


def _end_words(how: HowEnded | None) -> str:
    if how is None:
        return "(still at it)"
    return "✓ Done." if how is HowEnded.COMPLETED else f"({how})"


def _cut(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
