"""What another bridge of this node's name has left on the machine: its workers, and who of them was focused."""

from farhand.model.words import Mode, Word, WorkerName


class EarlierWorker(Word):
    """One of its workers: the agent, the folder that it works in, and what it may do unasked, if that can be seen."""

    name: WorkerName
    backend: str
    directory: str = ""
    mode: Mode | None = None
    # Whether its agent runs in a terminal now.
    terminal: bool = False

    @property
    def line(self) -> str:
        """What a person reads of it."""
        parts = [self.backend, *([f"mode {self.mode.value}"] if self.mode else []), *filter(None, (self.directory,))]
        goes_on = ", in its terminal" if self.terminal else ""
        return f"{self.name} ({' · '.join(parts)}{goes_on})"


class EarlierTeam(Word):
    """All of them."""

    workers: tuple[EarlierWorker, ...] = ()
    focus: WorkerName = ""
