"""Who sent a request, by its headers: what passed through somebody else, what has the key, what a foreign page sent."""

from __future__ import annotations

import pytest

from farhand.model.http_guard import (
    forwarding_header,
    has_bearer,
    is_local_host,
    is_loopback,
    is_own_origin,
    is_secret,
    why_refused,
)

KEY = "k" * 40


@pytest.mark.parametrize(
    "name", ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "cf-connecting-ip", "x-real-ip", "cdn-loop"]
)
def test_a_proxy_shows_itself(name: str) -> None:
    assert forwarding_header({"host": "localhost", name: "1.2.3.4"}) == name
    assert why_refused({"host": "localhost", name: ""}, None, KEY) == f"forwarded ({name})"


def test_a_request_of_this_machine_has_no_such_header() -> None:
    assert forwarding_header({"host": "localhost:1", "user-agent": "curl", "x-farhand-key": "x"}) == ""


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", KEY, f"bearer {KEY}", f"Bearer {KEY}x", "Bearer ü", f"Basic {KEY}"]
)
def test_only_the_whole_key_behind_its_word_is_the_key(given: str) -> None:
    assert has_bearer({"authorization": f"Bearer {KEY}"}, KEY)
    assert not has_bearer({"authorization": given}, KEY)
    assert not has_bearer({}, KEY)


def test_an_empty_secret_is_known_to_nobody() -> None:
    assert not is_secret("", "")
    assert not has_bearer({"authorization": "Bearer "}, "")
    assert is_secret("ü", "ü")


def test_addresses_of_this_machine() -> None:
    assert all(is_loopback(one) for one in ("127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"))
    assert not any(is_loopback(one) for one in ("203.0.113.1", "::ffff:203.0.113.1", "0.0.0.0", "localhost", ""))


def test_hosts_of_this_machine() -> None:
    assert all(is_local_host(one) for one in ("localhost", "LOCALHOST:81", "localhost.", "127.0.0.1:1", "[::1]:80"))
    assert not any(is_local_host(one) for one in ("localhost.evil.example", "evil.example:80", "[::1", "", "10.0.0.1"))


@pytest.mark.parametrize(
    "host",
    [
        "localhost/x", "localhost?x", "localhost#x", "x@localhost", "localhost@evil.example", "[::1]x", "x[::1]", "::1",
        "local\thost", "localhost\t", " localhost", "localhost\n", "localhost:", "localhost:8 1", "localhost:+1",
        "localhost:123456", "localhost:\u0661", "localhost..", "127.0.0.1.", "0x7f.0.0.1", "127.1", "2130706433",
        "[::1%lo]", "[::ffff:127.0.0.1]", "\u212aocalhost", "lo\u0441alhost", "localho\u017ft",
        "localhost, evil.example", "x" * 9000,
    ],
)  # fmt: skip
def test_what_only_looks_like_this_machine_is_none_of_it(host: str) -> None:
    assert not is_local_host(host)


def test_a_page_of_another_port_is_foreign() -> None:
    assert is_own_origin("http://localhost:1", "localhost:1")
    assert not is_own_origin("http://localhost:2", "localhost:1")
    assert not is_own_origin("null", "localhost:1")
    # A rebound name is its own origin, but none of this machine's.
    assert not is_own_origin("http://evil.example", "evil.example")


def test_whoever_has_the_key_may_come_from_anywhere() -> None:
    headers = {"authorization": f"Bearer {KEY}", "host": "team.example.com", "x-forwarded-for": "203.0.113.9"}
    assert why_refused(headers, "203.0.113.9", KEY) == ""
    assert why_refused({**headers, "authorization": "Bearer no"}, "203.0.113.9", KEY) == "forwarded (x-forwarded-for)"
