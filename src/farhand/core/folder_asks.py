"""The question whether an agent may be started in a folder that configures it: raised once, obeyed, over any kill."""

import asyncio
from collections.abc import Callable

from farhand.core.hub import LocalHub
from farhand.model import facts
from farhand.model.ask_text import as_shown
from farhand.model.facts import Draft, Fact
from farhand.model.folder_trust import FolderNotTrusted, ask_about, is_trusted
from farhand.model.present import Ask, Worker
from farhand.model.words import AskKind, HowSettled, WorkerName


class FolderAsks:
    """The asks of one worker about its folder. No turn runs while one is open."""

    def __init__(self, hub: LocalHub, name: WorkerName) -> None:
        self._hub = hub
        self._name = name

    async def answer_to(self, untrusted: FolderNotTrusted, renewed: Callable[[], asyncio.Event]) -> bool | None:
        """Whether the folder is trusted now, once somebody has said so; None when the worker is to leave or restart.

        An answer that was given while the node was down counts; what is asked about something else is withdrawn.
        `renewed` gives an event that the next change of the worker sets."""
        await self.withdraw(but=untrusted.digest)
        while True:
            changed, worker = renewed(), self._worker
            if worker.ending or worker.relaunching:
                return None
            ask = next(iter(_about_folder(worker)), None)
            if ask is None:
                name = f"{worker.hiring_id}-folder-{self._hub.present.seq}"
                await self._record(as_shown(ask_about(untrusted, name), untrusted.folder))
            elif ask.settled is None:
                await changed.wait()
            else:
                trusted = is_trusted(ask.settled)
                if trusted:
                    # Remembered first: killed in between, the node finds the folder trusted and asks nobody again.
                    await untrusted.trust()
                await self._record(facts.AnswerDelivered(ask=ask.id))
                return trusted

    async def withdraw(self, but: str = "") -> None:
        """Takes back what is asked no more: the folder is trusted, or something else was found in it."""
        for ask in _about_folder(self._worker):
            if ask.digest != but:
                gone: Fact = facts.AskSettled(ask=ask.id, how=HowSettled.WITHDRAWN)
                await self._record(gone if ask.settled is None else facts.AnswerDelivered(ask=ask.id))

    @property
    def _worker(self) -> Worker:
        return self._hub.present.workers[self._name]

    async def _record(self, fact: Fact) -> None:
        await self._hub.record(self._name, lambda worker: [Draft(worker=worker.name, fact=fact)])


def _about_folder(worker: Worker) -> list[Ask]:
    return [ask for ask in worker.asks if ask.about is AskKind.FOLDER]
