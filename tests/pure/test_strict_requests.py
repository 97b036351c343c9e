"""Heads of requests: the quick look never lets pass what the careful one refuses."""

from hypothesis import given, settings
from hypothesis import strategies as some

from farhand.server.strict_requests import LONGEST_BODY, is_plain, why_ambiguous

PIECES = some.sampled_from(
    [
        b"GET / HTTP/1.1", b"\r\n", b"\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b"\x0b", b"\x7f", b"Host:", b"localhost",
        b"[::1]", b"[::1]x", b":80", b"/x", b"@", b"Content-Length:", b"content-length: 5", b"5", b", ", b"+",
        b"X-A: b", b"Transfer-Encoding: chunked", b"transfer-encoding", b"\r\n\r\n", b"\xff", b"HTTP/1.0",
        b"\r\nHost: a\r\n",
    ]
)  # fmt: skip


@settings(max_examples=2000)
@given(pieces=some.lists(PIECES, max_size=14))
def test_the_quick_look_passes_nothing_that_the_careful_one_refuses(pieces: list[bytes]) -> None:
    received = b"".join([b"GET / HTTP/1.1\r\n", *pieces, b"\r\n\r\n"])
    if is_plain(received):
        assert why_ambiguous(received) == ""
        assert b"\r\ntransfer-encoding:" not in received.partition(b"\r\n\r\n")[0].lower()


def test_a_long_head_is_looked_at_once() -> None:
    for line in (b"X: " + b"a" * 50 + b"\r\n", b"host: a\r\n", b"host: " + b"a" * 250 + b"\r\n", b"\r", b"a\n"):
        head = b"GET / HTTP/1.1\r\n" + line * (16_000 // len(line)) + b"!"
        # Nothing that grows with the square of its length would come to an end here.
        for _ in range(200):
            assert not is_plain(head)
            assert not why_ambiguous(head)


def test_what_clients_send_is_plain() -> None:
    assert is_plain(b"GET /workers HTTP/1.1\r\nHost: 127.0.0.1:8081\r\nContent-Type: a\r\nX: b\tc\r\n\r\nmore")
    assert not is_plain(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx")
    assert not why_ambiguous(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx")


def test_a_body_that_no_route_would_take_is_refused_with_its_head() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
    assert why_ambiguous(head % LONGEST_BODY) == ""
    for length in (LONGEST_BODY + 1, 10**11, 10**40):
        assert why_ambiguous(head % length)
