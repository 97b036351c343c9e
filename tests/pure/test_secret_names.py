"""Which files are never shown: by their names, and by the folders that hold nothing else."""

import pytest

from farhand.model.secret_names import may_hold_secret

SECRET = """
.env .ENV .env.local prod.env .envrc .netrc .npmrc .pypirc .git-credentials id_rsa id_ed25519 id_ecdsa
id_ed25519_work .ssh/work .ssh/config .gnupg/private-keys-v1.d/x .aws/config .aws/credentials .kube/config kubeconfig
.docker/config.json .dockercfg .azure/msal_token_cache.json .config/gcloud/access_tokens.db .config/rclone/rclone.conf
.config/gh/hosts.yml .cargo/credentials.toml .terraform.d/credentials.tfrc.json terraform.tfstate terraform.tfvars
.vault-token .pgpass .my.cnf .htpasswd .s3cfg .boto .databrickscfg .vnc/passwd .Xauthority client_secret.json
secrets.yaml secrets.toml service-account.json .bash_history .zsh_history .python_history .psql_history
a.kdbx .git/config .git/config.worktree .git/modules/s/config
.git/objects/65/ec2679eeaac690801f2a00b7de9baebbef7a2d .git/objects/pack/pack-1.pack .git/index .git/COMMIT_EDITMSG
sub/.git/objects/aa/bb .svn/pristine/65/x.svn-base .hg/store/data/x.i
""".split()
SHOWN = """
a.txt README.md src/environment.py env.py keys.ts objects/list.py docs/passwords.md config.toml git/objects.c
.gitignore .github/workflows/ci.yml .gitattributes history.md token.py secretary.txt ssh/config.md
.docker/Dockerfile tokens.json .yarnrc.yml passwords.md
""".split()


@pytest.mark.parametrize("path", SECRET)
def test_what_may_hold_a_secret_is_known_by_its_name_or_its_folder(path: str) -> None:
    assert may_hold_secret(path)
    assert may_hold_secret(f"deep/{path}")


@pytest.mark.parametrize("path", SHOWN)
def test_what_only_sounds_like_one_is_shown(path: str) -> None:
    assert not may_hold_secret(path)
