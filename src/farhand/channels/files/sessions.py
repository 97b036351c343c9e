"""The small files that say, to whoever looks into a worker's folder, how it stands: `chat_id`, `pending`, `backend`."""

from typing import Protocol

from farhand.channels.files.worker_files import WorkerFiles, read
from farhand.disk.atomic import write_private
from farhand.model import facts
from farhand.model.compat import PENDING_SECONDS
from farhand.model.facts import Event
from farhand.model.present import Present, Worker

CHAT, PENDING, BACKEND = "chat_id", "pending", "backend"
# Behind the backend's name: the agent's own conversation, for programs that want to go on with it.
SESSION_ID = "_session_id"


class KnowsManagerChat(Protocol):
    """Knows where the manager reads."""

    def manager_chat(self) -> str:
        """The chat; empty while nobody is known."""
        ...


class SessionFiles:
    """Keeps the files as the facts are."""

    def __init__(self, worker_files: WorkerFiles, manager: KnowsManagerChat) -> None:
        self.worker_files = worker_files
        self._manager = manager

    def begin(self, worker: Worker) -> None:
        """Makes the folder of a worker and writes what is known of it."""
        folder = self.worker_files.make_session(worker.name)
        write_private(folder / BACKEND, worker.backend)
        self.write_chat(worker.name)

    def write_chat(self, worker: str) -> None:
        """Writes where the worker's answers go, if anybody is known."""
        chat = self._manager.manager_chat()
        folder = self.worker_files.session(worker)
        if chat and folder.is_dir() and not folder.is_symlink() and read(folder / CHAT) != chat:
            write_private(folder / CHAT, chat)

    def has_chat(self, worker: str) -> bool:
        """Whether it is known where the worker's answers go."""
        return bool(read(self.worker_files.session(worker) / CHAT))

    def chats(self, present: Present) -> list[str]:
        """All chats that are known, each once."""
        stored = [read(self.worker_files.session(name) / CHAT) for name in present.workers]
        return list(dict.fromkeys(chat for chat in (self._manager.manager_chat(), *stored) if chat))

    def follow(self, event: Event, worker: Worker) -> None:
        """Keeps the files true after one more event."""
        match event.fact:
            case facts.Queued():
                self.write_chat(worker.name)
                write_private(self.worker_files.make_session(worker.name) / PENDING, str(int(event.at)))
            case facts.TurnEnded() | facts.Withdrawn() if not worker.queue and worker.turn is None:
                self.clear(worker.name)
            case facts.SessionKnown(session=session):
                write_private(self.worker_files.make_session(worker.name) / f"{worker.backend}{SESSION_ID}", session)
            case facts.InterruptAsked() | facts.RelaunchAsked() | facts.Responded():
                self.clear(worker.name)
            case _:
                pass

    def clear(self, worker: str) -> None:
        """Nothing is pending any more."""
        (self.worker_files.session(worker) / PENDING).unlink(missing_ok=True)

    def expire(self, present: Present, now: float) -> float | None:
        """Clears what is pending for too long; the seconds until the next one is."""
        waits: list[float] = []
        for name in present.workers:
            since = read(self.worker_files.session(name) / PENDING)
            if not since:
                continue
            left = (float(since) if since.isascii() and since.isdigit() else 0.0) + PENDING_SECONDS - now
            if left <= 0:
                self.clear(name)
            else:
                waits.append(left)
        return min(waits, default=None)
