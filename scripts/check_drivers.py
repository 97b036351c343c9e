"""Checks that driver folders are alike: the same file name means the same in each, and no other names stand there."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRIVERS = ROOT / "src" / "farhand" / "drivers"
PAGE = ROOT / "docs" / "how-to" / "write-a-driver.md"
# What drivers share is ordered by mechanism, not by CLI.
SHARED = "wires"

ROOT_FILES = {
    "manifest.toml": "the backend's name, and everything about its CLI that is data: modes, dialogs, hooks, variables",
    "driver.py": "`build(context)`: the backend's drivers, the usual one first",
    "launch.py": "how the CLI is started: its command lines, its settings, its variables",
    "schema.py": "what the CLI writes, read and checked once",
    "asks.py": "a question of the CLI as an ask, and the answer as the CLI wants it",
    "permission_rules.py": "the rules that an answer may give the CLI, and how far each reaches",
    "edits.py": "which edits the mode auto_edit allows, by where their paths lead",
    "context.py": "how full a conversation is, where the CLI tells it elsewhere than on its wire",
    "limits.py": "whether an error is a usage limit, when it ends, and how much of a window is used",
    "models.py": "what the CLI tells of the models that it can use",
    "signed_out.py": "whether nobody has signed in, as the CLI itself tells it",
    "sessions.py": "the conversations that the CLI keeps on this machine",
    "past.py": "what was said in one of them, read from the CLI's own records",
    "titles.py": "what a tool call does, in one line and in full",
    "oneshot.py": "the CLI called once for a message",
    "hook_settings.py": "our hooks in a person's own settings of the CLI",
    "bridge_hooks.py": "how the CLI wants the hooks of the file bridge",
}
# Where there is a folder for a wire, whoever looks for one of these finds it.
REQUIRED_WITH_WIRES = frozenset("launch.py schema.py asks.py limits.py sessions.py".split())
REQUIRED = frozenset(("manifest.toml", "driver.py"))

WIRES = {
    "headless": "two ways, without a terminal",
    "exec": "a process a turn",
    "tmux": "in a terminal where a person can sit down",
}
WIRE_FILES = {
    "driver.py": "the driver of this wire: starts or finds a worker's agent and opens a link to it",
    "link.py": "the open link: errands in, facts out",
    "translate.py": "foreign records into facts or lines of the line protocol, without a clock, a file or a process",
    "state.py": "what link and translation remember between records; it travels in the cursor",
    "agent.py": "a program of ours that runs in a holder and speaks the line protocol",
    "api.py": "the requests to a CLI that serves HTTP",
    "server.py": "the server of such a CLI: started, found, ended",
    "command_folders.py": "in which folder a command of such a CLI would run",
}
TMUX_FILES = {
    "keyboard.py": "keys and text typed into the terminal",
    "screen.py": "what is on the screen, parsed",
    "hooks.py": "what the CLI's hooks report, and the questions that they ask",
    "dialogs.py": "dialogs on the screen that wait for a person",
    "open_calls.py": "tool calls that wait, and which of them a dialog asks about",
    "session_file.py": "the file that the CLI writes its session to",
    "earlier.py": "the CLI that another bridge has left running, taken over",
    "status.py": "what the CLI says of itself outside of its session: its state, its cost",
}
# Only where a backend has a single wire, and so no folder for one.
FLAT_FILES = {
    "replies.py": "what an agent of ours says",
    "work.py": "what an agent of ours works on, and asks about it",
    "panes.py": "the terminals of workers that have no tmux",
    "pane.py": "the terminal of an agent that a person started",
    "pace.py": "how fast what it says is taken",
    "process.py": "the process of an agent that a person started",
    "tmux_server.py": "the tmux server of such an agent, and whether it may be spoken to",
    "own_agent.py": "an agent that the person wrote, found by its name",
}


def complaints(drivers: Path) -> list[str]:
    """Everything in which a driver's folder differs from the table."""
    folders = sorted(path.parent for path in drivers.glob("*/__init__.py") if path.parent.name != SHARED)
    return [line for folder in folders for line in _driver_complaints(folder)]


def _driver_complaints(folder: Path) -> Iterator[str]:
    wires = sorted(path for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__")
    yield from (
        f"{folder.name}/{wire.name}/: no wire is called so; known are {', '.join(WIRES)}"
        for wire in wires
        if wire.name not in WIRES
    )
    known, required = set(ROOT_FILES), set(REQUIRED)
    if wires:
        required |= REQUIRED_WITH_WIRES
    else:
        known |= {*WIRE_FILES, *FLAT_FILES}
    yield from _file_complaints(folder, folder.name, known, required)
    yield from _build_complaints(folder / "driver.py", folder.name, alone=bool(wires))
    for wire in wires:
        own = TMUX_FILES if wire.name == "tmux" else {}
        yield from _file_complaints(wire, f"{folder.name}/{wire.name}", {*WIRE_FILES, *own}, {"driver.py"})


def _file_complaints(folder: Path, name: str, known: set[str], required: set[str]) -> Iterator[str]:
    present = {path.name for path in folder.iterdir() if path.is_file()}
    yield from (f"{name}/{file} is missing" for file in sorted({"__init__.py", *required} - present))
    yield from (
        f"{name}/{file}: scripts/check_drivers.py does not say what a file of this name is for"
        for file in sorted(present - {"__init__.py", *known})
    )


def _build_complaints(file: Path, name: str, *, alone: bool) -> Iterator[str]:
    if not file.is_file():
        return
    defined = ast.parse(file.read_text("utf-8")).body
    functions = [node.name for node in defined if isinstance(node, ast.FunctionDef)]
    classes = [node.name for node in defined if isinstance(node, ast.ClassDef)]
    if "build" not in functions:
        yield f"{name}/driver.py has no build(context)"
    if alone and classes:
        yield f"{name}/driver.py only builds; {', '.join(classes)} belongs to a wire"


def table() -> str:
    """The table as docs/how-to/write-a-driver.md shows it."""
    rows = ["| file | what is in it |", "|---|---|"]
    rows += [f"| `{name}` | {meaning} |" for name, meaning in ROOT_FILES.items()]
    rows += [f"| `{wire}/` | a wire: {meaning} |" for wire, meaning in WIRES.items()]
    rows += [f"| `<wire>/{name}` | {meaning} |" for name, meaning in WIRE_FILES.items()]
    rows += [f"| `tmux/{name}` | {meaning} |" for name, meaning in TMUX_FILES.items()]
    return "\n".join(rows)


def all_complaints() -> list[str]:
    """Every complaint about the drivers, and about the page that shows the table."""
    found = complaints(DRIVERS)
    if table() not in PAGE.read_text("utf-8"):
        found.append(f"{PAGE.relative_to(ROOT)} does not show the table that `scripts/check_drivers.py --table` prints")
    return found


def main() -> int:
    """Prints every complaint, or the table for the page; the exit code is 1 when there is a complaint."""
    if "--table" in sys.argv:
        print(table())
        return 0
    found = all_complaints()
    for line in found:
        print(line)
    print(f"{len(found)} complaints about drivers")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
