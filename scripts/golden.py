"""Golden fixtures: events, and the view that every implementation of the fold makes of them."""

from __future__ import annotations

from pathlib import Path

import msgspec
from scripts.golden_story import COMPLETED, PHONE, TELEGRAM, Story, begun, hired, of, queued
from scripts.golden_words import START, TOLD_USAGE, YES_NO
from scripts.golden_work import WORK_STORIES

from farhand.model import facts
from farhand.model.action import Action, ActionKind
from farhand.model.attention import AttentionKind, AttentionSettings, QuietHours
from farhand.model.facts import Event
from farhand.model.inbox import InboxItem, inbox
from farhand.model.phrases import phrase
from farhand.model.team_view import TeamView, fold
from farhand.model.words import (
    AskKind,
    Attachment,
    Choice,
    HowEnded,
    HowSettled,
    Mode,
    Usage,
)

LITTLE = Usage(input_tokens=3)
FOLDER = Path("tests") / "golden"


class Fixture(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file: the events, and the view after the last of them."""

    about: str
    events: tuple[Event, ...]
    view: TeamView
    # What waits for the person then.
    inbox: tuple[InboxItem, ...] = ()


def fixture(story: Story) -> str:
    """The file of one story."""
    view = TeamView()
    for event in story.events:
        view = fold(view, event)
    written = msgspec.json.encode(Fixture(about=story.about, events=story.events, view=view, inbox=inbox(view.present)))
    return msgspec.json.format(written, indent=1).decode()


def ask(name: str, question: str) -> facts.AskRaised:
    """A question about a command."""
    return facts.AskRaised(
        ask=name,
        question=question,
        choices=YES_NO,
        detail="git push origin main",
        action=Action(kind=ActionKind.RUN, target="git push origin main"),
        where="/home/ada/shop",
        why="The tests pass.",
        risks=("changes something elsewhere",),
        risk_phrases=(phrase("risk_publishes"),),
        digest="d1",
        deadline_seconds=600.0,
    )


def attention_set(settings: AttentionSettings) -> facts.AttentionSet:
    """What may buzz from then on."""
    return facts.AttentionSet(settings=settings, by=PHONE)


STORIES = (
    Story(
        "attention",
        "What may buzz is set, and set anew; it belongs to no worker.",
        (
            *of("", None, attention_set(AttentionSettings(off=(AttentionKind.FINISHED,)))),
            *hired(),
            *of(
                "", None, attention_set(AttentionSettings(hours=QuietHours(start=1320, end=420), zone="Europe/Berlin"))
            ),
        ),
    ),
    Story(
        "streaming-text",
        "An answer comes in pieces, cut anywhere; its cost is told twice, and the last word counts.",
        (
            *hired(),
            *begun("m1", "Say hello"),
            *of(
                "ann",
                "m1",
                facts.Seen(message="m1"),
                *(facts.Said(text=piece) for piece in ("He", "llo, ", "wörld ", "👩‍", "🚀\n\n- one\n- t", "wo")),
                facts.Used(usage=Usage(input_tokens=10, output_tokens=3)),
                facts.TurnEnded(how=HowEnded.COMPLETED, usage=TOLD_USAGE),
            ),
            *begun("m2", "Again"),
            *of("ann", "m2", facts.Said(text="Still "), facts.Used(usage=LITTLE), facts.Said(text="speaking")),
        ),
    ),
    Story(
        "thoughts-and-tools",
        "Thoughts, two tools at once, one that fails, words before and after them, a file, and a tool that still runs.",
        (
            *hired(),
            *begun("m1", "Fix the race"),
            *of(
                "ann",
                "m1",
                facts.Thought(text="The cart is read "),
                facts.Thought(text="before the lock."),
                facts.Said(text="I look."),
                facts.ToolStarted(call="c1", tool="Read", title="Read cart/session.py"),
                facts.ToolStarted(call="c2", tool="Bash", title="Bash pytest", detail="pytest -q"),
                facts.ToolEnded(call="c1", output="41 lines"),
                facts.ToolEnded(call="c2", ok=False, output="1 failed"),
                facts.Said(text="One test fails."),
                facts.ToolStarted(call="c3", tool="Edit", title="Edit cart/session.py"),
                facts.ToolEnded(call="c3"),
                facts.Said(text=" It has a space before it."),
                facts.Showed(file=Attachment(path="/home/ada/shop/plot.png", name="plot.png", media_type="image/png")),
                facts.Noted(text="The agent compacted its memory."),
                facts.ToolStarted(call="c4", tool="Bash", title="Bash sleep 100"),
            ),
        ),
    ),
    Story(
        "asks",
        "Questions answered from the phone, several choices at once, denied with words, expired, withdrawn, and one "
        "that waits; an answer that came too late is told after the end of its turn.",
        (
            *hired(),
            *begun("m1", "Ship it"),
            *of(
                "ann",
                "m1",
                ask("a1", "Run: git push origin main"),
                facts.AskSettled(ask="a1", how=HowSettled.ANSWERED, choice="yes", by=PHONE),
                facts.AnswerDelivered(ask="a1"),
                facts.AskRaised(
                    ask="a2",
                    question="Which ones?",
                    choices=tuple(Choice(id=one, label=one.upper()) for one in "abc"),
                    about=AskKind.CHOICE,
                    several=True,
                ),
                facts.AskSettled(ask="a2", how=HowSettled.ANSWERED, choice="a,c", by=TELEGRAM),
                facts.AskRaised(ask="a3", question="Do as planned?", choices=YES_NO, about=AskKind.PLAN, detail="1. x"),
                facts.AskSettled(ask="a3", how=HowSettled.ANSWERED, choice="no", note="Smaller steps.", by=PHONE),
                ask("a4", "Run: make deploy"),
                facts.AskSettled(ask="a4", how=HowSettled.EXPIRED, choice="no"),
                ask("a5", "Run: rm -r build"),
                facts.AskSettled(ask="a5", how=HowSettled.DESK),
                ask("a6", "Run: ls"),
                facts.AskSettled(ask="a6", how=HowSettled.WITHDRAWN),
                facts.AnswerDelivered(ask="a2"),
                COMPLETED,
                facts.AnswerDelivered(ask="a3", problem="The turn was over before the answer reached the agent."),
            ),
            *begun("m2", "And now?"),
            *of("ann", "m2", ask("a7", "Run: git push --force"), facts.Said(text="I wait.")),
        ),
    ),
    Story(
        "queue-edits",
        "Messages wait, are reworded, reordered, withdrawn, put into the running turn, declined there, and doubted.",
        (
            *hired(),
            *begun("m1", "First"),
            *queued("m2", "Secnd"),
            *queued("m3", "Third"),
            *queued("m4", "Fourth", steer=True),
            *queued("m5", "Fifth"),
            *queued("m6", "Sixth"),
            *of(
                "ann",
                None,
                facts.Reworded(message="m2", text="Second", by=PHONE),
                facts.Withdrawn(message="m3", by=TELEGRAM),
                facts.Reordered(messages=("m6", "m4", "m2", "m5"), by=PHONE),
                facts.SteerAsked(message="m5", by=PHONE),
                facts.SteerBegun(message="m4"),
            ),
            *of("ann", "m1", facts.HandedOver(message="m4"), facts.Said(text="Both, then.")),
            *of("ann", None, facts.SteerBegun(message="m5"), facts.SteerDeclined(message="m5", why="It cannot.")),
            *of("ann", None, facts.SteerBegun(message="m6"), facts.Doubted(message="m6", why="The wire was cut.")),
            *of("ann", "m1", facts.Said(text=" Done.")),
        ),
    ),
    Story(
        "joined-turns",
        "Messages join a running turn in another order than they waited in; a limit puts them back as they joined.",
        (
            *hired(),
            *begun("m1", "First"),
            *queued("m2", "Waits"),
            *queued("m3", "Joins at once", steer=True),
            *of("ann", None, facts.SteerBegun(message="m3")),
            *of("ann", "m1", facts.HandedOver(message="m3")),
            *of("ann", None, facts.SteerAsked(message="m2", by=PHONE), facts.SteerBegun(message="m2")),
            *of("ann", "m1", facts.Seen(message="m2"), facts.Limited(text="Limit until 14:00", until=START + 7200)),
            *of("ann", "m1", facts.TurnEnded(how=HowEnded.PARKED)),
            *hired("bob"),
            *begun("m4", "For bob", "bob"),
            *queued("m5", "Later, bob", "bob"),
            *queued("m6", "Now, bob", "bob", steer=True),
            *of("bob", None, facts.SteerBegun(message="m6")),
            *of("bob", "m4", facts.HandedOver(message="m6")),
            *of("bob", None, facts.SteerAsked(message="m5", by=PHONE), facts.SteerBegun(message="m5")),
            *of("bob", "m4", facts.HandedOver(message="m5"), facts.Said(text="All three.")),
        ),
    ),
    Story(
        "interrupt",
        "A turn is stopped by a person; what waits goes on.",
        (
            *hired(),
            *begun("m1", "Count to a million"),
            *queued("m2", "Never mind"),
            *of(
                "ann",
                "m1",
                facts.Said(text="1, 2, 3"),
                facts.InterruptAsked(by=PHONE),
                facts.Interrupted(),
                facts.TurnEnded(how=HowEnded.INTERRUPTED),
            ),
            *of("ann", "m2", facts.TurnStarted(message="m2"), facts.InterruptAsked(by=PHONE)),
        ),
    ),
    Story(
        "failed-turns",
        "Turns that fail before and after the message arrived, one that was lost, a stop that could not be brought; "
        "two of them can be tried again, and one is.",
        (
            *hired(),
            *queued("m1", "one"),
            *of("ann", "m1", facts.TurnStarted(message="m1"), facts.TurnEnded(how=HowEnded.FAILED, error="No key.")),
            *begun("m2", "two"),
            *of(
                "ann", "m2", facts.Said(text="Well"), facts.TurnEnded(how=HowEnded.FAILED, error="500", can_retry=True)
            ),
            *begun("m3", "three"),
            *of("ann", "m3", facts.InterruptAsked(by=PHONE), facts.Interrupted(problem="It does not listen.")),
            *of("ann", "m3", facts.TurnEnded(how=HowEnded.LOST, error="The agent is gone.")),
            *queued("m4", "four"),
            *of("ann", "m4", facts.TurnStarted(message="m4"), facts.Doubted(message="m4", why="Nobody can tell.")),
            *of("ann", "m4", facts.TurnEnded(how=HowEnded.FAILED, error="Gone.", can_retry=True)),
            *of("ann", None, facts.Queued(message="m2~2", text="two", by=PHONE, again="m2")),
            *of("ann", "m2~2", facts.TurnStarted(message="m2~2")),
        ),
    ),
    Story(
        "offline",
        "An agent goes, is relaunched and comes back; its model and mode change, or do not; its session has a new id.",
        (
            *hired(),
            *of("ann", None, facts.WentOffline(why="It ended.", why_phrase=phrase("why_agent_ended"), incident="i1")),
            *queued("m1", "Are you there?"),
            *of(
                "ann",
                None,
                facts.RelaunchAsked(by=PHONE),
                facts.WentOffline(why="Relaunched.", asked=True, final=False),
                facts.CameOnline(session="ann-2", back=True, incident="i1"),
                facts.SessionKnown(session="ann-3"),
                facts.TuneAsked(model="opus", mode=Mode.PLAN, effort="high", by=PHONE),
                facts.Tuned(model="opus", mode=Mode.PLAN, effort="high"),
                facts.TuneAsked(mode=Mode.YOLO, by=PHONE),
                facts.Tuned(mode=Mode.YOLO, refused="Not on this node."),
                facts.TuneAsked(model="haiku", by=PHONE),
                facts.CameOnline(session="ann-3", adopted=True),
                facts.RelaunchAsked(by=PHONE),
                facts.WentOffline(why="Gone again.", asked=True),
                facts.WentOffline(why="It does not start.", again=True),
            ),
        ),
    ),
    Story(
        "limits",
        "A usage limit parks a turn: its message waits again under its next name, and is told to go on.",
        (
            *hired(),
            *begun("m1", "Refactor"),
            *queued("m2", "Then test"),
            *of("ann", "m1", facts.ToolStarted(call="c1", tool="Edit", title="Edit"), facts.ToolEnded(call="c1")),
            *of("ann", "m1", facts.Limited(text="Limit until 14:00", until=START + 7200)),
            *of("ann", "m1", facts.TurnEnded(how=HowEnded.PARKED, usage=Usage(input_tokens=5))),
            *of("ann", None, facts.LimitLifted(by=PHONE)),
            *of("ann", "m1~2", facts.TurnStarted(message="m1~2"), facts.Limited(text="Again", again=1)),
        ),
    ),
    Story(
        "two-workers",
        "Two workers at once; the focus moves; one leaves with a message that waits, and its name is given again.",
        (
            *hired(),
            *hired("bob", "native"),
            *begun("m1", "For ann"),
            *begun("m2", "For bob", "bob"),
            *of("ann", "m1", facts.Said(text="a1 ")),
            *of("bob", "m2", facts.Said(text="b1 ")),
            *of("ann", "m1", facts.Said(text="a2")),
            *of("bob", "m2", facts.Said(text="b2"), COMPLETED),
            *of("ann", None, facts.Focused(by=TELEGRAM)),
            *queued("m3", "Later, ann"),
            *of("ann", None, facts.EndAsked(by=PHONE, hand_back=True)),
            *of("ann", "m1", facts.TurnEnded(how=HowEnded.INTERRUPTED)),
            *of("ann", None, facts.Ended(resume="agent --resume ann-1")),
            *of("nobody", None, facts.Noted(text="Of somebody who was never here.")),
            *hired(),
            *queued("m4", "Welcome back"),
            *begun("m5", "Go", "bob"),
            *of("bob", None, facts.Ended()),
        ),
    ),
    Story(
        "between-turns",
        "What stands beside turns: notes, words and questions of no turn, a turn of the desk, files with messages.",
        (
            *hired(),
            *of(
                "ann",
                None,
                facts.Noted(text="Its folder has a configuration."),
                facts.AskRaised(ask="f1", question="Trust this folder?", choices=YES_NO, about=AskKind.FOLDER),
                facts.AskSettled(ask="f1", how=HowSettled.ANSWERED, choice="yes", by=PHONE),
                facts.AnswerDelivered(ask="f1"),
                facts.Said(text="Said at the desk, in no turn."),
                facts.Showed(file=Attachment(path="/home/ada/shop/a.txt")),
                facts.Responded(text="<b>Built</b>"),
                facts.Responded(text="plain", html=False),
            ),
            *of("ann", "desk-1", facts.TurnStarted(text="Typed there."), facts.Said(text="To the desk."), COMPLETED),
            *of(
                "ann",
                None,
                facts.Queued(
                    message="m1",
                    text="Look",
                    attachments=(Attachment(path="/home/ada/in/1.png", name="1.png", media_type="image/png"),),
                    by=TELEGRAM,
                ),
            ),
            *of("ann", "m1", facts.TurnStarted(message="m1"), facts.Responded(text="in a turn")),
        ),
    ),
    Story(
        "receipts",
        "How far a message can get: queued, started, handed over, seen, answered, refused, withdrawn, unknown; what is "
        "proven after the end of a turn is believed.",
        (
            *hired(),
            *begun("answered", "1"),
            *of("ann", "answered", facts.Seen(message="answered"), COMPLETED),
            *queued("refused", "2"),
            *of("ann", "refused", facts.TurnStarted(message="refused"), facts.TurnEnded(how=HowEnded.FAILED)),
            *queued("withdrawn", "3"),
            *of("ann", None, facts.Withdrawn(message="withdrawn", by=PHONE)),
            *queued("unknown", "4"),
            *of("ann", "unknown", facts.TurnStarted(message="unknown"), facts.TurnEnded(how=HowEnded.LOST)),
            *queued("late", "5"),
            *of("ann", "late", facts.TurnStarted(message="late"), facts.TurnEnded(how=HowEnded.LOST)),
            *of("ann", "late", facts.Seen(message="late")),
            *queued("started", "6"),
            *of("ann", "started", facts.TurnStarted(message="started")),
            *queued("queued", "7"),
            *hired("bob"),
            *begun("handed", "8", "bob"),
            *hired("cleo"),
            *begun("seen", "9", "cleo"),
            *of("cleo", "seen", facts.Seen(message="seen")),
        ),
    ),
    *WORK_STORIES,
)
