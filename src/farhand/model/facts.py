"""What happened, in the past tense: the closed union that the journal keeps, and the event that stamps a fact."""

from typing import TypeAlias

from farhand.model.action import Action
from farhand.model.attention import AttentionSet as AttentionSet  # noqa: PLC0414 - one of the facts
from farhand.model.words import (
    AskId,
    AskKind,
    Attachment,
    Choice,
    HowEnded,
    HowSettled,
    MessageId,
    Mode,
    Phrase,
    Sender,
    Seq,
    TurnId,
    Usage,
    Word,
    WorkerName,
)
from farhand.model.work_facts import (
    HaltAsked as HaltAsked,  # noqa: PLC0414
)
from farhand.model.work_facts import (
    ReviewAsked as ReviewAsked,  # noqa: PLC0414
)
from farhand.model.work_facts import (
    ReviewMoved as ReviewMoved,  # noqa: PLC0414
)
from farhand.model.work_facts import (
    SprintBegan as SprintBegan,  # noqa: PLC0414
)
from farhand.model.work_facts import (
    SprintEnded as SprintEnded,  # noqa: PLC0414
)
from farhand.model.work_facts import (
    SprintMoved as SprintMoved,  # noqa: PLC0414
)

# --- the team


class Hired(Word, tag="hired"):
    """A worker joined the team."""

    backend: str
    directory: str
    model: str = ""
    mode: Mode = Mode.DEFAULT
    effort: str = ""
    options: dict[str, str] = {}
    # The conversation that it takes up, the agent's last answer in it, and what a person should know about it.
    session: str = ""
    answer: str = ""
    note: str = ""
    by: Sender
    # It did not take the focus.
    aside: bool = False


class EndAsked(Word, tag="end_asked"):
    """Somebody wants the worker gone; its agent is being ended, or its conversation handed back to the desk."""

    by: Sender
    hand_back: bool = False


class Ended(Word, tag="ended"):
    """The worker left the team and its agent is gone; `resume` is the shell command that goes on at the desk."""

    resume: str = ""
    # Of one that is handed back: who has the focus after it; empty for nobody.
    focus: WorkerName = ""


class Focused(Word, tag="focused"):
    """What is said without a name goes to this worker from now on."""

    by: Sender
    # Who had the focus when this one was hired; it goes back there if the agent cannot start.
    before: WorkerName = ""


class RelaunchAsked(Word, tag="relaunch_asked"):
    """Somebody wants the agent restarted with its memory kept."""

    by: Sender


class TuneAsked(Word, tag="tune_asked"):
    """Somebody wants another model, mode or effort."""

    model: str | None = None
    mode: Mode | None = None
    effort: str | None = None
    by: Sender


class Tuned(Word, tag="tuned"):
    """The agent took the change, or said why it cannot."""

    model: str | None = None
    mode: Mode | None = None
    effort: str | None = None
    refused: str = ""


class CameOnline(Word, tag="came_online"):
    """The agent runs and can be spoken to."""

    session: str = ""
    adopted: bool = False
    # It was offline before; `incident` names the message that told of it, if one did.
    back: bool = False
    incident: str = ""
    # Who got the focus back when it could not start, and still has it.
    focus: WorkerName = ""
    # It could not start when it was hired, and is there for the first time.
    first: bool = False


class WentOffline(Word, tag="went_offline"):
    """The agent is gone; what is queued waits."""

    why: str
    # The same by code, where it is the node's own words.
    why_phrase: Phrase | None = None
    # A person wanted it: the worker is relaunched or let go.
    asked: bool = False
    # It is not started again at once; a person may have to do something.
    final: bool = True
    # Names what it belongs to, from its first final end to the next message that the agent takes.
    incident: str = ""
    # It was told before that it is gone.
    again: bool = False
    # A turn ended with it, which tells the same.
    in_turn: bool = False
    # The number of its hiring, while it has never been online.
    starting: Seq = 0
    # Who gets the focus back that its hiring took.
    focus: WorkerName = ""


class SessionKnown(Word, tag="session_known"):
    """The agent's own conversation has this id now."""

    session: str


# --- messages and their receipts


class Queued(Word, tag="queued"):
    """A message was written down and waits for its turn."""

    message: MessageId
    text: str
    attachments: tuple[Attachment, ...] = ()
    steer: bool = False
    by: Sender
    # The turn that failed with the same message: it is tried again.
    again: TurnId = ""


class Reworded(Word, tag="reworded"):
    """A waiting message now says something else."""

    message: MessageId
    text: str
    by: Sender


class Reordered(Word, tag="reordered"):
    """The queue is in this order now."""

    messages: tuple[MessageId, ...]
    by: Sender


class SteerAsked(Word, tag="steer_asked"):
    """A message that waits shall go into the running turn, if the agent takes it there."""

    message: MessageId
    by: Sender


class SteerBegun(Word, tag="steer_begun"):
    """A message is being put into the running turn over a wire without ids: after a kill nobody could tell."""

    message: MessageId


class SteerDeclined(Word, tag="steer_declined"):
    """The running turn did not take the message; it waits for a turn of its own."""

    message: MessageId
    why: str = ""


class Withdrawn(Word, tag="withdrawn"):
    """A waiting message was taken back."""

    message: MessageId
    by: Sender


class HandedOver(Word, tag="handed_over"):
    """There is proof that the agent's wire took the message."""

    message: MessageId


class Seen(Word, tag="seen"):
    """There is proof that the agent itself read the message."""

    message: MessageId


class Doubted(Word, tag="doubted"):
    """Nobody can tell whether the message arrived; it is not sent again by itself."""

    message: MessageId
    why: str


# --- turns


class TurnStarted(Word, tag="turn_started"):
    """A turn began: with a message, or at the desk when there is none."""

    message: MessageId | None = None
    # What was typed at the desk, where the agent tells it.
    text: str = ""
    # The message of a person that was to join the turn before: the agent took it when that was over.
    joined: MessageId | None = None


class Said(Word, tag="said"):
    """A piece of the agent's answer."""

    text: str


class Thought(Word, tag="thought"):
    """A piece of the agent's thinking."""

    text: str


class ToolStarted(Word, tag="tool_started"):
    """The agent uses a tool."""

    call: str
    tool: str
    title: str
    detail: str = ""


class ToolEnded(Word, tag="tool_ended"):
    """A tool came back."""

    call: str
    ok: bool = True
    output: str = ""


class Showed(Word, tag="showed"):
    """The agent shows a file."""

    file: Attachment


class Used(Word, tag="used"):
    """What the turn has cost so far."""

    usage: Usage


class AskRaised(Word, tag="ask_raised"):
    """The agent waits for a person."""

    ask: AskId
    # The headline: what will run, or the agent's question.
    question: str
    choices: tuple[Choice, ...]
    about: AskKind = AskKind.PERMISSION
    # The whole of what will run.
    detail: str = ""
    # What would be done, where, why in the agent's own words, and the risks of it in ours.
    action: Action | None = None
    where: str = ""
    why: str = ""
    risks: tuple[str, ...] = ()
    # The question and each of the risks by code, where they are the node's own words.
    question_phrase: Phrase | None = None
    risk_phrases: tuple[Phrase, ...] = ()
    digest: str = ""
    deadline_seconds: float | None = None
    # More than one choice may be made: the answer has their ids with commas between them.
    several: bool = False
    # Nobody is asked, for the worker has too many questions open: it is denied at once.
    unasked: bool = False


class AskSettled(Word, tag="ask_settled"):
    """The ask is over; the first answer won."""

    ask: AskId
    how: HowSettled
    choice: str = ""
    note: str = ""
    by: Sender | None = None


class AnswerDelivered(Word, tag="answer_delivered"):
    """The agent has the answer; `problem` says so when it could not be brought to it."""

    ask: AskId
    problem: str = ""


class InterruptAsked(Word, tag="interrupt_asked"):
    """Somebody wants the turn to stop."""

    by: Sender


class Interrupted(Word, tag="interrupted"):
    """The agent was told to stop, or why it could not be."""

    problem: str = ""


class TurnEnded(Word, tag="turn_ended"):
    """The turn is over."""

    how: HowEnded
    error: str = ""
    usage: Usage | None = None
    # What the error means and what to do about it, in the node's own words, where it knows; the same by code.
    advice: str = ""
    advice_phrase: Phrase | None = None
    # It failed, and somebody may want its message to be tried again.
    can_retry: bool = False


class Limited(Word, tag="limited"):
    """The agent's usage limit is reached: it can do nothing before `until`, if anybody knows when that is.

    It comes before the end of the turn that it stopped. What is queued waits until LimitLifted."""

    text: str
    until: float | None = None
    # How many limits came before it without a completed turn; the core counts them.
    again: int = 0


class LimitLifted(Word, tag="limit_lifted"):
    """The limit is taken to be over: its time has come, or somebody wants to try. What is queued goes on."""

    by: Sender | None = None


class Responded(Word, tag="responded"):
    """A worker's own program posted an answer: HTML, or plain text."""

    text: str
    html: bool = True


class Noted(Word, tag="noted"):
    """Something a person should know that is no part of the answer."""

    text: str
    # Who brought it about, where a person did.
    by: Sender | None = None


Fact: TypeAlias = (
    Hired
    | EndAsked
    | Ended
    | Focused
    | RelaunchAsked
    | TuneAsked
    | Tuned
    | CameOnline
    | WentOffline
    | SessionKnown
    | Queued
    | Reworded
    | Reordered
    | SteerAsked
    | SteerBegun
    | SteerDeclined
    | Withdrawn
    | HandedOver
    | Seen
    | Doubted
    | TurnStarted
    | Said
    | Thought
    | ToolStarted
    | ToolEnded
    | Showed
    | Used
    | AskRaised
    | AskSettled
    | AnswerDelivered
    | InterruptAsked
    | Interrupted
    | TurnEnded
    | Limited
    | LimitLifted
    | SprintBegan
    | SprintMoved
    | HaltAsked
    | SprintEnded
    | ReviewAsked
    | ReviewMoved
    | AttentionSet
    | Responded
    | Noted
)


class Draft(Word):
    """A fact about to be written down: whose it is, and of which turn."""

    fact: Fact
    worker: WorkerName
    turn: TurnId | None = None


class Event(Word):
    """A fact that the journal stamped."""

    seq: Seq
    at: float
    worker: WorkerName
    fact: Fact
    turn: TurnId | None = None
