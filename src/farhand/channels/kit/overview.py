"""What a manager is told of the workers beyond spec 2's templates: how each is set, what it used, what waits. Pure."""

from collections.abc import Sequence
from typing import assert_never

from farhand.channels.kit.history import Exchange
from farhand.model import ask_text
from farhand.model import inbox as waiting
from farhand.model.inbox import InboxKind
from farhand.model.present import Ask, Present, Worker
from farhand.model.slash_argument import numbered
from farhand.model.visible import visible
from farhand.model.words import HowEnded, Mode, Usage

NOTHING_WAITS = "Nothing waits for you."
NO_HISTORY = "Nothing was said yet, as far back as is kept."
QUESTION_CHARACTERS = 200
# What is longer is shown where the question itself stands.
WHOLE_CHARACTERS = 800
TOO_LONG = "What it would do is more than fits here: answer it where it was asked, in the app, or in farhand chat."
HISTORY_CHARACTERS = 300


def details(worker: Worker) -> str:
    """One line: mode, model, folder, cost and what waits."""
    parts = [
        f"mode {worker.mode} ({worker.mode.meaning})",
        f"model {worker.model}" if worker.model else "its agent's own model",
        f"effort {worker.effort}" if worker.effort else "",
        f"in {worker.directory}",
        spent_words(worker.spent.total),
        window_words(worker.spent.total),
        f"{counted(len(numbered(worker)), 'message')} waiting" if numbered(worker) else "",
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


def window_words(spent: Usage) -> str:
    """How much of its account's usage windows is used; nothing where nobody told."""
    told = ", ".join(f"{one.name} {one.used_percent:.0f} %".strip() for one in spent.windows)
    return f"limits used: {told}" if told else ""


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
    windows = f"; {window_words(spent)}" if spent.windows else ""
    if not (spent.input_tokens or spent.output_tokens or spent.cost_dollars):
        return "nothing that it told"
    return (tokens if spent.cost_dollars is None else f"${spent.cost_dollars:.2f}, {tokens}") + windows


def settings_of(worker: Worker) -> str:
    """`/mode` and `/tune` alone: how the worker is set, and how to change that."""
    model = worker.model or "as its agent is set"
    others = ", ".join(f"/mode {mode} ({mode.meaning})" for mode in Mode if mode is not worker.mode)
    effort = f", effort {worker.effort}" if worker.effort else ""
    return (
        f"{worker.name}: mode {worker.mode} ({worker.mode.meaning}), model {model}{effort}, in {worker.directory}.\n"
        f"Change it: {others}; /tune model=<model>; /effort <effort>."
    )


def open_asks_of(worker: Worker) -> list[Ask]:
    """Its questions that nobody has answered."""
    return [ask for ask in worker.asks if ask.settled is None]


def inbox(present: Present, *, in_shell: bool = False, review: str = "verdict") -> str:
    """`/inbox`: what waits for the manager (`model/inbox.py`), and what to do about each.

    In a shell it names the commands that do there what a message does in a chat; `review` is what a chat or a terminal
    calls that command."""
    command = "farhand " if in_shell else "/"
    lines: list[str] = []
    for item in waiting.inbox(present):
        name, text = item.worker, _cut(item.text, QUESTION_CHARACTERS)
        match item.kind:
            case InboxKind.ASK:
                lines += [f"? {name} asks: {text}", *_answers(present, present.ask(item.key), in_shell=in_shell)]
            case InboxKind.DOUBT:
                again = f"farhand say --worker {name}" if in_shell else f"@{name}"
                stop = f"farhand interrupt {name}" if in_shell else f"/pause {name}"
                lines.append(f"? {name} may not have got your message: {text}")
                lines.append(f"   It was not sent again. Stop waiting for it: {stop}; say it once more: {again} …")
            case InboxKind.OFFLINE:
                lines += [f"✗ {name} is offline: {text}", f"   Try again: {command}relaunch {name}"]
            case InboxKind.SPRINT:
                begin = f"farhand sprint start --worker {name}" if in_shell else f"@{name} …, or /sprint start"
                lines += [f"⚠ {name}'s sprint has stopped: {text}", f"   Go on: {begin}"]
            case InboxKind.LIMIT:
                lines.append(f"⏸ {name} has reached its usage limit; {command}retry {name} tries now.")
            case InboxKind.REVIEW:
                see = f"farhand review status --worker {name}" if in_shell else f"/{review} {name} status"
                send = f"farhand review send --worker {name}" if in_shell else f"/{review} {name} send"
                lines.append(f"✋ A review of {name}'s work wants changes{f': {text}' if text else ''}")
                lines.append(f"   See it: {see}; send the findings back: {send}")
            case _:
                assert_never(item.kind)
    return "\n".join(lines) or NOTHING_WAITS


def _answers(present: Present, ask: Ask | None, *, in_shell: bool) -> list[str]:
    """What a yes would do beyond the headline, the choices of a question, and how one is made; how to make one is said
    only where all of it is shown."""
    if ask is None:
        return []
    is_cut = _cut(ask.question, QUESTION_CHARACTERS) != ask.question
    whole = ask_text.whole(ask) or (ask.question if is_cut else "")
    if len(whole) > WHOLE_CHARACTERS:
        return [f"   {TOO_LONG}"]
    told = visible("\n".join([*([whole] if whole else []), *ask_text.circumstances(ask)]))
    choices = ", ".join(f"{number} {choice.label}" for number, choice in enumerate(ask.choices, 1))
    ids = " or ".join(choice.id for choice in ask.choices)
    answer = f"farhand answer {ask.id} {ids}" if in_shell else f"@{ask.worker} 1"
    if not in_shell and len(open_asks_of(present.workers[ask.worker])) > 1:
        answer = "in reply to its own message"
    return [*(f"   {line}" for line in told.splitlines()), f"   {choices}", f"   Answer: {answer}"]


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
