"""Facts folded for the eye: what a surface shows of a turn. Pure."""

from typing import assert_never

from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.words import Attachment, MessageId, TurnId, Usage, Word, WorkerName, replace


class ToolView(Word):
    """One tool call as a person sees it."""

    call: str
    tool: str
    title: str
    started_at: float
    detail: str = ""
    ok: bool | None = None
    output: str = ""


class AskView(Word):
    """One ask as a person sees it, and how it was settled."""

    raised: facts.AskRaised
    settled: facts.AskSettled | None = None
    problem: str = ""


class TurnView(Word):
    """One turn, from its first fact to its last."""

    worker: WorkerName
    turn: TurnId
    started_at: float
    message: MessageId | None = None
    # What was typed at the desk, where the turn began there and the agent tells it.
    typed: str = ""
    seq: int = 0
    text: str = ""
    # A tool was used since the last words.
    after_tool: bool = False
    thought: str = ""
    tools: tuple[ToolView, ...] = ()
    asks: tuple[AskView, ...] = ()
    files: tuple[Attachment, ...] = ()
    notes: tuple[str, ...] = ()
    handed_over: bool = False
    doubted: str = ""
    usage: Usage | None = None
    ended: facts.TurnEnded | None = None
    ended_at: float | None = None

    @property
    def running_tool(self) -> ToolView | None:
        """The tool that the agent waits for, if there is one."""
        return next((tool for tool in reversed(self.tools) if tool.ok is None), None)

    @property
    def open_asks(self) -> tuple[AskView, ...]:
        """The asks that still wait for a person."""
        return tuple(ask for ask in self.asks if ask.settled is None)


def begin(event: Event, fact: facts.TurnStarted) -> TurnView:
    """The view of a turn that has just started."""
    return TurnView(
        worker=event.worker,
        turn=event.turn or "",
        started_at=event.at,
        message=fact.message or fact.joined,
        typed=fact.text,
        seq=event.seq,
    )


def fold(view: TurnView, event: Event) -> TurnView:
    """The view after one more event of its turn."""
    fact = event.fact
    match fact:
        case facts.Said(text=text):
            return replace(view, seq=event.seq, text=_joined(view, text), after_tool=False)
        case facts.Thought(text=text):
            return replace(view, seq=event.seq, thought=view.thought + text)
        case facts.ToolStarted():
            tool = ToolView(call=fact.call, tool=fact.tool, title=fact.title, started_at=event.at, detail=fact.detail)
            return replace(view, seq=event.seq, tools=(*view.tools, tool), after_tool=True)
        case facts.ToolEnded():
            return replace(view, seq=event.seq, tools=tuple(_closed(tool, fact) for tool in view.tools))
        case facts.AskRaised():
            return replace(view, seq=event.seq, asks=(*view.asks, AskView(raised=fact)))
        case facts.AskSettled():
            settled = tuple(replace(a, settled=fact) if a.raised.ask == fact.ask else a for a in view.asks)
            return replace(view, seq=event.seq, asks=settled)
        case facts.AnswerDelivered(problem=problem):
            asks = tuple(replace(a, problem=problem) if a.raised.ask == fact.ask else a for a in view.asks)
            return replace(view, seq=event.seq, asks=asks)
        case facts.Showed(file=file):
            return replace(view, seq=event.seq, files=(*view.files, file))
        case facts.HandedOver() | facts.Seen():
            return replace(view, seq=event.seq, handed_over=True)
        case facts.Doubted(why=why):
            return replace(view, seq=event.seq, doubted=why)
        case facts.Used(usage=usage):
            return replace(view, seq=event.seq, usage=usage)
        case facts.Noted(text=text):
            return replace(view, seq=event.seq, notes=(*view.notes, text))
        case facts.TurnEnded():
            return replace(view, seq=event.seq, ended=fact, ended_at=event.at, usage=fact.usage or view.usage)
        case (
            facts.Hired()
            | facts.EndAsked()
            | facts.Ended()
            | facts.Focused()
            | facts.RelaunchAsked()
            | facts.TuneAsked()
            | facts.Tuned()
            | facts.CameOnline()
            | facts.WentOffline()
            | facts.SessionKnown()
            | facts.Queued()
            | facts.Reworded()
            | facts.Reordered()
            | facts.SteerAsked()
            | facts.SteerBegun()
            | facts.SteerDeclined()
            | facts.Withdrawn()
            | facts.TurnStarted()
            | facts.InterruptAsked()
            | facts.Interrupted()
            | facts.Limited()
            | facts.LimitLifted()
            | facts.SprintBegan()
            | facts.SprintMoved()
            | facts.HaltAsked()
            | facts.SprintEnded()
            | facts.ReviewAsked()
            | facts.ReviewMoved()
            | facts.AttentionSet()
            | facts.Responded()
        ):
            return view
        case _:
            assert_never(fact)


def _joined(view: TurnView, text: str) -> str:
    """What was said before and after a tool are two paragraphs, whether or not the agent parts them."""
    apart = view.after_tool and view.text.strip() and not view.text[-1].isspace() and not text[:1].isspace()
    return f"{view.text}\n\n{text}" if apart else view.text + text


def _closed(tool: ToolView, fact: facts.ToolEnded) -> ToolView:
    return replace(tool, ok=fact.ok, output=fact.output) if tool.call == fact.call else tool
