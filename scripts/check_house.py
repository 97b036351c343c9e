"""Checks what no linter knows: sizes, names, opening sentences, duck typing, and where a backend may be named."""

from __future__ import annotations

import ast
import re
import statistics
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from farhand.model.compat import BACKENDS

MODULE_LINES = 450
MEDIAN_LINES = (80, 180)
FUNCTION_LINES = 75
AVOIDED = {"utils", "util", "manager", "helper", "helpers", "base", "common", "misc"}
# Here the word is the person who is obeyed, as everywhere in the docs: the command has its name.
MEANS_THE_PERSON = {"src/farhand/cli/manager.py"}
ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "farhand"
GLOSSARY = ROOT / "docs" / "glossary.md"
AVOIDED_IN_NAMES = "## Words that names avoid"
# What makes a type by a call.
TYPE_MAKERS = {"TypeVar", "ParamSpec", "TypeVarTuple", "NewType"}
# One word on both sides: what a turn of the SDK yields is what a fact of the team tells. The rooms that share a shape
# may not import one another.
SAME_WORD = {
    "Answer": "what a question gets: a person's command, what an asker of the SDK returns, a scripted model's reply",
    "Ask": "a question that waits for a person, in the present of a team and in the events of a turn",
    "Endpoint": "what answers an HTTP request, in the node's server and in the one for the SDK's sessions",
    "Event": "one thing that happened, numbered in the journal and yielded by the SDK's turns; the SDK's is public",
    "Instructions": "what an agent of the SDK is told before all else, and what a subagent is",
    "Json": "an object of JSON, in the holder, which imports nothing, and in the server for the SDK's sessions",
    "Mode": "how much an agent may do unasked, for a worker and for an agent of the SDK, where it is public",
    "OwnUser": "whether a connection is this user's own, in the node's server and in the one for the SDK's sessions",
    "Schema": "a JSON schema, of an HTTP body and of a tool",
    "Thought": "what a model thinks aloud, as a fact and as an event",
    "Update": "what a protocol calls each thing that it sends by itself: Telegram's and ACP's own word",
    "Usage": "what a turn cost, as a fact's word and as an event",
    "Verdict": "what a judge says: a reviewer of a worker's work, an approver of a call in the SDK, where it is public",
}
# Names of modules that end as participles do and are none, or name a thing all the same.
NOUNS = frozenset(
    "hiring matching pairing recording spending typing cloudflared scripted when_changed tui_opening".split()
)
# Where `getattr` with a default is right, by module (a folder's name with a slash at its end) and why.
DUCK_TYPING = {
    "sdk/": "takes a person's own tools, hooks, approvers and models, which need not have every member",
    "channels/kit/sendable_files.py": "of three kinds of errors only OSError has `strerror`",
    "store/database.py": "an error that Python's sqlite3 raises by itself has no `sqlite_errorcode`",
}
# Where whatever went wrong may be caught and kept from whoever called, how often, and why. Anywhere else an error that
# nobody foresaw reaches the log whole and ends what it was in.
CAUGHT_WHOLE = {
    "bridge/hook/program.py": (1, "a hook that fails would disturb the agent; it is told on its standard error"),
    "channels/kit/outbox.py": (
        2,
        "one parcel must not end the node, nor every start after it; it is given up and told",
    ),
    "channels/kit/poison_messages.py": (
        1,
        "a message would come again for days; after three tries it is given up, and told",
    ),
    "channels/telegram/receive.py": (1, "polling goes on; the channel's health tells the fault"),
    "cli/detached_process.py": (1, "whoever waits for the work is handed the whole trace"),
    "core/moves.py": (1, "one review's move must not end all others; it is logged whole and made again"),
    "core/sessions.py": (1, "one agent's records must not hide those of the others"),
    "core/sprints.py": (
        1,
        "one sprint's move must not end all others; it is made again, then the sprint ends and says so",
    ),
    "core/worker.py": (3, "a worker's task ends its turn as failed, never the node"),
    "hooks/program.py": (1, "a hook that fails would disturb the agent"),
    "hooks/send_to_telegram.py": (1, "a hook that fails would disturb the agent"),
    "roster.py": (2, "a package that cannot be loaded costs that driver or channel alone"),
    "sdk/acp/rpc.py": (1, "the other side hears of it"),
    "sdk/active_turn.py": (1, "settings, memory and hooks are a person's own: the turn ends as failed"),
    "sdk/authority.py": (1, "an approver is foreign code, and a broken one allows nothing"),
    "sdk/call_function.py": (1, "it is handed over to whoever waits in the loop"),
    "sdk/hooks/command.py": (1, "a hook is foreign code, and a broken guard lets nothing through"),
    "sdk/loop.py": (1, "instructions, hooks and models are foreign code: the turn ends as failed"),
    "sdk/mcp/connection.py": (1, "a foreign server costs its own tools alone"),
    "sdk/policies/matching.py": (1, "a predicate is foreign code, and a broken one never opens a door"),
    "sdk/questions.py": (1, "an asker is foreign code, and a broken one is nobody"),
    "sdk/skills/extender.py": (1, "a skill's tools are foreign code"),
    "sdk/tool_calls.py": (
        2,
        "tools and hooks are foreign code: the model is told, and a broken hook never lets a tool run",
    ),
    "server/door.py": (2, "one client of the door must not end the others"),
    "store/database.py": (2, "whoever waits for the job gets it"),
    "workdir/snapshots.py": (1, "an agent can do anything to its folder: that costs a snapshot"),
}
# How many words that the glossary avoids a room's names may still have; how many `Any` and `getattr` with a default
# stand outside the rules above. These numbers only ever fall.
AVOIDED_WORDS_LEFT: Mapping[str, int] = {}
DUCK_TYPING_LEFT: Mapping[str, int] = {}
ANY_IN_DRIVERS = 2
# Whoever else needs to know what an agent can do asks its driver. A name may stand in its own driver, in what tests
# are made of, and among the names that people and programs already rely on.
NAMED = (SOURCE / "testing", SOURCE / "model" / "compat.py")
# To the SDK, and to the driver that runs it, one of these names is a vendor of models and the CLI whose settings and
# files it reads; so are the variables that a CLI for every vendor's models is handed. No worker's backend is meant.
VENDORS = (
    SOURCE / "sdk",
    SOURCE / "drivers" / "native",
    SOURCE / "drivers" / "opencode" / "manifest.toml",
    SOURCE / "drivers" / "acp" / "manifest.toml",
)


def complaints(path: Path) -> list[str]:
    """Everything that is wrong with one module."""
    return module_complaints(path, path.read_text("utf-8"))


def module_complaints(path: Path, text: str) -> list[str]:
    """What is wrong with a module of that text."""
    name = path.relative_to(ROOT)
    found: list[str] = []
    lines = text.count("\n")
    if lines > MODULE_LINES:
        found.append(f"{name}: {lines} lines; {MODULE_LINES} is the limit")
    if path.stem in AVOIDED and name.as_posix() not in MEANS_THE_PERSON:
        found.append(f"{name}: '{path.stem}' says nothing; name the module after what it is for")
    tree = ast.parse(text)
    if not ast.get_docstring(tree) and lines:
        found.append(f"{name}: opens without a sentence that says what it is for")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                found.append(f"{name}:{node.lineno}: {node.name} has {length} lines; {FUNCTION_LINES} is the limit")
    return found


def names_backends(path: Path, text: str, backends: Iterable[str]) -> list[str]:
    """Every line on which a backend is named that has no business there."""
    if path.is_relative_to(SOURCE / "drivers"):
        own = path.relative_to(SOURCE / "drivers").parts[0]
        backends = [name for name in backends if name != own]
    if any(path.is_relative_to(place) for place in (*NAMED, *VENDORS)) or not path.is_relative_to(SOURCE):
        return []
    named = re.compile("|".join(backends), re.IGNORECASE)
    return [
        f"{path.relative_to(ROOT)}:{number}: '{found[0]}' is named outside its own driver; ask what a driver can do"
        for number, line in enumerate(text.splitlines(), 1)
        if (found := named.search(line))
    ]


def median_complaints(lines: Iterable[int]) -> list[str]:
    """A median outside its bounds: a few large modules, or a drawer of tiny ones."""
    median = int(statistics.median(lines))
    low, high = MEDIAN_LINES
    return [] if low <= median <= high else [f"src/farhand: the median module has {median} lines, not {low} to {high}"]


def named_types(tree: ast.Module) -> Iterator[str]:
    """The names of a module's classes, and of the type aliases and type variables that stand at its top.

    Letters and private names that are no classes mean something in their own module alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
    for node in (inner for outer in tree.body for inner in (outer.body if isinstance(outer, ast.If) else [outer])):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                is_type = ast.unparse(annotation).rpartition(".")[2] == "TypeAlias"
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                is_type = makes_type(name, value)
            case _:
                continue
        if is_type and len(name) > 1 and not name.startswith("_"):
            yield name


def makes_type(name: str, value: ast.expr) -> bool:
    """Whether what is assigned is a type: made by a call, or put together of others (`Rows = tuple[Row, ...]`)."""
    match value:
        case ast.Call(func=function):
            return ast.unparse(function).rpartition(".")[2] in TYPE_MAKERS
        case ast.Subscript() | ast.BinOp(op=ast.BitOr()):
            return name[0].isupper() and not name.isupper()
        case _:
            return False


def twice_named(modules: Mapping[str, ast.Module]) -> list[str]:
    """Types of one name in two modules, unless the name means the same thing in both."""
    places: dict[str, set[str]] = {}
    for path, tree in modules.items():
        for name in named_types(tree):
            places.setdefault(name, set()).add(path)
    return [
        f"{' and '.join(sorted(found))}: two types are called {name}; a name says whose it is"
        for name, found in sorted(places.items())
        if len(found) > 1 and name not in SAME_WORD
    ]


def participles(path: str) -> list[str]:
    """A module's name that is a participle: it tells what was done, not what is there."""
    name = path.rpartition("/")[2].removesuffix(".py")
    if name == "__init__" or not name.rpartition("_")[2].endswith(("ed", "ing")) or name in NOUNS:
        return []
    return [f"src/farhand/{path}: '{name}' is a participle; a module is called by what is in it"]


def avoided_words(glossary: str) -> dict[str, str]:
    """The glossary's table of words that names avoid, each with the plain word."""
    _, _, table = glossary.partition(AVOIDED_IN_NAMES)
    rows = re.findall(r"^\| ([a-z, ]+) \| ([^|]+) \|", table.partition("\n## ")[0], re.MULTILINE)
    return {word.strip(): plain.strip() for words, plain in rows for word in words.split(",") if words != "word"}


def defined_names(path: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The names that a module gives: its own, and those of its classes, functions, attributes, arguments, variables.

    Names of tests are sentences."""
    for part in Path(path).with_suffix("").parts:
        yield 1, part
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if not name.startswith("test_"):
                    yield node.lineno, name
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case _:
                pass


def badly_named(path: str, tree: ast.Module, avoided: Mapping[str, str]) -> list[str]:
    """Names with a word that the glossary tells to avoid."""
    return [
        f"{path}:{line}: '{name}' says '{word}'; the glossary says: {avoided[word]}"
        for line, name in sorted(set(defined_names(path, tree)))
        for word in (one.lower() for one in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name))
        if word in avoided
    ]


def duck_typing(path: str, tree: ast.Module) -> list[str]:
    """Every `getattr(x, "name", default)`: a protocol says the same, and the type checker reads it."""
    if any(path == place or (place.endswith("/") and path.startswith(place)) for place in DUCK_TYPING):
        return []
    return [
        f"{path}:{node.lineno}: getattr with a default asks for '{name}'; say it in a protocol"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) == 3
        and isinstance(node.args[1], ast.Constant)
        and not (name := str(node.args[1].value)).startswith("__")
    ]


def caught_whole(path: str, tree: ast.Module) -> list[str]:
    """Handlers that keep every error to themselves, beyond those that have a reason."""
    found = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}))
        and not isinstance(node.body[-1], ast.Raise)
    ]
    allowed, _ = CAUGHT_WHOLE.get(path, (0, ""))
    if len(found) < allowed:
        return [
            f"src/farhand/{path}: CAUGHT_WHOLE allows {allowed} handlers of every error, and there are {len(found)}"
        ]
    return [f"src/farhand/{path}:{line}: catches every error; name those that are meant" for line in found[allowed:]]


def uses_of_any(tree: ast.Module) -> int:
    """How often `Any` stands in a module, its import included."""
    names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    imported = (alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names)
    return Counter((*names, *imported))["Any"]


def beyond(found: Iterable[str], left: Mapping[str, int]) -> list[str]:
    """The complaints of every room that has more of them than it may still have."""
    rooms: dict[str, list[str]] = {}
    for line in found:
        rooms.setdefault(re.split("[/:]", line)[0], []).append(f"src/farhand/{line}")
    return [line for room, lines in rooms.items() if len(lines) > left.get(room, 0) for line in lines]


def source_complaints() -> list[str]:
    """What is wrong with the package as a whole."""
    modules = {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in modules.items()}
    avoided = avoided_words(GLOSSARY.read_text("utf-8"))
    found = median_complaints(text.count("\n") for text in modules.values())
    found += twice_named(trees)
    found += beyond(
        (line for path, tree in trees.items() for line in badly_named(path, tree, avoided)), AVOIDED_WORDS_LEFT
    )
    found += beyond((line for path, tree in trees.items() for line in duck_typing(path, tree)), DUCK_TYPING_LEFT)
    found += [line for path in modules for line in participles(path)]
    found += [line for path, tree in trees.items() for line in caught_whole(path, tree)]
    found += [f"src/farhand/{path}: CAUGHT_WHOLE names no module" for path in CAUGHT_WHOLE.keys() - trees.keys()]
    uses = sum(uses_of_any(tree) for path, tree in trees.items() if path.startswith("drivers/"))
    if uses > ANY_IN_DRIVERS:
        found.append(f"src/farhand/drivers: 'Any' stands {uses} times; {ANY_IN_DRIVERS} is the limit")
    return found


def unlocked() -> list[str]:
    """Dependencies that pyproject.toml names and a lock file does not."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = {
        "requirements.lock": project["dependencies"],
        "requirements-dev.lock": [*project["dependencies"], *extras["testing"], *extras["dev"]],
    }
    found: list[str] = []
    for lock, dependencies in wanted.items():
        locked = {line.partition("==")[0] for line in (ROOT / lock).read_text("utf-8").splitlines() if "==" in line}
        names = {re.split(r"[\[<>=~! ;]", dependency)[0].lower() for dependency in dependencies} - {"farhand"}
        found += [f"{lock}: {name} is not locked; run `make lock`" for name in sorted(names - locked)]
    return found


def main() -> int:
    """Prints every complaint; the exit code is 1 when there is one."""
    modules = [
        path
        for folder in ("src", "tests", "bench", "scripts", "examples")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    found = [line for path in modules for line in complaints(path)]
    avoided = avoided_words(GLOSSARY.read_text("utf-8"))
    for path in (one for one in modules if not one.is_relative_to(SOURCE)):
        found += badly_named(path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8")), avoided)
    for path in sorted(one for one in SOURCE.rglob("*") if one.suffix in {".py", ".toml"}):
        found += names_backends(path, path.read_text("utf-8"), BACKENDS)
    found += source_complaints()
    found += unlocked()
    for line in found:
        print(line)
    median = int(statistics.median(path.read_text("utf-8").count("\n") for path in SOURCE.rglob("*.py")))
    print(f"{len(modules)} modules, the median in src has {median} lines; {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
