"""Waits a moment for files that are being fetched, so that what is said after a quick one comes after it."""

import anyio

FETCH_PATIENCE_SECONDS = 3.0


class FetchPatience:
    """The waiting of one chat: while a slow fetch is under way, no other is waited for."""

    def __init__(self, seconds: float = FETCH_PATIENCE_SECONDS) -> None:
        self._seconds = seconds
        self._slow: list[anyio.Event] = []

    async def wait(self, fetched: anyio.Event) -> None:
        """Returns when it is fetched or takes long: ten files that hang hold a chat up once, not ten times."""
        self._slow = [one for one in self._slow if not one.is_set()]
        if self._slow or fetched.is_set():
            return
        with anyio.move_on_after(self._seconds):
            await fetched.wait()
            return
        self._slow.append(fetched)
