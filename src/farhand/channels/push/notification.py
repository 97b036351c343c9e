"""A notification as the declarative payload of web push: what is shown, how much of it, and where a tap leads. Pure."""

import re
import textwrap
import unicodedata
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec

from farhand.channels.push import texts
from farhand.channels.push.texts import in_language
from farhand.model import ask_text
from farhand.model.action import headline, on_one_line
from farhand.model.app_places import app_address, place_of
from farhand.model.attention import AttentionKind, LockScreen
from farhand.model.attention_rules import Buzz, Matter
from farhand.model.digest import DigestLine, digest, line_text
from farhand.model.phrases import said
from farhand.model.present import Ask
from farhand.model.push import PushSubscription
from farhand.model.words import LANGUAGES, AskKind, Choice

# Some services take 4 kB, encrypted; a phone shows far less.
MOST_BYTES = 3000
MOST_BODY_CHARACTERS = 700
# What a browser shows of a body before it cuts it: Chromium on a desk has four lines of about forty letters.
SHOWN_LINES, LINE_CHARACTERS = 4, 38
LINES = textwrap.TextWrapper(LINE_CHARACTERS, drop_whitespace=False, break_on_hyphens=False)
NAME = "farhand"
INBOX_TAG = "inbox"
# The one notification of several asks.
ASKS_TAG = "asks"

# Signs a choice of an ask for the device.
Sign = Callable[[Ask, str], str]


def open_payload(
    buzz: Buzz,
    to: PushSubscription,
    ask: Ask | None,
    *,
    badge: int,
    shows: LockScreen,
    sign: Sign,
    silent: bool = False,
) -> bytes:
    """The notification of one matter, or of several as one; `ask` is the open ask that it is about."""
    one = buzz.shown[0] if len(buzz.shown) == 1 else None
    made: dict[str, Any] = {"lang": to.language, "timestamp": int(buzz.matters[-1].at * 1000), "tag": tag_of(buzz)}
    if one is not None:
        made |= {"title": _title(one, buzz, to.language), "body": _body(one, ask, to.language)}
        made["navigate"] = app_address(to.origin, place_of(one.kind, one.worker, one.key))
    else:
        lines = digest(buzz.shown, frozenset(matter.key for matter in buzz.shown))
        title = in_language(texts.SEVERAL, to.language).format(n=len(buzz.shown))
        made |= {"title": title, "body": "\n".join(_line(one, to.language) for one in lines)}
        made["navigate"] = f"{to.origin}/app/#/inbox"
    if silent:
        made["silent"] = True
    elif buzz.step > 1 or one is None or buzz.several:
        made["renotify"] = True
    made = _hidden(made, one, shows, to.language)
    if ask is not None:
        made |= {"requireInteraction": True, **_buttons(ask, made, to, shows, sign)}
    return payload(made, to, badge)


def settled_payload(matter: Matter, to: PushSubscription, outcome: str, *, badge: int, shows: LockScreen) -> bytes:
    """What takes the place of a question that is over, without a sound."""
    title = in_language(texts.SETTLED, to.language).format(worker=matter.worker)
    made: dict[str, Any] = {"title": title, "body": outcome, "tag": matter.key, "silent": True}
    made["navigate"] = f"{to.origin}/app/#/w/{quote(matter.worker, safe='')}"
    match shows:
        case LockScreen.NAME:
            made["body"] = ""
        case LockScreen.NOTHING:
            made |= {"title": NAME, "body": in_language(texts.NOTHING_MORE, to.language)}
        case LockScreen.ALL:
            pass
    return payload({**made, "data": {"settled": matter.key.removeprefix("ask:")}}, to, badge)


def bundle_settled_payload(to: PushSubscription, *, badge: int) -> bytes:
    """What takes the place of several questions that are all over, without a sound."""
    made = {"title": NAME, "body": in_language(texts.NOTHING_MORE, to.language), "tag": ASKS_TAG, "silent": True}
    return payload({**made, "navigate": f"{to.origin}/app/#/inbox", "data": {"settled": ASKS_TAG}}, to, badge)


def test_payload(to: PushSubscription) -> bytes:
    """What the test button sends."""
    made = {"title": NAME, "body": in_language(texts.TEST, to.language), "tag": "test"}
    return payload({**made, "navigate": f"{to.origin}/app/#/notifications"}, to, None)


def payload(notification: dict[str, Any], to: PushSubscription, badge: int | None) -> bytes:
    """The whole message, in fewer bytes than any service takes: the body is cut until it fits."""
    icons = {"icon": f"{to.origin}/app/icon-192.png", "badge": f"{to.origin}/app/icon-192.png"}
    made: dict[str, Any] = {"web_push": 8030, "notification": {**notification, **icons}}
    if badge is not None:
        made["app_badge"] = badge
    body = str(notification.get("body", ""))
    while len(data := msgspec.json.encode(made)) > MOST_BYTES and body:
        body = body[: len(body) * 3 // 4]
        made["notification"]["body"] = f"{body}…"
        # A command that is not shown whole is not allowed from here.
        made["notification"].pop("actions", None)
    return data


def tag_of(buzz: Buzz) -> str:
    """Under which name a device keeps the notification: a newer one of the same name takes its place."""
    if buzz.several:
        return ASKS_TAG
    if len(buzz.matters) > 1:
        return INBOX_TAG
    matter = buzz.matters[0]
    return f"turn:{matter.worker}" if matter.kind is AttentionKind.FINISHED else matter.key


def _title(matter: Matter, buzz: Buzz, language: str) -> str:
    words = texts.STILL if matter.kind is AttentionKind.ASK and buzz.step > 1 else texts.TITLES[matter.kind]
    return in_language(words, language).format(worker=matter.worker)


def _body(matter: Matter, ask: Ask | None, language: str) -> str:
    if ask is None:
        return matter.text
    whole = ask_text.whole(ask)
    question = ask.question_phrase and said(ask.question_phrase, language)
    where = in_language(texts.WHERE, language).format(where=ask.where) if ask.where else ""
    told = [said(one, language) for one in ask.risk_phrases]
    risks = f"⚠ {'; '.join(told if all(told) and len(told) == len(ask.risks) else ask.risks)}" if ask.risks else ""
    first = question or _wanted(ask, language) or ask.question
    text = "\n".join(part for part in (first, whole, where, risks) if part)
    return text if len(text) <= MOST_BODY_CHARACTERS else f"{text[: MOST_BODY_CHARACTERS - 1]}…"


def _wanted(ask: Ask, language: str) -> str:
    """What would be done, where the question says that and nothing else; empty for what has no words of its own."""
    action = ask.action
    if action is None or action.kind not in texts.ACTIONS or ask.question != headline(action):
        return ""
    return in_language(texts.ACTIONS[action.kind], language).format(what=on_one_line(action.target))


def _line(line: DigestLine, language: str) -> str:
    """A line of several matters; other languages than English say how often by a number alone."""
    if language not in LANGUAGES[1:]:
        return line_text(line)
    words = in_language(texts.TITLES[line.kind], language).format(worker=line.worker)
    often = f" ×{line.count}" if line.count > 1 else ""
    text = f": {line.text}" if line.text else ""
    return f"{words}{often}{text}{f' (+{line.more})' if line.more else ''}"


def _hidden(made: dict[str, Any], matter: Matter | None, shows: LockScreen, language: str) -> dict[str, Any]:
    """Only as much of it as the person wants others to read."""
    if shows is LockScreen.ALL:
        return made
    if shows is LockScreen.NAME and matter is not None:
        return {**made, "body": ""}
    return {**made, "title": NAME, "body": in_language(texts.WAITS, language)}


def _buttons(ask: Ask, made: dict[str, Any], to: PushSubscription, shows: LockScreen, sign: Sign) -> dict[str, Any]:
    """Allow is there only where all of what would run is shown, and where; Deny wherever it is known what is denied;
    neither on a device that may only look."""
    data: dict[str, Any] = {"ask": ask.id, "digest": ask.digest}
    offered: list[tuple[str, tuple[str, str, str, str, str], Choice]] = []
    allow, deny = (None, None) if to.read_only else narrow_choices(ask)
    if allow is not None and ask.where and shows is LockScreen.ALL and is_shown_whole(made["body"]):
        offered.append(("allow", texts.ALLOW, allow))
    if deny is not None and shows is not LockScreen.NOTHING:
        offered.append(("deny", texts.DENY, deny))
    actions = []
    for action, words, choice in offered:
        data[action] = {"choice": choice.id, "token": sign(ask, choice.id)}
        actions.append({"action": action, "title": in_language(words, to.language), "navigate": made["navigate"]})
    return {"data": data, "actions": actions} if actions else {"data": data}


def is_shown_whole(body: str) -> bool:
    """Whether a browser shows all of it; what it would cut is read in the app before it is allowed."""
    lines = [re.sub(r".", _as_wide_as_it_is, line) for line in body.splitlines()]
    return sum(max(1, len(LINES.wrap(line))) for line in lines) <= SHOWN_LINES


def _as_wide_as_it_is(letter: re.Match[str]) -> str:
    return "xx" if unicodedata.east_asian_width(letter[0]) in "WF" else letter[0]


def narrow_choices(ask: Ask) -> tuple[Choice | None, Choice | None]:
    """What a button may choose: to allow this one time and nothing more, and to deny."""
    if ask.about is not AskKind.PERMISSION or ask.several:
        return None, None
    # The same rule as the app's card: where there are two, nobody can tell which is the narrow one.
    narrow = [one for one in ask.choices if one.allows and not one.scope and not one.words]
    return narrow[0] if len(narrow) == 1 else None, next((one for one in ask.choices if not one.allows), None)
