"""Colours for code in a terminal: comments, strings, numbers and the words that most languages share. Pure."""

import re
from collections.abc import Iterator

from farhand.channels.kit.split import Span

COMMENT, STRING, NUMBER, KEYWORD, ADDED, REMOVED = "comment", "string", "number", "keyword", "added", "removed"
_KEYWORDS = frozenset(
    (
        "and as assert async await break case catch class const continue def default defer del do done elif else end "
        "enum esac except export extends false fi final finally fn for from func function go goto if impl implements "
        "import in interface is lambda let local loop match mod module mut namespace new nil none not null or package "
        "pass private protected pub public raise return select self static struct super switch then this throw trait "
        "true try type typedef union unless until use using var void where while with yield "
        "create delete drop insert into join limit on order set table update values"
    ).split()
)
_SQL = frozenset({"sql", "postgresql", "mysql", "sqlite"})
_HASH = frozenset(
    "bash sh shell zsh console fish python py python3 yaml yml toml ini ruby rb perl r make makefile dockerfile "
    "elixir nix".split()
)
_DASHES = _SQL | {"lua", "haskell", "hs"}
_MARKS = {"hash": r"#.*", "dashes": r"--.*", "slashes": r"//.*|/\*.*?\*/"}
_REST = (
    r"(?P<string>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`)"
    r"|(?P<number>\b\d[\w.]*)"
    r"|(?P<word>[A-Za-z_]\w*)"
)
_TOKENS = {kind: re.compile(rf"(?P<comment>(?<!\S)(?:{mark})|^(?:{mark}))|{_REST}") for kind, mark in _MARKS.items()}


def highlighted(code: str, language: str) -> Iterator[Span]:
    """The stretches of the code that have a colour; without a language there are none."""
    name, place = language.lower(), 0
    for line in code.split("\n") if name else ():
        yield from _diff(line, place) if name in {"diff", "patch"} else _line(line, name, place)
        place += len(line) + 1


def _diff(line: str, place: int) -> Iterator[Span]:
    kind = {"+": ADDED, "-": REMOVED, "@": KEYWORD}.get(line[:1], "")
    if kind:
        yield Span(kind=kind, start=place, end=place + len(line))


def _line(line: str, language: str, place: int) -> Iterator[Span]:
    comments = "hash" if language in _HASH else "dashes" if language in _DASHES else "slashes"
    for match in _TOKENS[comments].finditer(line):
        kind = str(match.lastgroup)
        if kind == "word":
            word = match[0].lower() if language in _SQL else match[0]
            if word not in _KEYWORDS and word not in {"None", "True", "False"}:
                continue
            kind = KEYWORD
        yield Span(kind=kind, start=place + match.start(), end=place + match.end())
