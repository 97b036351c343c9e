"""How full an agent's conversation is: how much of its model's context window is used. Pure."""

from collections.abc import Iterable

from farhand.model.present import Worker
from farhand.model.words import Usage

WARNING_PERCENT = 80
WARNING = (
    "{percent} % of the context is used ({tokens:,} of {window:,} tokens). When it is full, the agent shortens the "
    "conversation by itself and forgets details. The sprint goes on; /sprint stop ends it after the next turn, and a "
    "worker that is hired anew starts with an empty context."
)


def window_of(worker: Worker, team: Iterable[Worker]) -> int:
    """How many tokens its conversation may have: told by its agent, or by another one with its model; 0: nobody did."""
    if told := worker.spent.total.context_window:
        return told
    same = (one for one in team if (one.backend, one.model) == (worker.backend, worker.model))
    return max((one.spent.total.context_window for one in same), default=0)


def percent_used(usage: Usage, window: int) -> int:
    """How much of it is used, in per cent; 0 where nobody knows."""
    return usage.context_tokens * 100 // window if window > 0 else 0


def warning(usage: Usage, window: int) -> str:
    """What a person is told of a conversation that is nearly full, and what can be done."""
    percent = percent_used(usage, window)
    return WARNING.format(percent=percent, tokens=usage.context_tokens, window=window)
