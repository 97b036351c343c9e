"""What Codex writes, as one kind of item: its app-server, its rollouts and its `exec` stream name the same things."""

from __future__ import annotations

from typing import Final

from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.text.tool_title import one_line, pretty_json
from farhand.model.words import Word, replace

LONGEST_OUTPUT = 4000

# Each kind under the names that the three sources give it, without their capitals and underscores.
KINDS: Final = {
    "usermessage": "user",
    "agentmessage": "said",
    "reasoning": "thought",
    "commandexecution": "command",
    "filechange": "change",
    "mcptoolcall": "mcp",
    "dynamictoolcall": "tool",
    "collabagenttoolcall": "agent",
    "collabtoolcall": "agent",
    "websearch": "search",
    "imageview": "view",
    "imagegeneration": "picture",
    "plan": "plan",
    "todolist": "todo",
    "contextcompaction": "compaction",
    "error": "warning",
}
SILENT: Final = frozenset(
    "hookprompt functioncalloutput subagentactivity sleep enteredreviewmode exitedreviewmode".split()
)
VERBS: Final = {"add": "Write", "delete": "Delete"}
FAILED: Final = frozenset("failed declined error cancelled canceled".split())


class Item(Word):
    """One thing that Codex did or said. `kind` is '' for one that is not known."""

    kind: str
    id: str
    text: str = ""
    # Who the client said it was, for a message of the person's.
    client: str = ""
    tool: str = ""
    title: str = ""
    detail: str = ""
    output: str = ""
    ok: bool = True
    # Of a change: the files, and the whole of what becomes of them, however long.
    paths: tuple[str, ...] = ()
    whole: str = ""


def read_item(item: Fields) -> Item:
    """The item of any of the three sources."""
    named = item.text("type").replace("_", "").lower()
    kind = "silent" if named in SILENT else KINDS.get(named, "")
    found = Item(kind=kind, id=item.text("id"), text=_text(item), ok=item.text("status").lower() not in FAILED)
    match kind:
        case "user":
            return replace(found, client=item.text("clientId") or item.text("client_id"))
        case "command":
            return _command(item, found)
        case "change":
            title, whole = change_words(item.any("changes"))
            changed = replace(found, paths=changed_paths(item.any("changes")), whole=whole)
            return _tool(changed, "apply_patch", title, whole, item.text("stdout"))
        case "mcp" | "tool" | "agent":
            return _called(item, found, kind)
        case "search":
            query = item.text("query") or item.fields("action").text("query")
            return _tool(found, "web_search", f"Search the web: {query}".strip(), query)
        case "view":
            return _tool(found, "view_image", f"Look at {item.text('path')}".strip(), item.text("path"))
        case "picture":
            return _tool(found, "image_generation", "Make a picture", item.text("revisedPrompt"))
        case _:
            return found


def _tool(found: Item, tool: str, title: str, detail: str, output: str = "") -> Item:
    shown = {"title": one_line(title), "detail": detail[:LONGEST_OUTPUT], "output": output[:LONGEST_OUTPUT]}
    return replace(found, tool=tool, **shown)


def _command(item: Fields, found: Item) -> Item:
    command = shell_words(item.any("command"))
    output = item.text("aggregatedOutput") or item.text("aggregated_output")
    code = item.whole("exitCode") or item.whole("exit_code")
    done = replace(found, ok=found.ok and code == 0)
    return _tool(done, "shell", command or "Run a command", command, output)


def _called(item: Fields, found: Item, kind: str) -> Item:
    tool = item.text("tool")
    given = item.any("arguments")
    arguments = given if isinstance(given, str) else _pretty(given)
    problem = item.fields("error").text("message")
    if kind == "agent":
        prompt = item.text("prompt")
        return _tool(found, tool or "agent", f"Agent: {prompt or tool}", prompt)
    server = item.text("server") or item.text("namespace")
    title = f"{server}: {tool}" if server else tool or "Use a tool"
    return _tool(found, tool or "tool", title, arguments, problem or _result(item.fields("result")))


def _result(result: Fields) -> str:
    return "\n".join(block.text("text") for block in result.list("content"))


def _pretty(value: object) -> str:
    return "" if value is None else pretty_json(value)


def shell_words(command: object) -> str:
    """A command as a person wrote it, without the shell that Codex wraps around it."""
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        return words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)
    if not isinstance(command, str):
        return ""
    for shell in ("/bin/bash -lc ", "/bin/sh -lc ", "/bin/zsh -lc ", "bash -lc "):
        if command.startswith(shell):
            return _unquoted(command[len(shell) :], command)
    return command


def _unquoted(rest: str, whole: str) -> str:
    """The one quoted word after a shell; the whole command when it is anything else."""
    if len(rest) > 1 and rest[0] == rest[-1] == "'" and "'" not in rest[1:-1]:
        return rest[1:-1]
    if len(rest) > 1 and rest[0] == rest[-1] == '"' and not set(rest[1:-1]) & set('"\\$`'):
        return rest[1:-1]
    return rest if " " not in rest and not set(rest) & set("'\"\\") else whole


def change_words(changes: object) -> tuple[str, str]:
    """What a change of files is about, and the whole of it."""
    every = [(path, Fields(one)) for path, one in _changes(changes)]
    if not every:
        return "Change files", ""
    title = ", ".join(f"{_verb_word(one)} {path}" for path, one in every)
    return title, "\n\n".join(_whole_change(path, one) for path, one in every)


def changed_paths(changes: object) -> tuple[str, ...]:
    """The files that it changes, and where it moves them."""
    found = [(path, Fields(one)) for path, one in _changes(changes)]
    moved = [one.fields("kind").text("move_path") or one.text("move_path") for _, one in found]
    return tuple(dict.fromkeys(path for path in (*(path for path, _ in found), *moved) if path))


def _changes(changes: object) -> list[tuple[str, object]]:
    if isinstance(changes, dict):
        return [(path, one) for path, one in changes.items() if isinstance(path, str)]
    listed = [one for one in changes if isinstance(one, dict)] if isinstance(changes, list) else []
    return [(Fields(one).text("path"), one) for one in listed]


def _verb(change: Fields) -> str:
    return change.fields("kind").text("type") or change.text("kind") or change.text("type")


def _verb_word(change: Fields) -> str:
    return {"add": "Write", "delete": "Delete"}.get(_verb(change), "Edit")


def _whole_change(path: str, change: Fields) -> str:
    """One file's change in full; where it is a diff with hunks alone, a diff with the file's names."""
    moved = change.fields("kind").text("move_path") or change.text("move_path")
    words = change.text("diff") or change.text("unified_diff") or change.text("content")
    if _verb_word(change) == "Edit" and words.startswith("@@ -"):
        return f"--- {path}\n+++ {moved or path}\n{words}".removesuffix("\n")
    told = f"(moved to {moved})\n" if moved else ""
    return f"{_verb_word(change)} {path}\n{told}{words}".strip()


def _text(item: Fields) -> str:
    for name in ("text", "message"):
        if item.text(name):
            return item.text(name)
    for name in ("summary", "summary_text", "content", "raw_content"):
        value = item.any(name)
        texts = (
            [one if isinstance(one, str) else Fields(one).text("text") for one in value]
            if isinstance(value, list)
            else []
        )
        if any(texts):
            return "\n\n".join(text for text in texts if text)
    return ""
