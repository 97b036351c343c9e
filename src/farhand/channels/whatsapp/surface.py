"""WhatsApp as a surface: renders cards, sends parcels within the window, shows typing, marks what was read."""

from collections.abc import Awaitable, Sequence

from farhand.channels.kit.background import BackgroundJobs
from farhand.channels.kit.card import Card
from farhand.channels.kit.outbound import lost_file, lost_message
from farhand.channels.kit.outbox import SendLater, SendRefused
from farhand.channels.kit.sendable_files import LARGEST_BYTES
from farhand.channels.kit.surface import NotFetched, SentFile
from farhand.channels.whatsapp.gateway import WhatsAppGateway, WindowClosed
from farhand.channels.whatsapp.render import render
from farhand.channels.whatsapp.settings import WhatsAppSettings
from farhand.channels.whatsapp.window import WINDOW_SECONDS, MessagingWindow
from farhand.channels.whatsapp.words import (
    WhatsAppOutgoing,
    WhatsAppReact,
    WhatsAppReopen,
    WhatsAppSend,
    WhatsAppShow,
    decode_outgoing,
    encode_outgoing,
)
from farhand.model.errors import ChannelError
from farhand.model.logger import get_logger
from farhand.model.ports import Clock
from farhand.model.store_ports import Outbox, Parcel, Waiting

log = get_logger("whatsapp")
NAME = "whatsapp"
# WhatsApp shows it for 25 seconds, or until something is sent.
TYPING_SECONDS = 20.0
DOWNLOAD_TRIES = 6
FIRST_PAUSE_SECONDS = 0.2
# What a button says that has been taken: here the tap itself is to be seen, and nothing more is said.
TAKEN = "✓"
MOST_TAPS = 100
# The lane of templates: the messages that wait for the window are first in their own.
REOPEN_LANE = "reopen:"


class WhatsAppSurface:
    """One phone number."""

    name = NAME
    title = "WhatsApp"

    def __init__(
        self,
        gateway: WhatsAppGateway,
        settings: WhatsAppSettings,
        outbox: Outbox,
        window: MessagingWindow,
        clock: Clock,
        background: BackgroundJobs,
    ) -> None:
        self._gateway = gateway
        self._settings = settings
        self._store = outbox
        self._window = window
        self._clock = clock
        self._background = background
        # The newest message of each chat, to which typing is shown, and until when it is; whose taps those are.
        self._newest: dict[str, str] = {}
        self._typing_until: dict[str, float] = {}
        self._tapped: dict[str, str] = {}
        self.outbox = f"{NAME}:{settings.phone_id}"

    def hear(self, chat: str, message: str) -> None:
        """A message of the manager comes in: typing is shown there, and what its tap is answered goes there."""
        self._newest[chat] = message
        self._typing_until.pop(chat, None)
        self._tapped[message] = chat
        for old in list(self._tapped)[:-MOST_TAPS]:
            del self._tapped[old]

    def mark_read(self, message: str) -> None:
        """The message is written down: its ticks become blue."""
        self._background.start("whatsapp read", self._mark_read, message)

    async def _mark_read(self, message: str) -> None:
        await self._try("read mark", self._gateway.call(self._gateway.client.mark_message_as_read(message)))

    async def _try(self, what: str, call: Awaitable[object]) -> None:
        try:
            await call
        except ChannelError as error:
            log.info("not shown", what=what, error=error.text)

    def render(self, card: Card, chat: str) -> Sequence[Parcel]:
        """The parcels that show a card in a chat."""
        return render(card, chat, NAME, self._settings.phone_id, reactions=self._settings.reactions)

    def counts(self, _: Parcel) -> bool:
        """Whether WhatsApp counts it: everything that is sent to a person."""
        return True

    async def send(self, waiting: Waiting) -> str:
        """Sends a parcel; raises what the outbox understands. Outside of the window it waits for the manager."""
        outgoing = decode_outgoing(waiting.parcel.body)
        if outgoing is None:
            raise SendRefused("another version of farhand wrote it")
        if isinstance(outgoing, WhatsAppReopen):
            return await self._gateway.reopen(outgoing)
        if not self._window.is_open(outgoing.chat):
            await self._wait_for_window(outgoing)
        try:
            sent = await self._send(outgoing)
        except WindowClosed:
            self._window.refused(outgoing.chat)
            await self._wait_for_window(outgoing)
            raise
        self._typing_until.pop(outgoing.chat, None)
        return sent

    async def _send(self, outgoing: WhatsAppOutgoing) -> str:
        match outgoing:
            case WhatsAppSend():
                slot = outgoing.reply_to_slot
                known = await self._store.reference(self.outbox, slot) if slot else ""
                return await self._gateway.send(outgoing, outgoing.reply_to or known)
            case WhatsAppReact():
                return await self._gateway.react(outgoing)
            case WhatsAppShow():
                return await self._gateway.show(outgoing)
            case WhatsAppReopen():
                return await self._gateway.reopen(outgoing)

    async def _wait_for_window(self, outgoing: WhatsAppOutgoing) -> None:
        """Never returns. The template asks the manager, once for each window, to reopen it."""
        if isinstance(outgoing, WhatsAppReact):
            raise SendRefused("the 24-hour window is closed")
        lane = f"{REOPEN_LANE}{outgoing.chat}"
        reopen = encode_outgoing(WhatsAppReopen(chat=outgoing.chat))
        key = f"{lane}:{self._window.name(outgoing.chat)}"
        await self._store.put(self.outbox, (Parcel(key=key, chat=lane, body=reopen),))
        raise SendLater("The 24-hour window is closed: it waits until the manager writes.", WINDOW_SECONDS)

    def failure(self, waiting: Waiting, why: str) -> str:
        """What the manager reads in place of a message or a file; of a reaction nothing is missed."""
        match decode_outgoing(waiting.parcel.body):
            case WhatsAppShow(text=text, file=file) if text:
                return f"⚠ {file.name} could not be sent ({why}). It begins:\n\n{text[:3000]}"
            case WhatsAppShow() as outgoing:
                return lost_file(outgoing.worker, outgoing.file.path, why, picture=outgoing.picture)
            case WhatsAppSend(text=text):
                return lost_message(text, waiting, why)
            case _:
                return ""

    async def send_now(self, chat: str, text: str) -> None:
        """Tries once to send a text past the queue."""
        if self._window.is_open(chat):
            await self._try("message", self._gateway.send(WhatsAppSend(chat=chat, text=text), ""))

    async def show_typing(self, chat: str) -> None:
        """Shown at the manager's newest message, where there was one since the start."""
        message, now = self._newest.get(chat, ""), self._clock.now()
        if not message or now < self._typing_until.get(chat, 0.0) or not self._window.is_open(chat):
            return
        self._typing_until[chat] = now + TYPING_SECONDS
        await self._try("typing", self._gateway.call(self._gateway.client.indicate_typing(message)))

    async def answer_tap(self, tap: str, text: str) -> None:
        """WhatsApp shows the tap itself; what there is to say beyond that is a message that answers it."""
        chat = self._tapped.get(tap, "")
        if text != TAKEN and chat and self._window.is_open(chat):
            await self._try("answer to a tap", self._gateway.send(WhatsAppSend(chat=chat, text=text), tap))

    async def download(self, file: SentFile) -> bytes:
        """The content of a file that came in; tried again for some seconds, then raises NotFetched."""
        pause = FIRST_PAUSE_SECONDS
        for _ in range(DOWNLOAD_TRIES - 1):
            try:
                return await self._gateway.download(file, LARGEST_BYTES)
            except NotFetched as error:
                log.info("download failed", error=error.text)
                await self._clock.sleep(pause)
                pause *= 2
        return await self._gateway.download(file, LARGEST_BYTES)
