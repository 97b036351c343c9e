"""A child is given a few names that every program needs and what its driver adds, and no secret of the node."""

from hypothesis import given
from hypothesis import strategies as some

from farhand.drivers.opencode import launch
from farhand.manifests import channel_secrets
from farhand.sandbox.environment import PASSED, PASSED_PREFIXES, child_environment, without_secrets
from farhand.testing.bun import collector
from farhand.testing.opencode_env import QUIET

NAMES = some.sampled_from(["PATH", "LC_ALL", "XDG_RUNTIME_DIR", "TELEGRAM_BOT_TOKEN", "AWS_SECRET_ACCESS_KEY"])
PASS = "FARHAND_OPENCODE_PASS"
VARIABLES = some.dictionaries(NAMES | some.text(min_size=1), some.text())


def test_what_every_program_needs_passes() -> None:
    own = {"PATH": "/bin", "HOME": "/home/ann", "LC_TIME": "de_AT", "XDG_CACHE_HOME": "/c", "https_proxy": "http://p"}
    assert child_environment(own, {}) == own


def test_a_program_of_the_system_gets_all_but_the_nodes_secrets() -> None:
    own = {"PATH": "/bin", "TMUX_TMPDIR": "/t", "TELEGRAM_BOT_TOKEN": "1:a", "FARHAND_RELAY_KEY": "k"}
    own |= {"WHATSAPP_TOKEN_FILE": "/s/whatsapp", "FARHAND_VOICE_KEY_FILE": "/s/voice"}
    assert without_secrets(own, channel_secrets()) == {"PATH": "/bin", "TMUX_TMPDIR": "/t"}


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
    assert child_environment({"PATH": "/bin"}, added, channel_secrets()) == {
        "ANTHROPIC_API_KEY": "k",
        "FARHAND_NODE": "prod",
        "PATH": "/agent/bin",
    }


@given(own=VARIABLES, added=VARIABLES)
def test_nothing_passes_by_chance(own: dict[str, str], added: dict[str, str]) -> None:
    secrets = channel_secrets()
    for name in child_environment(own, added, secrets):
        assert name in PASSED or name.startswith(PASSED_PREFIXES) or name in added
        assert name.upper() not in secrets


def test_opencode_gets_the_keys_of_models_and_of_nothing_else_unless_it_is_told() -> None:
    own = {"ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "s", "AWS_PROFILE": "p"}
    assert launch.passed_on(own) == {"ANTHROPIC_API_KEY": "k"}
    chosen = {**own, PASS: "GITHUB_TOKEN, AWS_PROFILE"}
    assert launch.passed_on(chosen) == {"ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t", "AWS_PROFILE": "p"}


def test_what_keeps_a_tests_opencode_quiet_and_quick_reaches_it_through_a_node() -> None:
    assert launch.passed_on(QUIET).items() >= {name: QUIET[name] for name in QUIET if name != PASS}.items()


def test_agents_in_bun_do_without_its_collector_where_there_is_memory_for_it() -> None:
    assert collector(memory=24 * 1024**3, cores=2) == {"BUN_JSC_useGC": "0"}
    assert collector(memory=8 * 1024**3, cores=2) == {}
