"""What a test sees of the fake WhatsApp: messages as a phone shows them, calls as they came, faults on order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class PhoneMessage:
    """One message in a person's chat with the business."""

    id: str
    from_business: bool
    kind: str
    text: str = ""
    # What can be tapped: each label with what it carries; rows of a list have descriptions, too.
    buttons: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    reply_to: str = ""
    file_name: str = ""
    content: bytes = b""
    media_type: str = ""
    # What somebody reacted with, whether the other side has read it, and whether it was never delivered.
    reaction: str = ""
    read: bool = False
    failed: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """What can be tapped."""
        return tuple(self.buttons)


@dataclass(frozen=True)
class GraphCall:
    """One request to the Graph API, and how it ended."""

    method: str
    path: str
    body: dict[str, Any]
    outcome: str


@dataclass
class GraphFault:
    """What goes wrong with the next requests whose body or path has these words: a status, an answer that never comes
    (`cut`), or one that comes for nothing (`garbage`); `after` it had its effect."""

    contains: str = ""
    kind: str = "status"
    status: int = 500
    code: int = 131000
    message: str = "Something went wrong"
    after: bool = False
    times: int = 1


class GraphRefusal(Exception):
    """An error as the Graph API words it."""

    def __init__(self, code: int, details: str, status: int = 400, title: str = "Parameter value is not valid") -> None:
        super().__init__(details)
        self.code = code
        self.status = status
        self.details = details
        self.title = title

    def as_json(self) -> dict[str, Any]:
        """The body of its answer."""
        return {
            "error": {
                "message": f"(#{self.code}) {self.title}",
                "type": "OAuthException",
                "code": self.code,
                "error_data": {"messaging_product": "whatsapp", "details": self.details},
                "fbtrace_id": "AbCdEf",
            }
        }
