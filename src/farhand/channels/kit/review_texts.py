"""What is told of a review: its one card while it runs, the verdict at its end, and how reviews stand. Pure."""

from farhand.channels.kit.card import Button, Card, ReviewTap
from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.present import Worker
from farhand.model.review import Judgement, Reviewer, ReviewPhase, ReviewState, findings_of

_SIGNS = {Judgement.APPROVE: "✅", Judgement.CHANGES: "✋", Judgement.UNSURE: "❔"}
_SAYS = {
    Judgement.APPROVE: "approved",
    Judgement.CHANGES: "wants changes",
    Judgement.UNSURE: "is not sure",
}
MOST_SHOWN = 20
TEXT_CHARACTERS = 600
STALE = "⚠ The folder has changed since: this verdict no longer holds."


def review_text(worker: Worker | None) -> str:
    """How the newest review of a worker's work stands."""
    if worker is None:
        return "No one assigned."
    if not worker.reviews:
        return f"Nobody has judged {worker.name}'s work yet."
    return review_lines(worker.name, worker.reviews[-1])


def review_lines(worker: str, review: ReviewState) -> str:
    """A review with what each reviewer says, and the findings with the numbers that they are sent back by."""
    lines = [_head(worker, review), *(_reviewer_line(one) for one in review.reviewers)]
    found = list(findings_of(review))
    for number, (key, one) in enumerate(found[:MOST_SHOWN], start=1):
        place = f" {one.place}" if one.place else ""
        lines.append(f"{number}. {one.severity}{place} – {one.title}{' ↩' if key in review.sent else ''}")
    if len(found) > MOST_SHOWN:
        lines.append(f"… and {len(found) - MOST_SHOWN} more")
    if review.problem:
        lines.append(f"✗ {review.problem}")
    if review.stale:
        lines.append(STALE)
    return "\n".join(lines)


def _head(worker: str, review: ReviewState) -> str:
    size = f" · {review.files} files, +{review.added} −{review.removed}" if review.files else ""
    round_ = f" · round {review.round}" if review.round > 1 else ""
    sign = _SIGNS[review.judgement] if review.phase is ReviewPhase.OVER else "🔍"
    return f"{sign} {worker} · review #{review.number}{round_}{size}"


def _reviewer_line(one: Reviewer) -> str:
    if one.verdict is not None:
        sure = f" ({one.verdict.confidence:.0%} sure)" if one.verdict.confidence is not None else ""
        said = one.verdict.summary or one.verdict.text
        told = f": {' '.join(said.split())[:TEXT_CHARACTERS]}" if said else ""
        return f"{one.backend} {_SAYS[one.verdict.judgement]}{sure}{told}"
    return f"{one.backend} gave no verdict: {one.problem}" if one.problem else f"{one.backend} is at it"


def review_cards(event: Event) -> list[Card]:
    """One card while it works, which tells at its end that it is over; the verdict is a message of its own."""
    match event.fact:
        case facts.ReviewAsked(review=review):
            return [_card(event, review, edit=False)]
        case facts.ReviewMoved(review=review, ended=True):
            return [_card(event, review, edit=True, buttons=False), _verdict(event, review)]
        case facts.ReviewMoved(review=review) if review.is_over:
            return [_verdict(event, review, edit=True)]
        case facts.ReviewMoved(review=review):
            return [_card(event, review, edit=True)]
        case _:
            return []


def _card(event: Event, review: ReviewState, *, edit: bool, buttons: bool = True) -> Card:
    stop = Button(label="Stop", tap=ReviewTap(what="cancel", review=review.id))
    head = review_lines(event.worker, review) if buttons else _head(event.worker, review)
    return Card(
        key=f"review:{review.id}:{event.seq}" if edit else f"review:{review.id}",
        slot=f"review:{review.id}",
        worker=event.worker,
        head=head,
        buttons=((stop,),) if buttons else (),
        silent=True,
        edit=edit,
    )


def _verdict(event: Event, review: ReviewState, *, edit: bool = False) -> Card:
    left = [key for key, _ in findings_of(review) if key not in review.sent]
    row = [Button(label=f"Send {len(left)} back", tap=ReviewTap(what="send", review=review.id))] if left else []
    if review.stale or review.judgement is not Judgement.APPROVE:
        row.append(Button(label="Review again", tap=ReviewTap(what="again", review=review.id)))
    return Card(
        key=f"verdict:{review.id}:{event.seq}" if edit else f"verdict:{review.id}",
        slot=f"verdict:{review.id}",
        worker=event.worker,
        head=review_lines(event.worker, review),
        buttons=(tuple(row),) if row else (),
        # A sprint's own card tells how its gate stands.
        silent=bool(review.gate) or edit,
        edit=edit,
    )
