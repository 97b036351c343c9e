"""Reads how recordings become text."""

import shlex
from collections.abc import Mapping
from urllib.parse import urlsplit

from farhand.model.errors import SettingWrong
from farhand.model.variables import number
from farhand.model.voice import VoiceOptions

KEY = "FARHAND_VOICE_KEY"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def read_voice(environ: Mapping[str, str], secrets: Mapping[str, str]) -> VoiceOptions:
    """The options; raises SettingWrong."""
    usual = VoiceOptions()
    key = secrets.get(KEY, "")
    return VoiceOptions(
        url=_address(environ.get("FARHAND_VOICE_URL", "").strip(), key),
        key=key,
        model=environ.get("FARHAND_VOICE_MODEL", "").strip() or usual.model,
        language=environ.get("FARHAND_VOICE_LANGUAGE", "").strip(),
        command=_command(environ.get("FARHAND_VOICE_COMMAND", "").strip()),
        confirm=_confirms(environ.get("FARHAND_VOICE_CONFIRM", "")),
        seconds=number(environ, "FARHAND_VOICE_SECONDS", usual.seconds, least=1.0),
    )


def _address(url: str, key: str) -> str:
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise SettingWrong(
            f"FARHAND_VOICE_URL is an address like https://…/v1, not '{url[:60]}'.", name="FARHAND_VOICE_URL"
        )
    if key and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise SettingWrong("FARHAND_VOICE_URL needs https where a key goes along.", name="FARHAND_VOICE_URL")
    return url


def _command(text: str) -> str:
    try:
        shlex.split(text)
    except ValueError as error:
        raise SettingWrong(f"FARHAND_VOICE_COMMAND: {error}.", name="FARHAND_VOICE_COMMAND") from None
    return text


def _confirms(text: str) -> bool:
    given = text.strip().lower() or "yes"
    if given not in {"yes", "1", "true", "no", "0", "false"}:
        raise SettingWrong(f"FARHAND_VOICE_CONFIRM is yes or no, not '{text[:40]}'.", name="FARHAND_VOICE_CONFIRM")
    return given in {"yes", "1", "true"}
