"""`gemini -p` called once for a message. Pure."""

from __future__ import annotations

import msgspec

from farhand.drivers.wires.oneshot.spec import OneshotCli, OneshotOutput, as_argument, last_line


class _GeminiFailure(msgspec.Struct):
    message: str = ""


class _GeminiAnswer(msgspec.Struct):
    response: str | None = ""
    session_id: str = ""
    error: _GeminiFailure | None = None


def words(message: str, _directory: str, _session: str) -> list[str]:
    """The command line."""
    return ["-p", as_argument(message), "--output-format", "json"]


def read(output: str, errors: str) -> OneshotOutput:
    """The answer on standard output; an error is JSON on standard error, behind the CLI's warnings."""
    said, failed = _parsed(output), _parsed(errors)
    problem = failed.error.message if failed.error else _complaint(errors)
    return OneshotOutput(said.response or "", said.session_id, said.error.message if said.error else problem)


def _complaint(errors: str) -> str:
    """The first line that speaks of an error: a trace of calls may follow it."""
    lines = [line.strip() for line in errors.splitlines()]
    return next((line for line in lines if "error" in line.lower()), last_line(errors))


def _parsed(text: str) -> _GeminiAnswer:
    """The JSON object that the text ends with; nothing when there is none."""
    position = 0 if text.startswith("{") else text.find("\n{") + 1
    try:
        return msgspec.json.decode(text[position:], type=_GeminiAnswer)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return _GeminiAnswer()


ADAPTER = OneshotCli(
    source="gemini",
    title="Gemini",
    words=words,
    read=read,
    # In a folder that it does not know the CLI would refuse to work without a person to ask.
    variables={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
)
