"""Recordings of a voice: fetched, turned into text and shown; the text goes as if it had been written, at once or when
a person has read it."""

import msgspec

from farhand.channels.kit import texts
from farhand.channels.kit.card import Button, Card, VoiceTap, plain_notice, removal
from farhand.channels.kit.hiring import FindsSlots
from farhand.channels.kit.sendable_files import LARGEST_BYTES
from farhand.channels.kit.surface import ChatMessage, ChatSurface, NotFetched
from farhand.model.errors import BadInput, NotTranscribed
from farhand.model.voice import Transcriber
from farhand.model.words import Word, replace

VOICE = "voice:"
SEND, DROP = "send", "drop"
SENT, DROPPED = "Sent.", "Dropped."
NOTHING_SAID = "I heard no words in that recording, so nobody got anything."
TOO_LONG = "That recording is larger than 20 MB. Nobody got it."
NOT_FETCHED = "I could not fetch that recording. Send it again, or write it, please."
FORGOTTEN = "I no longer know what was said there. Send it again, please."


class HeardMessage(Word):
    """A message that was heard and waits for a yes, in the slot of the card that asks."""

    slot: str
    message: ChatMessage


class SpokenMessages:
    """The recordings of one chat. What was heard and not sent yet is in the slot of its card: no state here."""

    def __init__(self, surface: ChatSurface, chat: FindsSlots, transcriber: Transcriber | None) -> None:
        self._surface = surface
        self._chat = chat
        self._transcriber = transcriber

    def can_hear(self, message: ChatMessage) -> bool:
        """Whether there is something to hear, and whoever turns it into text."""
        return self._transcriber is not None and message.file is not None

    async def refuse(self, message: ChatMessage) -> None:
        """Says that recordings are not heard here."""
        await self._say(message, texts.NOT_HEARD)

    async def hear(self, message: ChatMessage) -> ChatMessage | None:
        """The message as if its words had been written; None where nobody is to get it yet, which is said."""
        try:
            heard = await self._transcribed(message)
        except NotFetched:
            await self._say(message, NOT_FETCHED)
            return None
        except (NotTranscribed, BadInput) as error:
            await self._say(message, f"{error.text} Nobody got what you said.")
            return None
        written = as_written(message, heard) if heard else None
        if written and self._transcriber is not None and self._transcriber.confirm:
            await self._chat.show(to_confirm(written), message.chat)
            return None
        await self._say(message, f"🎤 “{heard}”" if heard else NOTHING_SAID)
        return written

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

    async def _say(self, message: ChatMessage, text: str) -> None:
        await self._chat.show(_notice(message, text), message.chat)

    async def corrected(self, message: ChatMessage) -> HeardMessage | None:
        """What was meant, where the message is a reply to what was heard that says so."""
        if message.quoted is None or message.edits or message.foreign or not message.text.strip():
            return None
        held = await self.held(message.chat, message.quoted.reference)
        return held and replace(held, message=replace(held.message, text=message.text))

    async def held(self, chat: str, reference: str) -> HeardMessage | None:
        """What the card holds that the surface calls so; None when that is forgotten, or no such card."""
        slot = await self._chat.slot_of(chat, reference)
        message = held_message(slot)
        return HeardMessage(slot=slot, message=message) if message else None

    async def settle(self, held: HeardMessage) -> None:
        """Takes the card away: what it held was sent, or dropped."""
        await self._chat.show(removal(held.slot), held.message.chat)


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
