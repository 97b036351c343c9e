"""The settings of the Telegram channel, read once from the variables that its manifest names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from farhand.channels.kit.long_answers import AnswerLimits
from farhand.channels.kit.surface import RateLimits
from farhand.model.channel_ports import Manager
from farhand.model.errors import SettingWrong
from farhand.model.variables import is_yes, number

API_URL = "https://api.telegram.org"
# How long an answer may take, and how long Telegram keeps a poll that has nothing to bring.
ANSWER_SECONDS = 20.0
POLL_SECONDS = 50
# A chat's number; groups have negative ones.
IS_CHAT = re.compile(r"-?[0-9]{1,18}")


def group_limit(chat: str) -> float | None:
    """Twenty messages a minute to a group."""
    return 20 / 60 if chat.startswith("-") else None


@dataclass(frozen=True)
class TelegramSettings:
    """What the Telegram channel needs to know."""

    token: str = field(repr=False)
    api_url: str = API_URL
    webhook_secret: str = field(default="", repr=False)
    # The manager's chat, if it is set.
    admin_chat_id: str = ""
    # The people who may speak when that chat is a group; nobody else there is obeyed.
    people: frozenset[str] = frozenset()
    # The first who writes must send the code that the terminal shows.
    pairing: bool = False
    # The manager may open the phone app inside of Telegram, and is signed in by it.
    mini_app: bool = False
    # As Telegram advises: a message a second to one chat, thirty over all. Short bursts pass; what is too much is
    # answered with a time to wait.
    limits: RateLimits = field(default_factory=RateLimits)
    answers: AnswerLimits = field(default_factory=AnswerLimits)
    answer_seconds: float = ANSWER_SECONDS
    poll_seconds: int = POLL_SECONDS

    @property
    def bot(self) -> str:
        """The bot's number: the first part of its token."""
        return self.token.partition(":")[0]


def read_settings(environ: Mapping[str, str]) -> TelegramSettings | None:
    """The settings; None without a token. Raises SettingWrong."""
    token = environ.get("TELEGRAM_BOT_TOKEN", "").strip()
    if not token:
        return None
    usual = RateLimits()
    return TelegramSettings(
        token=token,
        api_url=environ.get("TELEGRAM_API_URL", "").rstrip("/") or API_URL,
        webhook_secret=environ.get("TELEGRAM_WEBHOOK_SECRET", "").strip(),
        admin_chat_id=_manager_chat(environ),
        people=frozenset(environ.get("ADMIN_USER_IDS", "").replace(",", " ").split()),
        pairing=is_yes(environ.get("ADMIN_PAIRING", "")),
        mini_app=is_yes(environ.get("TELEGRAM_MINI_APP", "")),
        limits=RateLimits(
            chat_per_second=number(environ, "TELEGRAM_CHAT_PER_SECOND", usual.chat_per_second, least=0.01),
            chat_burst=int(number(environ, "TELEGRAM_CHAT_BURST", usual.chat_burst, least=1.0)),
            per_second=number(environ, "TELEGRAM_PER_SECOND", usual.per_second, least=0.1),
            edit_seconds=number(environ, "TELEGRAM_EDIT_SECONDS", usual.edit_seconds, least=0.05),
        ),
        answers=_answer_limits(environ, AnswerLimits()),
    )


def _answer_limits(environ: Mapping[str, str], usual: AnswerLimits) -> AnswerLimits:
    most = number(environ, "TELEGRAM_ANSWER_MOST_CHARACTERS", usual.most_characters, least=4000)
    return AnswerLimits(
        characters=int(number(environ, "TELEGRAM_ANSWER_CHARACTERS", usual.characters, least=4000)),
        most_characters=int(most),
        files=int(number(environ, "TELEGRAM_ANSWER_FILES", usual.files, least=0)),
    )


def _manager_chat(environ: Mapping[str, str]) -> str:
    """The manager's chat; bots around two files have another name for it."""
    own, other = environ.get("ADMIN_CHAT_ID", "").strip(), environ.get("TELEGRAM_CHAT_ID", "").strip()
    return chat_id(own) or chat_id(other, "TELEGRAM_CHAT_ID")


def chat_id(text: str, name: str = "ADMIN_CHAT_ID") -> str:
    """The number of a chat as it is set, or SettingWrong."""
    if text and not IS_CHAT.fullmatch(text):
        raise SettingWrong(f"{name} must be a number, not '{text[:40]}'.", name=name)
    return str(int(text)) if text else ""


def manager_of(chat: str) -> Manager:
    """Whoever has that chat as the manager: a private chat has the number of its person."""
    number = str(int(chat))
    return Manager(chat=number, person="" if number.startswith("-") else number)
