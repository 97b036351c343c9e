"""What someone wants, in the imperative: the closed union that the hub takes, and what it answers."""

import hashlib
from functools import cache
from typing import TypeAlias, cast

import msgspec

from farhand.model.attention import AttentionSettings
from farhand.model.review import ReviewScope
from farhand.model.sprint import SprintLimits
from farhand.model.words import AskId, Attachment, CommandId, MessageId, Mode, Seq, TurnId, Word, WorkerName, replace


class Hire(Word, tag="hire"):
    """Take a worker on; an empty directory means the node's own, and no mode the one that the node is set to.

    Without a name the worker is called after its folder.
    Without a backend, the name may begin with one (`<backend>-ann`); else it is the one that the node is set to.
    `options["wire"]` chooses how its agent is reached: `tmux`, `headless`, or what else its backend has.
    """

    id: CommandId
    worker: WorkerName
    backend: str = ""
    directory: str = ""
    model: str = ""
    mode: Mode | None = None
    # How hard it thinks, in its agent's words; as the agent is set without.
    effort: str = ""
    options: dict[str, str] = {}
    focus: bool = True
    # Take up this conversation of the agent, by its id or the beginning of it; where it is decides the directory.
    # `anyway`: although somebody has it open at the desk.
    session: str = ""
    anyway: bool = False


class End(Word, tag="end"):
    """Let a worker go, and its agent with it; `hand_back` says how to go on with its conversation at the desk."""

    id: CommandId
    worker: WorkerName
    hand_back: bool = False


class Focus(Word, tag="focus"):
    """Send what is said without a name to this worker."""

    id: CommandId
    worker: WorkerName


class Say(Word, tag="say"):
    """Give a worker a message; without a name, the focused one.

    One that is offline takes none, unless it is to wait `anyway` until the agent is back."""

    id: CommandId
    text: str
    worker: WorkerName = ""
    attachments: tuple[Attachment, ...] = ()
    steer: bool = False
    anyway: bool = False


class Reword(Word, tag="reword"):
    """Change a message that still waits."""

    id: CommandId
    message: MessageId
    text: str


class Steer(Word, tag="steer"):
    """Put a message that still waits into the running turn, where the agent can."""

    id: CommandId
    message: MessageId


class Withdraw(Word, tag="withdraw"):
    """Take back a message that still waits."""

    id: CommandId
    message: MessageId


class Reorder(Word, tag="reorder"):
    """Put messages of one worker that still wait into this order; those that are not named keep their places."""

    id: CommandId
    messages: tuple[MessageId, ...]


class Answer(Word, tag="answer"):
    """Settle an ask with one of its choices, or several with commas between them where it takes several, and advice."""

    id: CommandId
    ask: AskId
    choice: str
    note: str = ""


class Interrupt(Word, tag="interrupt"):
    """Stop the running turn; overtakes what is queued."""

    id: CommandId
    worker: WorkerName = ""
    # Take back what waits, too: else that comes next. Where no turn runs, it is taken back anyway.
    withdraw: bool = False


class Relaunch(Word, tag="relaunch"):
    """Restart a worker's agent and keep its session."""

    id: CommandId
    worker: WorkerName = ""


class Retry(Word, tag="retry"):
    """Say again what failed: the message of that turn; without one, of the worker's last turn.

    While a usage limit holds the worker up, a retry without a turn goes on with what waits."""

    id: CommandId
    worker: WorkerName = ""
    turn: TurnId = ""


class Tune(Word, tag="tune"):
    """Change a worker's model, mode or effort."""

    id: CommandId
    worker: WorkerName = ""
    model: str | None = None
    mode: Mode | None = None
    effort: str | None = None


class Sprint(Word, tag="sprint"):
    """Let a worker do tasks one after the other by itself; without tasks, those of its own plan.

    `verifier` is a shell command that must succeed in the worker's folder before a task is done: what it prints when it
    fails is the next prompt."""

    id: CommandId
    worker: WorkerName = ""
    tasks: tuple[str, ...] = ()
    verifier: str = ""
    commits: bool = True
    limits: SprintLimits = SprintLimits()
    # Who must approve of a task before it is done: backends or workers; the task is not done without.
    review: tuple[str, ...] = ()
    # A list in the worker's folder whose open items are tasks, too.
    file: str = ""


class AddTasks(Word, tag="add_tasks"):
    """Add tasks to a sprint that runs."""

    id: CommandId
    tasks: tuple[str, ...]
    worker: WorkerName = ""


class SkipTask(Word, tag="skip_task"):
    """Go on with the next task of a sprint."""

    id: CommandId
    worker: WorkerName = ""


class Halt(Word, tag="halt"):
    """End a sprint after the turn that runs, or `now`."""

    id: CommandId
    worker: WorkerName = ""
    now: bool = False


class Review(Word, tag="review"):
    """Have a worker's work judged by others: backends, or workers whose agents are started anew for it; without any, by
    another backend than the worker's own. `again` judges anew what an earlier review was about."""

    id: CommandId
    worker: WorkerName = ""
    scope: ReviewScope = ReviewScope.TREE
    by: tuple[str, ...] = ()
    # A turn; without one, the last. Commits; without a base, the one commit, and without a head the last one.
    turn: str = ""
    base: str = ""
    head: str = ""
    note: str = ""
    again: str = ""


class SendFindings(Word, tag="send_findings"):
    """Send findings of a review back to the worker, as one message; without any named, all of them."""

    id: CommandId
    review: str
    worker: WorkerName = ""
    findings: tuple[str, ...] = ()
    note: str = ""


class CancelReview(Word, tag="cancel_review"):
    """End a review that runs, and its reviewers with it."""

    id: CommandId
    review: str
    worker: WorkerName = ""


class SetAttention(Word, tag="set_attention"):
    """Say anew what may buzz, when, and how much of it is shown."""

    id: CommandId
    settings: AttentionSettings


class Respond(Word, tag="respond"):
    """Pass on what a worker's own program posted as an answer: HTML, or plain text."""

    id: CommandId
    worker: WorkerName
    text: str
    html: bool = True


Command: TypeAlias = (
    Hire
    | End
    | Focus
    | Say
    | Reword
    | Steer
    | Withdraw
    | Reorder
    | Answer
    | Interrupt
    | Relaunch
    | Retry
    | Tune
    | Sprint
    | AddTasks
    | SkipTask
    | Halt
    | Review
    | SendFindings
    | CancelReview
    | SetAttention
    | Respond
)


def fingerprint(command: Command) -> str:
    """What a command asks for, whatever it is called and whoever it goes to: by it a repeat is told from another
    command with the same id. Files that came with it may have other names when they are fetched again."""
    plain: Command = replace(command, id="")
    if _may_name_nobody(type(command)):
        # Without a name it is the focused worker's, and who that is may have changed.
        plain = replace(plain, worker="")
    if isinstance(plain, Say):
        plain = replace(plain, text="" if plain.attachments else plain.text, attachments=())
    return hashlib.blake2b(msgspec.json.encode(plain), digest_size=16).hexdigest()


def names_nobody(command: Command) -> bool:
    """Whether the command is for whichever worker is focused."""
    return _may_name_nobody(type(command)) and msgspec.structs.asdict(cast("msgspec.Struct", command))["worker"] == ""


@cache
def _may_name_nobody(kind: type[Command]) -> bool:
    fields = msgspec.structs.fields(cast("type[msgspec.Struct]", kind))
    return any(one.name == "worker" and one.default == "" for one in fields)


class Accepted(Word):
    """The command is written down; `again` says that it had been before and did nothing more."""

    id: CommandId
    seq: Seq
    worker: WorkerName = ""
    # What a Say is called from now on, in receipts, queues and turns.
    message: MessageId = ""
    again: bool = False
