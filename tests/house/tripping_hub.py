"""A hub with an error that nobody foresaw, for tests of messages that trip it."""

from __future__ import annotations

from farhand.model.commands import Accepted, Command, Say
from farhand.model.ports import Hub
from farhand.model.words import Sender

POISON = "poison"


class TrippingHub:
    """One word brings the error out."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self.watch = hub.watch
        self.look = hub.look
        # How often the word was said.
        self.tripped = 0

    async def send(self, command: Command, sender: Sender) -> Accepted:
        if isinstance(command, Say) and command.text == POISON:
            self.tripped += 1
            raise ZeroDivisionError("an error that nobody foresaw")
        return await self._hub.send(command, sender)
