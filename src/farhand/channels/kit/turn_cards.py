"""A turn as cards: the message that waits for it, its progress while it runs, the answer at its end. Pure."""

from farhand.channels.kit.card import (
    Button,
    Card,
    RewordTap,
    SteerTap,
    StopTap,
    TryAgainTap,
    WithdrawTap,
    disarmed,
    removal,
    shortened,
)
from farhand.model.view import TurnView
from farhand.model.visible import visible
from farhand.model.words import HowEnded, MessageId

TAIL_CHARACTERS = 280
TITLE_CHARACTERS = 160
# A turn in which nothing was heard for so long says so: some agents try a dead network again without a word.
SILENCE_SECONDS = 60.0


def progress_slot(turn: TurnView) -> str:
    """The slot of a turn's progress message."""
    return f"progress:{turn.worker}:{turn.turn}"


def progress(turn: TurnView, now: float, heard_at: float | None = None) -> Card:
    """A turn that runs: its state, the tool it waits for, the time, and the end of what it has said.

    `heard_at` is when its agent was heard last, where that is known."""
    tool = turn.running_tool
    state = "waits for you" if turn.open_asks else "is working"
    lines = [f"{turn.worker} {state} · {clock(now - turn.started_at)}"]
    if tool:
        lines.append(f"▸ {shortened(f'{tool.tool}: {tool.title}' if tool.title else tool.tool, TITLE_CHARACTERS)}")
    done = sum(1 for one in turn.tools if one.ok is not None)
    if done:
        lines.append(f"{done} {'step' if done == 1 else 'steps'} done")
    if silence := _silence(turn, now - (now if heard_at is None else heard_at)):
        lines.append(silence)
    if tail := tail_of(turn.text):
        lines += ["", tail]
    slot = progress_slot(turn)
    stop = Button(label="Stop", tap=StopTap(turn=turn.turn))
    return Card(key=slot, slot=slot, worker=turn.worker, head="\n".join(lines), silent=True, buttons=((stop,),))


def _silence(turn: TurnView, seconds: float) -> str:
    """That nothing was heard for long; empty while a tool runs or a person is asked, for then it is no wonder."""
    if seconds < SILENCE_SECONDS or turn.running_tool or turn.open_asks:
        return ""
    return f"Nothing heard from it for {clock(seconds)}: it thinks, or its network or model does not answer."


def tail_of(text: str) -> str:
    """The end of what was said, from the beginning of a word."""
    tail = text[-TAIL_CHARACTERS:].strip()
    if len(text.strip()) <= TAIL_CHARACTERS:
        return tail
    _, space, rest = tail.partition(" ")
    return f"… {rest.lstrip()}" if space and rest else f"…{tail}"


def clock(seconds: float) -> str:
    """A time as people say it."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02d} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"


def ended(turn: TurnView) -> list[Card]:
    """The answer of a turn, and the end of its progress message."""
    end = turn.ended
    how = end.how if end else HowEnded.COMPLETED
    why = f": {shortened(end.error, 600)}" if end and end.error else "."
    foot = {
        HowEnded.COMPLETED: "" if turn.text.strip() else "✓ Done.",
        HowEnded.FAILED: "\n".join(filter(None, (f"✗ Failed{why}", end.advice if end else ""))),
        HowEnded.INTERRUPTED: "■ Stopped.",
        HowEnded.LOST: f"? Lost{why}",
        HowEnded.PARKED: "⏸ Stopped by the usage limit. Your message waits, and goes on by itself.",
    }[how]
    gone = removal(progress_slot(turn))
    if how is HowEnded.PARKED and not turn.text.strip():
        # The limit itself was shown; that it still holds at the next try is no news.
        return [gone]
    return [
        Card(
            key=_answer_slot(turn.worker, turn.turn),
            slot=_answer_slot(turn.worker, turn.turn),
            worker=turn.worker,
            markdown=turn.text.strip(),
            foot=foot,
            answers=turn.message,
            buttons=((Button(label="Try again", tap=TryAgainTap(turn=turn.turn)),),) if end and end.can_retry else (),
        ),
        gone,
    ]


def tried_again(worker: str, turn: str) -> Card:
    """A failed turn whose message was said again: its button would do nothing any more."""
    return disarmed(_answer_slot(worker, turn))


def _answer_slot(worker: str, turn: str) -> str:
    return f"answer:{worker}:{turn}"


def waiting(worker: str, message: MessageId, text: str) -> Card:
    """A message that waits for its turn: it can be put into the running one, reworded, or taken back."""
    now = Button(label="Say it now", tap=SteerTap(message=message))
    reword = Button(label="Reword it", tap=RewordTap(message=message))
    back = Button(label="Take it back", tap=WithdrawTap(message=message))
    return Card(
        key=f"queued:{message}",
        slot=f"queued:{message}",
        worker=worker,
        head=f"{worker} is busy, this waits: {visible(shortened(text, TITLE_CHARACTERS)) or 'a file'}",
        buttons=((now, reword, back),),
        answers=message,
        silent=True,
    )


def waits_no_more(message: MessageId) -> Card:
    """The end of a waiting message's card."""
    return removal(f"queued:{message}")
