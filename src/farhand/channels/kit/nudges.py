"""A reminder in a chat: of a question that still waits, or of what happened in a quiet time. Pure."""

from farhand.channels.kit.card import Card
from farhand.model.attention import AttentionKind
from farhand.model.attention_rules import Buzz
from farhand.model.digest import digest, digest_text


def nudge_slot(ask: str, step: int) -> str:
    """The slot of the reminder of that ask in that step."""
    return f"ask:{ask}:nudge{step}"


def nudge_card(buzz: Buzz) -> Card:
    """The reminder; of one question it answers the question's own message."""
    one = buzz.matters[0]
    if len(buzz.matters) == 1 and one.kind is AttentionKind.ASK:
        ask = one.key.removeprefix("ask:")
        slot = nudge_slot(ask, buzz.step)
        head = f"{one.worker} still waits for you: {one.text}"
        return Card(key=slot, slot=slot, worker=one.worker, topic=one.worker, head=head, answers_slot=f"ask:{ask}")
    keys = frozenset(matter.key for matter in buzz.matters)
    return Card(key=f"nudge:{buzz.key}", head=f"While you were away:\n{digest_text(digest(buzz.matters, keys))}")
