"""The address that a tunnel has now: those who use it wait for its changes, and say when it does not lead here."""

import anyio


class TunnelAddress:
    """Set by the supervisor, read by channels. Only a public address is shown to them."""

    def __init__(self) -> None:
        self._url = ""
        self._changed = anyio.Event()
        self._complaint = ""
        self._complained = anyio.Event()

    @property
    def url(self) -> str:
        """Where anybody can reach the node now; empty while nobody can."""
        return self._url

    def set(self, url: str) -> None:
        """Tells everybody who waits. What was said against an address before is forgotten with it."""
        self._complaint, self._complained = "", anyio.Event()
        if url != self._url:
            self._url = url
            self._changed.set()
            self._changed = anyio.Event()

    async def changed(self, seen: str) -> str:
        """Returns the address as soon as it is another than that."""
        while self._url == seen:
            await self._changed.wait()
        return self._url

    def report_unreachable(self, url: str, why: str) -> None:
        """Somebody out there cannot reach that address; said of an older one, it means nothing."""
        if url and url == self._url:
            self._complaint = why
            self._complained.set()

    async def complaint(self) -> str:
        """Returns what is said against the address, as soon as something is."""
        await self._complained.wait()
        return self._complaint
