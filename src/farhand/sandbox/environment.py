"""Builds a child's environment by hand: a few names that every program needs, and what its driver adds. Pure."""

from collections.abc import Mapping

PASSED = frozenset(
    """HOME LANG LANGUAGE LOGNAME PATH SHELL TERM TMPDIR TMUX_TMPDIR TZ USER
    ALL_PROXY FTP_PROXY HTTPS_PROXY HTTP_PROXY NO_PROXY all_proxy ftp_proxy https_proxy http_proxy no_proxy
    SSL_CERT_DIR SSL_CERT_FILE NODE_EXTRA_CA_CERTS""".split()
)
PASSED_PREFIXES = ("LC_", "XDG_")
KEPT_PREFIXES = ("TELEGRAM_", "WHATSAPP_")
KEPT_ENDINGS = ("_TOKEN", "_SECRET", "_PASSWORD", "_KEY")


def child_environment(own: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """What of the node's own variables may pass, overlaid with what a driver adds on purpose.

    The node's own secrets pass in neither way.
    """
    passed = {name: value for name, value in own.items() if name in PASSED or name.startswith(PASSED_PREFIXES)}
    return {name: value for name, value in {**passed, **added}.items() if not is_kept(name)}


def without_secrets(own: Mapping[str, str]) -> dict[str, str]:
    """All of a command's variables but the node's secrets, for a program of the system that it calls."""
    return {name: value for name, value in own.items() if not is_kept(name)}


def is_kept(name: str) -> bool:
    """Whether the variable is a secret of the node itself, which no child may have."""
    upper = name.upper()
    return upper.startswith(KEPT_PREFIXES) or (upper.startswith("FARHAND_") and upper.endswith(KEPT_ENDINGS))
