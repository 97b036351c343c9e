"""`gemini -p` called once for a message. Pure."""

from __future__ import annotations

import msgspec

from farhand.drivers.wires.oneshot.spec import Adapter, Read, guarded, last_line


class _Failure(msgspec.Struct):
    message: str = ""


class _Answer(msgspec.Struct):
    response: str | None = ""
    session_id: str = ""
    error: _Failure | None = None


def words(message: str, _directory: str, _session: str) -> list[str]:
    """The command line."""
    return ["-p", guarded(message), "--output-format", "json"]


def read(output: str, errors: str) -> Read:
    """The answer on standard output; an error is JSON on standard error, behind the CLI's warnings."""
    said, failed = _parsed(output), _parsed(errors)
    problem = failed.error.message if failed.error else _complaint(errors)
    return Read(said.response or "", said.session_id, said.error.message if said.error else problem)


def _complaint(errors: str) -> str:
    """The first line that speaks of an error: a trace of calls may follow it."""
    lines = [line.strip() for line in errors.splitlines()]
    return next((line for line in lines if "error" in line.lower()), last_line(errors))


def _parsed(text: str) -> _Answer:
    """The JSON object that the text ends with; nothing when there is none."""
    position = 0 if text.startswith("{") else text.find("\n{") + 1
    try:
        return msgspec.json.decode(text[position:], type=_Answer)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return _Answer()


ADAPTER = Adapter(
    source="gemini",
    title="Gemini",
    words=words,
    read=read,
    # In a folder that it does not know the CLI would refuse to work without a person to ask.
    variables={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
)
