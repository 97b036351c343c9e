"""Golden stories of work that is judged and done by itself, and of all that waits for the person."""

from __future__ import annotations

from scripts.golden_story import COMPLETED, PHONE, TELEGRAM, Story, begun, hired, of, queued
from scripts.golden_words import JUDGED, JUDGING, PROMPTED, REVIEW, SPRINT, START, YES_NO

from farhand.model import facts
from farhand.model.sprint import HowSprintEnded
from farhand.model.words import HowSettled, Usage, replace

WORK_STORIES = (
    Story(
        "review",
        "Somebody else judges the work: a verdict with a finding, which is sent back, and no longer holds after that.",
        (
            *hired(),
            *of("ann", None, facts.ReviewAsked(review=REVIEW, by=PHONE), facts.ReviewMoved(review=JUDGING)),
            *of("ann", None, facts.ReviewMoved(review=JUDGED, ended=True)),
            *of("ann", None, facts.ReviewMoved(review=replace(JUDGED, sent=("0.0",)), by=PHONE)),
            *begun("m1", "A review of your work found this."),
            *of("ann", "m1", facts.Said(text="Mended."), COMPLETED),
            *of("ann", None, facts.ReviewMoved(review=replace(JUDGED, sent=("0.0",), stale=True))),
            *of("ann", None, facts.ReviewAsked(review=replace(REVIEW, id="1-2", number=2, round=2), by=PHONE)),
        ),
    ),
    Story(
        "inbox",
        "Everything that can wait for the person, and what no longer does.",
        (
            *hired(),
            *hired("bob"),
            *hired("cleo"),
            *begun("b1", "Clean up", "bob"),
            *of("bob", "b1", facts.AskRaised(ask="old", question="Run: make clean", choices=YES_NO)),
            *queued("a1", "Deploy it"),
            *of("ann", "a1", facts.TurnStarted(message="a1"), facts.Doubted(message="a1", why="Its agent is silent.")),
            *of("ann", "a1", facts.AskRaised(ask="new", question="Run: make deploy", choices=YES_NO)),
            *of("bob", "b1", facts.AskRaised(ask="over", question="Run: make", choices=YES_NO)),
            *of("bob", "b1", facts.AskSettled(ask="over", how=HowSettled.ANSWERED, choice="yes", by=PHONE)),
            *of("bob", None, facts.SprintBegan(sprint=SPRINT, by=PHONE)),
            *of("bob", None, facts.SprintEnded(sprint=PROMPTED, how=HowSprintEnded.STUCK, why="The check fails.")),
            *of("cleo", None, facts.ReviewAsked(review=REVIEW, by=PHONE), facts.ReviewMoved(review=JUDGED, ended=True)),
            *of("cleo", None, facts.Limited(text="Usage limit reached.", until=START + 3600)),
            *hired("dan"),
            *of("dan", None, facts.SprintBegan(sprint=SPRINT, by=PHONE)),
            *of("dan", None, facts.SprintEnded(sprint=PROMPTED, how=HowSprintEnded.LIMIT, why="20 tasks")),
            *begun("d1", "Go on", "dan"),
            *of("dan", "d1", COMPLETED),
            *of("dan", None, facts.WentOffline(why="Its agent ended.")),
            *hired("eve"),
            *of("eve", None, facts.ReviewAsked(review=REVIEW, by=PHONE)),
            *of("eve", None, facts.ReviewMoved(review=replace(JUDGED, sent=("0.0",)), by=PHONE)),
        ),
    ),
    Story(
        "sprint",
        "A worker does tasks one after the other by itself: prompted, checked, halted; another one is still at it.",
        (
            *hired(),
            *of("ann", None, facts.SprintBegan(sprint=SPRINT, by=PHONE)),
            *of("ann", None, facts.SprintMoved(sprint=PROMPTED, usage=Usage(input_tokens=5))),
            *begun("sprint:s1:0.1", "Task 1 of 2: write the parser"),
            *of("ann", "sprint:s1:0.1", facts.Said(text="Written."), facts.HaltAsked(by=PHONE), COMPLETED),
            *of("ann", None, facts.SprintEnded(sprint=PROMPTED, how=HowSprintEnded.HALTED, why="you said so")),
            *hired("bob"),
            *of("bob", None, facts.SprintBegan(sprint=SPRINT, by=TELEGRAM), facts.HaltAsked(by=TELEGRAM, now=True)),
        ),
    ),
)
