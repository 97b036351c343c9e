"""What a review does next, and the facts that follow: read off the present, so that a restart goes on. Pure."""

from collections.abc import Sequence
from itertools import count

from farhand.core.hire_policy import HirePolicy
from farhand.model import errors, facts, review
from farhand.model.commands import CancelReview, Review, SendFindings
from farhand.model.facts import Draft, Fact
from farhand.model.present import WIRE, Present, Worker, kind_of
from farhand.model.review import Captured, Reviewer, ReviewerPhase, ReviewPhase, ReviewScope, ReviewState, Verdict
from farhand.model.sandbox import OPTION
from farhand.model.words import HowSettled, Mode, Sender, replace

NODE = Sender(via="node")
MOST_OPEN = 4
MOST_NOTE = 4000
# Where a review is judged without a terminal that anybody looks at.
HEADLESS = "headless"
NOT_WANTED = "The sprint no longer waits for it."
READ_ONLY = "A reviewer is read-only, and nobody is asked on its behalf."


# --- what people ask for


def begin(present: Present, worker: Worker, command: Review, sender: Sender, policy: HirePolicy) -> list[Draft]:
    """A review that begins."""
    if review.is_reviewer(worker.name):
        raise errors.CannotDo(f"{worker.name} reviews somebody's work itself.", worker=worker.name)
    if sum(not one.is_over for one in worker.reviews) >= MOST_OPEN:
        raise errors.CannotDo(f"{MOST_OPEN} reviews of {worker.name}'s work run already.", worker=worker.name)
    before = find_review(worker, command.again) if command.again else None
    scope = before.scope if before else command.scope
    if scope is ReviewScope.ANSWER and (command.base or command.head):
        raise errors.BadInput("An answer has no commits.")
    asked = ReviewState(
        id=f"{worker.since}-{_number(worker)}",
        number=_number(worker),
        reviewers=_reviewers(present, worker, _wanted(command, before), policy),
        scope=scope,
        turn=before.turn if before and scope is ReviewScope.ANSWER else command.turn,
        base=before.base if before else command.base,
        head=before.head if before else command.head,
        note=(command.note or (before.note if before else ""))[:MOST_NOTE],
        round=before.round + 1 if before else 1,
        follows=before.id if before else "",
    )
    return [draft(worker, facts.ReviewAsked(review=asked, by=sender))]


def for_sprint(present: Present, worker: Worker, by: Sequence[str], policy: HirePolicy, gate: str) -> ReviewState:
    """The review that a sprint's task waits for; one that judged the same task before is the round before."""
    before = next((one for one in reversed(worker.reviews) if one.gate == gate), None)
    return ReviewState(
        id=f"{worker.since}-{_number(worker)}",
        number=_number(worker),
        reviewers=_reviewers(present, worker, tuple(by), policy),
        round=before.round + 1 if before else 1,
        follows=before.id if before else "",
        gate=gate,
    )


def _number(worker: Worker) -> int:
    return worker.reviews[-1].number + 1 if worker.reviews else 1


def find_review(worker: Worker, name: str) -> ReviewState:
    """The review of that id or number; the newest one without a name."""
    found = (one for one in reversed(worker.reviews) if name in ("", one.id, str(one.number), f"#{one.number}"))
    if (one := next(found, None)) is None:
        raise errors.CannotDo(f"{worker.name} has no review {name}".rstrip() + ".", worker=worker.name)
    return one


def _wanted(command: Review, before: ReviewState | None) -> tuple[str, ...]:
    return command.by or (tuple(one.backend for one in before.reviewers) if before else ())


def _reviewers(present: Present, worker: Worker, by: tuple[str, ...], policy: HirePolicy) -> tuple[Reviewer, ...]:
    if len(by) > review.MOST_REVIEWERS:
        raise errors.BadInput(f"A review has {review.MOST_REVIEWERS} reviewers at most.")
    open_reviews = (one for each in present.workers.values() for one in each.reviews if not one.is_over)
    taken = {*present.workers, *(each.worker for one in open_reviews for each in one.reviewers)}
    found: list[Reviewer] = []
    for name in by or (policy.reviewer_for(worker.backend),):
        like = present.workers.get(name)
        backend, model = (like.backend, like.model) if like else (name.lower(), "")
        options = _options(worker, like, backend, policy)
        policy.check_reviewer(backend, options)
        numbered = (review.reviewer_name(backend, worker.name, number) for number in count(1))
        called = next(one for one in numbered if one not in taken)
        taken.add(called)
        found.append(Reviewer(worker=called, backend=backend, model=model, options=options))
    return tuple(found)


def _options(worker: Worker, like: Worker | None, backend: str, policy: HirePolicy) -> dict[str, str]:
    """As the worker that is named, and confined as the one whose work is judged; over a wire that needs no terminal."""
    options = {**(like.options if like else {})}
    options.update({OPTION: worker.options[OPTION]} if OPTION in worker.options else {})
    if WIRE not in options and kind_of(backend, {WIRE: HEADLESS}) in policy.kinds:
        options[WIRE] = HEADLESS
    return options


def cancel(worker: Worker, command: CancelReview, sender: Sender) -> list[Draft]:
    """A review that somebody ends."""
    one = find_review(worker, command.review)
    if one.is_over:
        raise errors.CannotDo("That review is over.", worker=worker.name)
    return [draft(worker, facts.ReviewMoved(review=_over(one, "It was cancelled."), ended=True, by=sender))]


def sent_back(worker: Worker, command: SendFindings, sender: Sender) -> tuple[Draft, str]:
    """The fact that findings go back to the worker, and the one message that they make."""
    one = find_review(worker, command.review)
    known = dict(review.findings_of(one))
    chosen = command.findings or tuple(key for key in known if key not in one.sent) or tuple(known)
    if unknown := [key for key in chosen if key not in known]:
        raise errors.BadInput(f"Review {one.number} has no finding {unknown[0][:20]}.")
    if not chosen:
        raise errors.CannotDo(f"Review {one.number} has no findings.", worker=worker.name)
    text = f"A review of your work found this. Mend it, or say why not.\n{review.finding_lines(one, chosen)}"
    note = f"\n\n{command.note.strip()}" if command.note.strip() else ""
    moved = replace(one, sent=tuple(dict.fromkeys((*one.sent, *chosen))))
    return draft(worker, facts.ReviewMoved(review=moved, by=sender)), text + note


# --- what happens by itself


def start(
    worker: Worker, asked: ReviewState, captured: Captured, prompts: Sequence[tuple[str, str]], directory: str
) -> list[Draft]:
    """The reviewers are hired, and told what to judge: a mark and a prompt for each of them."""
    one = _current(worker, asked.id, ReviewPhase.ASKED)
    if one is None:
        return []
    reviewers = tuple(
        replace(each, mark=mark, message=f"review:{one.id}:{place}")
        for place, (each, (mark, _)) in enumerate(zip(one.reviewers, prompts, strict=True))
    )
    moved = replace(
        one,
        phase=ReviewPhase.WORKING,
        binding=captured.binding,
        files=captured.files,
        added=captured.added,
        removed=captured.removed,
        turn=asked.turn,
        reviewers=reviewers,
    )
    drafts = [draft(worker, facts.ReviewMoved(review=moved))]
    for each, (_, prompt) in zip(reviewers, prompts, strict=True):
        hired = facts.Hired(
            backend=each.backend,
            directory=directory,
            model=each.model,
            mode=Mode.PLAN,
            options={**each.options, review.REVIEWS_OF: worker.name, review.REVIEW: one.id},
            by=NODE,
        )
        drafts.append(Draft(worker=each.worker, fact=hired))
        drafts.append(Draft(worker=each.worker, fact=facts.Queued(message=each.message, text=prompt, by=NODE)))
    return drafts


def fail(worker: Worker, asked: ReviewState, problem: str) -> list[Draft]:
    """There is nothing that could be judged."""
    one = _current(worker, asked.id, ReviewPhase.ASKED)
    return [draft(worker, facts.ReviewMoved(review=_over(one, problem), ended=True))] if one else []


def drop_unwanted(worker: Worker) -> list[Draft]:
    """Reviews that a sprint asked for and waits for no more: the task was skipped, or the sprint is over."""
    wanted = worker.sprint.reviewing if worker.sprint else ""
    unwanted = [one for one in worker.reviews if one.gate and not one.is_over and one.id != wanted]
    return [draft(worker, facts.ReviewMoved(review=_over(one, NOT_WANTED), ended=True)) for one in unwanted]


def judge(worker: Worker, asked: str, reviewer: str, verdict: Verdict | None, problem: str = "") -> list[Draft]:
    """One reviewer has said what it thinks, or will never say it."""
    one = _current(worker, asked, ReviewPhase.WORKING)
    if one is None or not any(each.worker == reviewer and not _is_done(each) for each in one.reviewers):
        return []
    phase = ReviewerPhase.DONE if verdict else ReviewerPhase.FAILED
    reviewers = tuple(
        replace(each, phase=phase, verdict=verdict, problem=problem) if each.worker == reviewer else each
        for each in one.reviewers
    )
    over = all(map(_is_done, reviewers))
    moved = replace(one, reviewers=reviewers, phase=ReviewPhase.OVER if over else ReviewPhase.WORKING)
    return [draft(worker, facts.ReviewMoved(review=moved, ended=over))]


def mark_stale(worker: Worker, now: review.FolderNow) -> list[Draft]:
    """Which verdicts no longer hold for the folder as it is, or hold again."""
    return [
        draft(worker, facts.ReviewMoved(review=replace(one, stale=not one.stale)))
        for one in worker.reviews
        if one.is_over and one.binding and one.binding.tree and one.stale == review.is_fresh(one.binding, now)
    ]


def refuse_asks(worker: Worker) -> list[Draft]:
    """A reviewer's questions are refused: it has nothing to do but to read."""
    drafts = []
    for ask in worker.asks:
        if ask.settled is None:
            refusal = next((choice.id for choice in ask.choices if not choice.allows), "")
            how = HowSettled.ANSWERED if refusal else HowSettled.EXPIRED
            settled = facts.AskSettled(ask=ask.id, how=how, choice=refusal, note=READ_ONLY, by=NODE)
            drafts.append(Draft(worker=worker.name, turn=ask.turn, fact=settled))
    return drafts


def let_go(present: Present, worker: Worker) -> list[Draft]:
    """A reviewer from whom nothing more is awaited leaves the team."""
    name, asked = worker.options.get(review.REVIEWS_OF, ""), worker.options.get(review.REVIEW, "")
    author = present.workers.get(name)
    one = _current(author, asked, ReviewPhase.WORKING) if author else None
    awaited = one is not None and any(each.worker == worker.name and not _is_done(each) for each in one.reviewers)
    return [] if awaited or worker.ending else [draft(worker, facts.EndAsked(by=NODE))]


def _is_done(reviewer: Reviewer) -> bool:
    return reviewer.phase is not ReviewerPhase.WORKING


def _current(worker: Worker, asked: str, phase: ReviewPhase) -> ReviewState | None:
    return next((one for one in worker.reviews if one.id == asked and one.phase is phase), None)


def _over(one: ReviewState, problem: str) -> ReviewState:
    reviewers = tuple(
        each if _is_done(each) else replace(each, phase=ReviewerPhase.FAILED, problem=problem) for each in one.reviewers
    )
    return replace(one, phase=ReviewPhase.OVER, problem=problem, reviewers=reviewers)


def draft(worker: Worker, fact: Fact) -> Draft:
    """A fact of that worker."""
    return Draft(worker=worker.name, turn=worker.turn.id if worker.turn else None, fact=fact)
