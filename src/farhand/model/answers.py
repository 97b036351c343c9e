"""Reads words as the answer to a question: a number, a choice's own words, yes or no. Pure.

Fails closed: what might mean something else is no answer, and nothing but a plain yes ever allows."""

import re
from typing import TypeAlias

from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.present import Ask
from farhand.model.words import AskKind, Choice, Word

# So many letters of a label choose it, where no other begins so.
SHORTEST_BEGINNING = 3
_WORD_ENDS = " \t\n.,;:!?…-–—"
_NUMBERS = lazy_pattern(r"([0-9]{1,3}(?:\s*,\s*[0-9]{1,3})*)(?=[\s.,;:!)]|$)[.):]?\s*(.*)", re.DOTALL)
# What stands between several choices.
_BETWEEN = lazy_pattern(
    r"\s*[,;&+]\s*(?:(?:and|und)\s+)?|\s+(?:and|und|et|y|e|och|en|и|と)\s+|\s*(?:和|、)\s*", re.IGNORECASE
)
YES = frozenset(
    "yes y yeah yep yup ok okay sure allow approve approved proceed continue 👍 ✅ "
    "ja jo klar gerne weiter oui continuez sí si vale claro adelante hazlo sim sì da tak tamam evet はい 예 네 да "
    "是 是的 好 好的 行 可以 同意 继续 继续吧 好的继续 可以继续 请继续 做吧 去做吧".split()
) | {
    *("go ahead", "go for it", "go on", "carry on", "do it", "do that", "please do", "of course", "sounds good"),
    *("looks good", "looks good to me", "looks fine", "lgtm", "agreed", "i agree", "fine by me", "that's fine"),
    *("sieht gut aus", "passt", "passt so", "klingt gut", "ça me va", "ça a l'air bien", "me parece bien"),
    *("看起来不错", "没问题"),
    *("mach das", "mach es", "mach weiter", "mach mal", "nur zu", "leg los", "in ordnung", "einverstanden"),
    *("vas-y", "vas y", "allez-y", "allez y", "d'accord", "fais-le", "fais le", "fais ça", "bien sûr"),
    *("de acuerdo", "por supuesto", "dale", "sigue", "continúa", "házlo"),
}
# What is a yes only behind one: "ok go".
_AFTER_YES = frozenset({"go", "do", "do so", "mach", "los", "mach's", "va", "fais", "haz"})
_UNSPACED_YES = tuple(one for one in YES if "\u4e00" <= one[0] <= "\u9fff")
NO = frozenset(
    "no n nope nah deny denied reject don't dont 👎 ❌ "
    "nein nee non não nao nie nu hayır нет いいえ 不 否 아니요".split()
) | {"do not"}
# What changes nothing about a yes that allows this once.
_POLITE = frozenset(
    "once please thanks thank you just only this time now 🙏 einmal bitte danke nur diesmal "
    "une fois merci s'il te plaît vous una vez por favor gracias 一次 请 谢谢".split()
)
# What is said around a choice.
_PLEASE = r"(?:please|pls|thanks|thank you|bitte|danke|s['’]il (?:te|vous) pla[iî]t|stp|svp|merci|por favor|gracias)"
_AROUND_POLITE = re.compile(
    rf"\A(?:{_PLEASE}[\s,;:.!]+|请\s*)+|(?:(?:[\s,;:.!]+{_PLEASE})|\s*[，,]?\s*谢谢)+[\s.!。！]*\Z", re.IGNORECASE
)
# When it holds: now, as every answer does.
_THIS_TIME = re.compile(
    r"[\s,]+(?:this time|now|then|for now|today|instead|diesmal|jetzt|dann|"
    r"cette fois|maintenant|esta vez|ahora|吧)[.!]*\Z",
    re.IGNORECASE,
)
# What says no more than that a choice is made, and an article before it or a word for it behind.
_CHOOSING = re.compile(
    r"\A(?:(?:let['’]?s|i['’]?d|i|we|ich|je|j['’]ai|yo|prefiero|elijo|я|我)\s+)?"
    r"(?:(?:would|will|['’]ll)\s+)?(?:like\s+|want\s+|go\s+(?:with|for)\s+|use\s+|take\s+|pick\s+|choose\s+|prefer\s+|"
    r"make\s+it\s+|nimm\s+|nehme\s+|wähle\s+|lieber\s+|prends\s+|choisis\s+|plutôt\s+|usa\s+|toma\s+|"
    r"elige\s+|用|选择?|就)?"
    r"(?:(?:the|option|number|choice|nr\.?|no\.|die|das|der|den|nummer|le|la|el|número|opción|numéro)\s+)*",
    re.IGNORECASE,
)
_ONE_OF_THEM = re.compile(r"\s+(?:one|option|choice|opción|choix)\s*[.!]*\Z|(?:个|项)\s*[。！]?\Z", re.IGNORECASE)
_ORDINALS = {
    word: number
    for number, words in enumerate(
        (
            "first 1st erste ersten erster erstes premier première primero primera 第一",
            "second 2nd zweite zweiten zweiter zweites deuxième seconde segundo segunda 第二",
            "third 3rd dritte dritten dritter drittes troisième tercero tercera 第三",
            "fourth 4th vierte vierten vierter viertes quatrième cuarto cuarta 第四",
            "fifth 5th fünfte fünften fünfter fünftes cinquième quinto quinta 第五",
        ),
        start=1,
    )
    for word in words.split()
}
_LAST = frozenset("last letzte letzten letzter letztes dernier dernière último última 最后一".split())
# A choice whose label has one of these holds for more than this once: a bare yes is not that.
_WIDER = lazy_pattern(r"\b(always|all|every|session|don't ask|auto|rest|from now on|edits)\b", re.IGNORECASE)


class Answered(Word):
    """The text answers the question so."""

    choice: str
    note: str = ""


class OutOfRange(Word):
    """The text is a number that no choice has."""

    choices: int

    @property
    def text(self) -> str:
        """What is said about it."""
        return f"1–{self.choices}, please." if self.choices > 1 else "There is but one choice: 1."


ReadAnswer: TypeAlias = Answered | OutOfRange | None


def read_answer(text: str, ask: Ask, *, addressed: bool = False) -> ReadAnswer:
    """What the text answers; None when it is no answer.

    `addressed`: it is certainly meant for this question (a reply to it, or typed at its prompt). Then words behind a
    number are advice; else a number with words behind it only ever refuses."""
    read = _read(text.strip(), ask, addressed=addressed)
    if read is not None or ask.about is not AskKind.CHOICE:
        return read
    bare = _AROUND_POLITE.sub("", text.strip())
    if bare != text.strip() and (read := _read(bare, ask, addressed=addressed)) is not None:
        return read
    return _chosen(bare, ask)


def _chosen(text: str, ask: Ask) -> ReadAnswer:
    """One of several things by its place, its number or its label, with words around that only say so."""
    named = _plain(_ONE_OF_THEM.sub("", _CHOOSING.sub("", _THIS_TIME.sub("", text))))
    # A choice that takes words is said by its words.
    ready = [choice for choice in ask.choices if not choice.words]
    place = len(ready) if named in _LAST and len(ready) > 1 else _ORDINALS.get(named, 0)
    found = ready[place - 1] if 1 <= place <= len(ready) else None
    found = found or _one_by_number(named, ask) or _one_by_label(named, ask)
    return Answered(choice=found.id) if found else None


def _read(text: str, ask: Ask, *, addressed: bool) -> ReadAnswer:
    if ask.several and (several := _several(text, ask)):
        return Answered(choice=several)
    if found := _NUMBERS.fullmatch(text):
        return _by_number(found, ask, addressed=addressed)
    plain = _plain(text)
    if chosen := _by_label(plain, ask):
        return Answered(choice=chosen)
    if _is_yes(plain):
        choice = plain_yes(ask)
        return Answered(choice=choice.id) if choice else None
    return _refusal(text, ask)


def _is_yes(plain: str) -> bool:
    """Whether it is a yes and nothing else: beside its words stand at most words that add nothing."""
    words, said = _words(plain), False
    while words:
        if count := _yes_words(words, after=said):
            said = True
        elif words[0] in _POLITE:
            count = 1
        else:
            return False
        words = words[count:]
    return said


def begins_with_yes(text: str) -> bool:
    """Whether the first words are a yes, whatever stands behind them."""
    words = _words(_plain(text))
    # Where no space stands between words.
    unspaced = bool(words) and words[0].startswith(_UNSPACED_YES)
    return unspaced or _yes_words(words, after=False) > 0


def _words(plain: str) -> list[str]:
    return [one for one in re.split(r"[\s,;.!¡…。，！、]+", plain) if one]


def _yes_words(words: list[str], *, after: bool) -> int:
    """How many of the first words are a yes, the most that are; `after`: one was said before."""
    starts = {count: " ".join(words[:count]) for count in (4, 3, 2, 1) if len(words) >= count}
    return next((count for count, start in starts.items() if start in YES or (after and start in _AFTER_YES)), 0)


def is_like_an_answer(text: str) -> bool:
    """Whether the text can only have been meant as an answer, to whatever question."""
    plain = _plain(text)
    return (
        _is_yes(plain) or plain in NO or re.fullmatch(r"[0-9]{1,3}(\s*,\s*[0-9]{1,3})*[.)]?", text.strip()) is not None
    )


def meant_yes(text: str, ask: Ask) -> Choice | None:
    """What a question for leave would be allowed with, where the text begins with a yes and is none by itself."""
    return plain_yes(ask) if ask.about is not AskKind.CHOICE and begins_with_yes(text) else None


def denial(ask: Ask) -> str:
    """The choice that refuses; empty where none does."""
    return next((choice.id for choice in ask.choices if not choice.allows), "")


def choices_made(ask: Ask, given: str) -> list[str]:
    """The ids that an answer names, as everybody reads them: with commas between them where several may be made."""
    if not ask.several or any(choice.id == given for choice in ask.choices):
        return [given]
    return [one.strip() for one in given.split(",")]


def _plain(text: str) -> str:
    return " ".join(text.strip(_WORD_ENDS).casefold().replace("’", "'").split())


def _by_number(found: re.Match[str], ask: Ask, *, addressed: bool) -> ReadAnswer:
    numbers, advice = [int(one) for one in found[1].split(",")], found[2].strip()
    if len(numbers) > 1 and not ask.several:
        return None
    if not all(1 <= number <= len(ask.choices) for number in numbers):
        return None if advice else OutOfRange(choices=len(ask.choices))
    made = [ask.choices[number - 1] for number in numbers]
    if advice and not addressed and any(choice.allows for choice in made):
        return None
    return Answered(choice=",".join(choice.id for choice in made), note=advice)


def _by_label(plain: str, ask: Ask) -> str:
    """The choice with that label or id."""
    one = _one_by_label(plain, ask)
    return one.id if one else ""


def _several(text: str, ask: Ask) -> str:
    """The choices that are named one after the other, each by number or label; empty where one of them is none."""
    plain = _plain(text)
    parts = plain.split() if re.fullmatch(r"[0-9]+(\s+[0-9]+)+", plain) else _BETWEEN.split(plain)
    made = [_one_by_number(part, ask) or _one_by_label(part, ask) for part in parts]
    return ",".join(dict.fromkeys(one.id for one in made if one)) if len(parts) > 1 and all(made) else ""


def _one_by_number(plain: str, ask: Ask) -> Choice | None:
    number = int(plain) if re.fullmatch(r"[0-9]{1,3}", plain) else 0
    return ask.choices[number - 1] if 1 <= number <= len(ask.choices) else None


def _one_by_label(plain: str, ask: Ask) -> Choice | None:
    exact = [choice for choice in ask.choices if plain and plain in (_plain(choice.label), choice.id.casefold())]
    if exact:
        return exact[0]
    if ask.about is not AskKind.CHOICE or len(plain) < 2:
        return None
    begun = [choice for choice in ask.choices if _plain(choice.label).startswith(f"{plain} ")]
    if not begun and len(plain) >= SHORTEST_BEGINNING and plain not in YES | NO:
        # What takes words is not chosen by half of its own.
        begun = [choice for choice in ask.choices if not choice.words and _plain(choice.label).startswith(plain)]
    return begun[0] if len(begun) == 1 else None


def plain_yes(ask: Ask) -> Choice | None:
    """The choice that allows this once; none where a yes could mean more than one thing."""
    allowing = [choice for choice in ask.choices if choice.allows and not choice.words]
    if ask.about is AskKind.CHOICE:
        return allowing[0] if len(allowing) == 1 and denial(ask) else None
    if len(allowing) == 1:
        return allowing[0]
    once = [choice for choice in allowing if not choice.scope and not _WIDER.search(choice.label)]
    return once[0] if once else None


def _refusal(text: str, ask: Ask) -> ReadAnswer:
    """`no`, or `no, and why`."""
    choice = denial(ask)
    if not choice:
        return None
    if _plain(text) in NO:
        return Answered(choice=choice)
    found = re.match(r"([^\s,;:.!]+)\s*[,;:.!]\s*(\S.*)", text, re.DOTALL)
    if found and found[1].casefold().replace("’", "'") in NO:
        return Answered(choice=choice, note=found[2].strip())
    return None
