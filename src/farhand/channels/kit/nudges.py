"""A reminder in a chat: of a question that still waits, or of what happened in a quiet time. Pure."""

from collections.abc import Sequence

from farhand.channels.kit.card import Card, removal
from farhand.model.attention import AttentionKind
from farhand.model.attention_rules import AskBundle, Buzz, Matter
from farhand.model.digest import digest, digest_text, leads_to


def nudge_slot(ask: str, step: int) -> str:
    """The slot of the reminder of that ask in that step."""
    return f"ask:{ask}:nudge{step}"


def nudge_card(buzz: Buzz, origin: str = "") -> Card:
    """The reminder; of one question it answers the question's own message. `origin` is where the app is found."""
    one = buzz.matters[0]
    if not buzz.several and len(buzz.matters) == 1 and one.kind is AttentionKind.ASK:
        ask = one.key.removeprefix("ask:")
        slot = nudge_slot(ask, buzz.step)
        head = f"{one.worker} still waits for you: {one.text}"
        return Card(key=slot, slot=slot, worker=one.worker, topic=one.worker, head=head, answers_slot=f"ask:{ask}")
    slot = bundle_slot(buzz.key)
    return Card(key=slot, slot=slot, head=_several(buzz.shown, origin))


def bundle_slot(key: str) -> str:
    """The slot of the reminder of several matters by that name."""
    return f"nudge:{key}"


def left_card(bundle: AskBundle, origin: str = "") -> Card:
    """What is left of a reminder of several questions; without any it is taken away."""
    slot = bundle_slot(bundle.key)
    if not bundle.matters:
        return removal(slot)
    head = _several(bundle.matters, origin)
    return Card(key=f"{slot}:left{len(bundle.matters)}", slot=slot, head=head, edit=True, silent=True)


def _several(matters: Sequence[Matter], origin: str) -> str:
    keys = frozenset(matter.key for matter in matters)
    return f"While you were away:\n{digest_text(digest(matters, keys), leads_to(origin))}"
