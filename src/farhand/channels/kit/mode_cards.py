"""Keeps true what the chat says of a worker's mode and model: the messages with those buttons follow each change."""

from farhand.channels.kit.background import BackgroundJobs
from farhand.channels.kit.card import Card
from farhand.channels.kit.hiring import FindsSlots
from farhand.channels.kit.lifecycle import mode_slot
from farhand.channels.kit.overview import settings_of
from farhand.channels.kit.reply_buttons import ModelsOf, mode_buttons, settings_buttons, settings_slot
from farhand.channels.kit.texts import unasked
from farhand.model.errors import StoreError
from farhand.model.facts import Event, Tuned
from farhand.model.logger import get_logger
from farhand.model.ports import Hub
from farhand.model.present import Worker
from farhand.model.view import TurnView

log = get_logger("chat")
# What was shown longer ago is far up in the chat.
MOST_FOLLOWING = 3


class ModeCards:
    """The messages of one chat that tell how its workers are set."""

    def __init__(self, hub: Hub, chat: FindsSlots, background: BackgroundJobs, models: ModelsOf) -> None:
        self._hub = hub
        self._chat = chat
        self._background = background
        self._models = models

    def see(self, event: Event, _: TurnView | None) -> None:
        """A worker that was changed is told of anew."""
        if isinstance(event.fact, Tuned) and not event.fact.refused:
            self._background.start("mode cards", self._draw, event.worker, event.seq)

    async def _draw(self, name: str, seq: int) -> None:
        worker = (await self._hub.look()).workers.get(name)
        if worker is None:
            return
        try:
            hiring = mode_slot(name, worker.since)
            hired = [hiring] if hiring in await self._chat.slots(hiring) else []
            shown = await self._chat.slots(settings_slot(worker, ""))
            for slot in [*hired, *shown[-MOST_FOLLOWING:]]:
                await self._chat.show(self._card(slot, f"{slot}:{seq}", worker))
        except StoreError as error:
            log.error("a message tells of a mode that was changed", error=error.text)

    def _card(self, slot: str, key: str, worker: Worker) -> Card:
        if slot == mode_slot(worker.name, worker.since):
            head, buttons = unasked(worker.name, worker.mode, worker.directory), mode_buttons(worker.name, worker.mode)
        else:
            head, buttons = settings_of(worker), settings_buttons(worker, self._models(worker))
        return Card(key=key, slot=slot, head=head, buttons=buttons, edit=True, silent=True)
