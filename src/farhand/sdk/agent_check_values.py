"""Looks over the plain options of an agent: texts, numbers, switches, lists, each of the kind that it has to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from farhand.sdk.errors import BadAgent
from farhand.sdk.json_shapes import is_mapping

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent

_NUMBER = (int, float)
_GENERATION: dict[str, type | tuple[type, ...]] = {
    "temperature": _NUMBER,
    "topP": _NUMBER,
    "topK": _NUMBER,
    "maxOutputTokens": int,
    "stopSequences": (list, tuple),
    "seed": int,
    "presencePenalty": _NUMBER,
    "frequencyPenalty": _NUMBER,
    "candidateCount": int,
    "responseMimeType": str,
    "responseJsonSchema": dict,
    "responseModalities": (list, tuple),
    "mediaResolution": str,
    "thinkingConfig": dict,
}
_EXTENDER = ("tools", "instructions", "close")


def check_lists(**given: object) -> None:
    """Raises for a single thing where a list of them is due, before anybody iterates over it."""
    for name, value in given.items():
        if value is not None and (isinstance(value, str) or not hasattr(value, "__iter__")):
            raise BadAgent(f"{name} is {value!r}: give a list, also of one.")


def check_dicts(**given: object) -> None:
    """Raises for what is no dict."""
    for name, value in given.items():
        if value is not None and not is_mapping(value):
            raise BadAgent(f"{name} is {value!r}: give a dict.")


def check_values(agent: Agent) -> None:
    """Raises BadAgent for the first option that is not of its kind."""
    if agent.instructions is not None and not isinstance(agent.instructions, str) and not callable(agent.instructions):
        raise BadAgent(f"instructions is {agent.instructions!r}: give a text, or a function of the context.")
    if not isinstance(_any(agent.system_prompt), str | None):
        raise BadAgent(f"system_prompt is {agent.system_prompt!r}: give a text.")
    for name in ("max_turns", "tool_timeout_seconds"):
        _check_number(name, getattr(agent, name))
    for name in ("interactive", "loads", "records"):
        if not isinstance(getattr(agent, name), bool):
            raise BadAgent(f"{name} is {getattr(agent, name)!r}: give True or False.")
    _check_generation(agent.generation)
    _check_spending(agent)
    for extender in agent.extenders:
        if not all(hasattr(extender, name) for name in _EXTENDER):
            raise BadAgent(f"extenders has {extender!r}, which has no {', '.join(_EXTENDER)}.")


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadAgent(f"{name} is {value!r}: give a number.")
    if not value > 0 or (name == "max_turns" and value < 1):
        raise BadAgent("An agent needs at least one turn (max_turns), and its tools some time (tool_timeout_seconds).")


def _check_generation(generation: Mapping[str, object]) -> None:
    for name, value in generation.items():
        if name not in _GENERATION:
            raise BadAgent(f"generation has no {name!r}. Known: {', '.join(sorted(_GENERATION))}.")
        if isinstance(value, bool) or not isinstance(value, _GENERATION[name]):
            raise BadAgent(f"generation has {value!r} for {name}, which cannot be.")


def _check_spending(agent: Agent) -> None:
    if agent.budget is None and not agent.prices:
        return
    from farhand.sdk.budget import Budget, Price

    if not isinstance(_any(agent.budget), Budget | None):
        raise BadAgent(f"budget is {agent.budget!r}: give Budget(turns=…, tokens=…, dollars=…, seconds=…).")
    for model, price in agent.prices.items():
        if not isinstance(_any(price), Price):
            raise BadAgent(f"prices has {price!r} for {model}: give Price(input=…, output=…).")


def _any(value: object) -> Any:
    """What the type checkers know well, and whoever has none may get wrong."""
    return value
