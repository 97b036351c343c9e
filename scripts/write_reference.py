"""Writes what the code itself can tell: reference pages, the schema and its types, golden fixtures, and help lines that
`farhand` shares with slash commands.

Run without arguments it writes them; with `--check` it says which of them the code has left behind."""

from __future__ import annotations

import argparse
import json
import re
import sys
import typing
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import partial
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from scripts import golden, openapi, schema, sdk_reference, typescript

from farhand.cli.main import COMMANDS
from farhand.model import (
    action,
    attention,
    commands,
    devices,
    digest,
    errors,
    facts,
    frames,
    history,
    ports,
    present,
    review,
    slash,
    sprint,
    view,
    wire,
    words,
)
from farhand.remote.openapi import document as remote_document

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = Path("docs") / "reference"
WRITTEN = "<!-- Written by scripts/write_reference.py from the code: change the code, then run `make reference`. -->\n"


# --- the command line


def cli() -> str:
    """The page of the command line."""
    parts = ["# The command line\n", WRITTEN, CLI_OPENING]
    parts += [command_section(name, text) for name, text in {**COMMANDS, **mirrored()}.items()]
    return "\n".join(parts)


CLI_OPENING = """\
`farhand <command> --help` tells the same. `-n NAME` or `NODE_NAME` names the node; without either it is the one
that runs, or `prod` when none does. When several run, a person is asked, and a script must name one. The flags that
`farhand --help` lists are taken by every command, before or after its name; a command's own flag of that name wins.
An error is one line, `error: …`, on standard error; a line with `→` after it says what to do.

| exit code | means |
|---|---|
| 0 | success |
| 1 | it went wrong while running |
| 2 | wrong usage: an argument, a name or a message that cannot be |
| 3 | something is not configured |
| 4 | something is not installed |
| 130 | Ctrl-C |
"""


def command_section(name: str, text: str) -> str:
    """One command with all it takes."""
    parser = argparse.ArgumentParser(prog=f"farhand {name}", add_help=False)
    import_module(f"farhand.cli.{name}").add_arguments(parser)
    rows = "".join(argument_row(action) for action in parser._actions)  # argparse has no other way to ask
    table = f"\n| argument | is |\n|---|---|\n{rows}" if rows else ""
    return f"## farhand {name}\n\n{text[0].upper()}{text[1:]}.\n{table}"


def argument_row(action: argparse.Action) -> str:
    """One row: the flag or the place, and its help."""
    takes = "" if action.nargs == 0 else f" {action.metavar or (action.dest.upper())}"
    name = ", ".join(f"`{flag}{takes}`" for flag in action.option_strings) or f"`{action.metavar or action.dest}`"
    if not action.option_strings:
        name += {"?": " (may be left out)", "+": " (one or more)", "*": " (any number)"}.get(str(action.nargs), "")
    choices = f"; one of {', '.join(f'`{one}`' for one in action.choices)}" if action.choices else ""
    told = (action.help or "").replace("|", "\\|") % {"default": action.default, "prog": "farhand"}
    return f"| {name} | {told}{choices} |\n"


# --- slash commands


def mirrored() -> dict[str, str]:
    """The commands of `farhand` that do what a slash command does, with its help line."""
    return {one.cli: one.help[0].lower() + one.help[1:] for one in slash.SLASHES if one.cli}


def slash_help() -> str:
    """The module with those help lines: `farhand --help` is quick because it need not load the table."""
    rows = "".join(f'    "{name}": "{text}",\n' for name, text in mirrored().items())
    return f'''"""Help lines of the commands that a slash command mirrors; written by scripts/write_reference.py."""

MIRRORED = {{
{rows}}}
'''


def slash_commands() -> str:
    """The page of the slash commands."""
    open_chat = slash.open_chat()
    blocked, only_there = (
        ", ".join(f"`/{name}`" for name in sorted(some))
        for some in (open_chat.blocked, slash.INTERACTIVE - open_chat.blocked)
    )
    groups = "\n".join(slash_group(group) for group in slash.GROUPS)
    return f"""# Slash commands

{WRITTEN}
What can be typed in a chat (Telegram, WhatsApp) and in the terminal conversation (`make run`, `farhand chat`): one
table, `src/farhand/model/slash.py`. `/help` in the terminal tells the same. `/ann` focuses the worker ann, `/ann text`
says it to her as well; `@ann text` and `@all text` leave the focus alone. A pair of double quotes makes one word of
several.

{groups}
## In chats alone

Any other command goes to the focused worker as it is. But for these, which need a keyboard and are refused, with a word
on what does the same here: {blocked}.
Telegram refuses {only_there} as well, as its bot always has.

## In the terminal alone

What no entry of the table reads is refused. A number answers the question that the prompt shows.
"""


def slash_group(group: str) -> str:
    """The commands of one group."""
    rows = "".join(slash_row(one) for one in slash.SLASHES if one.group == group)
    return f"## {group}\n\n| command | does | where | as |\n|---|---|---|---|\n{rows}"


def slash_row(one: slash.Slash) -> str:
    """One row: how it is typed, what it does, where it works, and which command of `farhand` does the same."""
    typed = f"{one.synopsis} {one.flags}".rstrip().replace("|", "\\|")
    also = "".join(f", `/{alias}`" for alias in one.aliases)
    but_one = f"{slash.CHAT} (not Telegram)" if one.name in slash.INTERACTIVE else slash.CHAT
    where = [but_one if name == slash.CHAT else name for name in one.surfaces]
    same = f"`farhand {one.cli}`" if one.cli else ""
    return f"| `{typed}`{also} | {one.help} | {', '.join(where)} | {same} |\n"


# --- the words


def kind(annotation: Any) -> str:
    """A type as a reader of JSON sees it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(kind(one) for one in inner))
    if origin is Literal:
        return " or ".join(f'`"{one}"`' for one in inner)
    if origin in (tuple, list):
        return f"list of {kind(inner[0])}"
    if origin is dict:
        return f"object of {kind(inner[1])}"
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct | StrEnum):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    names = {str: "text", int: "number", float: "number", bool: "true or false", NoneType: "null", Any: "anything"}
    return names.get(annotation, "any JSON")


def default(field: Any) -> str:
    """What a field is when it is left out; empty when it must be there."""
    if field.default is not msgspec.NODEFAULT:
        return f"`{msgspec.json.encode(field.default).decode()}`"
    if field.default_factory is not msgspec.NODEFAULT:
        return f"`{msgspec.json.encode(field.default_factory()).decode()}`"
    return ""


def fields_table(word: type[Any]) -> str:
    """The fields of a word."""
    fields = msgspec.structs.fields(word)
    if not fields:
        return ""
    hints = typing.get_type_hints(word)
    rows = "".join(f"| `{one.encode_name}` | {kind(hints[one.name])} | {default(one)} |\n" for one in fields)
    return f"\n| field | is | left out |\n|---|---|---|\n{rows}"


def section(word: type[Any]) -> str:
    """One word: its tag, what it means, its fields."""
    tag = word.__struct_config__.tag
    head = f"### {word.__name__}\n\n" + (f'`"type": "{tag}"`. ' if tag else "")
    return head + " ".join((word.__doc__ or "").split()) + "\n" + fields_table(word)


def enum_section(word: type[StrEnum]) -> str:
    """One closed choice."""
    values = ", ".join(f'`"{one.value}"`' for one in word)
    return f"### {word.__name__}\n\n{' '.join((word.__doc__ or '').split())}\n\nOne of {values}.\n"


SMALL = (
    words.Sender,
    words.Attachment,
    words.Choice,
    words.Phrase,
    action.Action,
    words.Usage,
    words.UsageWindow,
    words.Spent,
    sprint.SprintState,
    sprint.SprintLimits,
    sprint.SprintOutcome,
    review.ReviewState,
    review.Reviewer,
    review.ReviewBinding,
    review.Verdict,
    review.ReviewFinding,
    attention.AttentionSettings,
    attention.QuietHours,
)
CLOSED = (
    words.Mode,
    words.AskKind,
    action.ActionKind,
    words.HowSettled,
    words.HowEnded,
    words.Receipt,
    sprint.SprintPhase,
    sprint.HowSprintEnded,
    review.ReviewScope,
    review.ReviewPhase,
    review.ReviewerPhase,
    review.Judgement,
    review.Severity,
    attention.AttentionKind,
    attention.LockScreen,
)
# The words that the door's page names and that stand on the page of events.
WORDS_OF_EVENTS = "accepted present event message askraised asksettled turnended usage attachment attentionkind".split()
PAST = (
    history.HistoryPage,
    history.TurnEntry,
    history.FactEntry,
    history.Found,
    view.TurnView,
    view.ToolView,
    view.AskView,
)
PRESENT = (present.Present, present.Worker, present.Turn, present.Message, present.FailedTurn, present.Ask)


def sections(found: Iterator[type[Any]] | tuple[type[Any], ...]) -> str:
    """Several words, one after the other."""
    return "\n".join(enum_section(one) if issubclass(one, StrEnum) else section(one) for one in found)


def events() -> str:
    """The page of facts, commands and the present."""
    return f"""# Words: commands, facts, the present

{WRITTEN}
As they stand in the journal (`farhand events`), on the door and over HTTP: JSON, where a field that has its default is
left out. Commands are imperative, facts are in the past tense; [the glossary](../glossary.md) has all our words.

- [Commands](#commands): what somebody wants
- [Events and facts](#events-and-facts): what happened
- [The present](#the-present): how things stand
- [Small words](#small-words)

## Commands

Every command has an `id` that its sender chooses. The same id over the same channel acts once, however often it comes;
the repeat is answered like the first, with `"again": true`.

{sections(get_args(commands.Command))}
{section(commands.Accepted)}
## Events and facts

{section(facts.Event)}
{sections(get_args(facts.Fact))}
## The present

{sections(PRESENT)}
## Small words

{sections((*SMALL, *CLOSED))}"""


# --- the frames of the door


def door() -> str:
    """The page of the door's frames."""
    replies = section(frames.DoorReply)
    past = "\n".join(section(word) for word in PAST)
    lines = section(digest.DigestLine)
    for word in WORDS_OF_EVENTS:
        replies = replies.replace(f"](#{word})", f"](events.md#{word})")
        past = past.replace(f"](#{word})", f"](events.md#{word})")
        lines = lines.replace(f"](#{word})", f"](events.md#{word})")
    return f"""# The door: frames over the unix socket

{WRITTEN}
The node's door is `hub.sock` in its folder (0600). A frame is one line of JSON, a request of at most
{frames.LONGEST:,} bytes. A request gets one reply with its `id`; a watch gets many. What cannot be read gets a reply
with an `error`, and the connection stays open, unless a line has no end. Words in frames are those of
[events.md](events.md).

## Requests

{section(frames.DoorRequest)}
| `do` | needs | is answered with |
|---|---|---|
| `send` | `command`, and `via` (a channel's name) if it matters | `accepted` |
| `watch` | `after`, the last event that is known; without it, from now on | `watching`, then `events` on and on |
| `look` | | `present` |
| `status` | | `status` |
| `sessions` | `backend` and `directory`, each of them for all when it is empty | `sessions` |
| `history` | `worker`; `before`, the number of an entry, for the page before it; `limit` | `history` |
| `search` | `query`; `worker`, if of one alone; `limit` | `found` |
| `pair` | `read_only`, if the device may only look | `pairing` |
| `devices` | | `devices` |
| `revoke` | `device` | `devices` that are left |
| `digest` | | `digest`, what happened while nobody was there |

## Replies

{replies}
{section(ports.SessionFound)}
{past}
{section(devices.DevicePairing)}
{section(devices.Device)}
{lines}
{section(wire.RemoteError)}
## Errors

`code` is one of these; `text` is the sentence for a person.

| code | means |
|---|---|
{error_rows()}"""


def error_rows() -> str:
    """Every error of the tree."""
    return "".join(
        f"| `{error.code}` | {' '.join((error.__doc__ or '').split())} |\n"
        for _, error in sorted(wire._CODES.items())  # the tree of errors as it travels
        # Which rooms were imported before it must not matter.
        if error.__module__ == errors.__name__
    )


def remote_openapi() -> str:
    """The remote control as OpenAPI, as it tells of itself."""
    return json.dumps(remote_document(), indent=2)


FILES: dict[Path, Callable[[], str]] = {
    REFERENCE / "cli.md": cli,
    REFERENCE / "commands.md": slash_commands,
    REFERENCE / "events.md": events,
    REFERENCE / "door.md": door,
    REFERENCE / "schema.json": schema.json_schema,
    Path("docs/sdk/reference.md"): partial(sdk_reference.page, WRITTEN),
    REFERENCE / "openapi.json": openapi.openapi,
    REFERENCE / "remote-openapi.json": remote_openapi,
    Path("web/src/wire/types.ts"): typescript.types,
    Path("web/src/texts/phrases.ts"): typescript.phrases,
    Path("src/farhand/cli/slash_help.py"): slash_help,
    **{golden.FOLDER / f"{story.name}.json": partial(golden.fixture, story) for story in golden.STORIES},
}


def tidy(page: str) -> str:
    """One blank line between parts, one newline at the end."""
    return re.sub(r"\n{3,}", "\n\n", page).rstrip() + "\n"


def main(arguments: list[str]) -> int:
    """Writes the files, or tells which of them are behind."""
    behind = []
    for name, write in FILES.items():
        path, page = ROOT / name, tidy(write())
        if path.exists() and path.read_text("utf-8") == page:
            continue
        behind.append(name)
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page, "utf-8")
    for name in behind if "--check" in arguments else ():
        print(f"{name} is not what the code says; run `make reference`")
    return 1 if behind and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
