"""HTTP requests that can be read in one way only: what a program in front of us could read differently is refused."""

from __future__ import annotations

from typing import TypeAlias

import h11

from farhand.model.lazy_pattern import lazy_pattern

NextEvent: TypeAlias = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]
_END = lazy_pattern(rb"\n\r?\n")
_UNSEEN = lazy_pattern(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# Above what any route takes. Who announced more could go on sending long after the answer.
LONGEST_BODY = 128 * 1024 * 1024
_LENGTHS = lazy_pattern(rb"\r\ncontent-length:[ \t]*([^\r]*)")
# A name, an IPv4 address or an IPv6 one in brackets, and a port; an empty one is nobody's.
_HOST_TEXT = rb"(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::[0-9]{0,5})?|"
_HOST = lazy_pattern(_HOST_TEXT)
# Most heads, told in one pass: a request line, then a Host and headers that say nothing of a body.
_NAMES = rb"[Hh][Oo][Ss][Tt]:|[Cc][Oo][Nn][Tt][Ee][Nn][Tt]-[Ll]|[Tt][Rr][Aa][Nn][Ss][Ff][Ee][Rr]-"
_PLAIN = lazy_pattern(
    rb"[^\x00-\x20\x7f]++ [^\x00-\x20\x7f]++ HTTP/1\.[01]\r\n(?:(?:(?!%s)[^\x00-\x20\x7f][^\x00-\x08\x0a-\x1f\x7f]*+"
    rb"|[Hh]ost:[ ]?(?i:%s))\r\n)*+\r\n" % (_NAMES, _HOST_TEXT)
)


def is_plain(received: bytes) -> bool:
    """Whether a head stands at the beginning that is read in one way only, and has nothing to say of a body."""
    return _PLAIN.match(received) is not None


def why_ambiguous(received: bytes) -> str:
    """Why the head at the beginning could be read in another way, too; empty for a plain one, and for one that is not
    there as a whole. What is no head at all, or has two Hosts, is left to the parser."""
    end = _END.search(received)
    if end is None:
        return ""
    head = received[: end.end()].lower()
    if not head.count(b"\r") == head.count(b"\n") == head.count(b"\r\n"):
        return "a line end of one character"
    if b"\n " in head or b"\n\t" in head or _UNSEEN.search(head):
        return "a folded line, or a control character"
    if not head.partition(b"\r\n")[0].endswith((b" http/1.1", b" http/1.0")):
        return "another version of HTTP"
    if (b"\r\ncontent-length:" in head or b"\r\ntransfer-encoding:" in head) and (why := _why_no_length(head)):
        return why
    return "" if _HOST.fullmatch(_host(head)) else "no Host"


def _why_no_length(head: bytes) -> str:
    lengths = [one.strip(b" \t") for one in _LENGTHS.findall(head)]
    if len(lengths) > 1 or not all(one.isdigit() for one in lengths):
        return "no single Content-Length"
    if lengths and (len(lengths[0]) > 12 or int(lengths[0]) > LONGEST_BODY):
        return "a body that nobody here would take"
    if b"\r\ntransfer-encoding:" not in head:
        return ""
    is_new = head.partition(b"\r\n")[0].endswith(b"http/1.1")
    return "" if is_new and not lengths else "two ways to tell the body's length"


def _host(head: bytes) -> bytes:
    start = head.find(b"\r\nhost:")
    return head[start + len(b"\r\nhost:") : head.find(b"\r", start + 1)].strip(b" \t") if start >= 0 else b""


class StrictConnection(h11.Connection):
    """Reads requests, and nothing that is ambiguous. A body in chunks is the last thing on its connection: where it
    ends is what programs differ about most, and so nothing can be hidden behind it."""

    def __init__(self, longest_head: int) -> None:
        super().__init__(h11.SERVER, longest_head)

    def next_event(self) -> NextEvent:
        """The next event, as h11 has it, or RemoteProtocolError."""
        if self.their_state is not h11.IDLE or not (received := self.trailing_data[0]) or _PLAIN.match(received):
            return super().next_event()
        if why := why_ambiguous(received):
            raise h11.RemoteProtocolError(why, error_status_hint=400)
        event = super().next_event()
        return _last(event) if isinstance(event, h11.Request) and _is_in_chunks(event) else event


def _is_in_chunks(request: h11.Request) -> bool:
    return any(name.lower() == b"transfer-encoding" for name, _ in request.headers.raw_items())


def _last(request: h11.Request) -> h11.Request:
    """The request as one that wants its connection closed."""
    headers = [*request.headers, (b"connection", b"close")]
    return h11.Request(method=request.method, target=request.target, headers=headers, http_version=request.http_version)
