"""Makes docs/reference/spec-2.md from the promises of spec 2 and the tests that keep them; `--check` fails on a gap."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROMISES = ROOT / "tests" / "spec" / "spec_2.txt"
# Lines that nothing here keeps yet, told as such on the page.
OPEN = ROOT / "tests" / "spec" / "spec_2_open.txt"
PAGE = ROOT / "docs" / "reference" / "spec-2.md"

OVERRULED = {
    "backend.1": "The interface is `Driver`: `backend`, `can`, `open()`, `end()`, and a link's `perform()`. Whether a "
    "worker is online is a fact that was written down, not a question asked of a process each time.",
    "backend.3": "A worker asks before it acts, so its CLI's own permissions stay on; `--dangerously-skip-permissions` "
    "is the mode `yolo`, chosen for a worker. Text is pasted, seen in the box, and Enter comes on its own.",
    "backend.4": "Workers that are hired have a driver of their own, which keeps the session open, asks and streams. "
    "The adapter is `farhand adapter codex <worker> <message> <bridge_url> [sessions_dir] [workdir]`, for programs "
    "that call it.",
    "backend.5": "As above: `farhand adapter gemini`.",
    "backend.6": "As above: `farhand adapter opencode`; the message goes in at its input, for as an argument it would "
    "arrive in quotes.",
    "claude.1": "The flag belongs to the mode `yolo`.",
    "claude.2": "Text is pasted whole, so that no line of it is taken for Enter; slash commands are typed; the box is "
    "looked at instead of waiting 0.2 s.",
    "flows.1": "The start-up dialog is answered as today's CLI wants it, by keys that are seen to work.",
    "updates.1": "Taps on buttons are handled, for questions have buttons; an edit changes a message that still waits. "
    "Everything else is passed over.",
    "running.11": "👀 is the receipt *handed over*: there is proof that the agent's side took the message. A `❯` "
    "on the screen proves nothing.",
    "running.12": "Up to 16,000 characters (`TELEGRAM_ANSWER_CHARACTERS`) so; a longer one comes as its beginning, in "
    "one message, and whole as a file: 120 kB were 33 messages, and a question stood behind them for half a minute.",
    "security.7": "The *file* `pending` clears after ten minutes. Whether somebody works comes from the turn, which "
    "may take longer.",
    "http.5": "`/response` and its kin are closed to the outside: through a tunnel the whole internet could post an "
    "answer and read the disk with a `[[file:…]]` tag. They answer the node's unix socket, callers on this machine "
    "without forwarding headers and foreign Host or Origin, and whoever holds the node's key.",
    "http.3": "There is always a secret: the node makes one when none is set. An update without it is refused.",
    "workers.3": "A task a worker, not a thread: it costs nothing while nobody writes.",
    "workers.4": "Each line is a message, and a line of ours above it says whom it is from: any program of this user "
    "writes there, and what it says would else be heard as the manager's word. Up to 60 lines a minute of one writer; "
    "what comes faster waits in the pipe.",
    "sandbox.3": "Read-only, but for the worker's own folder in `SESSIONS_DIR`: what lies in another worker's speaks "
    "for that worker. In the place of `/tmp/claudecode-telegram/<node>` are the worker's inbox and pipes of its own to "
    "every other worker, so that the one who writes is known.",
    "media.12": "The current working directory is the node's, and for a worker's answer the one that the worker works "
    "in.",
    "hook.8": "What the bridge has not taken within 5 s stays in the worker's folder (`answers/`), and a node that "
    "comes back passes it on.",
    "hook.10": "There is an `id` beside them, so that a repeat is not a second answer.",
    "protocol.9": "As above: with an `id`.",
    "protocol.10": "`--skip-git-repo-check` is added, or it would refuse to work outside a repository; its input is "
    "empty, or it would wait for more. A session that Codex has lost is begun anew.",
    "protocol.11": "A folder that the CLI does not know is trusted, or it would refuse to work without a person to "
    "ask.",
    "protocol.12": "The message goes in at the input, as above.",
    "media.7": "Ten files of one answer are sent (`TELEGRAM_ANSWER_FILES`); the names of the rest are told.",
    "media.10": "A picture that Telegram cannot draw is sent again as a file before it counts as failed.",
    "cli.37": "farhand is itself a Python program. tmux is asked for unless the node runs with `--demo` or without "
    "Telegram.",
    "cli.38": "With `--reach cloudflared` it is required; without a word (`--reach auto`) a node takes the way that is "
    "there, and polls Telegram where none is.",
    "cli.39": "A worker brings its hooks along when it is started. A person's own settings are changed by "
    "`farhand hook install` alone, which says what it does and can be undone to the byte.",
    "cli.40": "`run` is itself the bridge: it reads these variables, and takes the token out of its environment.",
    "cli.42": "The tunnel is ended and nothing of it is left; the bridge goes on, for Telegram is polled: a node that "
    "gives up hears nobody.",
    "cli.49": "It is `send-to-telegram.py`: a program without a shell and without `jq`. A `send-to-telegram.sh` of the "
    "original is told of by `farhand hook status`.",
    "cli.51": "Merged in Python, atomically and with a backup; what is not ours stays to the byte.",
    "env.4": "A node's own `sessions` folder, as the CLI launched the bridge; another node's variable is not used.",
    "env.5": "`claude-<node>-`, as the CLI launched the bridge; another node's variable is not used.",
    "env.23": "No test needs a bot: the tests bring a Telegram of their own, which checks every request as the Bot API "
    "does.",
    "env.24": "As above: every conversation is played to its end.",
    "env.25": "Tests take a free port each, so that they run side by side.",
    "sandbox.1": "In Docker, podman or, where neither is there, bubblewrap; `/hire ann --sandbox` or `--no-sandbox` "
    "says otherwise for one worker.",
    "sandbox.2": "`~` is at `/workspace` and under its own path, too, and the agent starts in the worker's own folder "
    "under its own path: transcripts, trusted folders and the paths that people and agents exchange are named after "
    "it.",
    "texts.13": "A message to a worker whose agent is gone is refused in these words and not kept: what is sent after "
    "`/relaunch` is what counts.",
}


def read_promises() -> dict[str, list[tuple[str, str]]]:
    """The sections, each with its promises by name."""
    sections: dict[str, list[tuple[str, str]]] = {}
    title = ""
    for line in PROMISES.read_text("utf-8").splitlines():
        if line.startswith("# "):
            title = line.split(": ", maxsplit=1)[1]
            sections[title] = []
        elif line.strip():
            name, _, text = line.partition(" ")
            sections[title].append((name, text))
    return sections


def read_open() -> dict[str, str]:
    """What is promised and not kept yet, by name."""
    rows = (line.partition(" ") for line in OPEN.read_text("utf-8").splitlines() if line.strip())
    return {name: text for name, _, text in rows}


def read_tests() -> dict[str, list[str]]:
    """For each promise, the tests that are marked with it."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for name in _marked(node):
                    found.setdefault(name, []).append(f"{path.relative_to(ROOT)}::{node.name}")
    return found


def _marked(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [
        str(argument.value)
        for mark in node.decorator_list
        if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "promise"
        for argument in mark.args
        if isinstance(argument, ast.Constant)
    ]


def page(sections: dict[str, list[tuple[str, str]]], tests: dict[str, list[str]]) -> str:
    """The page as it must be."""
    names = {name: text for promises in sections.values() for name, text in promises}
    lines = [
        "# Spec 2, line by line",
        "",
        "Every promise of the Telegram team bridge (v0.19.0), and the tests that keep it; what is not kept yet",
        "would stand at the end. Made by `scripts/spec_2.py`; `make check` fails when a promise has no test.",
        "",
        "## Overruled",
        "",
        "| promise | what we do instead, and why |",
        "|---|---|",
        *[f"| {names[name]} | {why} |" for name, why in OVERRULED.items()],
    ]
    for title, promises in sections.items():
        lines += ["", f"## {title}", "", "| | promise | tests |", "|---|---|---|"]
        for name, text in promises:
            kept = "<br>".join(f"`{test.removeprefix('tests/')}`" for test in tests.get(name, [])) or "**none**"
            lines.append(f"| {name} | {text} | {kept} |")
    if still_open := read_open():
        lines += ["", "## Not yet", "", "| | promise |", "|---|---|"]
        lines += [f"| {name} | {text} |" for name, text in still_open.items()]
    return "\n".join(lines).replace("\\[[", "\\\\[[") + "\n"


def unlisted(spec: str, listed: str) -> list[str]:
    """The lines with a MUST in a text of the spec that are on neither list, told by their words."""
    known = _words(listed)
    lines = [line.strip().removeprefix("- ") for line in spec.splitlines() if "MUST" in line]
    return [f"on neither list: {line}" for line in lines if _words(line) not in known]


def _words(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().lower()


def main() -> int:
    """Writes the page, or says what is wrong with it; `--against FILE` compares the lists with a text of the spec."""
    sections, tests = read_promises(), read_tests()
    names = {name for promises in sections.values() for name, _ in promises}
    wrong = [f"no such promise: {name} ({', '.join(tests[name])})" for name in sorted(set(tests) - names)]
    wrong += [f"no test keeps {name}" for name in sorted(names - set(tests))]
    wrong += [f"{name} is kept and still stands under Not yet" for name in sorted(names & set(read_open()))]
    if "--against" in sys.argv:
        spec = Path(sys.argv[sys.argv.index("--against") + 1]).read_text("utf-8")
        wrong += unlisted(spec, PROMISES.read_text("utf-8") + OPEN.read_text("utf-8"))
    elif "--check" not in sys.argv:
        PAGE.write_text(page(sections, tests), "utf-8")
    elif not PAGE.exists() or PAGE.read_text("utf-8") != page(sections, tests):
        wrong.append(f"{PAGE.relative_to(ROOT)} is not as the tests are; run scripts/spec_2.py")
    for line in wrong:
        print(line)
    print(f"{len(names)} promises of spec 2, {len(names & set(tests))} with a test, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
