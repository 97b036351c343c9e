"""Translates the lines of `codex exec --json` into lines of the line protocol. Pure: no clock, no files."""

from __future__ import annotations

from typing import Final

from farhand.drivers.codex.exec.state import CodexExecState
from farhand.drivers.codex.limits import readable
from farhand.drivers.codex.schema import Item, read_item
from farhand.drivers.wires.foreign_json import Fields, JsonObject, parse
from farhand.model.words import Usage, replace

ITEMS: Final = frozenset("item.started item.updated item.completed".split())


def translate_event(line: bytes, state: CodexExecState) -> tuple[list[JsonObject], CodexExecState]:
    """The lines that one line of the output means."""
    record = parse(line)
    if record is None:
        return [], replace(state, skipped=state.skipped + 1)
    match record.text("type"):
        case "thread.started":
            session = record.text("thread_id")
            return ([{"session": session}] if session else []), replace(state, session=session or state.session)
        case "turn.started":
            return [{"started": state.turn}], state
        case "turn.completed":
            return _completed(record.fields("usage"), state)
        case "turn.failed":
            why = readable(record.fields("error").text("message")) or "Codex ended the turn with an error."
            return [{"ended": state.turn, "how": "failed", "error": why}], replace(state, ended=True)
        case "error":
            return [], replace(state, problem=readable(record.text("message")))
        case kind if kind in ITEMS:
            return _item(read_item(record.fields("item")), state, done=kind == "item.completed")
        case _:
            return [], replace(state, skipped=state.skipped + 1)


def _item(item: Item, state: CodexExecState, *, done: bool) -> tuple[list[JsonObject], CodexExecState]:
    match item.kind:
        case "":
            return [], replace(state, skipped=state.skipped + 1)
        case "said":
            gap = "\n\n" if state.spoke else ""
            said: list[JsonObject] = [{"text": state.turn, "piece": gap + item.text}] if done and item.text else []
            return said, replace(state, spoke=state.spoke or bool(said))
        case "thought":
            return ([{"thought": state.turn, "piece": item.text}] if done and item.text else []), state
        case "user" | "warning" | "silent" | "todo" | "plan" | "compaction":
            return [], state
        case _:
            return _tool(item, state, done=done)


def _tool(item: Item, state: CodexExecState, *, done: bool) -> tuple[list[JsonObject], CodexExecState]:
    call = {"tool": state.turn, "call": item.id}
    begun: JsonObject = {**call, "name": item.tool, "title": item.title, "status": "started", "output": item.detail}
    lines = [] if item.id in state.tools else [begun]
    tools = (*(one for one in state.tools if one != item.id), item.id)
    if done:
        lines.append({**call, "status": "done" if item.ok else "failed", "output": item.output})
    return lines, replace(state, tools=tools)


def _completed(usage: Fields, state: CodexExecState) -> tuple[list[JsonObject], CodexExecState]:
    """The end; the usage that Codex reports is the sum of the thread."""
    total = Usage(input_tokens=usage.whole("input_tokens"), output_tokens=usage.whole("output_tokens"))
    lines: list[JsonObject] = []
    if state.total is not None:
        read, written = (
            total.input_tokens - state.total.input_tokens,
            total.output_tokens - state.total.output_tokens,
        )
        lines = [{"usage": state.turn, "input": max(0, read), "output": max(0, written)}]
    return [*lines, {"ended": state.turn, "how": "completed"}], replace(state, ended=True, total=total)
