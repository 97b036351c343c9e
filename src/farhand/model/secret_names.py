"""Names of files and folders that may hold a secret: what is called so is never shown to anybody. Pure."""

from pathlib import PurePath

from farhand.model import compat
from farhand.model.lazy_pattern import lazy_pattern

BLOCKED_ENDINGS = frozenset(".pem .key .p12 .pfx .crt .cer .der .jks .keystore .kdb .pgp .gpg .asc".split())
BLOCKED_NAMES = frozenset(
    (
        ".env .npmrc .pypirc .netrc .git-credentials id_rsa id_ed25519 id_dsa id_ecdsa credentials kubeconfig "
        # What agents and their neighbours sign in with.
        ".credentials.json auth.json oauth_creds.json google_accounts.json mcp-oauth-tokens.json "
        "application_default_credentials.json credentials.json access_tokens.db hosts.yml token.json "
        ".dockercfg rclone.conf credentials.toml credentials.tfrc.json .terraformrc terraform.tfstate "
        "terraform.tfstate.backup terraform.tfvars .vault-token .pgpass .my.cnf .htpasswd .s3cfg .boto .databrickscfg "
        ".xauthority client_secret.json service-account.json secrets.yaml secrets.yml secrets.json secrets.toml"
    ).split()
).union(compat.ACCOUNT_FILES)
# All that lies in them may be one. A version control keeps every file under other names there, the secret ones too.
SECRET_FOLDERS = frozenset(".ssh .gnupg .password-store .aws .kube .azure .vnc .git .svn .hg".split())
# Git's store of all that was ever committed, where it is kept under another name.
_GIT_OBJECT = lazy_pattern(r"[0-9a-f]{38}|[0-9a-f]{62}")
_GIT_PACK = lazy_pattern(r"pack-[0-9a-f]{40,64}\..*|tmp_pack_.*")


def may_hold_secret(path: str | PurePath) -> bool:
    """Whether the last name of the path is one of those, or a folder on the way is."""
    given = PurePath(path)
    name, ending = given.name.lower(), given.suffix.lower()
    above = [one.lower() for one in given.parts[:-1]]
    return (
        name in BLOCKED_NAMES
        or name.startswith((".env", "id_rsa", "id_ed25519", "id_ecdsa"))
        or name.endswith((".env", ".kdbx"))
        or (name.startswith(".") and name.endswith("_history"))
        or ending in BLOCKED_ENDINGS
        or (name == "config.json" and above[-1:] == [".docker"])
        or not SECRET_FOLDERS.isdisjoint(above)
        or _is_git_object(name, above)
    )


def _is_git_object(name: str, above: list[str]) -> bool:
    if "objects" not in above:
        return False
    return bool(_GIT_PACK.fullmatch(name)) or (len(above[-1]) == 2 and bool(_GIT_OBJECT.fullmatch(name)))
