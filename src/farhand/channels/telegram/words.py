"""What Telegram sends us and what we send it, as words: foreign data is checked here once, block by block."""

from typing import TypeAlias

import msgspec

from farhand.model.words import Attachment, Word

# --- what comes in; fields that we do not read are not looked at


class TelegramPerson(msgspec.Struct, frozen=True):
    """Somebody on Telegram."""

    id: int
    first_name: str = ""
    is_bot: bool = False


class TelegramChat(msgspec.Struct, frozen=True):
    """Where they speak."""

    id: int
    type: str = "private"


class PhotoSize(msgspec.Struct, frozen=True):
    """One of the sizes of a photo."""

    file_id: str
    file_unique_id: str = ""
    file_size: int = 0
    width: int = 0


class Document(msgspec.Struct, frozen=True):
    """A file that somebody sent."""

    file_id: str
    file_name: str = ""
    mime_type: str = ""
    file_size: int = 0


class WhoseWords(msgspec.Struct, frozen=True, kw_only=True):
    """Whose words a message has: Telegram has had several names for where it was forwarded from."""

    forward_origin: msgspec.Raw = msgspec.Raw(b"")
    forward_date: int = 0
    forward_from: msgspec.Raw = msgspec.Raw(b"")
    forward_from_chat: msgspec.Raw = msgspec.Raw(b"")
    forward_sender_name: msgspec.Raw = msgspec.Raw(b"")
    is_automatic_forward: bool = False
    via_bot: msgspec.Raw = msgspec.Raw(b"")
    # A bot that a person let write in their name.
    sender_business_bot: msgspec.Raw = msgspec.Raw(b"")
    business_connection_id: msgspec.Raw = msgspec.Raw(b"")

    @property
    def foreign(self) -> bool:
        """Whether somebody else wrote it, or a bot did."""
        forwarded = (self.forward_origin, self.forward_from, self.forward_from_chat, self.forward_sender_name)
        of_bots = (self.via_bot, self.sender_business_bot, self.business_connection_id)
        return bool(self.forward_date) or any(map(bytes, (*forwarded, *of_bots)))


class Quoted(WhoseWords, frozen=True):
    """The message that a message replies to."""

    message_id: int
    text: str = ""
    caption: str = ""
    sender: TelegramPerson | None = msgspec.field(default=None, name="from")


class TelegramMessage(WhoseWords, frozen=True):
    """Something that somebody wrote."""

    message_id: int
    chat: TelegramChat
    date: int = 0
    edit_date: int = 0
    sender: TelegramPerson | None = msgspec.field(default=None, name="from")
    text: str = ""
    caption: str = ""
    photo: tuple[PhotoSize, ...] = ()
    document: Document | None = None
    # What is spoken: each is read by itself, so that a strange one costs that one alone.
    voice: msgspec.Raw = msgspec.Raw(b"")
    audio: msgspec.Raw = msgspec.Raw(b"")
    video_note: msgspec.Raw = msgspec.Raw(b"")
    reply_to_message: Quoted | None = None
    message_thread_id: int | None = None
    is_topic_message: bool = False
    # A channel or a nameless admin that speaks in the place of a person.
    sender_chat: TelegramChat | None = None

    @property
    def spoken(self) -> bool:
        """Whether it is a recording of somebody's voice."""
        return any(map(bytes, (self.voice, self.audio, self.video_note)))


class CallbackQuery(msgspec.Struct, frozen=True):
    """A tap on a button."""

    id: str
    sender: TelegramPerson = msgspec.field(name="from")
    data: str = ""
    message: TelegramMessage | None = None


class Update(msgspec.Struct, frozen=True):
    """An update; each part is read by itself, so that a strange one costs that one alone."""

    update_id: int
    message: msgspec.Raw = msgspec.Raw()
    edited_message: msgspec.Raw = msgspec.Raw()
    callback_query: msgspec.Raw = msgspec.Raw()


UpdateContent: TypeAlias = TelegramMessage | CallbackQuery | None


# --- what goes out: the bodies of parcels


class Key(Word):
    """A button as Telegram has it."""

    text: str
    data: str


class Post(Word, tag="post"):
    """A new message. `plain` is what is sent when there is no HTML, or when Telegram will not read it."""

    chat: int
    html: str
    plain: str
    keys: tuple[tuple[Key, ...], ...] = ()
    silent: bool = False
    # The phone opens a reply to this message.
    wants_reply: bool = False
    # The worker in whose topic it goes, and that topic, once it is known.
    topic: str = ""
    thread: int | None = None
    # The message that it answers: by its number, or by the slot of one of ours.
    reply_to: int | None = None
    reply_to_slot: str = ""


class Amend(Word, tag="amend"):
    """Another text for the message of a slot."""

    chat: int
    slot: str
    html: str
    plain: str
    keys: tuple[tuple[Key, ...], ...] = ()


class Disarm(Word, tag="disarm"):
    """Takes the buttons away from the message of a slot."""

    chat: int
    slot: str


class Remove(Word, tag="remove"):
    """Takes the message of a slot away."""

    chat: int
    slot: str


class React(Word, tag="react"):
    """A reaction to a message of the manager."""

    chat: int
    message: int
    emoji: str


class Show(Word, tag="show"):
    """A file, as a photo or as a document; `text` is its content when it is no file on the disk."""

    chat: int
    file: Attachment
    text: str = ""
    caption: str
    photo: bool
    worker: str = ""
    silent: bool = False
    topic: str = ""
    thread: int | None = None


Outgoing: TypeAlias = Post | Amend | Disarm | Remove | React | Show
_DECODER = msgspec.json.Decoder(Outgoing)
_ENCODER = msgspec.json.Encoder()


def encode_outgoing(outgoing: Outgoing) -> bytes:
    """The outgoing as the outbox keeps it."""
    return _ENCODER.encode(outgoing)


def decode_outgoing(body: bytes) -> Outgoing | None:
    """The outgoing that was kept; None for one that this version cannot read."""
    try:
        outgoing: Outgoing = _DECODER.decode(body)
    except msgspec.MsgspecError:
        return None
    return outgoing
