"""How words look as JSON: one decoder and one encoder for commands, events and errors. Pure."""

from typing import Any

import msgspec

from farhand.model import errors
from farhand.model.commands import Accepted, Command
from farhand.model.errors import BadInput, FarhandError
from farhand.model.facts import Event
from farhand.model.present import Present

_encoder = msgspec.json.Encoder()
_commands: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)
_events = msgspec.json.Decoder(Event)
_LONGEST_ID = 200

encode = _encoder.encode


def decode_event(data: bytes) -> Event:
    """One event as it was written down."""
    return _events.decode(data)


def decode_command(data: bytes | msgspec.Raw) -> Command:
    """A command from outside, checked once here; BadInput says what is wrong with it."""
    try:
        command = _commands.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"That is no command: {error}") from None
    return checked(command)


def checked(command: Command) -> Command:
    """The command, if its id can be one."""
    if not command.id or len(command.id) > _LONGEST_ID or not command.id.isprintable():
        raise BadInput(f"A command needs an id of 1 to {_LONGEST_ID} printable characters.")
    return command


def error_fields(error: FarhandError) -> dict[str, Any]:
    """An error as it travels."""
    return {"code": error.code, "text": error.text, "details": error.details}


class RemoteError(msgspec.Struct):
    """An error as it arrives."""

    code: str
    text: str
    details: dict[str, Any] = {}


def _tree(root: type[FarhandError]) -> dict[str, type[FarhandError]]:
    found = {root.code: root}
    for child in root.__subclasses__():
        found |= _tree(child)
    return found


_CODES = _tree(errors.FarhandError)


def raise_remote(error: RemoteError) -> FarhandError:
    """The error of the tree that a remote one stands for, with its sentence kept."""
    kind = _CODES.get(error.code, FarhandError)
    made = kind.__new__(kind)
    FarhandError.__init__(made, error.text, **error.details)
    return made


def to_jsonable(value: Event | Accepted | Present) -> Any:
    """A word as plain dicts and lists."""
    return msgspec.to_builtins(value)
