"""What workers can do, and what can be chosen when one is hired: for surfaces that offer it. Pure."""

from typing import Protocol

from farhand.model.ports import Can
from farhand.model.present import Worker
from farhand.model.words import Mode, Word, WorkerName


class WorkerAbilities(Word):
    """What one worker's agent can do; an empty list where nobody knows."""

    worker: WorkerName
    backend: str
    wire: str
    can: Can
    # Its terminal can be watched and typed into from a device.
    pane: bool = False
    # Models that are known by name; others may be named, too, where `can.models`.
    models: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ()
    # How hard it can be told to think; a model may have fewer.
    effort: tuple[str, ...] = ()
    # In tokens, where the agent tells.
    context_window: int | None = None


def can_words(worker: Worker, can: Can) -> str:
    """What a person can do with that worker, in one paragraph; empty where nobody knows what its agent can do."""
    if can == Can():
        return ""
    said = [
        "can be stopped" if can.interrupt else "cannot be stopped",
        "takes words into a running turn" if can.steer else "takes a message after its turn",
        " and ".join(word for word, is_so in (("pictures", can.images), ("files", can.files)) if is_so),
        f"modes {', '.join(can.modes)}" if len(can.modes) > 1 else "",
        "any model (/tune model=…)" if can.models else "",
        f"effort {', '.join(can.effort)}" if can.effort else "",
        "goes on with conversations of the desk" if can.sessions else "",
        "judges others' work" if can.reviews else "",
    ]
    return f"{worker.name} ({worker.kind}): {'; '.join(one for one in said if one)}."


class WireChoice(Word):
    """One way in which an agent can be reached; the first of a backend is the usual one."""

    wire: str
    can: Can
    modes: tuple[Mode, ...] = ()


class BackendChoice(Word):
    """One kind of agent that can be hired here; `found` says whether its program is on this machine."""

    backend: str
    wires: tuple[WireChoice, ...]
    found: bool = True
    version: str = ""
    # The version that it was tested with, and how to get it and to sign in.
    tested: str = ""
    install: str = ""
    # None where nobody can tell.
    logged_in: bool | None = None
    how_to_log_in: str = ""
    models: tuple[str, ...] = ()


class HireChoices(Word):
    """What can be chosen when a worker is hired, and what is taken where nothing is."""

    backend: str
    directory: str
    mode: Mode
    backends: tuple[BackendChoice, ...] = ()
    # Where workers and agents have been at work, the newest first.
    folders: tuple[str, ...] = ()


class Choices(Protocol):
    """Knows what can be chosen."""

    def abilities(self, worker: Worker) -> WorkerAbilities:
        """What that worker's agent can do."""
        ...

    async def hire(self, *, versions: bool = True) -> HireChoices:
        """What can be chosen at a hiring; without versions no program is asked, which may take it many seconds."""
        ...
