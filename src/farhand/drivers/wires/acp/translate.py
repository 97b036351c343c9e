"""Translates ACP updates into lines of the line protocol, and prompts into content blocks. Pure."""

import base64
import hashlib
import json
from collections.abc import Callable
from mimetypes import guess_type
from pathlib import Path
from typing import Final

import msgspec

from farhand.drivers.wires.asks.actions import action_of, compact_json, names_command
from farhand.drivers.wires.foreign_json import Fields, JsonObject
from farhand.drivers.wires.lines.agent import AgentPrompt
from farhand.drivers.wires.text.tool_title import pretty_json
from farhand.model.action import Action, ActionKind, files, headline, on_one_line
from farhand.model.phrases import choice, phrase, said
from farhand.sdk.acp.words import AcpOption, AcpPermission, AcpSaid, AcpTurnEnded, ToolProgress, Update

SHOWN_CHARACTERS = 4000
# What the kinds of options do, in the order in which they are shown.
_KINDS: Final = {
    "allow_once": "label_allow_once",
    "allow_always": "label_always_allow",
    "reject_once": "label_reject",
    "reject_always": "label_always_reject",
}
HOW = {"end_turn": "completed", "cancelled": "interrupted"}
# What the protocol does not say, nobody can promise.
AGENTS_OFFER: Final = phrase("scope_agents_offer")
NO_RAW_INPUT: Final = "The agent sent no raw input: all that is known of it are the agent's own words."
# What agents call the folder that a command runs in.
_FOLDER_ARGUMENTS: Final = ("cwd", "workdir", "dir_path", "directory")
_IN_FOLDER: Final = "[in "
IN_ITS_WORDS: Final = "(a folder that the agent's own words tell)"
_CHANGES: Final = {"edit": ActionKind.EDIT, "delete": ActionKind.DELETE, "move": ActionKind.EDIT}
FAILURES = {
    "max_tokens": "The model's answer was cut off: it reached the limit of its length.",
    "max_turn_requests": "The turn reached the agent's limit of model calls.",
    "refusal": "The model refused to go on.",
}


class AcpToolCalls:
    """The tool calls of one turn: which were reported, and under which title."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}
        self._over: set[str] = set()

    def lines(self, turn: str, update: ToolProgress) -> list[JsonObject]:
        """A call is reported when it is first seen, whatever the agent sends first, and once more when it is over."""
        lines: list[JsonObject] = []
        if update.call not in self._titles:
            title = update.title or update.kind or "tool"
            self._titles[update.call] = title
            lines.append(
                {"tool": turn, "call": update.call, "name": update.kind or "tool", "title": title, "status": "started"}
            )
        if update.over and update.call not in self._over:
            self._over.add(update.call)
            status = "failed" if update.status == "failed" else "done"
            lines.append(
                {"tool": turn, "call": update.call, "status": status, "output": update.text[:SHOWN_CHARACTERS]}
            )
        return lines


def lines_of(turn: str, event: Update | AcpTurnEnded, calls: AcpToolCalls) -> list[JsonObject]:
    """The lines that one update means."""
    match event:
        case AcpSaid(role="agent", content=content) if content.text:
            return [{"text": turn, "piece": content.text}]
        case AcpSaid(role="thought", content=content) if content.text:
            return [{"thought": turn, "piece": content.text}]
        case ToolProgress():
            return calls.lines(turn, event)
        case AcpTurnEnded():
            return _ended(turn, event)
        case _:
            return []


def _ended(turn: str, ended: AcpTurnEnded) -> list[JsonObject]:
    lines: list[JsonObject] = []
    if ended.input_tokens or ended.output_tokens:
        lines.append({"usage": turn, "input": ended.input_tokens, "output": ended.output_tokens})
    how = HOW.get(ended.stop_reason, "failed")
    error = FAILURES.get(ended.stop_reason, f"The agent stopped: {ended.stop_reason}.") if how == "failed" else ""
    return [*lines, {"ended": turn, "how": how, **({"error": error} if error else {})}]


def ask_line(turn: str, ask: str, permission: AcpPermission) -> JsonObject:
    """A request for permission as a question: what would run by its raw input, and what allows least comes first."""
    call = permission.call
    exact = json.dumps([call.call, call.kind, call.title, call.text, call.raw_input], sort_keys=True, default=str)
    action = _action(call)
    asked = headline(action)
    title = call.title or ""
    return {
        "ask": turn,
        "ask_id": ask,
        "question": asked,
        "choices": [_choice(option) for option in sorted(permission.options, key=_rank)],
        "about": "permission",
        "detail": _whole(call, action),
        "action": msgspec.to_builtins(action),
        "where": _folder(call, action),
        # What the agent calls it; where that is what would run, it says nothing more.
        "why": "" if title in asked or title == action.target else title,
        "digest": hashlib.sha256(exact.encode(errors="surrogatepass")).hexdigest(),
    }


def _folder(call: ToolProgress, action: Action) -> str:
    """The folder that the agent chose for a command; empty where that is the one that it works in."""
    if not call.raw_input:
        return _told_folder(call)
    given = Fields(call.raw_input)
    named = (given.text(one) for one in _FOLDER_ARGUMENTS)
    return next(filter(None, named), "") if action.kind is ActionKind.RUN else ""


def _told_folder(call: ToolProgress) -> str:
    """The folder that an agent without raw input tells before its own words: `[in sub] (…)`."""
    told = call.text if call.kind == "execute" else ""
    if not told.startswith(_IN_FOLDER):
        return ""
    # Both a folder and a description are the model's: what may be either names no folder.
    folder, *rest = told.removeprefix(_IN_FOLDER).split("]")
    return folder if len(rest) == 1 else IN_ITS_WORDS


def _action(call: ToolProgress) -> Action:
    """What would be done: by the raw input, and only without one by what the agent says of it."""
    given, kind = Fields(call.raw_input), call.kind or ""
    if given:
        return action_of("execute" if names_command(given) else kind, given, kind or "a tool")
    changed = tuple(dict.fromkeys(str(one["path"]) for one in call.content or () if one.get("path")))
    if changed and kind in _CHANGES:
        return files(_CHANGES[kind], *changed)
    said = compact_json(call.raw_input) if call.raw_input else call.title or ""
    return Action(kind=ActionKind.CALL, tool=kind or "a tool", target=said)


def _whole(call: ToolProgress, action: Action) -> str:
    """The raw input, all of it, then what the agent shows beside it."""
    raw = call.raw_input
    # A description in words does nothing; whatever else came with a command is shown with it.
    others = {name: value for name, value in Fields(raw).plain.items() if name not in ("command", "cmd")}
    description = others.pop("description", "")
    plain = action.kind is ActionKind.RUN and not others and isinstance(description, str)
    given = action.target if plain else pretty_json(raw) if raw else ""
    shown = call.text if call.text != given else ""
    if given:
        return f"{given}\n\nThe agent shows:\n{shown}" if shown else given
    # What the headline cuts, or puts on one line, stands here as it is.
    rest = "" if on_one_line(action.target) == action.target else f"{action.target}\n\n"
    return f"{rest}{shown}" if action.kind is not ActionKind.CALL else f"{NO_RAW_INPUT}\n\n{rest}{shown}".strip()


def _rank(option: AcpOption) -> int:
    return [*_KINDS].index(option.kind) if option.kind in _KINDS else len(_KINDS)


def _choice(option: AcpOption) -> JsonObject:
    """A button: first what its kind does, in our words, then what the agent calls it where that says something else."""
    label = phrase(_KINDS.get(option.kind, "label_agents_offer"))
    if option.name.casefold() not in said(label).casefold():
        label = phrase(f"{label.code}_named", name=option.name)
    is_plain = option.kind in _KINDS and option.kind != "allow_always"
    # Only a refusal surely allows nothing.
    allows = not option.kind.startswith("reject_")
    made = choice(option.option_id, label, scope=None if is_plain else AGENTS_OFFER, allows=allows)
    plain: JsonObject = msgspec.to_builtins(made)
    return plain


def blocks_of(
    prompt: AgentPrompt, *, images: bool, read: Callable[[Path], bytes] = Path.read_bytes
) -> list[JsonObject]:
    """A prompt's text and files; an image goes as data where the agent can see it, everything else as a link."""
    blocks: list[JsonObject] = [{"type": "text", "text": prompt.text}] if prompt.text else []
    for name in prompt.files:
        path = Path(name)
        media_type = guess_type(path.name)[0] or ""
        if images and media_type.startswith("image/"):
            data = base64.b64encode(read(path)).decode()
            blocks.append({"type": "image", "mimeType": media_type, "data": data})
        else:
            blocks.append({"type": "resource_link", "uri": path.absolute().as_uri(), "name": path.name})
    return blocks
