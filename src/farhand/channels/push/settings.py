"""The settings of the push channel, read once from the variables that its manifest names."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from farhand.model.errors import SettingWrong


@dataclass(frozen=True)
class PushSettings:
    """What the push channel needs to know."""

    contact: str = ""
    services: frozenset[str] = frozenset()


def read_settings(environ: Mapping[str, str]) -> PushSettings:
    """The settings; raises SettingWrong."""
    services = environ.get("FARHAND_PUSH_SERVICES", "").replace(",", " ").split()
    return PushSettings(
        contact=contact_address(environ.get("FARHAND_PUSH_CONTACT", "")),
        services=frozenset(one.rstrip("/") for one in services),
    )


def contact_address(text: str) -> str:
    """A contact address as a push service takes it; raises SettingWrong."""
    given = text.strip()
    if given and ":" not in given and "@" in given:
        given = f"mailto:{given}"
    scheme, _, rest = given.partition(":")
    name, _, host = rest.rpartition("@")
    is_mail = scheme == "mailto" and bool(name) and "." in host and not host.endswith((".invalid", ".local", "."))
    is_page = scheme == "https" and "." in (urlsplit(given).hostname or "")
    if given and not (is_mail or is_page):
        raise SettingWrong(
            f"FARHAND_PUSH_CONTACT is '{given[:80]}'. Push services want an address that exists: "
            "mailto:you@example.org, or an https: page."
        )
    return given
