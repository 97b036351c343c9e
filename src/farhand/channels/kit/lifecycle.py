"""What is said of an agent that was hired, cannot start, went offline or came back: why, and what to do. Pure."""

from datetime import UTC, datetime

from farhand.channels.kit.card import Button, Card, CommandTap, RelaunchTap, removal, shortened
from farhand.channels.kit.reply_buttons import mode_buttons
from farhand.channels.kit.texts import hired_how
from farhand.model import bridge, facts
from farhand.model.facts import Event
from farhand.model.folder_trust import is_refusal
from farhand.model.words import Seq, WorkerName

WHY_CHARACTERS = 120


def lifecycle_cards(event: Event) -> list[Card]:
    """One message for what one cause brings: posted when a worker needs a person, then edited."""
    match event.fact:
        case facts.Hired(session=session) as hired:
            slot, mode = hired_slot(event.worker, event.seq), mode_slot(event.worker, event.seq)
            head = f"{event.worker.capitalize()} is added and assigned. They'll stay on your team."
            # The answer to a command is plain text, whatever the worker is called.
            added = [] if session else [Card(key=slot, slot=slot, head=head, silent=True)]
            buttons = () if hired.backend == bridge.BACKEND else mode_buttons(event.worker, hired.mode)
            how = Card(key=mode, slot=mode, head=hired_how(event.worker, hired), silent=True, buttons=buttons)
            return [*added, how]
        case facts.WentOffline() as gone:
            return _offline(event, gone)
        case facts.CameOnline() as back:
            return _online(event, back)
        case _:
            return []


def _online(event: Event, back: facts.CameOnline) -> list[Card]:
    text = sentence(event.worker, back)
    if not text:
        return []
    # What told of its mode was taken away when it could not start.
    mode = Button(label="What it does unasked", tap=CommandTap(command=f"mode {event.worker}"))
    return [
        Card(
            key=f"life:{event.seq}",
            slot=f"life:{back.incident}" if back.incident else "",
            head=text,
            edit=bool(back.incident),
            silent=True,
            buttons=((mode,),) if back.first else (),
        )
    ]


def _offline(event: Event, gone: facts.WentOffline) -> list[Card]:
    text = sentence(event.worker, gone)
    if not text:
        return []
    if gone.again and gone.starting:
        # The same reason again would look as if nobody had tried.
        failed = shortened(capitalized(gone.why).partition(". ")[0].rstrip("."), WHY_CHARACTERS)
        at = f"{datetime.fromtimestamp(event.at, UTC):%H:%M:%S} UTC"
        text += f"\nTried again at {at}; it still does not start: {failed}."
    shown = Card(
        key=f"life:{event.seq}",
        slot=f"life:{gone.incident}",
        worker=event.worker,
        head=text,
        edit=gone.again,
        # The end of a turn, or the question about a folder, was loud enough.
        silent=gone.again or gone.in_turn or is_refusal(gone.why),
        buttons=((Button(label="Try again", tap=RelaunchTap(worker=event.worker)),),),
    )
    first = gone.starting and not gone.again
    slots = (hired_slot(event.worker, gone.starting), mode_slot(event.worker, gone.starting)) if first else ()
    return [*map(removal, slots), shown]


def hired_slot(worker: WorkerName, hired: Seq) -> str:
    """The slot of the message that told of a hiring."""
    return f"hired:{worker}:{hired}"


def mode_slot(worker: WorkerName, hired: Seq) -> str:
    """The slot of the message that told in which mode somebody was hired."""
    return f"mode:{worker}:{hired}"


def sentence(worker: WorkerName, fact: facts.WentOffline | facts.CameOnline) -> str:
    """What a person is told; nothing of an end that was wanted, or that heals by itself."""
    match fact:
        case facts.CameOnline(back=True, focus=focus, first=first):
            whom = f"\nWhat you write goes to {focus}; /focus {worker} to talk to {worker}." if focus else ""
            if first and not focus:
                whom = f" What you write goes to {worker}."
            return f"{worker.capitalize()} {'has started and is on your team' if first else 'is back online'}.{whom}"
        case facts.CameOnline():
            return ""
        case facts.WentOffline(asked=True) | facts.WentOffline(final=False):
            return ""
        case facts.WentOffline(why=why, starting=starting) if starting:
            whom = f"\nWhat you write goes to {fact.focus}, as before." if fact.focus else ""
            stays = f"{worker} waits on the team; /end {worker} lets it go."
            return f'Could not hire "{worker}". {capitalized(why)}\n{stays}{whom}'
        case facts.WentOffline(why=why):
            return f"{worker} is offline: {why}"


def capitalized(text: str) -> str:
    """The text as a sentence begins."""
    return text[:1].upper() + text[1:]
