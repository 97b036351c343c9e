"""A question as a card: its buttons while it is open, who answered and how once it is settled. Pure."""

from farhand.channels.kit.card import AnswerTap, Button, Card, DoneTap, PickTap, WordsTap, shortened
from farhand.channels.kit.said_elsewhere import PLACES
from farhand.model import ask_text as asks
from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.present import Ask
from farhand.model.view import AskView, TurnView
from farhand.model.visible import visible
from farhand.model.words import AskKind, Choice, HowSettled, Sender, replace

LABEL_CHARACTERS = 56


def too_many_asks(event: Event) -> Card:
    """Told once a turn: the same key is sent once."""
    head = f"{event.worker} has too many questions open: what it asks now is denied until you answer some."
    return Card(key=f"ask:too-many:{event.worker}:{event.turn}", worker=event.worker, head=head)


def open_ask(ask_now: Ask, chosen: tuple[int, ...], key: str) -> Card:
    """An ask that is open, drawn again with some of its choices made."""
    raised = asks.raised_again(ask_now)
    return replace(ask(ask_now.worker, AskView(raised=raised), chosen), key=key, edit=True)


def ask(worker: str, shown: AskView, chosen: tuple[int, ...] = ()) -> Card:
    """A question with a button for every answer, or, once settled, with who answered and how."""
    raised = shown.raised
    slot = f"ask:{raised.ask}"
    verb = "has a plan" if raised.about is AskKind.PLAN and raised.detail else "asks"
    whole = visible(asks.whole(raised))
    card = Card(
        key=slot,
        slot=slot,
        worker=worker,
        head=f"{worker} {verb}: {visible(raised.question)}",
        markdown=whole if raised.about is AskKind.PLAN else "",
        verbatim="" if raised.about is AskKind.PLAN else whole,
        foot=visible("\n".join(asks.circumstances(raised))),
    )
    if shown.settled is None:
        foot = "\n".join([*filter(None, [card.foot]), *asks.beyond_buttons(raised, LABEL_CHARACTERS)])
        return replace(card, foot=foot, buttons=_ask_buttons(raised, chosen))
    settled = settlement(shown.settled, {choice.id: choice.label for choice in raised.choices})
    foot = "\n".join(part for part in (card.foot, settled) if part)
    return replace(card, key=f"{slot}:settled", foot=foot, edit=True, via=_via(shown.settled.by))


def _ask_buttons(raised: facts.AskRaised, chosen: tuple[int, ...]) -> tuple[tuple[Button, ...], ...]:
    """A row for every choice, refusals last; where several may be made, each can be ticked before they are sent."""
    rows = [_choice_row(raised, place, choice, chosen) for place, choice in enumerate(raised.choices)]
    if raised.several and chosen:
        done = Button(label=f"✓ Send {len(chosen)}", tap=DoneTap(ask=raised.ask, chosen=chosen))
        first_refusal = next((place for place, one in enumerate(raised.choices) if not one.allows), len(rows))
        rows.insert(first_refusal, (done,))
    return tuple(rows)


def _choice_row(raised: facts.AskRaised, place: int, choice: Choice, chosen: tuple[int, ...]) -> tuple[Button, ...]:
    label = shortened(visible(choice.label), LABEL_CHARACTERS) or choice.id
    plain = Button(label=label, tap=AnswerTap(ask=raised.ask, place=place))
    if not choice.allows:
        why = Button(label=f"{shortened(choice.label, 40)}, and say why", tap=WordsTap(ask=raised.ask, chosen=(place,)))
        return (plain, why) if choice.words else (plain,)
    if choice.words:
        return (Button(label=f"✎ {label}", tap=WordsTap(ask=raised.ask, chosen=(*chosen, place))),)
    if not raised.several:
        return (plain,)
    ticked = place in chosen
    after = tuple(one for one in chosen if one != place) if ticked else tuple(sorted({*chosen, place}))
    return (Button(label=f"{'☑' if ticked else '☐'} {label}", tap=PickTap(ask=raised.ask, chosen=after)),)


def settlement(settled: facts.AskSettled, labels: dict[str, str]) -> str:
    """Who answered, and what."""
    made = [settled.choice] if settled.choice in labels else settled.choice.split(",")
    answer = ", ".join(labels.get(one, one) for one in made)
    match settled.how:
        case HowSettled.ANSWERED:
            return f"→ {answer}{_said(settled.note)}{by(settled.by)}"
        case HowSettled.DESK:
            return "→ answered at the desk"
        case HowSettled.EXPIRED:
            return f"→ nobody answered in time{f': {answer}' if answer else ''}"
        case HowSettled.WITHDRAWN:
            return "→ no longer asked"


def _said(note: str) -> str:
    return f" (“{shortened(visible(note), 300)}”)" if note.strip() else ""


def by(sender: Sender | None) -> str:
    """Who it was, as a phrase."""
    if sender is None:
        return ""
    place = PLACES.get(sender.via)
    where = f"at the {place}" if place else f"over {sender.via}"
    return f", by {sender.who} {where}" if sender.who else f", {where}"


def _via(by: Sender | None) -> str:
    return by.via if by else ""


def settled_ask(event: Event, fact: facts.AskSettled, turn: TurnView | None) -> list[Card]:
    shown = next((one for one in turn.asks if one.raised.ask == fact.ask), None) if turn else None
    if shown is not None:
        return [] if shown.raised.unasked else [ask(event.worker, shown)]
    # The question itself is out of sight; its buttons must go all the same.
    slot = f"ask:{fact.ask}"
    foot = f"{event.worker}'s question: {settlement(fact, {})}"
    via = _via(fact.by)
    return [Card(key=f"{slot}:settled", slot=slot, worker=event.worker, head=foot, edit=True, silent=True, via=via)]
