"""What the turns of a session spend, and whose budgets that counts for: the run's, the session's, those above it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from farhand.sdk.events import Error, Finish, Usage

if TYPE_CHECKING:
    from farhand.sdk.budget import Budget, Ledger
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
        own = [each for each in (self._run, self._own) if each is not None]
        parent = self._session.parent
        return [*own, *(parent.spending.ledgers if parent is not None else ())]

    async def within(self, turn: TurnLoop, parts: list[Part] | None) -> None:
        """Runs a turn within the time that is left."""
        self._open()
        mine = [each for each in (self._run, self._own) if each is not None]
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

    def _open(self) -> None:
        """Opens the ledgers that there are budgets for, and looks whether dollars can be counted."""
        agent = self._session.agent
        if self._run_budget is None and agent.budget is None:
            return
        from farhand.sdk.budget import SUFFIX, Ledger, check_priced

        if self._run_budget is not None:
            self._run = Ledger(self._run_budget, "run")
        if agent.budget is not None and self._own is None:
            recorded = self._session.transcript_path
            self._own = Ledger(agent.budget, "session", Path(recorded + SUFFIX) if recorded else None)
        check_priced(self.ledgers, agent.prices, self._session.model_name)

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

    def end_call(self, usage: Usage) -> float | None:
        """A model answered; what that cost, where its price is known."""
        agent, ledgers = self._session.agent, self.ledgers
        if not ledgers and not agent.prices:
            return None
        from farhand.sdk.budget import BudgetSpent, price_of

        price = price_of(agent.prices, usage.model)
        dollars = price.of(usage) if price is not None else None
        for each in ledgers:
            each.add(BudgetSpent(tokens=usage.total_tokens, dollars=dollars or 0.0))
        return dollars
