"""A child is given a few names that every program needs and what its driver adds, and no secret of the node."""

from hypothesis import given
from hypothesis import strategies as some

from farhand.drivers.opencode import launch
from farhand.sandbox.environment import PASSED, PASSED_PREFIXES, child_environment, without_secrets

NAMES = some.sampled_from(["PATH", "LC_ALL", "XDG_RUNTIME_DIR", "TELEGRAM_BOT_TOKEN", "AWS_SECRET_ACCESS_KEY"])
VARIABLES = some.dictionaries(NAMES | some.text(min_size=1), some.text())


def test_what_every_program_needs_passes() -> None:
    own = {"PATH": "/bin", "HOME": "/home/ann", "LC_TIME": "de_AT", "XDG_CACHE_HOME": "/c", "https_proxy": "http://p"}
    assert child_environment(own, {}) == own


def test_a_program_of_the_system_gets_all_but_the_nodes_secrets() -> None:
    own = {"PATH": "/bin", "TMUX_TMPDIR": "/t", "TELEGRAM_BOT_TOKEN": "1:a", "FARHAND_RELAY_KEY": "k"}
    assert without_secrets(own) == {"PATH": "/bin", "TMUX_TMPDIR": "/t"}


def test_secrets_of_the_node_do_not() -> None:
    own = {
        "PATH": "/bin",
        "TELEGRAM_BOT_TOKEN": "1:a",
        "ANTHROPIC_API_KEY": "k",
        "GITHUB_TOKEN": "t",
        "PYTHONPATH": "x",
    }
    assert child_environment(own, {}) == {"PATH": "/bin"}


def test_a_driver_adds_what_its_agent_needs_but_no_secret_of_the_node() -> None:
    added = {"ANTHROPIC_API_KEY": "k", "PATH": "/agent/bin", "TELEGRAM_BOT_TOKEN": "1:a", "FARHAND_WEB_TOKEN": "t"}
    added |= {"FARHAND_NODE": "prod", "WHATSAPP_APP_SECRET": "s"}
    assert child_environment({"PATH": "/bin"}, added) == {
        "ANTHROPIC_API_KEY": "k",
        "FARHAND_NODE": "prod",
        "PATH": "/agent/bin",
    }


@given(own=VARIABLES, added=VARIABLES)
def test_nothing_passes_by_chance(own: dict[str, str], added: dict[str, str]) -> None:
    for name in child_environment(own, added):
        assert name in PASSED or name.startswith(PASSED_PREFIXES) or name in added
        assert not name.upper().startswith("TELEGRAM_")


def test_opencode_gets_the_keys_of_models_and_of_nothing_else_unless_it_is_told() -> None:
    own = {"ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "s", "AWS_PROFILE": "p"}
    assert launch.passed_on(own) == {"ANTHROPIC_API_KEY": "k"}
    chosen = {**own, "FARHAND_OPENCODE_PASS": "GITHUB_TOKEN, AWS_PROFILE"}
    assert launch.passed_on(chosen) == {"ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t", "AWS_PROFILE": "p"}
