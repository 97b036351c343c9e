"""What happens to a worker's sprint and to the reviews of its work: facts of the union in `facts.py`."""

from farhand.model.review import ReviewState
from farhand.model.sprint import HowSprintEnded, SprintState
from farhand.model.words import Sender, Usage, Word


class SprintBegan(Word, tag="sprint_began"):
    """The worker does tasks one after the other by itself from now on."""

    sprint: SprintState
    by: Sender


class SprintMoved(Word, tag="sprint_moved"):
    """The sprint stands otherwise: a prompt was given, a turn or a check is over, a task was added or skipped."""

    sprint: SprintState
    # What it has used so far.
    usage: Usage = Usage()
    by: Sender | None = None


class HaltAsked(Word, tag="halt_asked"):
    """Somebody wants the sprint to end after the turn that runs, or `now`."""

    by: Sender
    now: bool = False


class SprintEnded(Word, tag="sprint_ended"):
    """The sprint is over; `sprint` has what became of its tasks."""

    sprint: SprintState
    how: HowSprintEnded
    why: str = ""
    usage: Usage = Usage()


class ReviewAsked(Word, tag="review_asked"):
    """Somebody wants the worker's work judged by others."""

    review: ReviewState
    by: Sender


class ReviewMoved(Word, tag="review_moved"):
    """A review of the worker's work stands otherwise: it began, a verdict came, findings were sent, it is stale."""

    review: ReviewState
    # It came to its end with this.
    ended: bool = False
    by: Sender | None = None
