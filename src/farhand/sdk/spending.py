"""What the turns of a session spend, and whose budgets that counts for: the run's, the session's, those above it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.sdk.events import Error, Finish, Usage

if TYPE_CHECKING:
    from farhand.sdk.budget import Budget, Ledger, Price
    from farhand.sdk.loop import TurnLoop
    from farhand.sdk.protocols import Part
    from farhand.sdk.session import Session


class Spending:
    """The ledgers of a session. Without a budget anywhere it costs nothing."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._own: Ledger | None = None
        self._run: Ledger | None = None
        self._run_budget: Budget | None = None

    def begin_run(self, budget: Budget | None) -> None:
        """A run begins; its own budget is fresh."""
        self._run_budget, self._run = budget, None

    @property
    def ledgers(self) -> list[Ledger]:
        """Every ledger that this session's spending counts for."""
        parent = self._session.parent
        return [*self._mine(), *(parent.spending.ledgers if parent is not None else ())]

    async def within(self, turn: TurnLoop, parts: list[Part] | None) -> None:
        """Runs a turn within the time that is left."""
        if self._run_budget is not None:
            from farhand.sdk.budget import Ledger

            self._run = Ledger(self._run_budget, "run")
        mine = self._mine()
        if not mine:
            await turn.run(parts)
            return
        import asyncio

        timed = [each for each in mine if each.seconds_left is not None]
        first = min(timed, key=lambda each: each.seconds_left or 0.0, default=None)
        for each in mine:
            each.start()
        try:
            async with asyncio.timeout(first.seconds_left if first is not None else None):
                await turn.run(parts)
        except TimeoutError:
            if first is None:
                raise
            spent = first.exceeded("seconds")
            await self._session.emit(Error(str(spent), spent.kind, cause=spent))
            await self._session.emit(Finish("budget", turn.said, str(spent)))
        finally:
            for each in mine:
                each.stop()
            self._run = None

    def _mine(self) -> list[Ledger]:
        """The ledgers of the run and of the session itself, where they have a budget."""
        budget = self._session.agent.budget
        if budget is not None and self._own is None:
            from farhand.sdk.budget import SUFFIX, Ledger

            recorded = self._session.transcript_path
            self._own = Ledger(budget, "session", Path(recorded + SUFFIX) if recorded else None)
        return [each for each in (self._run, self._own) if each is not None]

    def begin_call(self) -> None:
        """A model is about to be asked. Raises BudgetExceeded when something is spent."""
        ledgers = self.ledgers
        if not ledgers:
            return
        from farhand.sdk.budget import BudgetSpent

        for each in ledgers:
            each.add(BudgetSpent())
            each.check()
        for each in ledgers:
            each.add(BudgetSpent(turns=1))

    def check_priced(self, model: str) -> None:
        """Raises when dollars are to be counted, also by an agent above, and nobody said what this model costs."""
        if any(each.budget.dollars is not None for each in self.ledgers) and self._price(model) is None:
            from farhand.sdk.budget import unpriced

            raise unpriced(model)

    def end_call(self, usage: Usage) -> Usage:
        """A model answered: counts it for every budget. Returns it with what it cost, where its price is known."""
        price = self._price(usage.model)
        dollars = price.of(usage) if price is not None else None
        if ledgers := self.ledgers:
            from farhand.sdk.budget import BudgetSpent

            for each in ledgers:
                each.add(BudgetSpent(tokens=usage.total_tokens, dollars=dollars or 0.0))
        return usage if dollars is None else replace(usage, dollars=dollars)

    def _price(self, model: str) -> Price | None:
        """What a model costs: by the prices of this agent, then of those above it."""
        session: Session | None = self._session
        while session is not None:
            if session.agent.prices:
                from farhand.sdk.budget import price_of

                if (price := price_of(session.agent.prices, model)) is not None:
                    return price
            session = session.parent
        return None
