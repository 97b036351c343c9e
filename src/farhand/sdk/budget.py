"""Budgets: how many model calls, tokens, dollars and seconds a run or a session may take, its subagents included."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farhand.disk.atomic import append
from farhand.sdk.errors import BadAgent, SdkError

if TYPE_CHECKING:
    from farhand.sdk.events import Usage
    from farhand.sdk.result import Result

SUFFIX = ".spent"


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent; None is without limit. `turns` are model calls."""

    turns: int | None = None
    tokens: int | None = None
    dollars: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None and not value > 0:
                raise BadAgent(f"A budget of {value!r} {each.name} lets nothing run; leave it out for no limit.")


@dataclass(frozen=True, slots=True)
class BudgetSpent:
    """What was spent."""

    turns: int = 0
    tokens: int = 0
    dollars: float = 0.0
    seconds: float = 0.0

    def plus(self, other: BudgetSpent) -> BudgetSpent:
        """Both together."""
        return BudgetSpent(
            self.turns + other.turns,
            self.tokens + other.tokens,
            self.dollars + other.dollars,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None

    def of(self, usage: Usage) -> float:
        """What one answer cost."""
        cached = self.input if self.cached is None else self.cached
        written = usage.output_tokens + usage.thought_tokens
        fresh = max(0, usage.input_tokens - usage.cached_tokens)
        return (fresh * self.input + usage.cached_tokens * cached + written * self.output) / 1_000_000


class BudgetExceeded(SdkError):
    """A budget is spent; `result` has how far the run got."""

    kind = "budget"

    def __init__(self, what: str, limit: float, spent: BudgetSpent, whose: str) -> None:
        super().__init__(f"The budget of {limit:g} {what} of this {whose} is spent.")
        self.what, self.limit, self.spent = what, limit, spent
        self.result: Result[Any] | None = None


class Ledger:
    """What one run or session has spent of its budget. With a path it is written down at once, and outlives a kill."""

    def __init__(self, budget: Budget, whose: str, path: Path | None = None) -> None:
        self.budget = budget
        self._whose = whose
        self._path = path
        self._since: float | None = None
        self.spent = _read(path) if path is not None else BudgetSpent()

    def start(self) -> None:
        """A turn begins: its time counts."""
        self._since = time.monotonic()

    def stop(self) -> None:
        """The turn is over."""
        self.add(BudgetSpent())
        self._since = None

    @property
    def seconds_left(self) -> float | None:
        """The time until it is spent; None without a limit."""
        return None if self.budget.seconds is None else max(0.0, self.budget.seconds - self.spent.seconds)

    def check(self) -> None:
        """Raises BudgetExceeded when nothing is left of something."""
        for each in fields(self.budget):
            limit = getattr(self.budget, each.name)
            if limit is not None and getattr(self.spent, each.name) >= limit:
                raise self.exceeded(each.name)

    def exceeded(self, what: str) -> BudgetExceeded:
        """The error that says so."""
        return BudgetExceeded(what, getattr(self.budget, what), self.spent, self._whose)

    def add(self, spent: BudgetSpent) -> None:
        """Counts it, with the time that has gone by, and writes it down."""
        if self._since is not None:
            now = time.monotonic()
            spent, self._since = spent.plus(BudgetSpent(seconds=now - self._since)), now
        self.spent = self.spent.plus(spent)
        if self._path is not None and spent != BudgetSpent():
            line = {each.name: getattr(spent, each.name) for each in fields(spent)}
            append(self._path, (json.dumps(line) + "\n").encode())


def _read(path: Path) -> BudgetSpent:
    total = BudgetSpent()
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return total
    for line in lines:
        try:
            total = total.plus(BudgetSpent(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return total


def price_of(prices: Mapping[str, Price], model: str) -> Price | None:
    """The price of a model, by its name with or without the vendor before it."""
    return prices.get(model) or next((each for name, each in prices.items() if name.partition(":")[2] == model), None)


def unpriced(model: str) -> BadAgent:
    """Dollars are to be counted, and nobody said what the model costs."""
    return BadAgent(f"A budget in dollars needs the price of {model}: Agent(prices={{{model!r}: Price(…, …)}}).")
