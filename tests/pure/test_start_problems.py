"""Why an agent does not run is told in plain words and with what to do, never as the picture of its screen."""

import pytest

from farhand.manifests import how_to_sign_in
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


SIGN_IN = "run claude and type /login"


@pytest.mark.parametrize(
    ("why", "says"),
    [
        ("Not logged in · Please run /login", f"not signed in. Sign in at the desk: {SIGN_IN}. Then try again."),
        ("API Error: 401 Invalid API key", f"its key or sign-in is refused. Renew it at the desk: {SIGN_IN}. Then"),
        ("you must specify the GEMINI_API_KEY", f"it has no key. Sign in at the desk: {SIGN_IN}. Or set its key"),
        (
            "Model not found: fake/x",
            f"it cannot use its model. Sign in at the desk where that model comes from: {SIGN_IN}.",
        ),
        ("fetch failed", "no network. It is tried again by itself."),
    ],
)
def test_how_to_sign_in_is_said_where_it_is_known(why: str, says: str) -> None:
    reason = explained(why, SIGN_IN)
    assert isinstance(reason, Phrase)
    assert said(reason).startswith(says)


def test_every_agent_that_can_be_signed_in_to_says_how() -> None:
    hows = how_to_sign_in()
    assert {name: hows[name] for name in ("claude", "codex", "gemini", "opencode")} == {
        "claude": "run claude and type /login",
        "codex": "codex login",
        "gemini": "run gemini and choose how to sign in, or set GEMINI_API_KEY",
        "opencode": "opencode auth login",
    }
    assert hows["qwen"].startswith("run qwen and choose /auth")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("API Error: 401 invalid x-api-key", "its key or sign-in is refused. Renew it at the desk, then try again."),
        ("Reconnecting... waiting for network", "no network. Try again when the network is back."),
        (
            "Missing environment variable: `MY_KEY`.",
            "it has no key. Sign in at the desk, or set its key where the node",
        ),
        ("fetch failed", "no network. Try again when the network is back."),
        ("the tests do not pass", ""),
        ("", ""),
    ],
)
def test_a_failed_turn_says_what_to_do_where_that_is_known(error: str, says: str) -> None:
    advice = of_turn(error)
    assert (said(advice) if advice else "").startswith(says)
    assert bool(advice) is bool(says)
