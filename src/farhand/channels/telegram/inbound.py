"""From an update to a command: decodes it, hands it to the chat, and gives up what trips an error again and again."""

from farhand.channels.kit.chat import Chat
from farhand.channels.kit.inbound import Inbound
from farhand.channels.kit.poison_messages import PoisonMessages
from farhand.channels.kit.surface import ChatMessage, ChatTap
from farhand.channels.telegram.outbound import NAME, TelegramSurface
from farhand.channels.telegram.parse import decode_update, to_message, to_tap
from farhand.channels.telegram.topics import WorkerTopics
from farhand.channels.telegram.words import CallbackQuery, TelegramMessage, UpdateContent
from farhand.model.logger import get_logger
from farhand.model.words import replace

log = get_logger("telegram")


class TelegramInbound:
    """Takes the updates of one bot."""

    def __init__(self, chat: Chat, surface: TelegramSurface, bot: str, topics: WorkerTopics) -> None:
        self._topics = topics
        self._chat = chat
        self._inbound: Inbound = chat.inbound
        self._surface = surface
        self._bot = bot
        self._poison = PoisonMessages(chat, NAME)

    async def take(self, update: bytes) -> None:
        """Obeys one update; returns when it is written down, raises StoreError when it could not be. One that trips an
        error of ours is given up after a few tries, which is announced: it would come again and block the queue."""
        number, content = decode_update(update)
        async with self._poison.attempt(number):
            await self._take(number, content)

    async def _take(self, number: int, content: UpdateContent) -> None:
        """Strangers and unknown kinds are passed over."""
        said: ChatMessage | ChatTap | None = None
        match content:
            case TelegramMessage():
                said = replace(to_message(content, NAME, self._bot), topic=self._topic(content))
                if self._chat.manager_chat in {"", said.chat}:
                    self._surface.note_received(content.chat.id, content.message_id)
            case CallbackQuery():
                said = to_tap(content)
            case None:
                pass
        if said is None or not await self._inbound.take(said):
            log.info("update passed over", update=number, kind=type(content).__name__)

    def _topic(self, message: TelegramMessage) -> str:
        """The worker in whose topic it was written."""
        if not message.is_topic_message or message.message_thread_id is None:
            return ""
        return self._topics.worker_in(message.chat.id, message.message_thread_id)
