"""Reads values out of environment variables, and refuses what cannot be in a sentence. Pure."""

from collections.abc import Mapping

from farhand.model.errors import SettingWrong

PORT_HINTS = ("--port 8090, for example; 0 takes one that is free",)


def number(environ: Mapping[str, str], name: str, default: float, *, least: float = 0.0) -> float:
    """A number from the environment, or SettingWrong with what would have worked."""
    text = environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = least - 1
    if not least <= value < 1e12:
        raise SettingWrong(f"{name} must be a number of at least {least:g}, not '{text}'.", name=name)
    return value


def is_yes(text: str) -> bool:
    """Whether a variable's text means yes."""
    return text.strip().lower() in {"required", "1", "true", "yes"}


def port_number(text: str) -> int:
    """A port, or SettingWrong."""
    if not text.isascii() or not text.isdigit() or not 0 <= int(text) <= 65535:
        raise SettingWrong(f"A port is a number from 0 to 65535, not '{text}'.", hints=PORT_HINTS, name="PORT")
    return int(text)
