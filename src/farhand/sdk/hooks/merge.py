"""Merges what several hooks said of one event into one outcome. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from farhand.sdk.hooks.answers import NO_REASON, HookRun
from farhand.sdk.json_shapes import is_list, is_object
from farhand.sdk.protocols import HookOutcome

# What each event may do; anything else that a hook answers there is left aside.
_DECIDE = frozenset({"BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeTool", "AfterTool"})
_ADD_CONTEXT = frozenset({"SessionStart", "BeforeAgent", "AfterTool"})
_LATER_REPLACES = frozenset({"BeforeModel", "AfterModel"})
NEXT_ROUND = "Go on with what is to be done next."
_STRENGTH = {None: 0, "allow": 1, "ask": 2, "deny": 3}


def merged(event: str, results: Sequence[HookRun], fields: Mapping[str, Any]) -> HookOutcome:
    """The outcome of an event: refusals outweigh questions, questions outweigh consent."""
    outputs = [result.output for result in results if result.output is not None]
    if event == "AfterAgent":
        outputs = [_reprompting(output) for output in outputs]
    decision, reason, stop, stop_reason = _verdict(event, outputs)
    messages = [output["systemMessage"] for output in outputs if output.get("systemMessage")]
    failures = [result for result in results if result.failure]
    if failures and event == "BeforeTool":
        # A guard that is dead, late or killed never lets a tool run.
        decision = "deny"
        sentences = [f"Hook {each.name!r} failed: {each.failure}." for each in failures]
        reason = "\n".join([*([reason] if reason and reason != NO_REASON else []), *sentences])
    messages += [f"Warning: hook {each.name!r} failed: {each.failure}." for each in failures]
    return HookOutcome(
        decision=cast("Literal['allow', 'deny', 'ask'] | None", decision),
        reason=reason,
        additional_context=_context(outputs) if event in _ADD_CONTEXT else None,
        system_message="\n".join(messages) or None,
        stop=stop,
        stop_reason=stop_reason,
        suppress_output=any(output.get("suppressOutput") for output in outputs),
        modified=_modified(event, outputs, fields),
    )


def _verdict(event: str, outputs: list[dict[str, Any]]) -> tuple[str | None, str, bool, str]:
    if event not in _DECIDE:
        return None, "", False, ""
    if event in _LATER_REPLACES:
        last = {key: value for output in outputs for key, value in output.items()}
        outputs = [last]
    decisions = [output.get("decision") for output in outputs]
    # Only a tool can be put to the person.
    allowed = [each for each in decisions if each != "ask" or event == "BeforeTool"]
    decision = max(allowed, key=lambda each: _STRENGTH.get(each, 0), default=None)
    reasons = "\n".join(output["reason"] for output in outputs if output.get("reason"))
    stop = any(output.get("continue") is False for output in outputs)
    stop_reasons = "\n".join(
        output["stopReason"] for output in outputs if output.get("continue") is False and output.get("stopReason")
    )
    effective = stop_reasons or reasons or NO_REASON
    return decision, (effective if decision in ("deny", "ask") else reasons), stop, effective if stop else ""


def _reprompting(output: dict[str, Any]) -> dict[str, Any]:
    """`{"stop_hook_active": false}` wants another round, as a refusal does."""
    if output.get("stop_hook_active") is not False or output.get("decision"):
        return output
    return {**output, "decision": "deny", "reason": output.get("reason") or NEXT_ROUND}


def _specific(outputs: list[dict[str, Any]], key: str, kind: type) -> list[Any]:
    found = [output.get("hookSpecificOutput", {}).get(key) for output in outputs]
    return [value for value in found if isinstance(value, kind)]


def _context(outputs: list[dict[str, Any]]) -> str | None:
    texts = [text for text in _specific(outputs, "additionalContext", str) if text]
    joined = "\n".join(texts)
    # Escaped, so that no hook can end the tag its text is put into.
    return joined.replace("<", "&lt;").replace(">", "&gt;") or None


def _modified(event: str, outputs: list[dict[str, Any]], fields: Mapping[str, Any]) -> dict[str, Any]:
    match event:
        case "BeforeTool":
            return _overlaid("tool_input", outputs, fields.get("tool_input") or {})
        case "BeforeModel":
            responses = _specific(outputs, "llm_response", dict)
            changed = _overlaid("llm_request", outputs, {})
            return changed | ({"llm_response": responses[-1]} if responses else {})
        case "AfterModel":
            responses = [each for each in _specific(outputs, "llm_response", dict) if _says_something(each)]
            return {"llm_response": responses[-1]} if responses else {}
        case "BeforeToolSelection":
            return _selection(_specific(outputs, "toolConfig", dict))
        case "AfterTool":
            calls = [each for each in _specific(outputs, "tailToolCallRequest", dict) if "name" in each]
            return {"tailToolCallRequest": calls[-1]} if calls else {}
        case "AfterAgent":
            return {"clearContext": True} if any(_specific(outputs, "clearContext", bool)) else {}
        case _:
            return {}


def _overlaid(key: str, outputs: list[dict[str, Any]], original: Mapping[str, Any]) -> dict[str, Any]:
    """Each hook's part over what was there: a partial object changes what it names and nothing else."""
    changes = _specific(outputs, key, dict)
    if not changes:
        return {}
    whole = dict(original)
    for change in changes:
        whole |= change
    return {key: whole}


def _says_something(response: dict[str, Any]) -> bool:
    try:
        return bool(response["candidates"][0]["content"]["parts"])
    except (KeyError, IndexError, TypeError):
        return False


def _selection(choices: list[dict[str, Any]]) -> dict[str, Any]:
    """All names together; NONE outweighs ANY, ANY outweighs AUTO."""
    if not choices:
        return {}
    modes = [choice.get("mode") for choice in choices]
    mode = next((each for each in ("NONE", "ANY") if each in modes), "AUTO")
    names: set[str] = set()
    for choice in choices:
        listed = choice.get("allowedFunctionNames")
        names |= {name for name in listed if isinstance(name, str)} if is_list(listed) else set()
    config: dict[str, Any] = {"mode": mode}
    if names and mode != "NONE":
        config["allowedFunctionNames"] = sorted(names)
    return {"toolConfig": config}


def fed_forward(event: str, payload: dict[str, Any], ran: HookRun) -> dict[str, Any]:
    """What the next hook of a sequence is told: the payload with this hook's changes in it."""
    specific = (ran.output or {}).get("hookSpecificOutput", {})
    match event:
        case "BeforeAgent" if isinstance(specific.get("additionalContext"), str):
            return {**payload, "prompt": f"{payload.get('prompt', '')}\n\n{specific['additionalContext']}"}
        case "BeforeModel" if is_object(specific.get("llm_request")):
            return {**payload, "llm_request": {**payload.get("llm_request", {}), **specific["llm_request"]}}
        case "BeforeTool" if is_object(specific.get("tool_input")):
            return {**payload, "tool_input": {**payload.get("tool_input", {}), **specific["tool_input"]}}
        case _:
            return payload
