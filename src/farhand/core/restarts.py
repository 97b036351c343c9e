"""When an agent that is gone is started again by itself, and what is told of it as one incident. Pure but for its
memory: the time is an argument."""

from farhand.model import facts
from farhand.model.errors import AgentGone, AgentNotStarted, DriverError
from farhand.model.phrases import said, shown
from farhand.model.present import Worker
from farhand.model.words import Phrase, WorkerName

# An agent that dies is started again, but not one that dies again and again.
RESTARTS = 3
RESTARTS_WITHIN_SECONDS = 60.0
# An agent that does not get as far as taking messages is tried again after these pauses, and then no more.
TRY_AGAIN_SECONDS = (30.0, 120.0, 600.0)
# Whatever happens so long after an agent was last told to be gone is news.
INCIDENT_SECONDS = 900.0


class RestartPolicy:
    """Remembers the deaths of one worker's agent, and what was told of them."""

    def __init__(self, worker: Worker) -> None:
        # Whether only a person may start it again, or a try after a pause.
        self.needs_relaunch = False
        self._died_at: list[float] = []
        # How often an agent that did not start was tried again by itself, and whether it shall be once more.
        self._tried = 0
        self._try_again = False
        # The name of what is told of an agent that is gone, and when that was; empty while all is well.
        self._incident = ""
        self._incident_at = 0.0
        self._was_online = worker.online or bool(worker.session)
        # Whether it went a moment ago, and is started again.
        self._returns = False
        # When the end of a turn told of it last.
        self._turn_lost_at: float | None = None

    def ended(self, problem: BaseException | None, now: float) -> None:
        """The agent ended, or did not start: decides whether it is started again."""
        self._try_again = isinstance(problem, AgentNotStarted)
        # What could not even be started will not start by itself; what died may live again.
        dead = problem is None or isinstance(problem, AgentGone) or not isinstance(problem, DriverError)
        self.needs_relaunch = not (dead and self._may_restart(now))

    def _may_restart(self, now: float) -> bool:
        self._died_at = [at for at in self._died_at if now - at < RESTARTS_WITHIN_SECONDS] + [now]
        return len(self._died_at) <= RESTARTS

    @property
    def next_try_seconds(self) -> float | None:
        """The pause before an agent that did not start is tried again by itself; None when it is not."""
        again = self._try_again and self._tried < len(TRY_AGAIN_SECONDS)
        return TRY_AGAIN_SECONDS[self._tried] if again else None

    def tried(self) -> None:
        """The pause is over, and the agent is tried again."""
        self._tried += 1

    def relaunched(self) -> None:
        """A person starts the agent anew: no death before that counts."""
        self._died_at.clear()
        self._tried = 0

    def took_a_message(self) -> None:
        """The agent works: what was told before is over."""
        self._incident, self._tried, self._turn_lost_at = "", 0, None

    def came_online(self, worker: Worker, focus: WorkerName) -> facts.CameOnline:
        """The fact that tells of an agent that has started, in one incident with its end."""
        back, self._returns = self._returns or bool(worker.why_offline), False
        incident = self._incident if back else ""
        # Whoever tried again may believe that it is spoken to now.
        first = bool(incident) and not self._was_online
        other = focus if first and focus != worker.name else ""
        return facts.CameOnline(session=worker.session, back=back, incident=incident, focus=other, first=first)

    def was_online(self) -> None:
        """The agent has started once: its next end is no failed start."""
        self._was_online = True

    def went_offline(self, worker: Worker, why: Phrase | str, now: float) -> facts.WentOffline:
        """The fact that tells of an agent that is gone: what one cause brings has one name."""
        self._returns = not self.needs_relaunch
        self._turn_lost_at = now if worker.turn is not None else self._turn_lost_at
        text, by_code = (why, None) if isinstance(why, str) else (said(why), shown(why))
        if self._returns:
            return facts.WentOffline(why=text, why_phrase=by_code, final=False)
        # One that was never there has one message, with one button, however late it is tried again.
        again = bool(self._incident) and (not self._was_online or now - self._incident_at < INCIDENT_SECONDS)
        self._incident = self._incident if again else f"{worker.name}:{worker.since}:{now:.3f}"
        self._incident_at = now
        return facts.WentOffline(
            why=text,
            why_phrase=by_code,
            incident=self._incident,
            again=again,
            in_turn=self._turn_lost_at is not None and now - self._turn_lost_at < RESTARTS_WITHIN_SECONDS,
            starting=0 if self._was_online else worker.since,
        )
