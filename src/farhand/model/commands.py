"""What someone wants, in the imperative: the closed union that the hub takes, and what it answers."""

import hashlib
from typing import TypeAlias

import msgspec

from farhand.model.sprint import SprintLimits
from farhand.model.words import AskId, Attachment, CommandId, MessageId, Mode, Seq, Word, WorkerName, replace


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


class Relaunch(Word, tag="relaunch"):
    """Restart a worker's agent and keep its session."""

    id: CommandId
    worker: WorkerName = ""


class Retry(Word, tag="retry"):
    """Go on with what waits although the worker's usage limit may still hold."""

    id: CommandId
    worker: WorkerName = ""


class Tune(Word, tag="tune"):
    """Change a worker's model or mode."""

    id: CommandId
    worker: WorkerName = ""
    model: str | None = None
    mode: Mode | None = None


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
    | Respond
)


def fingerprint(command: Command) -> str:
    """What a command asks for, whatever it is called and whoever it goes to: by it a repeat is told from another
    command with the same id. Files that came with it may have other names when they are fetched again."""
    match command:
        case Say():
            plain: Command = replace(command, id="", worker="", text="" if command.attachments else command.text)
            plain = replace(plain, attachments=())
        case Interrupt() | Relaunch() | Retry() | Tune() | Sprint() | AddTasks() | SkipTask() | Halt():
            # Without a name it is the focused worker's, and who that is may have changed.
            plain = replace(command, id="", worker="")
        case _:
            plain = replace(command, id="")
    return hashlib.blake2b(msgspec.json.encode(plain), digest_size=16).hexdigest()


class Accepted(Word):
    """The command is written down; `again` says that it had been before and did nothing more."""

    id: CommandId
    seq: Seq
    worker: WorkerName = ""
    # What a Say is called from now on, in receipts, queues and turns.
    message: MessageId = ""
    again: bool = False
