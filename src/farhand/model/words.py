"""The small words that facts and commands are made of: frozen, typed, and the same on the wire as in memory."""

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar, dataclass_transform

import msgspec

if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True, kw_only_default=True)
    class _Frozen(type):
        def __new__(cls, name: str, bases: tuple[type, ...], fields: dict[str, Any], *, tag: str = "") -> "_Frozen": ...

    class Word(metaclass=_Frozen):
        """Anything that is written down or sent: immutable, and compared by what it says."""

else:

    class _Frozen(msgspec.StructMeta):
        def __new__(cls, name, bases, fields, **options):
            return super().__new__(cls, name, bases, fields, frozen=True, kw_only=True, omit_defaults=True, **options)

    class Word(msgspec.Struct, metaclass=_Frozen):
        """Anything that is written down or sent: immutable, and compared by what it says."""


WorkerName: TypeAlias = str
CommandId: TypeAlias = str
MessageId: TypeAlias = str
TurnId: TypeAlias = str
AskId: TypeAlias = str
Seq: TypeAlias = int
AnyWord = TypeVar("AnyWord", bound=Word)


class Replace(Protocol):
    """A copy of the word with some fields changed."""

    def __call__(self, word: AnyWord, /, **changes: Any) -> AnyWord: ...


# Every fact that is folded passes here: msgspec's own, without a function around it.
replace: Final[Replace] = msgspec.structs.replace  # type: ignore[assignment]


class Receipt(StrEnum):
    """How far a message got. It never claims more than was proven."""

    QUEUED = "queued"
    STARTED = "started"
    HANDED_OVER = "handed over"
    SEEN = "seen"
    ANSWERED = "answered"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    UNKNOWN = "unknown"


class AskKind(StrEnum):
    """What an ask is about, which decides how a surface words it."""

    PERMISSION = "permission"
    CHOICE = "choice"
    PLAN = "plan"
    # Whether an agent may be started in a folder that configures it.
    FOLDER = "folder"


class HowSettled(StrEnum):
    """Who or what put an end to an ask."""

    ANSWERED = "answered"
    DESK = "desk"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class HowEnded(StrEnum):
    """How a turn came to its end."""

    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    LOST = "lost"
    # A usage limit stopped it: its message waits again, before all others.
    PARKED = "parked"


class Mode(StrEnum):
    """What a worker may do without asking."""

    DEFAULT = "default"
    AUTO_EDIT = "auto_edit"
    PLAN = "plan"
    YOLO = "yolo"

    @property
    def meaning(self) -> str:
        """The same for a person."""
        return {
            Mode.DEFAULT: "asks before it acts",
            Mode.AUTO_EDIT: "edits unasked, asks for the rest",
            Mode.PLAN: "plans and changes nothing",
            Mode.YOLO: "does everything unasked",
        }[self]


# In which the app and its notifications speak.
LANGUAGES = ("en", "de", "fr", "es", "zh")


class Phrase(Word):
    """A sentence of the node by its code and what stands in it: a surface may say it in another language."""

    code: str
    values: dict[str, str] = {}


class Choice(Word):
    """One answer that an ask offers: what is sent back, and what the button says."""

    id: str
    label: str
    allows: bool = True
    # It takes words: a refusal may have them along, any other choice is made by them.
    words: bool = False
    # All that it allows beyond this one time, and until when; shown whole beside the button.
    scope: str = ""
    # The mode that the agent works in afterwards; None where it stays in its own.
    mode: Mode | None = None
    # Label and scope by code, where they are the node's own words.
    label_phrase: Phrase | None = None
    scope_phrase: Phrase | None = None


class Attachment(Word):
    """A file that travels with a message, by its path on the node's machine."""

    path: str
    name: str = ""
    media_type: str = ""
    caption: str = ""


class UsageWindow(Word):
    """How much of what an account may use in a span of time is used, in percent, and when the span begins anew."""

    # Its span, as people say it: `5h`, `7d`; or the agent's own name for it.
    name: str
    used_percent: float
    resets_at: float | None = None


class Usage(Word):
    """What a turn cost, as far as the agent tells."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_dollars: float | None = None
    # How many tokens the conversation had in the last call of the model, and how many it may have; 0 where nobody says.
    context_tokens: int = 0
    context_window: int = 0
    # Of the account that it runs on; empty where nobody says.
    windows: tuple[UsageWindow, ...] = ()


NOTHING_USED = Usage()


class Spent(Word):
    """What a worker has used since its hiring: all turns before, and the last one that told of itself."""

    before: Usage = NOTHING_USED
    turn: TurnId = ""
    of_turn: Usage = NOTHING_USED

    @property
    def total(self) -> Usage:
        """All of it."""
        return _sum(self.before, self.of_turn)


# One object for all who have used nothing: what is left out on the wire is told by identity, so that another one, equal
# to it, would be written down.
NOTHING_SPENT = Spent()


def spend(spent: Spent, turn: TurnId, usage: Usage) -> Spent:
    """What was used, once a turn has told what it used so far; it may tell several times."""
    before = spent.before if turn == spent.turn else spent.total
    return Spent(before=before, turn=turn, of_turn=usage)


def _sum(one: Usage, other: Usage) -> Usage:
    costs = [cost for cost in (one.cost_dollars, other.cost_dollars) if cost is not None]
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost_dollars=sum(costs) if costs else None,
        # The later one knows how full the conversation and the windows are now.
        context_tokens=other.context_tokens or one.context_tokens,
        context_window=other.context_window or one.context_window,
        windows=other.windows or one.windows,
    )


class Sender(Word):
    """Who speaks, and over which channel. Whoever takes it in stamps it; a sender cannot choose it."""

    via: str
    who: str = ""
