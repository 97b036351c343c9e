"""Reads a file of variables, as a shell would source it: `NAME=value` a line. Nothing in it is run or expanded."""

import re
from pathlib import Path

from farhand.model.errors import SettingWrong
from farhand.model.lazy_pattern import lazy_pattern

_LINE = lazy_pattern(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
ENV_FILE_HINTS = ("name a file that is there, or leave --env-file out",)
LINE_HINTS = ("a line is NAME=value, or begins with # where it is only for people",)
_COMMENT = lazy_pattern(r"\s#.*$")


def read_env_file(path: Path) -> dict[str, str]:
    """The variables of the file, in its order; raises SettingWrong when it cannot be read."""
    try:
        text = path.expanduser().read_text("utf-8")
    except OSError as error:
        raise SettingWrong(
            f"The env file {path} cannot be read: {error.strerror}.", hints=ENV_FILE_HINTS, path=str(path)
        ) from None
    except UnicodeDecodeError:
        raise SettingWrong(f"The env file {path} is no text.", path=str(path)) from None
    return parse_env(text, str(path))


def parse_env(text: str, name: str) -> dict[str, str]:
    """The variables that a text sets. The value of a line that is wrong is not repeated: it may be a secret."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        match = _LINE.fullmatch(stripped)
        if match is None:
            raise SettingWrong(f"Line {number} of {name} is not NAME=value.", hints=LINE_HINTS, path=name, line=number)
        found[match[1]] = _unquoted(match[2].strip())
    return found


def _unquoted(value: str) -> str:
    """The value without its quotes, or without the comment behind it."""
    for quote in "'\"":
        end = value.find(quote, 1)
        if value.startswith(quote) and end > 0 and not value[end + 1 :].split("#", maxsplit=1)[0].strip():
            return value[1:end]
    return _COMMENT.sub("", value)


def quoted(value: str) -> str:
    """The value as a line of such a file has it."""
    return value if re.fullmatch(r"[\w@%+=:,./-]*", value, re.ASCII) else "'" + value.replace("'", "") + "'"


def is_shared(path: Path) -> bool:
    """Whether others than its owner may read the file."""
    try:
        return bool(path.expanduser().stat().st_mode & 0o077)
    except OSError:
        return False
