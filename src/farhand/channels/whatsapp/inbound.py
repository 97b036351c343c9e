"""From what WhatsApp posts to commands: whose it is, what it answers, and what became of our own messages."""

from farhand.channels.kit.chat import Chat
from farhand.channels.kit.outbound import LOST, replacement
from farhand.channels.kit.poison_messages import PoisonMessages
from farhand.channels.kit.surface import ChatMessage, QuotedMessage
from farhand.channels.whatsapp.parse import ReceivedMessage, to_chat
from farhand.channels.whatsapp.people import WhatsAppPeople
from farhand.channels.whatsapp.render import plain_of
from farhand.channels.whatsapp.surface import NAME, WhatsAppSurface
from farhand.channels.whatsapp.window import MessagingWindow
from farhand.channels.whatsapp.words import WhatsAppSend, WhatsAppStatus, decode_outgoing
from farhand.model.logger import get_logger
from farhand.model.store_ports import Parcel, Waiting
from farhand.model.words import replace

log = get_logger("whatsapp")
FAILED = "failed"
# The window was closed; faults of theirs that pass.
CLOSED = 131047
PASSING = frozenset({130429, 131000, 131016, 131056})
AGAIN = "again:"


class WhatsAppInbound:
    """Takes the messages to one phone number."""

    def __init__(
        self,
        chat: Chat,
        surface: WhatsAppSurface,
        people: WhatsAppPeople,
        window: MessagingWindow,
        phone_id: str,
    ) -> None:
        self._chat = chat
        self._surface = surface
        self._people = people
        self._window = window
        self._phone_id = phone_id
        self._poison = PoisonMessages(chat, NAME)

    async def take(self, received: ReceivedMessage) -> None:
        """Obeys one message; returns when it is written down. Strangers, groups and unknown kinds are passed over. One
        that trips an error of ours is given up after a few tries: Meta would bring it again for days."""
        chat = self._people.chat_of(received.who)
        known = self._chat.manager_chat
        if not chat or received.message.group_id or known not in {"", chat}:
            log.warning("message passed over", kind=received.message.type, group=bool(received.message.group_id))
            return
        async with self._poison.attempt(received.message.id):
            await self._obey(received, chat)

    async def _obey(self, received: ReceivedMessage, chat: str) -> None:
        # Whoever writes can be written to for a day; that is known before anything is answered.
        self._window.heard(chat, received.at)
        self._surface.hear(chat, received.message.id)
        said = to_chat(received, chat, chat, NAME, self._phone_id)
        if isinstance(said, ChatMessage) and said.quoted is not None:
            said = replace(said, quoted=await self._quoted(said.quoted.reference))
        if said is not None and not await self._chat.inbound.take(said):
            return
        if self._chat.manager_chat == chat:
            self._people.note(received.who)
            self._chat.release()
            self._surface.mark_read(received.message.id)

    async def _quoted(self, reference: str) -> QuotedMessage:
        """WhatsApp names the message that is answered and does not say what it said: of ours the outbox knows."""
        parcel = await self._chat.find(reference)
        outgoing = decode_outgoing(parcel.body) if parcel else None
        text = plain_of(outgoing.text) if isinstance(outgoing, WhatsAppSend) else ""
        return QuotedMessage(reference=reference, text=text, ours=parcel is not None)

    async def told(self, status: WhatsAppStatus) -> None:
        """A message of ours failed after it was taken: it waits for the window, is tried once more, or is told."""
        chat = self._chat.manager_chat
        if status.status != FAILED or not chat:
            return
        parcel = await self._chat.find(status.id)
        code = status.errors[0].code if status.errors else 0
        log.warning("message not delivered", code=code, known=parcel is not None)
        if parcel is None or parcel.key.startswith(LOST):
            return
        if code == CLOSED:
            self._window.refused(chat)
        if code == CLOSED or (code in PASSING and not parcel.key.startswith(AGAIN)):
            # The same status twice is the same parcel, and one more failure another one.
            again = replace(parcel, key=f"{AGAIN}{status.id}:{parcel.key}")
            await self._chat.put((again,))
            return
        why = (
            f"WhatsApp could not deliver it: {status.errors[0].title if status.errors else 'no reason given'} (#{code})"
        )
        await self._chat.put(tuple(_replaced(self._surface, parcel, why)))


def _replaced(surface: WhatsAppSurface, parcel: Parcel, why: str) -> list[Parcel]:
    return replacement(surface, Waiting(id=0, parcel=parcel), why)
