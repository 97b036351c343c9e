"""Translates the Gemini CLI's own output lines (`-o stream-json`) into lines of the line protocol. Pure."""

from __future__ import annotations

from farhand.drivers.gemini.exec.state import GeminiStreamState
from farhand.drivers.gemini.titles import detail, title
from farhand.drivers.wires.foreign_json import Fields, JsonObject, parse
from farhand.model.words import replace

LONGEST_OUTPUT = 4000
EXITS = {
    41: "Gemini CLI is not signed in: set GEMINI_API_KEY, or sign in at the desk with `gemini`.",
    42: "Gemini CLI did not understand what it was given, or does not know that session.",
    44: "Gemini CLI's sandbox failed.",
    52: "Gemini CLI's settings are wrong.",
    53: "The turn reached the limit of model calls in Gemini CLI's settings.",
    54: "A tool of Gemini CLI failed.",
    55: "Gemini CLI does not trust this folder.",
    130: "Gemini CLI was cancelled.",
    144: "The model's API refused the request (400).",
    173: "The usage limit of the model's API is reached (429).",
}


def translate_stream(line: bytes, state: GeminiStreamState) -> tuple[list[JsonObject], GeminiStreamState]:
    """The lines that one line of the output means."""
    record = parse(line)
    if record is None:
        return [], replace(state, skipped=state.skipped + 1)
    match record.text("type"):
        case "init":
            return _begun(record, state)
        case "message":
            return _message(record, state)
        case "tool_use":
            return [_tool_used(record, state)], replace(state, broken=state.spoke)
        case "tool_result":
            return [_tool_result(record, state)], replace(state, broken=state.spoke)
        case "error":
            return _error(record, state)
        case "result":
            return _result(record, state)
        case _:
            return [], replace(state, skipped=state.skipped + 1)


def _begun(record: Fields, state: GeminiStreamState) -> tuple[list[JsonObject], GeminiStreamState]:
    session = record.text("session_id")
    known: list[JsonObject] = [{"session": session}] if session and session != state.session else []
    return [{"started": state.turn}, *known], replace(state, session=session or state.session)


def _message(record: Fields, state: GeminiStreamState) -> tuple[list[JsonObject], GeminiStreamState]:
    text = record.text("content")
    if record.text("role") != "assistant" or not text:
        return [], state
    gap = "\n\n" if state.broken else ""
    return [{"text": state.turn, "piece": gap + text}], replace(state, spoke=True, broken=False)


def _tool_used(record: Fields, state: GeminiStreamState) -> JsonObject:
    name, arguments = record.text("tool_name"), record.fields("parameters")
    call = {"tool": state.turn, "call": record.text("tool_id"), "name": name, "status": "started"}
    return {**call, "title": title(name, arguments), "output": detail(name, arguments)[:LONGEST_OUTPUT]}


def _tool_result(record: Fields, state: GeminiStreamState) -> JsonObject:
    output = record.text("output") or record.fields("error").text("message")
    status = "done" if record.text("status") == "success" else "failed"
    return {"tool": state.turn, "call": record.text("tool_id"), "status": status, "output": output[:LONGEST_OUTPUT]}


def _error(record: Fields, state: GeminiStreamState) -> tuple[list[JsonObject], GeminiStreamState]:
    text = record.text("message")
    if record.text("severity") == "warning":
        return [{"problem": state.turn, "text": text}] if text else [], state
    return [], replace(state, errors=(*state.errors, text)[-5:] if text else state.errors)


def _result(record: Fields, state: GeminiStreamState) -> tuple[list[JsonObject], GeminiStreamState]:
    stats = record.fields("stats")
    used = {"usage": state.turn, "input": stats.whole("input_tokens"), "output": stats.whole("output_tokens")}
    lines: list[JsonObject] = [used] if used["input"] or used["output"] else []
    if record.text("status") == "success" and not state.errors:
        return [*lines, {"ended": state.turn, "how": "completed"}], replace(state, ended=True)
    error = record.fields("error").text("message") or " ".join(state.errors) or "Gemini CLI failed."
    return [*lines, {"ended": state.turn, "how": "failed", "error": error}], replace(state, ended=True)


def exit_sentence(code: int | None, errors: str) -> str:
    """Why a process ended without a result: its code, and its own words on stderr."""
    said = _reported(errors)
    how = EXITS.get(code or 0) or ("Gemini CLI was killed." if code is None or code < 0 else f"It ended with {code}.")
    return f"{how} {said}".strip()


def _reported(errors: str) -> str:
    """The error that the CLI reports as JSON on stderr, or the last line that is no warning."""
    start = errors.find('{\n  "session_id"')
    for text in (errors[start:] if start >= 0 else "", *reversed(errors.splitlines())):
        record = parse(text) if text.startswith("{") else None
        if record is not None and record.fields("error").text("message"):
            return record.fields("error").text("message")
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    errors_alone = [
        line for line in lines if not line.startswith(("Warning", "Ripgrep", "[STARTUP]", "at ", "}", "YOLO"))
    ]
    return errors_alone[-1][:500] if errors_alone else ""
