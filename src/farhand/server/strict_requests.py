"""HTTP requests that can be read in one way only: what a program in front of us could read differently is refused."""

from __future__ import annotations

import re
from typing import TypeAlias

import h11

NextEvent: TypeAlias = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]
_END = re.compile(rb"\n\r?\n")
# A line end of one character, a line that goes on in the next one, and what is not to be seen.
_LOOSE = re.compile(rb"(?<!\r)\n|\r(?!\n)|\n[ \t]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LENGTHS = re.compile(rb"\r\ncontent-length:[ \t]*([^\r]*)", re.IGNORECASE)
_CODING = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_HOSTS = re.compile(rb"\r\nhost:[ \t]*([^\r]*?)[ \t]*\r", re.IGNORECASE)
# A name, an IPv4 address or an IPv6 one in brackets, and a port; an empty one is nobody's.
_HOST = re.compile(rb"(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::[0-9]{0,5})?|", re.IGNORECASE)


def why_ambiguous(received: bytes) -> str:
    """Why the head at the beginning could be read in another way, too; empty for a plain one, and for one that is not
    there as a whole. Names that are no names at all are left to the parser."""
    end = _END.search(received)
    if end is None:
        return ""
    head = received[: end.end()]
    if _LOOSE.search(head):
        return "line ends, folded lines or control characters"
    lengths, in_chunks = _LENGTHS.findall(head), _CODING.search(head) is not None
    if len(lengths) > 1 or not all(one.strip(b" \t").isdigit() for one in lengths):
        return "no single Content-Length"
    if in_chunks and (lengths or not head.partition(b"\r\n")[0].endswith(b"HTTP/1.1")):
        return "two ways to tell the body's length"
    return "" if all(_HOST.fullmatch(one) for one in _HOSTS.findall(head)) else "no Host"


class StrictConnection(h11.Connection):
    """Reads requests, and nothing that is ambiguous. A body in chunks is the last thing on its connection: where it
    ends is what programs differ about most, and so nothing can be hidden behind it."""

    def __init__(self, longest_head: int) -> None:
        super().__init__(h11.SERVER, longest_head)

    def next_event(self) -> NextEvent:
        """The next event, as h11 has it, or RemoteProtocolError."""
        if self.their_state is h11.IDLE and (why := why_ambiguous(self.trailing_data[0])):
            raise h11.RemoteProtocolError(why, error_status_hint=400)
        event = super().next_event()
        if isinstance(event, h11.Request) and any(name == b"transfer-encoding" for name, _ in event.headers):
            headers = [*event.headers, (b"connection", b"close")]
            return h11.Request(
                method=event.method, target=event.target, headers=headers, http_version=event.http_version
            )
        return event
