"""Sentences of the node by code and values, so that every surface says them in a person's own language. Pure.

The English sentence travels beside its phrase: whoever does not know the code shows that.
"""

from __future__ import annotations

from typing import Final

from farhand.model.choice_phrases import LABELS, SCOPES
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.risk_phrases import REASONS, RISKS, FiveLanguages
from farhand.model.visible import visible
from farhand.model.words import LANGUAGES, Choice, Phrase, replace

PHRASES: Final[dict[str, FiveLanguages]] = {**RISKS, **REASONS, **LABELS, **SCOPES}
_PERMISSION: Final = {"allow": "label_allow_once", "deny": "label_deny"}
_VALUE: Final = lazy_pattern(r"\{(\w+)\}")


def phrase(code: str, **values: str) -> Phrase:
    """The phrase of that code; a code that nobody has words for is a bug."""
    if code not in PHRASES:
        raise KeyError(code)
    return Phrase(code=code, values=values)


def said(one: Phrase, language: str = "en") -> str:
    """The sentence in a language, English where it is none of ours; empty for a code that is not known."""
    sentences = PHRASES.get(one.code)
    if sentences is None:
        return ""
    sentence = sentences[LANGUAGES.index(language) if language in LANGUAGES else 0]
    return _VALUE.sub(lambda found: one.values.get(found[1], found[0]), sentence)


def shown(one: Phrase | None) -> Phrase | None:
    """The phrase with nothing hidden in its values."""
    return replace(one, values={name: visible(value) for name, value in one.values.items()}) if one else None


def choice(
    identity: str, label: Phrase, *, scope: Phrase | None = None, allows: bool = True, words: bool = False
) -> Choice:
    """A choice whose label and scope are phrases, with their English sentences."""
    return Choice(
        id=identity,
        label=said(label),
        allows=allows,
        words=words,
        scope=said(scope) if scope else "",
        label_phrase=label,
        scope_phrase=scope,
    )


def offered(name: str, *, permission: bool) -> Choice:
    """A choice as an agent of the SDK names it: `allow` and `deny` of a permission are said in our words."""
    denies = name == "deny"
    if permission and name in _PERMISSION:
        return choice(name, phrase(_PERMISSION[name]), allows=not denies, words=denies)
    return Choice(id=name, label=name, allows=not denies, words=denies)
