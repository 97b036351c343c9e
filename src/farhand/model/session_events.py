"""The event names of session adapters (`new-messages`, `streaming-text`, …) for clients that ask for them. Pure.

Facts are what is written down; this is how a client that knows such names gets them on the same wire."""

from typing import Any, Literal, TypeAlias

from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.history import TurnEntry
from farhand.model.provenance import shown_text
from farhand.model.view import TurnView
from farhand.model.words import HowEnded, Seq, Usage, Word, WorkerName

SessionEventName: TypeAlias = Literal[
    "new-messages",
    "streaming-text",
    "thinking",
    "tool-start",
    "tool-done",
    "status-update",
    "session-idle",
    "session-rekeyed",
    "session-error",
]
Data: TypeAlias = dict[str, Any]
Named: TypeAlias = tuple[SessionEventName, Data]


class NamedSessionEvent(Word):
    """One event under its adapter's name; several may come of one fact, and then have its number."""

    name: SessionEventName
    seq: Seq
    at: float
    worker: WorkerName
    data: Data


class SessionFrame(Word):
    """What came of the events up to `seq`, which a client resumes after; at times nothing."""

    seq: Seq
    session_events: tuple[NamedSessionEvent, ...] = ()


def session_events(event: Event, ended: TurnEntry | None = None) -> tuple[NamedSessionEvent, ...]:
    """What the event is called; `ended` is the turn that it ends, where that is known."""
    return tuple(
        NamedSessionEvent(name=name, seq=event.seq, at=event.at, worker=event.worker, data=data)
        for name, data in _named(event, ended)
    )


def _named(event: Event, ended: TurnEntry | None) -> list[Named]:
    match event.fact:
        case facts.Queued(message=message, text=text, by=by):
            content = [{"type": "text", "text": shown_text(text, by)}]
            return [("new-messages", {"messages": [{"id": message, "role": "user", "content": content}]})]
        case facts.Said(text=text):
            return [("streaming-text", {"text": text, "turn": event.turn})]
        case facts.Thought(text=text):
            return [("thinking", {"thoughts": [text], "turn": event.turn})]
        case facts.ToolStarted(call=call, tool=tool, title=title, detail=detail):
            return [("tool-start", {"id": call, "name": tool, "title": title, "input": detail})]
        case facts.ToolEnded(call=call, ok=ok, output=output):
            return [("tool-done", {"id": call, "ok": ok, "output": output})]
        case facts.TurnEnded():
            return _of_end(event, event.fact, ended)
        case facts.Used(usage=usage):
            return [("status-update", _tokens(usage))]
        case facts.SessionKnown(session=session):
            return [("session-rekeyed", {"session": session})]
        case facts.Limited(text=text):
            return [("session-error", {"error": text})]
        case _:
            return _of_state(event)


def _of_state(event: Event) -> list[Named]:
    match event.fact:
        case facts.TurnStarted():
            return [("status-update", {"state": "working", "turn": event.turn})]
        case facts.AskRaised(ask=ask, question=question):
            return [("status-update", {"state": "waiting", "ask": ask, "question": question})]
        case facts.Tuned(model=model, mode=mode, effort=effort, refused=""):
            return [("status-update", {"model": model, "mode": mode, "effort": effort})]
        case facts.CameOnline(session=session):
            return [("status-update", {"state": "online", "session": session})]
        case facts.WentOffline(why=why, asked=asked):
            offline: Named = ("status-update", {"state": "offline"})
            return [offline] if asked else [offline, ("session-error", {"error": why})]
        case _:
            return []


def _of_end(event: Event, fact: facts.TurnEnded, ended: TurnEntry | None) -> list[Named]:
    """The whole message in place of its pieces, what it used, what went wrong, and that the session is idle."""
    named: list[Named] = []
    if ended is not None:
        message = {"id": event.turn, "role": "assistant", "content": _content(ended.view)}
        named.append(("new-messages", {"messages": [message]}))
    if fact.usage is not None:
        named.append(("status-update", _tokens(fact.usage)))
    if fact.error and fact.how in (HowEnded.FAILED, HowEnded.LOST):
        named.append(("session-error", {"error": fact.error}))
    return [*named, ("session-idle", {"turn": event.turn, "how": fact.how})]


def _content(view: TurnView) -> list[Data]:
    blocks: list[Data] = [{"type": "thinking", "thinking": view.thought}] if view.thought else []
    for tool in view.tools:
        blocks.append({"type": "tool_use", "id": tool.call, "name": tool.tool, "input": tool.detail or tool.title})
        result = {"type": "tool_result", "tool_use_id": tool.call, "content": tool.output, "is_error": tool.ok is False}
        blocks.append(result)
    return [*blocks, {"type": "text", "text": view.text}] if view.text else blocks


def _tokens(usage: Usage) -> Data:
    tokens = {"input": usage.input_tokens, "output": usage.output_tokens}
    return {"tokens": tokens} if usage.cost_dollars is None else {"tokens": tokens, "cost_dollars": usage.cost_dollars}
