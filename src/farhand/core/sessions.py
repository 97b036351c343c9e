"""The sessions that agents have stored on this machine: listed by their drivers, chosen by id."""

from collections.abc import Mapping, Sequence

from farhand.model.driver_ports import KnowsDesk
from farhand.model.errors import CannotDo, UnknownSession
from farhand.model.history import HistoryPage
from farhand.model.logger import get_logger
from farhand.model.names import is_session_id
from farhand.model.ports import Driver, KeepsSessions, SessionFound
from farhand.model.welcome import welcomed
from farhand.model.words import Seq, replace

log = get_logger("sessions")
SHORTEST = 4


class AgentSessions:
    """Asks the drivers; one that cannot read its agent's files costs nobody else."""

    def __init__(self, drivers: Mapping[str, Driver]) -> None:
        # Every wire of a backend leads to the same conversations.
        self._drivers: dict[str, KeepsSessions] = {}
        for driver in drivers.values():
            if driver.can.sessions and isinstance(driver, KeepsSessions):
                self._drivers.setdefault(driver.backend, driver)

    async def all(self, backend: str, directory: str) -> list[SessionFound]:
        """Those of a backend, or of every one that can tell, newest first."""
        if backend and backend not in self._drivers:
            raise CannotDo(f"The conversations of {backend} cannot be listed.", backend=backend)
        found: list[SessionFound] = []
        for name in [backend] if backend else self._drivers:
            found += await self._of(name, directory)
        return sorted(found, key=lambda one: one.at, reverse=True)

    async def _of(self, backend: str, directory: str) -> list[SessionFound]:
        try:
            listed = await self._drivers[backend].sessions(directory)
        except Exception:
            log.exception("sessions not listed", backend=backend)
            return []
        return [replace(one, backend=backend, title=_title(one)) for one in listed if is_session_id(one.id)]

    async def one(self, backend: str, session: str, directory: str) -> SessionFound:
        """The one with that id, or whose id alone begins so."""
        listed = await self.all(backend, directory)
        return chosen(listed, session, backend)

    async def messages(self, backend: str, session: str, before: Seq | None, limit: int) -> HistoryPage:
        """What was said in the conversation of that id. Only one that is listed can be read."""
        found = await self.one(backend, session, "")
        return await self._drivers[backend].messages(found, before, limit)

    async def open_in(self, found: SessionFound) -> Sequence[int]:
        """The processes that have the conversation open at the desk, where its driver can tell."""
        driver = self._drivers[found.backend]
        return await driver.open_in(found.id) if found.open and isinstance(driver, KnowsDesk) else ()


def _title(found: SessionFound) -> str:
    """What it is called; not by the first words that every worker gets."""
    worker = welcomed(found.title)
    return f"{worker}, hired here" if worker else found.title


def chosen(listed: list[SessionFound], session: str, backend: str) -> SessionFound:
    """The conversation that is meant; UnknownSession when there is none, or more than one. Pure."""
    exact = [one for one in listed if one.id == session]
    matching = [one for one in listed if one.id.startswith(session)] if len(session) >= SHORTEST else []
    found = exact or matching
    if len(found) == 1:
        return found[0]
    if not found:
        raise UnknownSession(f"{backend} has no conversation '{session}' on this machine.", session=session)
    raise UnknownSession(f"More than one conversation of {backend} begins with '{session}'.", session=session)
