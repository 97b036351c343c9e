"""The risks of an action, by phrases, read off what would run: a help for whoever decides, and no boundary. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from farhand.model.action import Action, ActionKind
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.phrases import phrase
from farhand.model.words import Phrase

UNKNOWN: Final = "risk_unknown"
SHELL: Final = "risk_shell"
HIDES: Final = "risk_hides"
NETWORK: Final = "risk_network"
FETCHED_CODE: Final = "risk_fetched_code"
DELETES: Final = "risk_deletes"
ANOTHER_USER: Final = "risk_another_user"
PUBLISHES: Final = "risk_publishes"
LASTS: Final = "risk_lasts"
CONFIGURES: Final = "risk_configures"
INSTALLS: Final = "risk_installs"
LONG: Final = "risk_long"
_SHOWN_PATHS: Final = 3
# A long command is judged by its beginning and its end, so that it costs no time.
_JUDGED_CHARACTERS: Final = 4000

_AT_A_WORD: Final = r"(?:^|[\s;&|(){}`'\"/!])"
_NETWORK: Final = (
    r"(?:curl|wget|ssh|scp|sftp|rsync|nc|ncat|netcat|telnet|ftp|socat|dig|nslookup|ping|gh|aws|gcloud|az)\b"
)
_GIT_NETWORK: Final = r"git\s+(?:[-\w=./]+\s+)*?(?:clone|fetch|pull|push|ls-remote|submodule)\b"
_INSTALLERS: Final = (
    r"(?:npm|pnpm|yarn|bun|npx|bunx|pip3?|pipx|uv|uvx|poetry|cargo|go|gem|bundle|composer|brew|apt|apt-get|dnf|yum|apk)"
    r"\s+(?:[-\w=./]+\s+)*?(?:install|i|add|ci|get|update|upgrade|sync|run|x|dlx|exec)\b|(?:npx|uvx|bunx)\s"
)
_SHELLS: Final = r"(?:ba|z|da|k|fi)?sh|python[\d.]*|node|perl|ruby"
_RULES: Final = (
    (ANOTHER_USER, lazy_pattern(_AT_A_WORD + r"(?:sudo|su|doas|pkexec|runuser)\b")),
    (FETCHED_CODE, lazy_pattern(rf"(?:curl|wget)\b[^\n]*(?:\|\s*(?:sudo\s+)?(?:{_SHELLS})\b|<\()", re.DOTALL)),
    (NETWORK, lazy_pattern(rf"{_AT_A_WORD}(?:{_NETWORK}|{_GIT_NETWORK})|https?://|/dev/(?:tcp|udp)/")),
    (INSTALLS, lazy_pattern(rf"{_AT_A_WORD}(?:{_INSTALLERS})")),
    (
        DELETES,
        lazy_pattern(
            _AT_A_WORD + r"(?:rm|rmdir|unlink|shred|truncate|dd|mkfs[.\w]*|mv)\b|\s-delete\b|(?<![<>&\d])>(?![>&(])"
            r"|git\s+(?:[-\w=./]+\s+)*?(?:clean|reset|checkout|restore|rebase|branch\s+-D|stash\s+(?:drop|clear))\b"
        ),
    ),
    (
        PUBLISHES,
        lazy_pattern(
            r"git\s+(?:[-\w=./]+\s+)*?push\b|(?:npm|pnpm|yarn|cargo|poetry|uv|twine|docker)\s+(?:publish|push|upload)\b"
            r"|(?:kubectl|terraform|helm)\s+(?:apply|delete|create|destroy|install|upgrade)\b"
        ),
    ),
    (
        LASTS,
        lazy_pattern(_AT_A_WORD + r"(?:nohup|setsid|disown|crontab|at|systemctl|launchctl)\b|(?<![&>])&\s*(?:$|\n)"),
    ),
    (
        HIDES,
        lazy_pattern(
            r"[`$]|[{][^}\s]*[,.][^}]*[}]|\\\n|" + _AT_A_WORD + r"(?:eval|source|exec|xargs|base64|xxd|envsubst)\b"
            rf"|(?:{_SHELLS})\s+(?:-\w+\s+)*-\w*[ce]\b|<<"
        ),
    ),
)
# Tools and shells are configured by files and folders whose names begin with a dot.
_CONFIGURATION: Final = lazy_pattern(r"(?:^|[\s/'\"=:>])\.(?!venv\b|cache\b|tox\b)[A-Za-z][\w.-]*")
_REST: Final = r"[^\s'\";|&)<>]*"
_PATHS: Final = lazy_pattern(
    rf"(?:^|(?<=[\s'\"=<>(]))(?:~{_REST}|\.\.(?:/{_REST})?|/{_REST}|[\w@.-]+/{_REST}\.\.{_REST}|\$\{{?HOME\b{_REST})"
    rf"|(?<=:)/(?!/){_REST}"
)
_ADDRESSES: Final = lazy_pattern(r"https?://[^\s<>\"'`]+", re.IGNORECASE)
_HARMLESS: Final = frozenset(("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd"))


def risks_of(action: Action | None, folder: str) -> tuple[Phrase, ...]:
    """The risks of doing that in this folder, the gravest first where there is an order; never none."""
    if action is None:
        return (phrase(UNKNOWN),)
    match action.kind:
        case ActionKind.RUN:
            return _of_command(action.target, folder)
        case ActionKind.WRITE | ActionKind.EDIT | ActionKind.DELETE:
            return _of_change(action, folder)
        case ActionKind.READ:
            away = _away(action.paths, folder, action.leads)
            return (phrase("risk_reads_outside", paths=away) if away else phrase("routine_reads"),)
        case ActionKind.FETCH:
            addresses = [one.rstrip(".,;:!?") for one in _ADDRESSES.findall(action.target)] or [action.target]
            return (phrase("risk_network_hosts", hosts=", ".join(dict.fromkeys(map(_host, addresses)))),)
        case ActionKind.CALL:
            return (phrase(UNKNOWN),)


def _of_command(command: str, folder: str) -> tuple[Phrase, ...]:
    is_long = len(command) > 2 * _JUDGED_CHARACTERS
    command = f"{command[:_JUDGED_CHARACTERS]}\n{command[-_JUDGED_CHARACTERS:]}" if is_long else command
    found = [phrase(code) for code, rule in _RULES if rule.search(command)]
    if away := _away(_PATHS.findall(command), folder):
        found.append(phrase("risk_reaches_outside", paths=away))
    if _CONFIGURATION.search(command):
        found.append(phrase(CONFIGURES))
    return (phrase(SHELL), *found, *((phrase(LONG),) if is_long else ()))


def _of_change(action: Action, folder: str) -> tuple[Phrase, ...]:
    deletes = action.kind is ActionKind.DELETE
    if not action.paths:
        return (phrase("risk_deletes_unnamed" if deletes else "risk_writes_unnamed"),)
    away = _away(action.paths, folder, action.leads)
    if away:
        found = [phrase("risk_deletes_outside" if deletes else "risk_writes_outside", paths=away)]
    else:
        found = [phrase("risk_deletes_inside" if deletes else "routine_writes")]
    if any(_CONFIGURATION.search(path) for path in action.paths):
        found.append(phrase(CONFIGURES))
    return tuple(found)


def _away(paths: Iterable[str], folder: str, leads: Iterable[str] = ()) -> str:
    """Those of the paths that lead out of the folder by name or by a link; the first few of them."""
    away = list(dict.fromkeys([*leads, *(one for one in paths if one not in _HARMLESS and _is_away(one, folder))]))
    more = f" (+{len(away) - _SHOWN_PATHS})" if len(away) > _SHOWN_PATHS else ""
    return ", ".join(away[:_SHOWN_PATHS]) + more


def _is_away(path: str, folder: str) -> bool:
    if path.startswith(("~", "$")):
        return True
    if not folder:
        return path.startswith(("/", ".."))
    whole = posixpath.normpath(posixpath.join(folder, path))
    inside = posixpath.normpath(folder).rstrip("/") + "/"
    return not f"{whole}/".startswith(inside)


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or address
    except ValueError:
        return address
