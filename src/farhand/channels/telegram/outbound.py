"""Telegram as a surface: renders cards, sends parcels, removes what was sent twice, shows typing, answers taps."""

from collections.abc import Sequence

from telegram.error import TelegramError

from farhand.channels.kit.background import BackgroundJobs
from farhand.channels.kit.card import Card
from farhand.channels.kit.outbound import lost_file, lost_message
from farhand.channels.kit.outbox import SendRefused
from farhand.channels.kit.surface import SentFile
from farhand.channels.telegram.gateway import MOST_CANDIDATES, Gateway
from farhand.channels.telegram.media import download
from farhand.channels.telegram.render import render
from farhand.channels.telegram.topics import WorkerTopics
from farhand.channels.telegram.words import Amend, Disarm, Outgoing, Post, React, Remove, Show, decode_outgoing
from farhand.model.logger import get_logger
from farhand.model.ports import Clock
from farhand.model.store_ports import Outbox, Parcel, Waiting
from farhand.model.words import replace

log = get_logger("telegram")
NAME = "telegram"
# What is said in place of a text that could not be sent as a file.
FALLBACK_CHARACTERS = 40_000
# So many of the newest messages are known to be no leftover copies of others.
MOST_KNOWN = 100
# How often it is looked whether other messages are still in doubt.
FIRST_LOOK_SECONDS = 0.2
LONGEST_LOOK_SECONDS = 30.0
# The pauses before each search for a copy: a call that fails in the middle of one is no reason to leave it.
SEARCH_PAUSES_SECONDS = (0.0, 1.0, 5.0, 30.0, 120.0)


class TelegramSurface:
    """One bot. What was said to one bot is not looked for at another."""

    name = NAME
    title = "Telegram"

    def __init__(
        self,
        gateway: Gateway,
        bot: str,
        outbox: Outbox,
        clock: Clock,
        background: BackgroundJobs,
        topics: WorkerTopics | None = None,
    ) -> None:
        self._gateway = gateway
        self._topics = topics
        self._bot = bot
        self._store = outbox
        self._clock = clock
        self._background = background
        self._first_received: dict[int, int] = {}
        self.outbox = f"{NAME}:{bot}"

    def note_received(self, chat: int, message: int) -> None:
        """A message with this number came in: only what has a higher number can be ours."""
        self._first_received.setdefault(chat, message)

    def render(self, card: Card, chat: str) -> Sequence[Parcel]:
        """The parcels that show a card in a chat."""
        return render(card, int(chat), NAME, self._bot)

    def counts(self, parcel: Parcel) -> bool:
        """Whether Telegram counts it: what is sent and edited, not what is taken away or reacted to."""
        return not isinstance(decode_outgoing(parcel.body), Remove | React)

    async def send(self, waiting: Waiting) -> str:
        """Sends a parcel; raises what the outbox understands."""
        outgoing = decode_outgoing(waiting.parcel.body)
        reference, reply_to = "", None
        match outgoing:
            case Amend(slot=slot) | Disarm(slot=slot) | Remove(slot=slot):
                reference = await self._store.reference(self.outbox, slot)
            case Post():
                slot = outgoing.reply_to_slot
                known = await self._store.reference(self.outbox, slot) if slot else ""
                reply_to = int(known) if known else outgoing.reply_to
            case React() | Show():
                pass
            case None:
                raise SendRefused("another version of farhand wrote it")
        sent = await self._send(outgoing, reference, reply_to)
        if waiting.doubtful and isinstance(outgoing, Post):
            self._background.start("telegram duplicate", self._remove_duplicates, outgoing, waiting, int(sent))
        return sent

    async def _send(self, outgoing: Outgoing, reference: str, reply_to: int | None) -> str:
        """Into the topic of its worker, where the chat has topics; one that somebody took away is made anew."""
        if self._topics is None or not isinstance(outgoing, Post | Show) or not outgoing.topic:
            return await self._gateway.send(outgoing, reference, reply_to)
        chat, worker = outgoing.chat, outgoing.topic
        thread = await self._topics.thread(chat, worker)
        try:
            return await self._gateway.send(replace(outgoing, thread=thread), reference, reply_to)
        except SendRefused as error:
            if thread is None or "thread not found" not in error.text.lower():
                raise
        self._topics.forget(chat, worker)
        anew = replace(outgoing, thread=await self._topics.thread(chat, worker))
        return await self._gateway.send(anew, reference, None)

    async def _remove_duplicates(self, outgoing: Post, waiting: Waiting, newest: int) -> None:
        """A message was sent again because its answer never came: if it had arrived, the first copy goes.

        It need not stand right before the newest: what the other lane sent meanwhile is between them."""
        await self._until_others_are_certain(waiting)
        references = await self._store.references(self.outbox, str(outgoing.chat), MOST_KNOWN)
        known = {int(one) for one in references if one.isdigit()}
        # Of a chat with nothing older of ours, only what came after the first message that we received can be ours.
        older = {one for one in known if one < newest} | {self._first_received.get(outgoing.chat, newest)}
        candidates = [one for one in range(newest - 1, min(older), -1) if one not in known]
        for pause in SEARCH_PAUSES_SECONDS:
            await self._clock.sleep(pause)
            try:
                gone = await self._gateway.remove_duplicates(outgoing, candidates[:MOST_CANDIDATES])
                log.info("sent again after no answer", chat=outgoing.chat, message=newest, duplicates_removed=gone)
                return
            except TelegramError as error:
                log.info("duplicate not removed", error=self._gateway.redacted(error))

    async def _until_others_are_certain(self, waiting: Waiting) -> None:
        """Waits until every other message to the chat is known or waits unsent: looking for a copy would take away
        one whose answer has not come yet."""
        pause = FIRST_LOOK_SECONDS
        while await self._is_in_doubt(waiting):
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_LOOK_SECONDS)

    async def _is_in_doubt(self, but: Waiting) -> bool:
        lanes = [await self._store.waiting(self.outbox, but.parcel.chat, urgent=urgent) for urgent in (True, False)]
        return any(one.doubtful and one.id != but.id for lane in lanes for one in lane)

    def failure(self, waiting: Waiting, why: str) -> str:
        """What the manager reads in place of a message or a file; of edits and reactions nothing is missed."""
        match decode_outgoing(waiting.parcel.body):
            case Show(text=text, file=file) if text:
                return f"⚠ {file.name} could not be sent ({why}). It says:\n\n{fallback(text)}"
            case Show() as outgoing:
                return lost_file(outgoing.worker, outgoing.file.path, why, picture=outgoing.photo)
            case Post(plain=plain):
                return lost_message(plain, waiting, why)
            case _:
                return ""

    async def send_now(self, chat: str, text: str) -> None:
        """Tries once to send a text past the queue."""
        try:
            await self._gateway.bot.send_message(int(chat), text, disable_notification=True)
        except TelegramError as error:
            log.info("message not sent", error=self._gateway.redacted(error))

    async def show_typing(self, chat: str) -> None:
        """Telegram shows it for five seconds."""
        try:
            await self._gateway.bot.send_chat_action(int(chat), "typing")
        except TelegramError as error:
            log.info("typing not shown", error=self._gateway.redacted(error))

    async def answer_tap(self, tap: str, text: str) -> None:
        """Ends the button's little clock. Too late is no error: the command is written down all the same."""
        try:
            await self._gateway.bot.answer_callback_query(tap, text[:200])
        except TelegramError as error:
            log.info("tap not answered", error=self._gateway.redacted(error))

    async def download(self, file: SentFile) -> bytes:
        """The content of a file that came in; raises NotFetched."""
        return await download(self._gateway, self._clock, file)


def fallback(text: str) -> str:
    """The text that goes in the place of a file: nearly all of it, and where the rest stands."""
    if len(text) <= FALLBACK_CHARACTERS:
        return text
    left_out = f"{len(text) - FALLBACK_CHARACTERS:,} characters more stand in the agent's own conversation."
    return f"{text[:FALLBACK_CHARACTERS]}\n\n… {left_out}"
