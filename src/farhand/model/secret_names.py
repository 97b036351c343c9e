"""Names of files that may hold a secret: what is called so is never shown to anybody. Pure."""

from pathlib import PurePath

from farhand.model import compat

BLOCKED_ENDINGS = frozenset(".pem .key .p12 .pfx .crt .cer .der .jks .keystore .kdb .pgp .gpg .asc".split())
BLOCKED_NAMES = frozenset(
    (
        ".env .npmrc .pypirc .netrc .git-credentials id_rsa id_ed25519 id_dsa credentials kubeconfig "
        # What agents and their neighbours sign in with.
        ".credentials.json auth.json oauth_creds.json google_accounts.json mcp-oauth-tokens.json "
        "application_default_credentials.json credentials.json access_tokens.db hosts.yml token.json"
    ).split()
).union(compat.ACCOUNT_FILES)


def may_hold_secret(path: str | PurePath) -> bool:
    """Whether the last name of the path is one of those, or it is a repository's configuration: addresses in it may
    have a password."""
    given = PurePath(path)
    name, ending = given.name.lower(), given.suffix.lower()
    return (
        name in BLOCKED_NAMES
        or name.startswith(".env")
        or ending in BLOCKED_ENDINGS
        or (name.startswith("config") and ".git" in given.parts[:-1])
    )
