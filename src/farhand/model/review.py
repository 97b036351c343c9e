"""A review: what of a worker's work is judged by whom, the verdicts, and whether they still hold. Pure."""

from collections.abc import Iterator
from enum import StrEnum

from farhand.model.words import MessageId, TurnId, Word, WorkerName

# How many reviews of a worker are of the present; older ones are in the journal.
MOST_KEPT = 8
MOST_REVIEWERS = 4
MOST_FINDINGS = 100
# Why what was judged is not committed, but judged anew.
CHANGED_SINCE = "the folder has changed since it was judged"
MOVED_ON = "somebody else has committed since"
# The options of a worker that was hired to review: whose work it judges, and in which review.
REVIEWS_OF, REVIEW = "reviews", "review"
# Stands in the middle of a reviewer's name, and in nobody else's.
_JUDGES = "-judges-"


class ReviewScope(StrEnum):
    """What is judged: what differs from the last commit, what a turn changed, commits, or an answer."""

    TREE = "tree"
    TURN = "turn"
    COMMITS = "commits"
    ANSWER = "answer"


class ReviewPhase(StrEnum):
    """How far a review is: asked for, at work, or over."""

    ASKED = "asked"
    WORKING = "working"
    OVER = "over"


class ReviewerPhase(StrEnum):
    """How far one reviewer is."""

    WORKING = "working"
    DONE = "done"
    FAILED = "failed"


class Judgement(StrEnum):
    """What a verdict says; only `approve` passes a gate."""

    APPROVE = "approve"
    CHANGES = "changes"
    UNSURE = "unsure"


class Severity(StrEnum):
    """How much a finding matters: P0 must not be shipped at all, P3 is a matter of taste."""

    P0 = "P0"
    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


class ReviewFinding(Word):
    """One thing that a reviewer found; line 0 is the whole file."""

    severity: Severity
    title: str
    path: str = ""
    line: int = 0
    detail: str = ""

    @property
    def place(self) -> str:
        """`path:line`, as far as it is known."""
        return f"{self.path}:{self.line}" if self.path and self.line else self.path


class Verdict(Word):
    """What a reviewer says of the work. `text` is its answer, where that could not be read as a verdict."""

    judgement: Judgement
    summary: str = ""
    confidence: float | None = None
    findings: tuple[ReviewFinding, ...] = ()
    text: str = ""


class ReviewBinding(Word):
    """What a verdict is bound to: the commit or tree that the change starts from, the last commit, and the folder's
    tree, which was judged."""

    base: str = ""
    head: str = ""
    tree: str = ""


class FolderNow(Word):
    """How a worker's folder stands at this moment: its last commit, that commit's tree and parent, and its files."""

    head: str = ""
    head_tree: str = ""
    parent: str = ""
    tree: str = ""


class Captured(Word):
    """What is to be judged: what it is bound to, and the change or the answer as a text."""

    binding: ReviewBinding = ReviewBinding()
    data: str = ""
    files: int = 0
    added: int = 0
    removed: int = 0


class MergeRequest(Word):
    """A device wants a branch brought up to what the worker has committed."""

    into: str = "main"


class Reviewer(Word):
    """One worker that was hired to judge; `mark` is what its verdict must name."""

    worker: WorkerName
    backend: str
    model: str = ""
    options: dict[str, str] = {}
    mark: str = ""
    message: MessageId = ""
    phase: ReviewerPhase = ReviewerPhase.WORKING
    verdict: Verdict | None = None
    problem: str = ""


class ReviewState(Word):
    """A review as it stands."""

    id: str
    number: int
    reviewers: tuple[Reviewer, ...]
    scope: ReviewScope = ReviewScope.TREE
    turn: TurnId = ""
    # The commits that were asked for; what they are stands in the binding.
    base: str = ""
    head: str = ""
    note: str = ""
    at: float = 0.0
    phase: ReviewPhase = ReviewPhase.ASKED
    binding: ReviewBinding | None = None
    files: int = 0
    added: int = 0
    removed: int = 0
    # Why there is no verdict.
    problem: str = ""
    round: int = 1
    # The review of the round before.
    follows: str = ""
    # The findings that were sent back.
    sent: tuple[str, ...] = ()
    # The folder has changed since.
    stale: bool = False
    # The sprint whose task waits for it.
    gate: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.phase is ReviewPhase.OVER

    @property
    def judgement(self) -> Judgement:
        """What all reviewers say together: the work passes when every one of them lets it."""
        said = [one.verdict.judgement if one.verdict else Judgement.UNSURE for one in self.reviewers]
        if self.problem or not said:
            return Judgement.UNSURE
        return next((one for one in (Judgement.CHANGES, Judgement.UNSURE) if one in said), Judgement.APPROVE)


def reviewer_name(backend: str, worker: str, number: int) -> str:
    """What a reviewer is called: `<backend>-judges-<worker>`, and a number where that is taken."""
    return f"{backend[:10].rstrip('-')}{_JUDGES}{worker[:10].rstrip('-')}{f'-{number}' if number > 1 else ''}"


def is_reviewer(name: WorkerName) -> bool:
    """Whether somebody of that name was hired by a review: surfaces tell of the review, and not of its every turn."""
    return _JUDGES in name


def findings_of(review: ReviewState) -> Iterator[tuple[str, ReviewFinding]]:
    """All findings with their keys: the reviewer's place and the finding's, as `0.2`."""
    for place, reviewer in enumerate(review.reviewers):
        for number, finding in enumerate(reviewer.verdict.findings if reviewer.verdict else ()):
            yield f"{place}.{number}", finding


def is_fresh(binding: ReviewBinding, now: FolderNow) -> bool:
    """Whether the folder is what was judged: the same files on the same commit, or committed on top of it unchanged."""
    if not binding.tree or now.tree != binding.tree:
        return False
    return now.head == binding.head or (now.parent == binding.head and now.head_tree == binding.tree)


def passes(review: ReviewState, now: FolderNow) -> bool:
    """Whether a gate opens: the whole change was judged, every reviewer approves, and nothing has changed since."""
    whole = review.scope in (ReviewScope.TREE, ReviewScope.COMMITS)
    if not (whole and review.is_over and review.binding and review.judgement is Judgement.APPROVE):
        return False
    return is_fresh(review.binding, now)


def kept(reviews: tuple[ReviewState, ...], review: ReviewState) -> tuple[ReviewState, ...]:
    """The reviews of a worker after one of them changed or was added; the oldest that are over go first."""
    if any(one.id == review.id for one in reviews):
        return tuple(review if one.id == review.id else one for one in reviews)
    return (*reviews, review)[-MOST_KEPT:]


def finding_lines(review: ReviewState, keys: tuple[str, ...] | None = None) -> str:
    """Those findings, or all of them, a paragraph each, the worst first."""
    chosen = [finding for key, finding in findings_of(review) if keys is None or key in keys]
    lines = []
    for one in sorted(chosen, key=lambda finding: finding.severity):
        place = f" {one.place}" if one.place else ""
        detail = f"\n  {one.detail}" if one.detail else ""
        lines.append(f"- {one.severity}{place}: {one.title}{detail}")
    return "\n".join(lines)
