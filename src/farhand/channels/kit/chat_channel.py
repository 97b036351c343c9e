"""What a node asks of every channel that is a text chat, passed on to the chat of the kit."""

from collections.abc import Sequence

from farhand.channels.kit.chat import Chat
from farhand.model.attention_rules import AskBundle, Buzz
from farhand.model.channel_ports import ReceiveStatus


class ChatChannel:
    """A channel around one chat; a chat service adds how it is opened and where it is called."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    @property
    def health(self) -> str:
        """One line for `status`."""
        return self._chat.health

    @property
    def receive_status(self) -> ReceiveStatus:
        """When we heard the service last, and what keeps us from it."""
        return self._chat.receive_status

    @property
    def manager_chat(self) -> str:
        """The manager's chat; empty while nobody is known."""
        return self._chat.manager_chat

    async def announce(self, text: str) -> None:
        """Tells the manager something about the node itself, unless the service is out of reach."""
        await self._chat.announce(text)

    async def notify(self, text: str) -> None:
        """Brings something to the manager, as soon as the service can be reached."""
        await self._chat.notify(text)

    async def nudge(self, buzz: Buzz) -> None:
        """Reminds the manager of what was shown before without a sound."""
        await self._chat.nudge(buzz)

    async def withdraw_nudges(self, ask: str, steps: Sequence[int]) -> None:
        """Takes such reminders away, as far as the service can."""
        await self._chat.withdraw_nudges(ask, steps)

    async def bundle_left(self, bundle: AskBundle) -> None:
        """Says what is left of a reminder of several questions, as far as the service can."""
        await self._chat.bundle_left(bundle)

    async def drain(self) -> None:
        """Sends everything that waits, and then says that the node goes, where that is told."""
        await self._chat.drain()
