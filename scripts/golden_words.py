"""The sprint, the review and the choices that golden fixtures tell of, the first two in each of their states."""

from __future__ import annotations

from farhand.model.review import (
    Judgement,
    ReviewBinding,
    Reviewer,
    ReviewerPhase,
    ReviewFinding,
    ReviewPhase,
    ReviewState,
    Severity,
    Verdict,
)
from farhand.model.sprint import SprintPhase, SprintState
from farhand.model.words import Choice, Usage, UsageWindow, replace

YES_NO = (
    Choice(id="yes", label="Allow once"),
    Choice(id="always", label="Always", scope="git push, by ann, until it ends"),
    Choice(id="no", label="Deny", allows=False, words=True),
)
START = 1_767_225_600.0
SPRINT = SprintState(id="s1", began=0.0, tasks=("write the parser", "test it"), verifier="make test")
PROMPTED = replace(SPRINT, began=START, phase=SprintPhase.TURN, message="sprint:s1:0.1")
REVIEWER = Reviewer(worker="demo-judges-ann", backend="demo")
REVIEW = ReviewState(id="1-1", number=1, reviewers=(REVIEWER,), note="mind the parser")
JUDGING = replace(
    REVIEW,
    at=START,
    phase=ReviewPhase.WORKING,
    binding=ReviewBinding(base="b" * 40, head="b" * 40, tree="c" * 40),
    files=2,
    added=12,
    removed=3,
    reviewers=(replace(REVIEWER, mark="a1b2c3", message="review:1-1:0"),),
)
FOUND = ReviewFinding(
    severity=Severity.P1, title="An empty line ends it.", path="src/parser.py", line=12, detail="See."
)
JUDGED = replace(
    JUDGING,
    phase=ReviewPhase.OVER,
    reviewers=(
        replace(
            JUDGING.reviewers[0],
            phase=ReviewerPhase.DONE,
            verdict=Verdict(judgement=Judgement.CHANGES, summary="One hole.", confidence=0.8, findings=(FOUND,)),
        ),
    ),
)

# All that an agent may tell of what a turn used.
TOLD_USAGE = Usage(
    input_tokens=12,
    output_tokens=9,
    cost_dollars=0.25,
    context_tokens=21,
    context_window=200,
    windows=(UsageWindow(name="5h", used_percent=42.5, resets_at=1800000000.0),),
)
