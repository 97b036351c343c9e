"""Builds a child's environment by hand: a few names that every program needs, and what its driver adds. Pure."""

from collections.abc import Collection, Mapping

PASSED = frozenset(
    """HOME LANG LANGUAGE LOGNAME PATH SHELL TERM TMPDIR TMUX_TMPDIR TZ USER
    ALL_PROXY FTP_PROXY HTTPS_PROXY HTTP_PROXY NO_PROXY all_proxy ftp_proxy https_proxy http_proxy no_proxy
    SSL_CERT_DIR SSL_CERT_FILE NODE_EXTRA_CA_CERTS""".split()
)
PASSED_PREFIXES = ("LC_", "XDG_")
# Of our own variables.
KEPT_ENDINGS = ("_TOKEN", "_SECRET", "_PASSWORD", "_KEY")


def child_environment(
    own: Mapping[str, str], added: Mapping[str, str], secrets: Collection[str] = ()
) -> dict[str, str]:
    """What of the node's own variables may pass, overlaid with what a driver adds on purpose.

    The node's own secrets, and these of its channels, pass in neither way.
    """
    passed = {name: value for name, value in own.items() if name in PASSED or name.startswith(PASSED_PREFIXES)}
    return {name: value for name, value in {**passed, **added}.items() if not _is_kept(name, secrets)}


def without_secrets(own: Mapping[str, str], secrets: Collection[str]) -> dict[str, str]:
    """All of a command's variables but the node's secrets, and these of its channels (`manifests.channel_secrets`), for
    a program of the system that it calls."""
    return {name: value for name, value in own.items() if not _is_kept(name, secrets)}


def _is_kept(name: str, secrets: Collection[str]) -> bool:
    """Whether the variable is a secret of the node, which no child may have."""
    # What names the file of a secret leads to it.
    upper = name.upper().removesuffix("_FILE")
    return upper in secrets or (upper.startswith("FARHAND_") and upper.endswith(KEPT_ENDINGS))
