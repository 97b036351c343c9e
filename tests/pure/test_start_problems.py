"""Why an agent does not run is told in plain words and with what to do, never as the picture of its screen."""

import pytest

from farhand.model.phrases import said
from farhand.model.start_problems import explained, of_turn
from farhand.model.words import Phrase


def told(why: str) -> str:
    """The reason in English."""
    reason = explained(why)
    return said(reason) if isinstance(reason, Phrase) else reason


@pytest.mark.parametrize(
    ("why", "begins"),
    [
        ("Not logged in · Please run /login", "not signed in. Sign in at the desk"),
        ("Codex did not start (Sign in with ChatGPT)", "not signed in."),
        ("OpenCode: run opencode auth login", "not signed in."),
        (
            "Qwen Code did not start (Authentication required: Use Qwen Code CLI to authenticate first.)",
            "not signed in.",
        ),
        ("API Error: 401 Invalid API key", "its key or sign-in is refused."),
        ("When using Gemini API, you must specify the GEMINI_API_KEY environment variable.", "it has no key."),
        ("Please set an Auth method in your settings.json", "it has no key."),
        ("Unable to connect to Anthropic services: getaddrinfo ENOTFOUND api", "no network."),
        ("mine:agent did not start (ModuleNotFoundError: No module named 'mine').", "mine:agent did not start (Module"),
        ("Do you trust the files in this folder?", "it asks whether its folder can be trusted."),
        ("There is no 'claude' on PATH: npm install -g x", "There is no 'claude' on PATH: npm install -g x"),
        ("There is no folder /x; ann cannot work there.", "There is no folder /x; ann cannot work there."),
        ("", "No reason was given."),
    ],
)
def test_a_reason(why: str, begins: str) -> None:
    assert told(why).startswith(begins)


def test_a_splash_screen_is_not_shown() -> None:
    screen = "X did not start (status 1: ╭────╮\n│ ▛▜ Welcome │\n╰────╯\n\nSegmentation fault)."
    assert told(screen) == "X did not start (status 1: … Segmentation fault)."
    assert len(told("word " * 500)) == 240


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("API Error: 401 invalid x-api-key", "Its key or sign-in is refused. Renew it at the desk, then try again."),
        ("Reconnecting... waiting for network", "No network. Say it again when the network is back."),
        (
            "Missing environment variable: `MY_KEY`.",
            "It has no key. Sign in at the desk, or set its key where the node",
        ),
        ("fetch failed", "No network. Say it again when the network is back."),
        ("the tests do not pass", ""),
        ("", ""),
    ],
)
def test_a_failed_turn_says_what_to_do_where_that_is_known(error: str, says: str) -> None:
    assert of_turn(error).startswith(says)
    assert bool(of_turn(error)) is bool(says)
