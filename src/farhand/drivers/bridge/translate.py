"""What the files of a bridge show → facts. Pure: no clock, no files."""

from farhand.model import facts
from farhand.model.bridge import BridgeAnswer
from farhand.model.ports import Heard
from farhand.model.words import HowEnded

COMPLETED = facts.TurnEnded(how=HowEnded.COMPLETED)


def answered(answer: BridgeAnswer, turn: str) -> tuple[Heard, ...]:
    """The answer to what we gave the agent: the end of its turn."""
    return (Heard(fact=facts.Said(text=answer.text), turn=turn), Heard(fact=COMPLETED, turn=turn))


def said_at_desk(answer: BridgeAnswer, *, running: bool) -> tuple[Heard, ...]:
    """What the agent said to somebody at its terminal: a turn of its own, or a notice while ours has not begun.

    What the bridge says about its files is a notice, too."""
    if running or answer.is_notice:
        return (Heard(fact=facts.Noted(text=answer.text)),)
    turn = f"desk:{answer.key}"
    begun = Heard(fact=facts.TurnStarted(), turn=turn)
    return (begun, Heard(fact=facts.Said(text=answer.text), turn=turn), Heard(fact=COMPLETED, turn=turn))
