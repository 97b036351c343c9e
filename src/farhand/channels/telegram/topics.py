"""A topic for every worker, in a chat that has topics: made with its first message, closed when the worker leaves."""

from __future__ import annotations

from collections.abc import Iterable

import anyio
import msgspec
from telegram.error import BadRequest, Forbidden, TelegramError

from farhand.channels.telegram.gateway import Gateway
from farhand.channels.telegram.state_files import TelegramStored
from farhand.channels.telegram.when_changed import WhenChanged
from farhand.model.facts import Ended, Event
from farhand.model.logger import get_logger
from farhand.model.ports import Clock, Hub
from farhand.model.view import TurnView

log = get_logger("telegram")
TOPICS_FILE = "topics.json"
FIRST_PAUSE_SECONDS = 1.0


class WorkerTopic(msgspec.Struct, frozen=True):
    """The topic of one worker in one chat."""

    chat: int
    worker: str
    thread: int


class WorkerTopics:
    """Which worker has which topic, kept over a restart. In a chat without topics nobody has one."""

    def __init__(self, gateway: Gateway, hub: Hub, clock: Clock, stored: TelegramStored) -> None:
        self._gateway = gateway
        self._hub = hub
        self._stored = stored
        self._topics = list(read_topics(stored.read(TOPICS_FILE)))
        # Whether a chat has topics, as far as that was asked for.
        self._has_topics: dict[int, bool] = {}
        self._making = anyio.Lock()
        self._team = WhenChanged(clock, FIRST_PAUSE_SECONDS)

    def worker_in(self, chat: int, thread: int) -> str:
        """Whose topic that is; nobody's for the main thread and for a topic that a person made."""
        return next((one.worker for one in self._topics if (one.chat, one.thread) == (chat, thread)), "")

    async def thread(self, chat: int, worker: str) -> int | None:
        """The topic for what concerns that worker, made if it is missing; None for the main thread.

        Raises what the outbox understands when Telegram cannot be asked now."""
        if not worker:
            return None
        async with self._making:
            known = next((one.thread for one in self._topics if (one.chat, one.worker) == (chat, worker)), None)
            if known is not None or worker not in (await self._hub.look()).workers:
                return known
            try:
                return await self._made(chat, worker) if await self._is_forum(chat) else None
            except (BadRequest, Forbidden) as error:
                # A bot that may not make topics says everything in the main thread.
                log.warning("no topics here", chat=chat, error=self._gateway.redacted(error))
                self._has_topics[chat] = False
                return None
            except TelegramError as error:
                raise self._gateway.verdict(error, again=True) from None

    async def _is_forum(self, chat: int) -> bool:
        if chat not in self._has_topics:
            if chat > 0:
                self._has_topics[chat] = bool((await self._gateway.bot.get_me()).has_topics_enabled)
            else:
                self._has_topics[chat] = bool((await self._gateway.bot.get_chat(chat)).is_forum)
        return self._has_topics[chat]

    async def _made(self, chat: int, worker: str) -> int:
        made = await self._gateway.bot.create_forum_topic(chat, worker)
        self._keep([*self._topics, WorkerTopic(chat, worker, made.message_thread_id)])
        return made.message_thread_id

    def forget(self, chat: int, worker: str) -> None:
        """Somebody took the topic away: the next message makes another one."""
        self._keep([one for one in self._topics if (one.chat, one.worker) != (chat, worker)])

    def _keep(self, topics: list[WorkerTopic]) -> None:
        self._topics = topics
        self._stored.write(TOPICS_FILE, msgspec.json.encode(topics).decode())

    # --- closing

    def see(self, event: Event, _: TurnView | None) -> None:
        """Wakes up when somebody leaves the team."""
        if isinstance(event.fact, Ended):
            self._team.wake()

    async def run(self) -> None:
        """Closes the topics of workers that are gone, also of those that left while the node was down."""
        await self._team.run(self._close_left, self._not_closed)

    def _not_closed(self, error: TelegramError) -> None:
        log.info("topic not closed", error=self._gateway.redacted(error))

    async def _close_left(self) -> None:
        workers = (await self._hub.look()).workers
        for topic in [one for one in self._topics if one.worker not in workers]:
            try:
                await self._gateway.bot.close_forum_topic(topic.chat, topic.thread)
            except (BadRequest, Forbidden) as error:
                # It is gone or closed already, or not ours to close.
                self._not_closed(error)
            self.forget(topic.chat, topic.worker)


def read_topics(text: str) -> Iterable[WorkerTopic]:
    """The topics that were kept; none where the file cannot be read."""
    try:
        return msgspec.json.decode(text or "[]", type=list[WorkerTopic])
    except msgspec.MsgspecError:
        return []
