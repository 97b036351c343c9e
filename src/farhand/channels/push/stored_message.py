"""A push message as it waits in the outbox: it is encrypted only when it is sent."""

import msgspec

from farhand.model.words import AskId, Word


class PushMessage(Word):
    """What goes to one device."""

    body: str
    # A newer message of the same topic takes the place of one that was not delivered.
    topic: str
    ttl_seconds: int
    urgent: bool = False
    # The asks that it is about: all settled before it was sent, it is not sent.
    asks: tuple[AskId, ...] = ()


_messages = msgspec.json.Decoder(PushMessage)


def encode_message(message: PushMessage) -> bytes:
    """As it is written down."""
    return msgspec.json.encode(message)


def decode_message(body: bytes) -> PushMessage:
    """As it was."""
    return _messages.decode(body)
