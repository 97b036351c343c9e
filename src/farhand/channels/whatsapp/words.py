"""What WhatsApp posts to us and what we send it, as words: foreign data is checked here once, block by block."""

from typing import TypeAlias

import msgspec

from farhand.model.words import Attachment, Word

# --- what comes in; fields that we do not read are not looked at


class WhatsAppText(msgspec.Struct, frozen=True):
    """The words of a message."""

    body: str = ""


class WhatsAppMedia(msgspec.Struct, frozen=True):
    """A picture, a document, a recording, a video or a sticker."""

    id: str
    mime_type: str = ""
    caption: str = ""
    filename: str = ""
    voice: bool = False


class WhatsAppChoice(msgspec.Struct, frozen=True):
    """The button or the row of a list that somebody tapped."""

    id: str
    title: str = ""


class WhatsAppInteractive(msgspec.Struct, frozen=True):
    """A tap on a button or a row."""

    button_reply: WhatsAppChoice | None = None
    list_reply: WhatsAppChoice | None = None


class WhatsAppQuickReply(msgspec.Struct, frozen=True):
    """A tap on a template's button."""

    payload: str = ""
    text: str = ""


class WhatsAppContext(msgspec.Struct, frozen=True):
    """What a message refers to: one that it answers, or that it was forwarded."""

    id: str = ""
    forwarded: bool = False
    frequently_forwarded: bool = False


class WhatsAppEdit(msgspec.Struct, frozen=True):
    """Other words for a message."""

    original_message_id: str
    message: "WhatsAppMessage | None" = None


class WhatsAppMessage(msgspec.Struct, frozen=True):
    """Something that somebody wrote, sent or tapped."""

    id: str = ""
    type: str = ""
    timestamp: str = "0"
    sender: str = msgspec.field(default="", name="from")
    from_user_id: str = ""
    group_id: str = ""
    text: WhatsAppText | None = None
    image: WhatsAppMedia | None = None
    document: WhatsAppMedia | None = None
    audio: WhatsAppMedia | None = None
    video: WhatsAppMedia | None = None
    interactive: WhatsAppInteractive | None = None
    button: WhatsAppQuickReply | None = None
    context: WhatsAppContext | None = None
    edit: WhatsAppEdit | None = None


class WhatsAppProfile(msgspec.Struct, frozen=True):
    """What somebody calls themselves."""

    name: str = ""


class WhatsAppContact(msgspec.Struct, frozen=True):
    """Who is behind the messages of one post; somebody with a username may show no number."""

    wa_id: str = ""
    user_id: str = ""
    profile: WhatsAppProfile = WhatsAppProfile()


class WhatsAppFailure(msgspec.Struct, frozen=True):
    """Why a message did not get through."""

    code: int = 0
    title: str = ""
    message: str = ""


class WhatsAppStatus(msgspec.Struct, frozen=True):
    """What became of one of our messages."""

    id: str
    status: str
    errors: tuple[WhatsAppFailure, ...] = ()


class _Metadata(msgspec.Struct, frozen=True):
    phone_number_id: str = ""


class WhatsAppValue(msgspec.Struct, frozen=True):
    """One change; each message and status is read by itself, so that a strange one costs that one alone."""

    metadata: _Metadata = _Metadata()
    contacts: tuple[WhatsAppContact, ...] = ()
    messages: tuple[msgspec.Raw, ...] = ()
    statuses: tuple[msgspec.Raw, ...] = ()


class _Change(msgspec.Struct, frozen=True):
    field: str = ""
    value: msgspec.Raw = msgspec.Raw(b"{}")


class _Entry(msgspec.Struct, frozen=True):
    changes: tuple[_Change, ...] = ()


class WhatsAppPost(msgspec.Struct, frozen=True):
    """What is posted to the webhook."""

    object: str = ""
    entry: tuple[_Entry, ...] = ()


# --- what goes out: the bodies of parcels


class WhatsAppKey(Word):
    """A button or a row: what it says, and what it carries."""

    text: str
    data: str
    # The whole of what it says, where that is more.
    more: str = ""


class WhatsAppSend(Word, tag="send"):
    """A new message. With `keys` it has buttons, or a list where there are many or long ones."""

    chat: str
    text: str
    keys: tuple[WhatsAppKey, ...] = ()
    # The message that it answers: by what WhatsApp calls it, or by the slot of one of ours.
    reply_to: str = ""
    reply_to_slot: str = ""


class WhatsAppReact(Word, tag="react"):
    """A reaction to a message of the manager."""

    chat: str
    message: str
    emoji: str


class WhatsAppShow(Word, tag="show"):
    """A file; `text` is its content when it is no file on the disk."""

    chat: str
    file: Attachment
    text: str = ""
    caption: str = ""
    picture: bool = False
    worker: str = ""
    reply_to: str = ""


class WhatsAppReopen(Word, tag="reopen"):
    """The template that asks the manager to reopen the window."""

    chat: str


WhatsAppOutgoing: TypeAlias = WhatsAppSend | WhatsAppReact | WhatsAppShow | WhatsAppReopen
_DECODER = msgspec.json.Decoder(WhatsAppOutgoing)
_ENCODER = msgspec.json.Encoder()


def encode_outgoing(outgoing: WhatsAppOutgoing) -> bytes:
    """The outgoing as the outbox keeps it."""
    return _ENCODER.encode(outgoing)


def decode_outgoing(body: bytes) -> WhatsAppOutgoing | None:
    """The outgoing that was kept; None for one that this version cannot read."""
    try:
        outgoing: WhatsAppOutgoing = _DECODER.decode(body)
    except msgspec.MsgspecError:
        return None
    return outgoing
