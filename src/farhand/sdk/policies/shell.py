"""Takes shell lines apart: every command in them, however deep, and whether anything is redirected."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from farhand.sdk.policies.hidden_substitutions import may_hide_a_command

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST_LINE = 100_000
_COMMANDS = frozenset({"command", "declaration_command", "unset_command", "test_command"})
_REDIRECTS = frozenset({"redirected_statement", "file_redirect", "heredoc_redirect", "herestring_redirect"})
_UNKNOWN = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)
# Nodes that have none below them.
_LEAVES = frozenset({"word", "number", "raw_string", "string_content", "variable_name"})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
_RUNS_SCRIPTS = _SHELLS | {"trap", "eval", "env", "find"}
# Commands that run the command after them, and their options that take a value.
_RUNNERS: dict[str, frozenset[str]] = {
    "sudo": frozenset(
        "-u -g -h -p -C -r -t -D -R -T --user --group --host --prompt --chdir --chroot --role --type".split()
    ),
    "doas": frozenset({"-u", "-C"}),
    "env": frozenset({"-u", "-C", "-S", "--unset", "--chdir"}),
    "nohup": frozenset(),
    "time": frozenset({"-f", "-o"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "ionice": frozenset({"-c", "-n"}),
    "stdbuf": frozenset({"-i", "-o", "-e", "--input", "--output", "--error"}),
    "setsid": frozenset(),
    "command": frozenset(),
    "builtin": frozenset(),
    "exec": frozenset({"-a"}),
    "xargs": frozenset(
        "-I -n -P -d -a -L -E -s --max-args --max-procs --delimiter --arg-file --max-lines --max-chars".split()
    ),
    "coproc": frozenset(),
    "busybox": frozenset(),
    "toybox": frozenset(),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
}
# What may stand in a word without quotes; a tilde only behind a letter, as in `HEAD~3`.
_PLAIN = re.compile(r"(?:[\w./,:@%+=^-]|(?<=[\w^])~)+")
# A word without quotes that is literal, known and read as it is written.
_BARE = frozenset({"command_name", "word", "number"})
_SURE = re.compile(r"[A-Za-z0-9_./,:@%+=^-]+")
# One command of such words, and what a shell reads in another way when a line begins with it.
_ONE_COMMAND = re.compile(r"[A-Za-z_./][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./,:@%+^-][A-Za-z0-9_./,:@%+=^-]*)*")
_GRAMMAR = frozenset(
    "if then elif else fi for while until do done case esac in select function time coproc"
    " declare typeset export readonly local unset unsetenv".split()
)
_SUSPICIOUS = re.compile(rb"[$`(]")
_EXPANDED = re.compile(r"[{}*?\[\]~$`]")
_EXPANDED_IN_QUOTES = re.compile(r"[$`\\]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LINE_END = re.compile(r"[\r\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


class ShellCommand(NamedTuple):
    """One command of a line. `words` are its name and arguments, unquoted; what only a shell can know keeps its `$`."""

    text: str
    words: tuple[str, ...]
    assigns: bool = False
    redirects: bool = False
    # Every word is known as it is written: no shell would make another one, or several, of it.
    literal: bool = False
    # The name of the command is known, whatever its arguments are.
    named: bool = True
    # The words as they are written, with one blank between them.
    spaced: str = ""


class ShellLine(NamedTuple):
    """A shell line. When it is `broken`, its commands are not all that it may do."""

    commands: tuple[ShellCommand, ...]
    broken: bool = False
    redirects: bool = False
    # The files that are written by redirection; None for one whose name only a shell can tell.
    targets: tuple[str | None, ...] = ()


BROKEN = ShellLine((), broken=True)


@lru_cache(maxsize=256)
def taken_apart(line: str) -> ShellLine:
    """Every command of a line, also those in pipes, lists, loops, substitutions and here-documents.

    An assignment that stands by itself counts as one: it may change what the commands after it are.
    """
    if len(line) > LONGEST_LINE or "\0" in line:
        return BROKEN
    return of_bare_words(line) or parsed(line)


def of_bare_words(line: str) -> ShellLine | None:
    """One command whose words are what is written there, as the parser would find it; None for every other line."""
    if not _ONE_COMMAND.fullmatch(line):
        return None
    words = tuple(line.split(" "))
    return None if words[0] in _GRAMMAR else ShellLine((ShellCommand(line, words, literal=True, spaced=line),))


def parsed(line: str) -> ShellLine:
    """What the grammar of bash says of a line."""
    try:
        source = line.encode()
    except UnicodeEncodeError:
        return BROKEN
    root = _parser().parse(source).root_node
    commands: list[ShellCommand] = []
    targets: list[str | None] = []
    redirects = unsure = False
    # Nothing is hidden but from the first to the last of these: most lines, and most parts of a line, have none.
    last = max(source.rfind(b"$"), source.rfind(b"`"), source.rfind(b"("))
    found = _SUSPICIOUS.search(source) if last >= 0 else None
    first = found.start() if found else len(source)
    waiting = [root]
    while waiting:
        node = waiting.pop()
        kind = node.type
        if kind in _COMMANDS:
            commands.append(_command(node, kind))
        elif kind == "variable_assignment" and node.parent is not None and node.parent.type not in _COMMANDS:
            commands.append(ShellCommand(_text(node).strip(), (), assigns=True))
        elif kind in _REDIRECTS:
            redirects = True
            targets += _targets(node)
        if not unsure and node.start_byte <= last and node.end_byte > first:
            unsure = may_hide_a_command(node)
        if kind not in _LEAVES:
            waiting += reversed(node.named_children)
    return ShellLine(tuple(commands), root.has_error or unsure or not commands, redirects, tuple(targets))


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _command(node: Node, kind: str) -> ShellCommand:
    # A node's type is asked once: each time the parser makes a new text of it.
    parts: list[tuple[Node, str]] = []
    assigns = redirects = False
    literal = kind == "command"
    for child in node.named_children if literal else node.children:
        child_kind = child.type
        if child_kind == "variable_assignment" and literal:
            assigns = True
        elif child_kind in _REDIRECTS:
            redirects = True
        else:
            parts.append((child, child_kind))
    words: list[str] = []
    written: list[str] = []
    named = True
    for place, (part, part_kind) in enumerate(parts):
        text = _text(part)
        written.append(text)
        if part_kind in _BARE and _SURE.fullmatch(text):
            words.append(text)
            continue
        words.append(_word(part))
        literal = literal and _is_literal(part)
        named = named and (place > 0 or _is_known(part))
    return ShellCommand(_text(node).strip(), tuple(words), assigns, redirects, literal, named, " ".join(written))


def is_known_to_the_last_word(command: ShellCommand) -> bool:
    """Whether a shell would run exactly these words. A line on which two readers differ is known to nobody."""
    import shlex

    if not command.literal or command.assigns or command.redirects or not command.words:
        return False
    try:
        return not _LINE_END.search(command.text) and tuple(shlex.split(command.text)) == command.words
    except ValueError:
        return False


def _is_literal(node: Node) -> bool:
    """Whether a word is what is written there, with nothing in it that a shell would expand."""
    match node.type:
        case "word" | "number":
            return _PLAIN.fullmatch(_text(node)) is not None
        case "raw_string":
            return True
        case "string":
            return not _EXPANDED_IN_QUOTES.search(_text(node))
        case "command_name" | "concatenation":
            return all(_is_literal(child) for child in node.children)
        case _:
            return False


def _is_known(node: Node) -> bool:
    """Whether a word can be told without a shell; backslashes and quotes are understood, expansions are not."""
    match node.type:
        case "word":
            return not _EXPANDED.search(_ESCAPED.sub("", _text(node)))
        case "string":
            return all(child.type in ('"', "string_content") for child in node.children)
        case "command_name" | "concatenation":
            return all(_is_known(child) for child in node.children) if node.children else True
        case kind:
            return kind in ("raw_string", "number") or not node.is_named


def _targets(redirect: Node) -> list[str | None]:
    """What a redirection writes to; descriptors, input and here-documents write to nothing."""
    if redirect.type != "file_redirect" or any(child.type in ("<", "<&", "<&-") for child in redirect.children):
        return []
    named = redirect.child_by_field_name("destination")
    if named is None or named.type == "number":
        return []
    return [_word(named) if _is_literal(named) else None]


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _word(node: Node) -> str:
    """A word as the command will get it; expansions stay as they are written."""
    text = _text(node)
    match node.type:
        case "command_name" | "concatenation":
            return "".join(_word(child) for child in node.children) if node.children else text
        case "raw_string":
            return text[1:-1]
        case "string":
            return re.sub(r'\\([$`"\\\n])', r"\1", text[1:-1]) if "\\" in text else text[1:-1]
        case "ansi_c_string":
            return "$" + text[2:-1] if "\\" in text else text[2:-1]
        case kind if kind in _UNKNOWN:
            return text if "$" in text or "`" in text else f"${text}"
        case _:
            return _ESCAPED.sub(lambda match: match[1].strip("\n"), text) if "\\" in text else text


def scripts(command: ShellCommand) -> list[str]:
    """The shell lines that a command runs: `bash -c '…'`, `eval …`, `env -S '…'`, `find -exec …`."""
    words = command.words
    if not words:
        return []
    name = words[0].rpartition("/")[2]
    if name not in _RUNS_SCRIPTS:
        return []
    if name == "trap":
        return [words[1]] if len(words) > 2 else []
    if name == "eval":
        return [" ".join(words[1:])] if len(words) > 1 else []
    if name in _SHELLS:
        return _script_of_shell(words)
    if name == "env":
        return _split_by_env(words)
    return _run_by_find(words) if name == "find" else []


def _split_by_env(words: tuple[str, ...]) -> list[str]:
    """`env -S 'command arguments'` splits the string itself, and runs it."""
    for place, word in enumerate(words[1:], 1):
        if found := re.match(r"-[a-zA-Z]*S(.*)|--split-string(?:=(.*))?$", word, re.DOTALL):
            given = [found[1] or found[2] or "", *words[place + 1 :]]
            return [" ".join(given).strip()]
    return []


def _run_by_find(words: tuple[str, ...]) -> list[str]:
    """What stands between `-exec` and the next `;` or `+`."""
    found: list[str] = []
    for place, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            rest = words[place + 1 :]
            end = next((index for index, one in enumerate(rest) if one in (";", "+")), len(rest))
            found.append(" ".join(_quoted(one) for one in rest[:end] if one != "{}"))
    return [one for one in found if one]


def _script_of_shell(words: tuple[str, ...]) -> list[str]:
    wanted, waiting = False, list(words[1:])
    while waiting:
        word = waiting.pop(0)
        if word in ("-o", "+o", "-O", "+O"):
            del waiting[:1]
        elif word.startswith(("-", "+")) and not word.startswith("--"):
            wanted = wanted or "c" in word
        elif wanted and not word.startswith("--"):
            return [word]
    return []


def hidden(command: ShellCommand) -> str:
    """The command behind assignments, quotes, a path, and behind `sudo`, `env`, `xargs` and their like.

    Empty when the command stands there as it is.
    """
    words = list(command.words)
    stripped = command.assigns or (bool(words) and not command.text.startswith(words[0]))
    if not stripped and words and "/" not in words[0] and words[0] not in _RUNNERS:
        words = []
    while words:
        takes_value = _RUNNERS.get(words[0].rpartition("/")[2])
        if takes_value is None:
            break
        words = _after_runner(words, takes_value)
        stripped = True
    if words and "/" in words[0]:
        words[0], stripped = words[0].rpartition("/")[2], True
    if stripped:
        return " ".join(_quoted(word) for word in words)
    # Blanks of another kind, or several, hide nothing.
    return command.spaced if command.spaced != command.text else ""


def _after_runner(words: list[str], takes_value: frozenset[str]) -> list[str]:
    is_timeout = words[0].endswith("timeout")
    rest = words[1:]
    while rest and (rest[0].startswith("-") or _ASSIGNMENT.match(rest[0])):
        rest = rest[2:] if rest[0] in takes_value else rest[1:]
    return rest[1:] if is_timeout else rest


def _quoted(word: str) -> str:
    import shlex

    # What was an expansion stays one: it is judged, never run.
    return word if "$" in word or "`" in word or re.fullmatch(r"[\w@%+=:,./~*?\[\]{}-]+", word) else shlex.quote(word)
