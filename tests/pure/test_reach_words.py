"""What tunnels say, and which way a node takes: read from what the real programs print."""

from __future__ import annotations

import msgspec
import pytest

from farhand.model.errors import SettingWrong
from farhand.model.reach import ReachMode, reach_mode
from farhand.reach.cloudflared import address_in, complaint_in, is_registered, named_arguments, quick_arguments
from farhand.reach.probe import probe
from farhand.reach.tailscale import Served, address, free_port, port_of

BANNER = """
2024-05-14T08:01:53Z INF Requesting new quick Tunnel on trycloudflare.com...
2024-05-14T08:01:56Z INF +--------------------------------------------------------------------------------------------+
2024-05-14T08:01:56Z INF |  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |
2024-05-14T08:01:56Z INF |  https://seconds-donors-mixing-wave.trycloudflare.com                                       |
2024-05-14T08:01:56Z INF +--------------------------------------------------------------------------------------------+
"""
REFUSED = """2024-05-14T08:01:53Z INF Requesting new quick Tunnel on trycloudflare.com...
2024-05-14T08:01:54Z ERR Error unmarshaling QuickTunnel response: error code: 1015 status_code="429 Too Many Requests"
"""
TARGET = "http://127.0.0.1:8081"


def test_the_address_of_a_quick_tunnel_is_read_off_its_log() -> None:
    assert address_in(BANNER) == "https://seconds-donors-mixing-wave.trycloudflare.com"
    assert address_in(BANNER.partition("|  https")[0]) == ""


@pytest.mark.parametrize(
    "line",
    [
        '2024 ERR  error="Unable to reach the origin service" dest=https://evil.example/ originService=http://x',
        "2024 INF Requesting new quick Tunnel on https://api.trycloudflare.com/tunnel ...",
        "2024 INF |  https://user:word@evil.example  |",
        "2024 INF |  https://evil.example/a?b  |",
        "2024 INF |  https://ev%69l.example  |",
    ],
)
def test_no_other_line_is_taken_for_an_address(line: str) -> None:
    assert address_in(line) == ""


def test_what_went_wrong_is_read_off_the_log() -> None:
    told = complaint_in(REFUSED)
    assert told == 'Error unmarshaling QuickTunnel response: error code: 1015 status_code="429 Too Many Requests"'
    assert complaint_in(BANNER) == ""
    assert is_registered("2024 INF Registered tunnel connection connIndex=0")


def test_how_cloudflared_is_called() -> None:
    assert quick_arguments(TARGET) == ("tunnel", "--config", "/dev/null", "--no-autoupdate", "--url", TARGET)
    assert named_arguments("team", TARGET) == ("tunnel", "--no-autoupdate", "run", "--url", TARGET, "team")


def served(text: str) -> Served:
    return msgspec.json.decode(text, type=Served)


def test_what_somebody_else_serves_is_left_alone() -> None:
    nothing = served("{}")
    assert (port_of(nothing, TARGET), free_port(nothing)) == (None, 443)
    foreign = served('{"TCP":{"443":{"HTTPS":true}},"Web":{"d.ts.net:443":{"Handlers":{"/":{"Path":"/srv"}}}}}')
    assert (port_of(foreign, TARGET), free_port(foreign)) == (None, 8443)
    ours = served(
        '{"TCP":{"8443":{"HTTPS":true}},"Web":{"d.ts.net:8443":{"Handlers":{"/":{"Proxy":"http://127.0.0.1:8081"}}}}}'
    )
    assert port_of(ours, TARGET) == 8443
    shared = served(
        '{"Web":{"d.ts.net:443":{"Handlers":{"/":{"Proxy":"http://127.0.0.1:8081"},"/x":{"Path":"/srv"}}}}}'
    )
    assert port_of(shared, TARGET) is None
    full = served('{"TCP":{"443":{},"8443":{},"10000":{}}}')
    assert free_port(full) is None


def test_the_address_on_the_tailnet() -> None:
    assert address("desk.tail1234.ts.net.", 443) == "https://desk.tail1234.ts.net"
    assert address("desk.tail1234.ts.net", 8443) == "https://desk.tail1234.ts.net:8443"


def test_the_way_in_is_one_of_four() -> None:
    assert reach_mode("") is ReachMode.AUTO
    assert reach_mode(" Tailscale ") is ReachMode.TAILSCALE
    with pytest.raises(SettingWrong, match="FARHAND_REACH is one of auto, tailscale, cloudflared, none, not 'ngrok'"):
        reach_mode("ngrok")


@pytest.mark.anyio
async def test_a_name_that_is_not_known_here_proves_nothing() -> None:
    assert await probe("https://quiet-fox.invalid") == ""
    assert await probe("http://127.0.0.1:9") == "No connection (ConnectError)."
