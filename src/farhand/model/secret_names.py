"""Names of files that may hold a secret: what is called so is never shown to anybody. Pure."""

import re
from pathlib import PurePath

from farhand.model import compat

BLOCKED_ENDINGS = frozenset(".pem .key .p12 .pfx .crt .cer .der .jks .keystore .kdb .pgp .gpg .asc".split())
BLOCKED_NAMES = frozenset(
    (
        ".env .npmrc .pypirc .netrc .git-credentials id_rsa id_ed25519 id_dsa id_ecdsa id_ed25519_sk id_ecdsa_sk "
        "credentials kubeconfig .pgpass .my.cnf .htpasswd .s3cfg .boto .terraformrc .vault-token .dockercfg "
        "terraform.tfstate terraform.tfstate.backup secrets.json secrets.yml secrets.yaml secrets.toml "
        # What agents and their neighbours sign in with.
        ".credentials.json auth.json oauth_creds.json google_accounts.json mcp-oauth-tokens.json "
        "application_default_credentials.json credentials.json access_tokens.db hosts.yml token.json"
    ).split()
).union(compat.ACCOUNT_FILES)
_MORE_ENDINGS = frozenset({".env", ".kdbx"})
# Folders that hold nothing else but keys, wherever they are.
_KEY_FOLDERS = frozenset(".ssh .gnupg .password-store".split())
# Files whose names say nothing, in folders that say it.
_BY_FOLDER = frozenset(
    {(".kube", "config"), (".docker", "config.json"), (".aws", "config"), (".cargo", "credentials.toml")}
)
# Git's own store of all that was ever committed, secrets that were taken back among it.
_GIT_OBJECT = re.compile(r"[0-9a-f]{38}|[0-9a-f]{62}")
_GIT_PACK = re.compile(r"pack-[0-9a-f]{40,64}\..*|tmp_pack_.*")


def may_hold_secret(path: str | PurePath) -> bool:
    """Whether it is called like a file with a secret, lies in a folder for keys, or is one of git's own: its
    configuration may have a password in an address, its objects are every file that was ever committed."""
    given = PurePath(path)
    name, ending = given.name.lower(), given.suffix.lower()
    above = [one.lower() for one in given.parts[:-1]]
    return (
        name in BLOCKED_NAMES
        or name.startswith(".env")
        or (name.startswith(".") and name.endswith("_history"))
        or ending in BLOCKED_ENDINGS | _MORE_ENDINGS
        or not _KEY_FOLDERS.isdisjoint(above)
        or (bool(above) and (above[-1], name) in _BY_FOLDER)
        or (name.startswith("config") and ".git" in above)
        or _is_of_git(name, above)
    )


def _is_of_git(name: str, above: list[str]) -> bool:
    """Whether that is an object or a pack of a repository, wherever that keeps them."""
    if "objects" not in above:
        return False
    return bool(_GIT_PACK.fullmatch(name)) or bool(len(above[-1]) == 2 and _GIT_OBJECT.fullmatch(name))
