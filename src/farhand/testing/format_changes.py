"""Tells what one version of an agent CLI writes differently from another, the worst first. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import msgspec

from farhand.testing.cli_records import NO_TYPE, Kind, Kinds, merged

FIELDS_SHOWN = 8
SMALL = "null"


class SeenFormat(msgspec.Struct, frozen=True):
    """What the live tests saw a version write."""

    version: str
    kinds: Kinds


class FormatChange(msgspec.Struct, frozen=True, order=True):
    """One difference. What is gone or is another thing now, a driver may have leaned on."""

    kind: str
    what: str
    field: str = ""
    grave: bool = False


def spoken(witnessed: Iterable[Kinds], known: Kinds) -> Kinds:
    """What is the CLI's own of all that was witnessed: a file in which nothing is known speaks something else."""
    return merged(kinds for kinds in witnessed if (kinds.keys() & known.keys()) - {NO_TYPE})


def changes(recorded: Kinds, before: Kinds, now: Kinds) -> list[FormatChange]:
    """What `now` has that is nowhere recorded and was not there `before`, and what it lacks that was there before."""
    found = [FormatChange(name, "is gone", grave=True) for name in before.keys() - now.keys() - {NO_TYPE}]
    known = merged([recorded, before])
    for name, kind in now.items():
        if name == NO_TYPE:
            continue
        if name not in known:
            found.append(FormatChange(name, f"new, {times(kind.count)}: {shortened(kind.fields)}"))
        else:
            found += _within(name, known[name], before.get(name, recorded.get(name, kind)), kind)
    return sorted(found)


def _within(name: str, known: Kind, before: Kind, now: Kind) -> Iterator[FormatChange]:
    for field in {*before.always} - now.fields.keys():
        yield FormatChange(name, f"{field} is gone", field, grave=True)
    for field in now.fields.keys() & before.fields.keys():
        was, types = ({*kind.fields[field]} - {SMALL} for kind in (known, now))
        if was and types - was:
            yield FormatChange(name, f"{field} was {alternatives(was)}, is {alternatives(types)}", field, grave=True)
    if fresh := now.fields.keys() - known.fields.keys():
        yield FormatChange(name, f"new fields: {shortened(fresh)}")


def report(found: Iterable[FormatChange], readers: Callable[[str], list[str]]) -> list[str]:
    """The changes for a person: those to look at first, each with who reads such a field."""
    every = list(found)
    grave = [(one, readers(one.field.rpartition(".")[2])) for one in every if one.grave]
    lines = [
        _line("!", one, f"read in {', '.join(read)}" if read else "") for one, read in grave if read or not one.field
    ]
    lines += [_line("~", one, "no driver reads it") for one, read in grave if one.field and not read]
    return lines + [_line("+", one) for one in every if not one.grave]


def _line(mark: str, change: FormatChange, behind: str = "") -> str:
    return f"{mark} {change.kind:<40} {change.what}" + (f" ({behind})" if behind else "")


def readers(sources: Mapping[str, str], field: str) -> list[str]:
    """The files in which that name stands, in quotes or as a field."""
    wanted = re.compile(rf"[\"']{re.escape(field)}[\"']|^ +{re.escape(field)}: ", re.MULTILINE)
    return sorted(name for name, text in sources.items() if field and wanted.search(text))


def shortened(names: Collection[str]) -> str:
    """The names, or the first of them; what names a line, and what has parts that are named, says nothing more."""
    parents = {name.partition(".")[0] for name in names if "." in name}
    every = sorted({*names} - parents - {"type", "method"})
    more = f" and {len(every) - FIELDS_SHOWN} more" if len(every) > FIELDS_SHOWN else ""
    return ", ".join(every[:FIELDS_SHOWN]) + more


def alternatives(types: Iterable[str]) -> str:
    """One of these."""
    return " or ".join(sorted(types))


def times(count: int) -> str:
    """How often, in words."""
    return "once" if count == 1 else f"{count} times"
