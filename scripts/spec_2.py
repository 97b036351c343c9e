"""Makes docs/reference/spec-2.md from the promises of spec 2 and the tests that keep them; `--check` fails on a gap.

What the spec demands is kept as digests, one for each line with a MUST and each section of the appendices, so that a
promise that is left out or reworded is found without the spec's text; `--against FILE` compares them with that text.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PROMISES = ROOT / "tests" / "spec" / "spec_2.txt"
# Lines that nothing here keeps yet, told as such on the page.
OPEN = ROOT / "tests" / "spec" / "spec_2_open.txt"
# What the spec's text demands: `must <digest> <promise>`, or `block <digest> <promise>,<promise> <appendix: section>`.
DEMANDS = ROOT / "tests" / "spec" / "spec_2_demands.txt"
PAGE = ROOT / "docs" / "reference" / "spec-2.md"

OVERRULED = {
    "backend.1": "The interface is `Driver`: `backend`, `can`, `open()`, `end()`, and a link's `perform()`. Whether a "
    "worker is online is a fact that was written down, not a question asked of a process each time.",
    "backend.3": "A worker asks before it acts, so its CLI's own permissions stay on; "
    "`--dangerously-skip-permissions` is the mode `yolo`, chosen for a worker. Text is pasted, seen in the box, and "
    "Enter comes on its own.",
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
    "updates.1": "Taps on buttons are handled, for questions have buttons; an edit changes a message that still "
    "waits. Everything else is passed over.",
    "running.11": "👀 is the receipt *handed over*: there is proof that the agent's side took the message. A `❯` on "
    "the screen proves nothing.",
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
    "for that worker. In the place of `/tmp/claudecode-telegram/<node>` are the worker's inbox and pipes of its own "
    "to every other worker, so that the one who writes is known.",
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
    "cli.38": "With `--reach cloudflared` it is required; without a word (`--reach auto`) a node takes the way that "
    "is there, and polls Telegram where none is.",
    "cli.39": "A worker brings its hooks along when it is started. A person's own settings are changed by `farhand "
    "hook install` alone, which says what it does and can be undone to the byte.",
    "cli.40": "`run` is itself the bridge: it reads these variables, and takes the token out of its environment.",
    "cli.42": "The tunnel is ended and nothing of it is left; the bridge goes on, for Telegram is polled: a node that "
    "gives up hears nobody.",
    "cli.49": "It is `send-to-telegram.py`: a program without a shell and without `jq`. A `send-to-telegram.sh` of "
    "the original is told of by `farhand hook status`.",
    "cli.51": "Merged in Python, atomically and with a backup; what is not ours stays to the byte.",
    "env.4": "A node's own `sessions` folder, as the CLI launched the bridge; another node's variable is not used.",
    "env.5": "`claude-<node>-`, as the CLI launched the bridge; another node's variable is not used.",
    "env.23": "No test needs a bot: the tests bring a Telegram of their own, which checks every request as the Bot "
    "API does.",
    "env.24": "As above: every conversation is played to its end.",
    "env.25": "Tests take a free port each, so that they run side by side.",
    "sandbox.1": "In Docker, podman or, where neither is there, bubblewrap; `/hire ann --sandbox` or `--no-sandbox` "
    "says otherwise for one worker.",
    "sandbox.2": "`~` is at `/workspace` and under its own path, too, and the agent starts in the worker's own folder "
    "under its own path: transcripts, trusted folders and the paths that people and agents exchange are named after "
    "it.",
    "commands.14": "Kept to the word; a second line says what does the same thing here.",
    "commands.16": "These, and more: the names of farhand's own commands, those of blocked commands, and words such "
    "as `me`, `node` and `nobody`, which would be taken for something else.",
    "backend.7": "They have no tmux session; but a worker that is hired keeps its conversation, and can ask. "
    "`/progress` says `exec (stateless)`, as the template has it.",
    "env.2": "The default is that of the node's name, as the CLI launched the bridge: `8080` where the name has none "
    "of its own.",
    "http.14": "Of a text beyond 20,000 characters the beginning is sent, and how much was cut.",
    "texts.5": "Below the template, after a blank line, stand each worker's mode, model and folder. Who works is told "
    "by the turn, as above. Behind the brackets of a worker whose agent is not there stands `– offline` or "
    "`– starting`.",
    "texts.6": "Below the template, after a blank line, stands what else is known of the worker. `/progress <name>` "
    "tells of another one, with `Progress for worker: <name>` and `Focused: no`.",
    "texts.12": "As above: a second line says what does it here, and a button below does it where a tap can.",
    "texts.18": "Below the first of them stand, after a blank line, who has just become the manager and how to speak.",
    "texts.14": "Below the sentence of `/pause` stands what it found: that nothing ran, or that what ran is being "
    "stopped, and which messages that waited are taken back.",
    "texts.17": "Below the line of a failure stands why (`Why: …`): without it nobody knows what to do about it.",
    "media.15": "These, and more: the files that agents and their neighbours sign in with (`auth.json`, `token.json`, "
    "`hosts.yml`, …).",
    "media.16": "Not from folders that hold nothing but keys (`~/.ssh`, `~/.aws`, …), not from `/proc`, `/sys` and "
    "`/dev`, nothing of the node's own folder, and nothing that has a secret of the node in it. What a worker in a "
    "sandbox cannot see it cannot show.",
    "updates.4": "`@name` of nobody is refused in a sentence: what was meant for one worker must not reach another "
    "for a slip of the finger.",
    "updates.9": "Recordings (voice, audio, video notes) are written out where that is set up, and answered with a "
    "sentence where it is not: who speaks to the phone waits for an answer. All else is ignored without a word.",
    "lists.3": "The exact extensions; to the names those of `media.15` are added.",
    "lists.4": "Documents: as `media.16`.",
    "protocol.1": "`last_assistant_message`, which today's CLI tells, is used when the transcript has no answer "
    "within the 5 s.",
    "protocol.5": "Lines of subagents are passed over, and a transcript that is not there yet is waited for as long "
    "as one without an answer: a busy CLI calls the hook first.",
    "protocol.8": "So is what the forwarder posts. Answers of workers that farhand runs itself do not go through it: "
    "their headings, lists, quotes, links and struck words are shown as Telegram can.",
    "states.1": "What `pending` says is the file's; whether somebody works comes from the turn, as above.",
    "output.2": "`bot: error` is followed by why. Below the block of a running node stand how long it is up, its "
    "channels, its team and what waits.",
    "output.5": "These nine fields come first, in this order; more stand behind them.",
    "output.6": "Below the sentence stands what to do (`→ …`).",
    "output.11": "The hint names `farhand`, below an unknown flag as well, and what may have been meant.",
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
        "would stand at the end. Made by `scripts/spec_2.py`; `make check` fails when a promise has no test, and when",
        "a line with a MUST or a section of the spec's appendices has no promise.",
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


class Demand(NamedTuple):
    """One line or section of the spec, known by the digest of its words."""

    kind: str
    digest: str
    promises: tuple[str, ...]
    title: str = ""


def read_demands(text: str) -> list[Demand]:
    """The demands as they are kept."""
    rows = (line.split(" ", 3) for line in text.splitlines() if line.strip())
    return [Demand(row[0], row[1], tuple(row[2].split(",")), "".join(row[3:])) for row in rows]


def demands_of(spec: str) -> list[Demand]:
    """What a text of the spec demands: its lines with a MUST, and the sections of its appendices."""
    found = [
        Demand("must", _digest(line), (), line.strip().removeprefix("- "))
        for line in spec.splitlines()
        if "MUST" in line
    ]
    for appendix in re.split(r"^## ", spec, flags=re.MULTILINE):
        title, _, body = appendix.partition("\n")
        if not title.startswith("Appendix "):
            continue
        for section in re.split(r"^### ", body, flags=re.MULTILINE)[1:]:
            name, _, text = section.partition("\n")
            found.append(Demand("block", _digest(text, whole=True), (), f"{title[9]}: {name}"))
    return found


def unmet(demands: list[Demand], listed: Mapping[str, str]) -> list[str]:
    """Demands that are on neither list or that a promise has in other words, and promises that nothing demands."""
    wrong = [
        f"on neither list: {name} ({each.title or each.kind})"
        for each in demands
        for name in each.promises
        if name not in listed
    ]
    wrong += [
        f"{name} is not in the words of the spec"
        for each in demands
        for name in each.promises
        if each.kind == "must" and name in listed and each.digest not in _digests(listed[name])
    ]
    demanded = {name for each in demands for name in each.promises}
    return wrong + [f"no line of the spec demands {name}" for name in sorted(set(listed) - demanded)]


def differences(spec: str, demands: list[Demand]) -> list[str]:
    """Where a text of the spec and the demands as they are kept differ."""
    told = {(each.kind, each.digest): each.title for each in demands_of(spec)}
    kept = {(each.kind, each.digest): each for each in demands}
    wrong = [f"on neither list: {title} ({' '.join(key)})" for key, title in told.items() if key not in kept]
    return wrong + [f"not in the spec: {' '.join(each.promises)}" for key, each in kept.items() if key not in told]


def _digests(promise: str) -> set[str]:
    """The digests of a promise and of its beginnings: it may have what the spec tells in the lines below, too."""
    words = _words(promise).split()
    return {_digest(" ".join(words[:count])) for count in range(1, len(words) + 1)}


def _digest(text: str, *, whole: bool = False) -> str:
    """Of its words; of a section, whose characters are exact, of all but the ends of its lines."""
    told = "\n".join(line.rstrip() for line in text.strip().splitlines()) if whole else _words(text)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _words(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().lower()


def main() -> int:
    """Writes the page, or says what is wrong with it; `--against FILE` compares the demands with a text of the spec."""
    sections, tests, demands = read_promises(), read_tests(), read_demands(DEMANDS.read_text("utf-8"))
    promised = {name: text for promises in sections.values() for name, text in promises}
    names = set(promised)
    wrong = [f"no such promise: {name} ({', '.join(tests[name])})" for name in sorted(set(tests) - names)]
    wrong += [f"no test keeps {name}" for name in sorted(names - set(tests))]
    wrong += [f"{name} is kept and still stands under Not yet" for name in sorted(names & set(read_open()))]
    wrong += unmet(demands, promised | read_open())
    if "--against" in sys.argv:
        wrong += differences(Path(sys.argv[sys.argv.index("--against") + 1]).read_text("utf-8"), demands)
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
