"""Recordings of a voice: fetched, turned into text and shown; the text goes as if it had been written, at once or when
a person has read it."""

from collections.abc import Awaitable, Callable

import anyio
import anyio.to_thread
import msgspec

from farhand.channels.kit import texts
from farhand.channels.kit.background import BackgroundJobs
from farhand.channels.kit.card import Button, Card, VoiceTap, plain_notice, removal
from farhand.channels.kit.fetching import PendingFiles
from farhand.channels.kit.hiring import FindsSlots
from farhand.channels.kit.patience import FetchPatience
from farhand.channels.kit.sendable_files import LARGEST_BYTES
from farhand.channels.kit.surface import ChatMessage, ChatSurface, ChatTap, NotFetched
from farhand.model.errors import BadInput, NotTranscribed, StoreError
from farhand.model.logger import get_logger
from farhand.model.voice import Transcriber
from farhand.model.words import replace

log = get_logger("chat")
VOICE = "voice:"
SEND, DROP = "send", "drop"
SENT, DROPPED = "Sent.", "Dropped."
NOTHING_SAID = "I heard no words in that recording, so nobody got anything."
TOO_LONG = "That recording is larger than 20 MB. Nobody got it."
NOT_FETCHED = "I could not fetch that recording. Send it again, or write it, please."
FORGOTTEN = "I no longer know what was said there. Send it again, please."

# Obeys a message as if it had been written.
TakeMessage = Callable[[ChatMessage], Awaitable[None]]


class SpokenMessages:
    """The recordings of one chat. What was heard and not sent yet is in the slot of its card: no state here."""

    def __init__(
        self,
        surface: ChatSurface,
        chat: FindsSlots,
        transcriber: Transcriber | None,
        pending: PendingFiles,
        background: BackgroundJobs,
        take: TakeMessage,
    ) -> None:
        self._surface = surface
        self._chat = chat
        self._transcriber = transcriber
        self._pending = pending
        self._background = background
        self._take = take

    async def hear(self, message: ChatMessage, patience: FetchPatience) -> None:
        """Takes a recording: on the disk when this returns, and mostly heard; one that takes longer is heard beside
        what comes after it."""
        if self._transcriber is None or message.file is None:
            await self._say(message, texts.NOT_HEARD)
            return
        await anyio.to_thread.run_sync(self._pending.keep, message)
        done = anyio.Event()
        self._background.start("chat voice", self.hear_now, message, done)
        await patience.wait(done)

    async def hear_now(self, message: ChatMessage, done: anyio.Event) -> None:
        """Hears a recording that is on the disk; a store that refuses leaves it there for the next start."""
        try:
            await self._hear(message)
        except StoreError as error:
            log.error("recording waits for the store", error=error.text)
            return
        finally:
            done.set()
        await anyio.to_thread.run_sync(self._pending.done, message)

    async def _hear(self, message: ChatMessage) -> None:
        try:
            heard = await self._transcribed(message)
        except NotFetched:
            await self._say(message, NOT_FETCHED)
        except (NotTranscribed, BadInput) as error:
            await self._say(message, f"{error.text} Nobody got what you said.")
        else:
            await self._bring(message, heard)

    async def _transcribed(self, message: ChatMessage) -> str:
        sent = message.file
        if sent is None or self._transcriber is None:
            raise NotTranscribed(texts.NOT_HEARD)
        if sent.size > LARGEST_BYTES:
            raise NotTranscribed(TOO_LONG)
        audio = await self._surface.download(sent)
        if len(audio) > LARGEST_BYTES:
            raise NotTranscribed(TOO_LONG)
        return await self._transcriber.transcribe(audio, sent.media_type)

    async def _bring(self, message: ChatMessage, heard: str) -> None:
        if not heard:
            await self._say(message, NOTHING_SAID)
            return
        written = as_written(message, heard)
        if self._transcriber is not None and self._transcriber.confirm:
            await self._chat.show(to_confirm(written), message.chat)
            return
        await self._chat.show(_notice(message, f"🎤 “{heard}”"), message.chat)
        await self._take(written)

    async def _say(self, message: ChatMessage, text: str) -> None:
        await self._chat.show(_notice(message, text), message.chat)

    async def correct(self, message: ChatMessage) -> bool:
        """Takes a reply to what was heard as what was meant; False when the message is no such reply."""
        if message.quoted is None or message.edits or message.foreign or not message.text.strip():
            return False
        slot = await self._chat.slot_of(message.chat, message.quoted.reference)
        heard = held_message(slot)
        if heard is None:
            return False
        await self._take(replace(heard, text=message.text))
        await self._chat.show(removal(slot), message.chat)
        return True

    async def take_tap(self, tap: ChatTap, what: str) -> str:
        """Sends what was heard, or drops it."""
        slot = await self._chat.slot_of(tap.chat, tap.reference)
        heard = held_message(slot)
        if heard is None:
            return FORGOTTEN
        if what == SEND:
            await self._take(heard)
        await self._chat.show(removal(slot), tap.chat)
        return SENT if what == SEND else DROPPED


def as_written(message: ChatMessage, heard: str) -> ChatMessage:
    """The message as if its words had been written."""
    return replace(message, text=heard, caption="", file=None, spoken=False)


def held_message(slot: str) -> ChatMessage | None:
    """The message that a card with that slot holds."""
    if not slot.startswith(VOICE):
        return None
    try:
        return msgspec.json.decode(slot.removeprefix(VOICE), type=ChatMessage)
    except msgspec.MsgspecError:
        return None


def to_confirm(heard: ChatMessage) -> Card:
    """Shows what was heard; its slot holds the message that it would be."""
    return Card(
        key=f"{VOICE}{heard.id}",
        slot=f"{VOICE}{msgspec.json.encode(heard).decode()}",
        head=f"🎤 I heard: “{heard.text}”\nSend it? To correct it, reply to this with the right words.",
        buttons=((Button(label="Send", tap=VoiceTap(what=SEND)), Button(label="Drop", tap=VoiceTap(what=DROP))),),
        topic=heard.topic,
        answers_reference=heard.reference,
    )


def _notice(message: ChatMessage, text: str) -> Card:
    notice = plain_notice(f"heard:{message.id}", text, answers_reference=message.reference, silent=True)
    return replace(notice, topic=message.topic)
