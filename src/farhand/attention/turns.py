"""What is known of the turns that run: over which channel each was begun, and the end of what was said in it."""

from dataclasses import dataclass

from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.present import Present
from farhand.model.words import HowEnded

# Enough for a notification.
MOST_SAID = 1000
_FOLLOWED = frozenset((facts.TurnStarted, facts.Said, facts.ToolStarted, facts.Ended))


@dataclass
class _Turn:
    via: str = ""
    said: str = ""
    is_new_paragraph: bool = False


class RunningTurns:
    """Follows turns from their start to their end; a turn that ended is known until the worker's next one."""

    def __init__(self) -> None:
        self._turns: dict[str, _Turn] = {}

    def begin(self, present: Present) -> None:
        """With the turns that run already."""
        for worker in present.workers.values():
            if worker.turn is not None and worker.name not in self._turns:
                message = worker.turn.message
                self._turns[worker.name] = _Turn(via=message.by.via if message else "")

    def hear(self, event: Event, present: Present) -> None:
        """One more event."""
        if type(event.fact) not in _FOLLOWED:
            return
        match event.fact:
            case facts.TurnStarted():
                worker = present.workers.get(event.worker)
                turn = worker.turn if worker else None
                message = turn.message if turn else None
                self._turns[event.worker] = _Turn(via=message.by.via if message else "")
            case facts.Said(text=text):
                self._say(event.worker, text)
            case facts.ToolStarted():
                if (turn_now := self._turns.get(event.worker)) is not None:
                    turn_now.is_new_paragraph = True
            case facts.Ended():
                self._turns.pop(event.worker, None)
            case _:
                pass

    def _say(self, worker: str, text: str) -> None:
        turn = self._turns.setdefault(worker, _Turn())
        # What is said after the last tool is the answer.
        before = "" if turn.is_new_paragraph else turn.said
        turn.said, turn.is_new_paragraph = (before + text)[:MOST_SAID], False

    def about(self, event: Event) -> tuple[str, str]:
        """The channel over which the event's turn was begun, and the answer so far."""
        turn = self._turns.get(event.worker)
        return (turn.via, turn.said) if turn else ("", "")

    @staticmethod
    def unsaid(event: Event) -> str:
        """What a turn is called that ended well and that nobody is told of: one of a sprint."""
        match event.fact:
            case facts.TurnEnded(how=HowEnded.COMPLETED):
                return f"turn:{event.worker}:{event.turn}"
            case _:
                return ""
