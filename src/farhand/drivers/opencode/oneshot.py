"""`opencode run` called once for a message. Pure."""

from __future__ import annotations

import msgspec

from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.oneshot.spec import OneshotCli, OneshotOutput, last_line, parsed


class _TextPart(msgspec.Struct):
    text: str = ""


class _OpenCodeLine(msgspec.Struct):
    type: str = ""
    sessionID: str = ""  # noqa: N815
    part: _TextPart | None = None
    error: object = None


def words(_message: str, _directory: str, _session: str) -> list[str]:
    """The command line; the message comes at the input, for as an argument it would arrive in quotes."""
    return ["run", "--format", "json"]


def read(output: str, errors: str) -> OneshotOutput:
    """All texts of the answer, the session's id, and the error that it reported."""
    lines = [line for raw in output.splitlines() if (line := parsed(raw, _OpenCodeLine)) is not None]
    said = [line.part.text for line in lines if line.type == "text" and line.part and line.part.text]
    session = next((line.sessionID for line in lines if line.sessionID), "")
    failed = [_message(line.error) for line in lines if line.type == "error"]
    return OneshotOutput("\n\n".join(said), session, failed[-1] if failed else last_line(errors))


def _message(error: object) -> str:
    """An error as a person reads it: its data's message, its own, or its name."""
    fields = Fields(error)
    inner = fields.fields("data").any("message")
    return str(inner or fields.any("message") or fields.any("name") or "an error without a name")


ADAPTER = OneshotCli(
    source="opencode",
    title="OpenCode",
    words=words,
    input=lambda message: message,
    read=read,
)
