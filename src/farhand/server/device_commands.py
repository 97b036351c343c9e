"""What a device may command: its own words and the files that it sent, no answer in a worker's name."""

from collections.abc import Callable
from pathlib import Path, PurePath

from farhand.model.commands import Command, Respond, Say
from farhand.model.errors import NotAllowed
from farhand.model.present import Present

# The folder for what the manager sends that worker.
Inbox = Callable[[str], Path]


def check_device_command(command: Command, present: Present, inbox: Inbox) -> None:
    """Raises NotAllowed for an answer, which is a worker's own, and for an attachment that was never sent to anybody:
    it would be any file of this machine."""
    match command:
        case Respond():
            raise NotAllowed("An answer comes from the worker's own programs, not from a device.")
        case Say(attachments=attachments) if attachments:
            worker = command.worker or present.focus
            own = inbox(worker) if worker in present.workers else None
            for one in attachments:
                path = PurePath(one.path)
                if path.parent != own or path.name == "..":
                    raise NotAllowed("A device attaches what it has sent to this worker.", path=one.path[:200])
        case _:
            pass
