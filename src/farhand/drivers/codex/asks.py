"""A question of Codex as an ask, and its answer as Codex wants it. Pure; whatever is unclear denies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from farhand.drivers.codex.schema import shell_words
from farhand.drivers.wires.asks.actions import action_of, compact_json
from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.asks.build import (
    ALLOW,
    DENIED,
    DENY,
    EXPIRED,
    SESSION,
    AskWording,
    ask_of,
    denial,
    digest_of,
    labels_of,
    options,
    options_in_full,
    permission,
    step_id,
)
from farhand.drivers.wires.foreign_json import Fields, JsonObject
from farhand.drivers.wires.text.tool_title import pretty_json
from farhand.model.action import Action, ActionKind, call, files, run
from farhand.model.facts import AskRaised
from farhand.model.phrases import choice, phrase
from farhand.model.words import AskKind, Choice, Phrase, Word, replace

COMMAND: Final = "item/commandExecution/requestApproval"
CHANGE: Final = "item/fileChange/requestApproval"
PERMISSIONS: Final = "item/permissions/requestApproval"
INPUT: Final = "item/tool/requestUserInput"
ELICITATION: Final = "mcpServer/elicitation/request"
HOOK: Final = "PermissionRequest"
METHODS: Final = frozenset((COMMAND, CHANGE, PERMISSIONS, INPUT, ELICITATION))
# What says when or through whom a question came, not what is asked.
_PASSING: Final = frozenset("startedAtMs threadId turnId itemId approvalId availableDecisions environmentId".split())


_FILES_SCOPE: Final = phrase("scope_files")
_PERMISSIONS_SCOPE: Final = phrase("scope_permissions", agent="Codex")


class CodexQuestion(Word):
    """What the agent asks leave for, as it came."""

    method: str
    params: Mapping[str, object]
    # What the files would become: a question about them names only their item.
    title: str = ""
    detail: str = ""
    paths: tuple[str, ...] = ()
    # Where the agent stands, of a question that does not say so itself.
    cwd: str = ""


def digest(question: CodexQuestion) -> str:
    """Names exactly what will run."""
    asked = {name: value for name, value in question.params.items() if name not in _PASSING}
    return digest_of(question.method, asked, question.detail)


def steps(question: CodexQuestion) -> int:
    """How many asks the question is made of: one for each question of a questionnaire."""
    return max(1, len(_questions(question)))


def to_ask(ask: str, question: CodexQuestion, deadline_seconds: float | None, step: int = 0) -> AskRaised:
    """The ask, with everything that a person needs to decide."""
    return ask_of(step_id(ask, step), _wording(question, step), digest(question), deadline_seconds)


def _wording(question: CodexQuestion, step: int) -> AskWording:
    params, questions = Fields(question.params), _questions(question)
    if questions:
        one = questions[min(step, len(questions) - 1)]
        words = one.text("question") or one.text("header")
        return AskWording(
            about=AskKind.CHOICE, question=words, choices=options(labels_of(one)), whole=options_in_full(one)
        )
    where, why = params.text("cwd"), params.text("reason")
    match question.method:
        case "item/commandExecution/requestApproval":
            command = shell_words(params.any("command"))
            action = run(command or params.text("command"))
            return permission(action, _choices(_command_scope(params)), _command(params, command), where=where, why=why)
        case "item/fileChange/requestApproval":
            root = params.text("grantRoot")
            asked = f"\n\nIt also asks to write anywhere under {root} for the rest of the session." if root else ""
            choices = _choices(_FILES_SCOPE if not root else None)
            return permission(_changed(question), choices, question.detail + asked, why=why)
        case "PermissionRequest":
            return replace(_hooked(params), where=question.cwd)
        case "item/permissions/requestApproval":
            wanted = pretty_json(params.any("permissions"))
            action = call("more permissions", compact_json(params.any("permissions")))
            return permission(action, _choices(_PERMISSIONS_SCOPE), wanted, where=where, why=why)
        case _:
            return _elicitation(params)


def _changed(question: CodexQuestion) -> Action:
    """What the files would become; which files, as the item said."""
    paths = question.paths
    only = {one.partition(" ")[0] for one in question.title.split(", ")} if len(paths) == 1 else set()
    kind = {"Write": ActionKind.WRITE, "Delete": ActionKind.DELETE}.get("".join(only), ActionKind.EDIT)
    return files(kind, *paths)


def _elicitation(params: Fields) -> AskWording:
    """A tool server's own question, with all that it sent."""
    server, sent = params.text("serverName"), _elicited(params)
    words = params.text("message") or params.text("title") or "A question of a tool server"
    asked = permission(call(server, compact_json(sent)), _choices(), pretty_json(sent))
    return replace(asked, question=f"{server}: {words}")


def _command_scope(params: Fields) -> Phrase:
    """What Codex allows when a command is allowed for the session."""
    network = params.fields("networkApprovalContext")
    if network:
        host = network.text("host")
        return phrase("scope_host", host=host) if host else phrase("scope_host_named")
    return phrase("scope_command_folder")


def _elicited(params: Fields) -> JsonObject:
    return {name: value for name, value in params.plain.items() if name not in _PASSING}


def _hooked(params: Fields) -> AskWording:
    """A question of the interactive CLI, whose hook knows yes and no alone."""
    tool, given = params.text("tool_name"), params.fields("tool_input")
    command = shell_words(given.any("command"))
    plain = tool == "Bash" and bool(command) and set(given.plain) <= {"command", "description"}
    action = run(command) if tool == "Bash" and command else action_of(tool, given)
    whole = command if plain else pretty_json(given.plain)
    return permission(action, _choices(), whole, why=given.text("description"))


def _command(params: Fields, command: str) -> str:
    """The whole of what would run, and what it would be allowed to."""
    raw = params.text("command")
    wrapped = f"\n\nAs: {raw}" if raw and raw != command and command not in raw else ""
    more = {name: params.any(name) for name in ("additionalPermissions", "networkApprovalContext")}
    shown = {name: pretty_json(value) for name, value in more.items() if value is not None}
    granted = "".join(f"\n\n{name}: {text}" for name, text in shown.items())
    return (command or raw) + wrapped + granted


def _choices(for_session: Phrase | None = None) -> tuple[Choice, ...]:
    """Yes and no, and what is allowed for the session where its reach is known."""
    lasting = (choice(SESSION, phrase("label_allow_session"), scope=for_session),) if for_session else ()
    return (choice(ALLOW, phrase("label_allow_once")), *lasting, denial())


def _questions(question: CodexQuestion) -> list[Fields]:
    return Fields(question.params).list("questions") if question.method == INPUT else []


def decision(question: CodexQuestion, picked: tuple[PartAnswer, ...]) -> JsonObject:
    """The result of the app-server's request."""
    last = picked[-1] if picked else PartAnswer(choice=DENY)
    allowed = last.choice in (ALLOW, SESSION) and not last.expired
    match question.method:
        case "item/commandExecution/requestApproval" | "item/fileChange/requestApproval":
            yes = "acceptForSession" if last.choice == SESSION else "accept"
            return {"decision": yes if allowed else "decline"}
        case "item/permissions/requestApproval":
            wanted = Fields(question.params).fields("permissions").plain
            granted = {name: value for name, value in wanted.items() if value is not None}
            return {"permissions": granted if allowed else {}, "scope": "session" if last.choice == SESSION else "turn"}
        case "item/tool/requestUserInput":
            return {"answers": _answers(question, picked)}
        case _:
            action = "accept" if allowed else "decline"
            return {"action": action, "content": {} if allowed else None, "_meta": None}


def _answers(question: CodexQuestion, picked: tuple[PartAnswer, ...]) -> JsonObject:
    given = zip(_questions(question), picked, strict=False)
    return {one.text("id"): {"answers": _answer(one, choice)} for one, choice in given}


def _answer(question: Fields, picked: PartAnswer) -> list[str]:
    labels = {str(number): option.text("label") for number, option in enumerate(question.list("options"), 1)}
    if picked.expired or picked.choice == DENY:
        return []
    chosen = [labels[picked.choice]] if picked.choice in labels else []
    return [*chosen, *([picked.note] if picked.note else [])]


def hook_reply(question: CodexQuestion, picked: tuple[PartAnswer, ...]) -> JsonObject:
    """A decision as the PermissionRequest hook prints it."""
    last = picked[-1] if picked else PartAnswer(choice=DENY)
    answer: JsonObject = {"behavior": "allow"}
    if last.choice != ALLOW or last.expired or question.method != HOOK:
        answer = {"behavior": "deny", "message": last.note or (EXPIRED if last.expired else DENIED)}
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": answer}}
