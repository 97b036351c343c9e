"""Secrets that stand in a file instead of a variable: `NAME_FILE`, or a credential that systemd hands to a service."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from farhand.model.errors import SettingWrong

LONGEST_BYTES = 64 * 1024


def credential_name(name: str) -> str:
    """What systemd calls the credential of that variable: TELEGRAM_BOT_TOKEN is `telegram-bot-token`."""
    return name.lower().replace("_", "-")


def secret_in_file(name: str, environ: Mapping[str, str]) -> str:
    """The secret out of the file that is set for it, or out of systemd's credential; empty when there is neither."""
    if given := environ.get(f"{name}_FILE", "").strip():
        return read_secret(Path(given).expanduser(), closed_to=0o077)
    folder = environ.get("CREDENTIALS_DIRECTORY", "").strip()
    credential = Path(folder) / credential_name(name)
    # systemd lets its service read by an access list, which shows as the group's bits.
    return read_secret(credential, closed_to=0o007) if folder and credential.exists() else ""


def read_secret(path: Path, *, closed_to: int) -> str:
    """The text of a file that is nobody else's business; SettingWrong with what to do when it is open to others."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise SettingWrong(f"{path} cannot be read: {error.strerror}.", path=str(path)) from None
    try:
        _check(path, os.fstat(descriptor), closed_to)
        text = os.read(descriptor, LONGEST_BYTES).decode("utf-8", "replace").strip()
    finally:
        os.close(descriptor)
    if not text:
        raise SettingWrong(f"{path} is empty.", path=str(path))
    return text


def _check(path: Path, found: os.stat_result, closed_to: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise SettingWrong(f"{path} is no file.", path=str(path))
    if found.st_uid not in (os.geteuid(), 0):
        raise SettingWrong(f"{path} belongs to another user, who could change it.", path=str(path))
    if stat.S_IMODE(found.st_mode) & closed_to:
        raise SettingWrong(f"{path} can be read by others. Close it: chmod 600 {path}", path=str(path))
