"""The settings of the WhatsApp channel, read once from the variables that its manifest names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from farhand.channels.kit.surface import RateLimits
from farhand.model.channel_ports import Manager
from farhand.model.errors import SettingMissing, SettingWrong
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.variables import number

API_URL = "https://graph.facebook.com"
TEMPLATE = "farhand_waiting"
LANGUAGE = "en"
# One message in six seconds to one person, and some dozens at once before that: Meta's own limit.
LIMITS = RateLimits(chat_per_second=0.16, chat_burst=40, per_second=80.0, edit_seconds=5.0)
_ID = lazy_pattern(r"[0-9]{1,32}")
_BSUID = lazy_pattern(r"[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}")
_TEMPLATE = lazy_pattern(r"[a-z0-9_]{1,512}")
_LANGUAGE = lazy_pattern(r"[a-z]{2,3}(_[A-Z]{2,4})?")


@dataclass(frozen=True)
class WhatsAppIdentity:
    """A person on WhatsApp: by number, by the id that Meta gives them for this business (BSUID), or by both."""

    number: str = ""
    bsuid: str = ""

    @property
    def chat(self) -> str:
        """Where they are written to."""
        return self.number or self.bsuid


@dataclass(frozen=True)
class WhatsAppSettings:
    """What the WhatsApp channel needs to know."""

    token: str = field(repr=False)
    phone_id: str
    app_secret: str = field(repr=False)
    verify_token: str = field(default="", repr=False)
    manager: WhatsAppIdentity = field(default_factory=WhatsAppIdentity)
    waba_id: str = ""
    template: str = TEMPLATE
    language: str = LANGUAGE
    reactions: bool = True
    api_url: str = API_URL
    limits: RateLimits = LIMITS
    answer_seconds: float = 20.0


def read_settings(environ: Mapping[str, str]) -> WhatsAppSettings | None:
    """The settings; None without a token. Raises SettingMissing and SettingWrong."""
    token = environ.get("WHATSAPP_TOKEN", "").strip()
    if not token:
        return None
    rate = number(environ, "WHATSAPP_CHAT_PER_SECOND", LIMITS.chat_per_second, least=0.01)
    return WhatsAppSettings(
        token=token,
        phone_id=_wanted("WHATSAPP_PHONE_ID", environ.get("WHATSAPP_PHONE_ID", ""), _ID),
        app_secret=_wanted("WHATSAPP_APP_SECRET", environ.get("WHATSAPP_APP_SECRET", "")),
        verify_token=environ.get("WHATSAPP_VERIFY_TOKEN", "").strip(),
        manager=identity(environ.get("WHATSAPP_MANAGER", "")),
        waba_id=_checked("WHATSAPP_WABA_ID", environ.get("WHATSAPP_WABA_ID", ""), _ID),
        template=_checked("WHATSAPP_TEMPLATE", environ.get("WHATSAPP_TEMPLATE", ""), _TEMPLATE) or TEMPLATE,
        language=_checked("WHATSAPP_LANGUAGE", environ.get("WHATSAPP_LANGUAGE", ""), _LANGUAGE) or LANGUAGE,
        reactions=environ.get("WHATSAPP_REACTIONS", "").strip().lower() not in {"no", "0", "false"},
        api_url=environ.get("WHATSAPP_API_URL", "").strip().rstrip("/") or API_URL,
        limits=replace(LIMITS, chat_per_second=rate),
    )


def identity(text: str) -> WhatsAppIdentity:
    """The person that is named by number or BSUID, or by both; SettingWrong for what is neither."""
    found = {"number": "", "bsuid": ""}
    for part in filter(None, map(str.strip, text.split(","))):
        bare = re.sub(r"[\s()./-]", "", part).removeprefix("+").removeprefix("00")
        kind = "bsuid" if _BSUID.fullmatch(part) else "number" if bare.isascii() and bare.isdigit() else ""
        if not kind or found[kind]:
            raise SettingWrong(
                f"WHATSAPP_MANAGER is a number like +4915112345678 or a BSUID like DE.123, not '{text[:60]}'.",
                name="WHATSAPP_MANAGER",
            )
        found[kind] = bare if kind == "number" else part
    return WhatsAppIdentity(**found)


def manager_of(known: WhatsAppIdentity) -> Manager | None:
    """Whoever is set, as the manager of the channel."""
    return Manager(chat=known.chat) if known.chat else None


def _wanted(name: str, text: str, form: re.Pattern[str] | None = None) -> str:
    found = _checked(name, text, form)
    if not found:
        raise SettingMissing(f"WhatsApp needs {name}, too.", hints=("docs/how-to/whatsapp.md",))
    return found


def _checked(name: str, text: str, form: re.Pattern[str] | None = None) -> str:
    found = text.strip()
    if found and form is not None and not form.fullmatch(found):
        raise SettingWrong(f"{name} cannot be '{found[:60]}'.", name=name)
    return found
