"""One task a worker: opens its agent's link and has it served, restarts the agent, and lets the worker go."""

import asyncio

import anyio
import anyio.lowlevel

from farhand.core.folder_asks import FolderAsks
from farhand.core.hub import LocalHub
from farhand.core.link_service import STORE_PAUSE_SECONDS, LinkService
from farhand.core.restarts import RestartPolicy
from farhand.core.steps import Leave, Restart, next_step
from farhand.model import facts, start_problems
from farhand.model.ask_limits import OPEN_ASKS
from farhand.model.errors import DriverError, FarhandError, StoreError
from farhand.model.folder_trust import FolderNotTrusted
from farhand.model.logger import get_logger
from farhand.model.phrases import phrase, said
from farhand.model.ports import Clock, Driver, KeepsSessions, MayBeOver
from farhand.model.present import Worker
from farhand.model.provenance import worker_for_agent
from farhand.model.words import HowEnded, Phrase

log = get_logger("worker")


class WorkerTask:
    """The life of one worker on this node, from its hiring or the node's start to its end."""

    def __init__(
        self,
        worker: Worker,
        hub: LocalHub,
        driver: Driver,
        clock: Clock,
        cursor: str,
        open_asks: int = OPEN_ASKS,
        sign_in: str = "",
    ) -> None:
        # How a person signs in to its agent at the desk, where that is known.
        self._sign_in = sign_in
        self._name = worker.name
        self._hub = hub
        self._driver = driver
        self._clock = clock
        self._folder_asks = FolderAsks(hub, worker.name)
        self._restarts = RestartPolicy(worker)
        self._service = LinkService(worker, hub, driver.can, clock, self._restarts, cursor, open_asks, sign_in)
        # Why the agent ended, until that is written.
        self._offline_reason: Phrase | str | None = None

    @property
    def _worker(self) -> Worker:
        return self._service.worker

    async def run(self) -> None:
        """Runs until the worker has left the team. A failure costs a pause and a retry, and nobody else."""
        with self._hub.waking(self._name, self._service.wake):
            while True:
                try:
                    return await self._run_until_ended()
                except StoreError as error:
                    log.error("worker waits for the store", worker=self._name, error=error.text)
                except Exception:
                    log.exception("worker failed", worker=self._name)
                await self._clock.sleep(STORE_PAUSE_SECONDS)

    async def _run_until_ended(self) -> None:
        while True:
            changed = self._service.renewed()
            if self._offline_reason is not None:
                if not self._worker.ending:
                    await self._went_offline(self._offline_reason)
                self._offline_reason = None
            step = next_step(self._worker, self._driver.can)
            if isinstance(step, Leave):
                return await self._leave()
            if isinstance(step, Restart):
                await self._end_agent("relaunched")
                self._restarts.relaunched()
            elif self._restarts.needs_relaunch and not await self._waited_for_a_try(changed):
                continue
            self._restarts.needs_relaunch = False
            await self._run_agent()

    async def _waited_for_a_try(self, changed: asyncio.Event) -> bool:
        """Waits for a change, or until the agent shall be tried again by itself, which is True."""
        pause = self._restarts.next_try_seconds
        if pause is None:
            await changed.wait()
            return False
        over = False
        async with anyio.create_task_group() as tasks:

            async def wait() -> None:
                nonlocal over
                await self._clock.sleep(pause)
                over = True
                tasks.cancel_scope.cancel()

            tasks.start_soon(wait, name=f"try {self._name} again")
            await changed.wait()
            tasks.cancel_scope.cancel()
        if over:
            self._restarts.tried()
        return over

    async def _run_agent(self) -> None:
        """Opens a link and serves it until the agent ends; then decides whether to restart the agent automatically."""
        problem: BaseException | None = None
        try:
            async with self._driver.open(worker_for_agent(self._worker), self._service.cursor) as link:
                if isinstance(link, MayBeOver) and link.ended_on_purpose:
                    # No accident: it is started again without a word, and who writes meanwhile just waits.
                    await self._service.read_rest(link)
                    return
                await self._folder_asks.withdraw()
                await self._came_online()
                if not await self._service.serve(link):
                    return
        except* DriverError as group:
            problem = _first_error(group)
        except* StoreError as group:
            problem = _first_error(group)
        except* Exception as group:
            problem = _first_error(group)
            log.exception("worker failed", worker=self._name)
        # A node that is being stopped says nothing of its agents: they live on, and so do their questions.
        await anyio.lowlevel.checkpoint_if_cancelled()
        if isinstance(problem, StoreError):
            # The cursor did not move: what could not be written comes again.
            await self._clock.sleep(STORE_PAUSE_SECONDS)
            return
        if isinstance(problem, FolderNotTrusted):
            await self._ask_about_folder(problem)
            return
        self._offline_reason = _reason(problem, self._sign_in)
        log.warning("agent gone", worker=self._name, why=_error_text(problem))
        self._restarts.ended(problem, self._clock.now())

    async def _ask_about_folder(self, untrusted: FolderNotTrusted) -> None:
        """Puts it to the manager; a no, and nobody's answer, start nothing until a relaunch asks again."""
        # A relaunch is done with the question: left standing, it would be obeyed again and again.
        if self._worker.online or self._worker.relaunching:
            await self._went_offline(untrusted.text)
        if await self._folder_asks.answer_to(untrusted, self._service.renewed) is False:
            self._offline_reason = untrusted.refusal
            self._restarts.needs_relaunch = True

    async def _came_online(self) -> None:
        worker = self._worker
        if not worker.online or worker.relaunching:
            await self._service.record(self._restarts.came_online(worker, self._hub.projected.focus))
        self._restarts.was_online()

    async def _went_offline(self, why: Phrase | str) -> None:
        gone = self._restarts.went_offline(self._worker, why, self._clock.now())
        await self._service.record_end(HowEnded.FAILED, gone)

    async def _end_agent(self, why: str) -> None:
        try:
            await self._driver.end(self._worker)
        except Exception as error:
            log.exception("agent not ended", worker=self._name)
            await self._service.record(facts.Noted(text=_error_text(error)))
        gone = facts.WentOffline(why=f"The worker was {why}.", asked=True)
        await self._service.record_end(HowEnded.INTERRUPTED, gone)

    async def _leave(self) -> None:
        worker, driver = self._worker, self._driver
        resume = driver.resume_command(worker) if worker.handing_back and isinstance(driver, KeepsSessions) else ""
        await self._end_agent("handed back" if resume else "let go")
        await self._service.record_leaving(resume)
        log.info("worker ended", worker=self._name)


def _reason(problem: BaseException | None, sign_in: str) -> Phrase | str:
    """Why the agent is gone, for a person."""
    if problem is None:
        return phrase("why_agent_ended")
    told = problem.phrase if isinstance(problem, FarhandError) else None
    return told or start_problems.explained(_error_text(problem), sign_in)


def _error_text(problem: BaseException | None) -> str:
    if problem is None:
        return said(phrase("why_agent_ended"))
    if isinstance(problem, FarhandError):
        return problem.text
    return f"Something went wrong inside farhand ({type(problem).__name__}: {problem}); the log has it whole."


def _first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found = group.exceptions[0]
    return _first_error(found) if isinstance(found, BaseExceptionGroup) else found
