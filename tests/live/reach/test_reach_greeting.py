"""At a real terminal: the QR code for a phone comes when the tunnel is there; without one, what to run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.live.nodes import Home
from tests.live.reach.stand_ins import Cloudflared

from farhand.testing.tmux import Screen, terminal


@contextmanager
def demo(folder: Path, *flags: str, **variables: str) -> Iterator[Screen]:
    """As `make run` starts a node, in a terminal of its own."""
    home = Home(folder, PS1="$ ", **variables)
    words = home.command(
        "run", "--node", "desk", "-p", "0", "--no-telegram", "--demo", "--chat", "--end-workers", *flags
    )
    with terminal(home.folder, home.environment, columns=200, rows=60) as opened:
        opened.type(f"clear; {' '.join(words)}")
        try:
            yield opened
        finally:
            opened.press("C-u")
            opened.press("C-d")
            opened.wait(lambda text: text.rstrip().endswith("$"), "the shell's prompt")
            home.end_agents()


def test_the_code_for_a_phone_comes_when_the_tunnel_is_there(tmp_path: Path) -> None:
    cloudflared = Cloudflared(tmp_path / "programs")
    try:
        with demo(tmp_path, "--reach", "cloudflared", PATH=cloudflared.path) as screen:
            shown = screen.wait(lambda text: "On a phone: http" in text and "▄" in text, "the QR code")
            assert "/app/#pair=" in shown.partition("On a phone: ")[2]
            assert "The app on a phone cannot reach this node yet" not in shown
    finally:
        cloudflared.end()


def test_without_a_tunnel_it_says_what_to_run(tmp_path: Path) -> None:
    with demo(tmp_path, "--no-tunnel") as screen:
        shown = screen.wait(lambda text: "The app on a phone cannot reach this node yet." in text, "the sentence")
        assert "farhand restart --node desk --reach cloudflared" in shown
        assert "On a phone:" not in shown
