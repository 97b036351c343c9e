"""The one tree of errors: a sentence for a person, a code and fields for a program.

FarhandError
├── Refused                     nothing was changed; the sender is told
│   ├── BadInput                BadName, BadFrame, TooLarge, NoFolder
│   ├── Unknown…                Worker, Backend, Ask, Message, Session, Device, Passkey, Upload
│   ├── NameTaken, IdTaken, SessionTaken, NoFocus, NothingRunning, AskGone, MessageGone, Leaving, Offline, CannotDo,
│   │                           NotAllowed, NotReady, NotInFolder, NoRepository, TooBusy, UploadConflict
├── StoreError                  StoreCorrupt, StoreLocked, StoreNewer, StoreFull
├── DriverError                 AgentMissing, AgentNotStarted, AgentEnded, AgentGone, GitFailed
├── ChannelError                NotTranscribed
└── NodeError                   NodeRunning, NodeNotRunning, PortTaken, BadUsage, SettingMissing, SettingWrong,
                                NodeUnreachable, ProgramMissing, ReachFailed
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from farhand.model.phrases import said
from farhand.model.words import Phrase


class FarhandError(Exception):
    """A sentence for a person; `code` and `details` for a program."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, text: str | Phrase, **details: Any) -> None:
        self.phrase = text if isinstance(text, Phrase) else None
        self.text = text if isinstance(text, str) else said(text)
        super().__init__(self.text)
        self.details = details


class Refused(FarhandError):
    """The sender asked for something that cannot be; nothing was changed."""

    code = "refused"


class BadInput(Refused):
    """What was sent does not have the form it must have."""

    code = "bad_input"
    exit_code = 2


class BadName(BadInput):
    """A worker or node cannot be called that."""

    code = "bad_name"


class BadFrame(BadInput):
    """What came over the socket is no frame."""

    code = "bad_frame"


class TooLarge(BadInput):
    """What was sent is larger than is taken."""

    code = "too_large"

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what} is too large; {limit:,} bytes is the limit.", limit=limit)


class NoFolder(BadInput):
    """Nobody can work in that folder: it is not there."""

    code = "no_folder"

    def __init__(self, folder: str) -> None:
        super().__init__(f"There is no folder {folder}. Make it, or name another.", folder=folder)


class IdTaken(Refused):
    """The id of a command was used for another one before."""

    code = "id_taken"

    def __init__(self, command: str) -> None:
        super().__init__("That id was used for another command before: nothing was done.", id=command)


class WrongCode(BadInput):
    """The code that a device was to be paired with is wrong, used or too old."""

    code = "wrong_code"

    def __init__(self) -> None:
        super().__init__("That code is wrong, used or older than two minutes. Ask for a new one: farhand pair.")


class TooManyTries(BadInput):
    """Too many wrong codes came in a minute."""

    code = "too_many_tries"

    def __init__(self) -> None:
        super().__init__("Too many wrong codes. Wait a minute.")


class UnknownPasskey(Refused):
    """No passkey has that id."""

    code = "unknown_passkey"

    def __init__(self, passkey: str) -> None:
        super().__init__("There is no such passkey.", passkey=passkey[:100])


class UnknownDevice(Refused):
    """No device has that id."""

    code = "unknown_device"

    def __init__(self, device: str) -> None:
        super().__init__(f"No device is called '{device}'. farhand devices lists them.", device=device)


class EventsGone(Refused):
    """The events after that number cannot all be given: some are no longer kept, or the number was never reached."""

    code = "events_gone"

    def __init__(self, after: int, first: int, last: int) -> None:
        why = f"the journal ends at {last}" if after > last else f"the oldest that is kept is {first}"
        super().__init__(f"What followed event {after} is not there: {why}.", after=after, first=first, last=last)


class UnknownWorker(Refused):
    """Nobody on the team has that name."""

    code = "unknown_worker"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        team = f"The team: {', '.join(names)}." if names else "The team is empty; hire somebody first."
        super().__init__(f"No worker called '{name}'. {team}", name=name, known=names)


class UnknownBackend(Refused):
    """No driver runs that kind of agent."""

    code = "unknown_backend"
    exit_code = 2

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        super().__init__(f"No backend called '{name}'. Known: {', '.join(names)}.", name=name, known=names)


class UnknownAsk(Refused):
    """There never was such an ask, or it is forgotten."""

    code = "unknown_ask"

    def __init__(self, ask: str) -> None:
        super().__init__(f"No question with the id '{ask}' is known.", ask=ask)


class UnknownMessage(Refused):
    """There is no such message in any queue."""

    code = "unknown_message"

    def __init__(self, message: str) -> None:
        super().__init__(f"No waiting message has the id '{message}'.", message=message)


class NameTaken(Refused):
    """Somebody on the team has that name already."""

    code = "name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is a worker called '{name}' already. Choose another name, or end that one first.", name=name
        )


class UnknownSession(Refused):
    """No conversation of that agent has that id, or more than one begins so."""

    code = "unknown_session"


class SessionTaken(Refused):
    """Somebody has that conversation already: a worker, or a person at the desk."""

    code = "session_taken"


class NoFocus(Refused):
    """Nobody was named and nobody is focused."""

    code = "no_focus"

    def __init__(self, known: Iterable[str]) -> None:
        names = sorted(known)
        hint = f"Name one of: {', '.join(names)}." if names else "The team is empty; hire somebody first."
        super().__init__(f"Nobody is focused. {hint}", known=names)


class NothingRunning(Refused):
    """There is no turn to stop."""

    code = "nothing_running"

    def __init__(self, worker: str) -> None:
        super().__init__(f"{worker} has no turn running.", worker=worker)


class AskGone(Refused):
    """The ask was settled before this answer came."""

    code = "ask_gone"

    def __init__(self, ask: str, how: str, choice: str, via: str) -> None:
        by = f" over {via}" if via else ""
        was = (
            f"answered '{choice}'{by}"
            if how == "answered"
            else {"desk": "answered at the desk", "expired": "closed at its deadline"}.get(how, how)
        )
        super().__init__(f"Too late: that question was already {was}.", ask=ask, how=how, choice=choice, via=via)


class MessageGone(Refused):
    """The message waits no more."""

    code = "message_gone"

    def __init__(self, message: str) -> None:
        super().__init__("That message waits no more: it was handed over already.", message=message)


class Leaving(Refused):
    """The worker is being ended."""

    code = "leaving"

    def __init__(self, worker: str) -> None:
        super().__init__(f"{worker} is leaving the team.", worker=worker)


class Offline(Refused):
    """The worker's agent is gone, and nobody has relaunched it."""

    code = "offline"

    def __init__(self, worker: str, why: str) -> None:
        super().__init__(f"{worker} is offline ({why.rstrip('.')}). Relaunch it first.", worker=worker, why=why)


class CannotDo(Refused):
    """This backend has no such ability."""

    code = "cannot_do"


class NotReady(Refused):
    """A conversation is not on its screen yet, or not any more: nothing can be said in it."""

    code = "not_ready"


class TooBusy(Refused):
    """There is no room for it now; it may come again."""

    code = "too_busy"


class NotAllowed(Refused):
    """The caller may not do this."""

    code = "not_allowed"


class NotInFolder(Refused):
    """There is no such thing in the worker's folder that may be shown."""

    code = "not_in_folder"


class NoRepository(Refused):
    """The worker's folder belongs to no git repository that can be read."""

    code = "no_repository"


class UploadConflict(Refused):
    """The upload stands elsewhere than the sender believes, or its id was used for another file."""

    code = "upload_conflict"


class UnknownUpload(Refused):
    """There is no such upload of this device, or it is forgotten."""

    code = "unknown_upload"

    def __init__(self, upload: str) -> None:
        super().__init__("No upload has that id; begin it again.", upload=upload[:80])


class StoreError(FarhandError):
    """The node's store cannot be used as it is."""

    code = "store"


class StoreCorrupt(StoreError):
    """The file is damaged; it is left untouched."""

    code = "store_corrupt"


class StoreLocked(StoreError):
    """Another program holds the file."""

    code = "store_locked"


class StoreNewer(StoreError):
    """A newer farhand wrote the file."""

    code = "store_newer"


class StoreFull(StoreError):
    """The disk is full; nothing was half written."""

    code = "store_full"


class DriverError(FarhandError):
    """The agent cannot be run or reached."""

    code = "driver"


class AgentMissing(DriverError):
    """The agent's program is not on this machine."""

    code = "agent_missing"
    exit_code = 4


class AgentNotStarted(DriverError):
    """The agent's program runs, and does not get as far as taking messages."""

    code = "agent_not_started"


class AgentEnded(DriverError):
    """A person ended the agent at the desk: it stays ended until a person wants it back."""

    code = "agent_ended"


class AgentGone(DriverError):
    """The agent's process is no more."""

    code = "agent_gone"


class GitFailed(DriverError):
    """Git could not do what it was asked for."""

    code = "git_failed"


class ChannelError(FarhandError):
    """A channel cannot reach its surface."""

    code = "channel"


class NotTranscribed(ChannelError):
    """A recording could not be turned into text."""

    code = "not_transcribed"


class NodeError(FarhandError):
    """The node cannot start, or cannot be found."""

    code = "node"


class NodeRunning(NodeError):
    """This node runs already."""

    code = "node_running"


class NodeNotRunning(NodeError):
    """No such node runs."""

    code = "node_not_running"


class NodeUnreachable(NodeError):
    """The node was there and does not answer."""

    code = "node_unreachable"


class PortTaken(NodeError):
    """Nobody can listen there: another program does, this user may not, or it is no address of this machine."""

    code = "port_taken"


class SettingMissing(NodeError):
    """Something must be configured first."""

    code = "setting_missing"
    exit_code = 3


class BadUsage(NodeError):
    """The command line cannot be understood."""

    code = "bad_usage"
    exit_code = 2


class SettingWrong(NodeError):
    """A setting has a value that cannot be."""

    code = "setting_wrong"
    exit_code = 2


class ProgramMissing(NodeError):
    """A program that is needed is not on this machine."""

    code = "program_missing"
    exit_code = 4


class ReachFailed(NodeError):
    """A way to the node from outside could not be opened."""

    code = "reach_failed"
