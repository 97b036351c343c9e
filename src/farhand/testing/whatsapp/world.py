"""The fake WhatsApp's state: one business number, the people that it talks to, media, templates, faults, calls."""

from __future__ import annotations

import base64
import itertools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from farhand.testing.telegram.bell import Bell
from farhand.testing.whatsapp.words import GraphCall, GraphFault, GraphRefusal, PhoneMessage

WINDOW_SECONDS = 24 * 3600.0
_NUMBERS = itertools.count(1)


@dataclass
class StoredMedia:
    """A file at WhatsApp."""

    content: bytes
    media_type: str
    name: str = ""


@dataclass
class PhoneOwner:
    """Somebody with WhatsApp; one with a username may show no number."""

    number: str
    bsuid: str
    name: str = "Mo"
    shows_number: bool = True
    shows_bsuid: bool = True
    # When they wrote last.
    wrote_at: float = 0.0
    chat: list[PhoneMessage] = field(default_factory=list)
    typing: int = 0


def new_message_id() -> str:
    """An id as WhatsApp makes them."""
    return f"wamid.HBgL{base64.b64encode(os.urandom(24)).decode()}"


class WhatsAppWorld:
    """All that WhatsApp knows."""

    def __init__(self) -> None:
        number = next(_NUMBERS)
        self.phone_id, self.waba_id = f"1065{os.getpid()}{number}", f"1022{os.getpid()}{number}"
        self.token, self.app_secret = f"EAA{os.urandom(12).hex()}", os.urandom(16).hex()
        self.display_number = "15550100000"
        self.people: list[PhoneOwner] = []
        self.media: dict[str, StoredMedia] = {}
        self.templates: list[dict[str, Any]] = []
        self.callback = ""
        self.verify_token = ""
        self.faults: list[GraphFault] = []
        self.calls: list[GraphCall] = []
        # What is still to be posted to the business, and how each post was answered.
        self.outgoing: list[bytes] = []
        self.answers: list[int] = []
        # Outside of the window: taken and reported as failed, as it mostly is, or refused at once.
        self.refuses_at_once = False
        self.bell = Bell()
        self.now: Callable[[], float] = time.time

    def owner(self, name: str) -> PhoneOwner:
        """The person of that number or BSUID."""
        found = next((one for one in self.people if name in (one.number, one.bsuid)), None)
        if found is None:
            raise GraphRefusal(131026, "Message undeliverable", title="Message undeliverable")
        return found

    def fault_for(self, text: str) -> GraphFault | None:
        """The first fault that was ordered for such a request."""
        found = next((one for one in self.faults if one.contains in text and one.times), None)
        if found:
            found.times -= 1
        return found

    def message(self, identity: str) -> PhoneMessage:
        """A message that was sent, by either side."""
        found = next((one for owner in self.people for one in owner.chat if one.id == identity), None)
        if found is None:
            raise GraphRefusal(131009, f"message {identity} is not known")
        return found

    def is_open(self, owner: PhoneOwner) -> bool:
        """Whether the person wrote within the last day."""
        return self.now() < owner.wrote_at + WINDOW_SECONDS
