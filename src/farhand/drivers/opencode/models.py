"""What OpenCode's server tells of the models that it can use: their context windows and their variants. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from farhand.drivers.opencode.schema import OpenCodeModel
from farhand.model.facts import TurnEnded, Used
from farhand.model.ports import Heard
from farhand.model.words import replace

MOST_NAMED = 20


def with_window(heard: Heard, window: int) -> Heard:
    """The same, with the context window of the model that answers, where it tells what a turn used."""
    fact = heard.fact
    if not window or not isinstance(fact, Used | TurnEnded) or fact.usage is None:
        return heard
    return replace(heard, fact=replace(fact, usage=replace(fact.usage, context_window=window)))


def choice_problem(models: Mapping[str, OpenCodeModel], model: str, effort: str, current: str) -> str:
    """Why that model or effort cannot be chosen, empty where it can; without a model, the effort is for the current
    one, and where nobody knows which that is, OpenCode decides."""
    if model and model not in models:
        return f"OpenCode has no model '{model}'. Known: {', '.join(list(models)[:MOST_NAMED]) or 'none'}."
    answering = model or current
    if effort and answering in models and effort not in models[answering].variants:
        known = ", ".join(models[answering].variants) or "none"
        return f"The model {answering} has no effort '{effort}'. Known: {known}."
    return ""
