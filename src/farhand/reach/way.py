"""What the supervisor asks of a way in: open it, say whether it leads here, tell when it ends, close it."""

from pathlib import Path
from typing import Protocol

from farhand.disk.atomic import write_private
from farhand.model import compat
from farhand.model.errors import ReachFailed
from farhand.model.ports import Clock
from farhand.reach import cloudflared
from farhand.reach.probe import Probe
from farhand.reach.process import TunnelProcess

OPEN_SECONDS = 45.0
REGISTER_SECONDS = 10.0
LOOK_SECONDS = 0.2


class Way(Protocol):
    """One way to the node from outside."""

    @property
    def name(self) -> str:
        """For a person."""
        ...

    @property
    def is_public(self) -> bool:
        """Whether anybody can come that way; otherwise only who is on the same network."""
        ...

    async def open(self) -> str:
        """Opens it, or finds it open, and returns its address. Raises ReachFailed."""
        ...

    async def ended(self) -> str:
        """Returns why, as soon as it is gone."""
        ...

    async def check(self) -> str:
        """Why the node cannot be reached that way now; empty when it can."""
        ...

    async def close(self) -> None:
        """Closes it; nothing of it is left."""
        ...


class CloudflaredWay:
    """A tunnel of cloudflared: a quick one, or a named one with an address of its own."""

    is_public = True

    def __init__(self, process: TunnelProcess, folder: Path, clock: Clock, probe: Probe, named: str = "") -> None:
        self._process = process
        self._url_file = folder / compat.TUNNEL_URL_FILE
        self._clock = clock
        self._probe = probe
        # The address of a named tunnel, which its owner knows and its log does not tell.
        self._named = named
        self._url = ""

    @property
    def name(self) -> str:
        """For a person."""
        return "named tunnel" if self._named else "quick tunnel"

    async def open(self) -> str:
        """Adopts the process of before, or ends it and starts another; never are there two."""
        known = self._read_url()
        if known and (not self._named or known == self._named) and self._process.adopt():
            self._url = known
            return known
        await self.close()
        self._process.start()
        self._url = await self._wait_for_address()
        write_private(self._url_file, self._url)
        return self._url

    async def _wait_for_address(self) -> str:
        deadline = self._clock.now() + OPEN_SECONDS
        told_at: float | None = None
        while True:
            said = self._process.output()
            if found := self._address_in(said):
                told_at = self._clock.now() if told_at is None else told_at
                # Whoever asks for the name before it is there may be told for long that it is not.
                if cloudflared.is_registered(said) or self._clock.now() - told_at >= REGISTER_SECONDS:
                    return found
            if not self._process.is_running():
                raise ReachFailed(_with_reason(await self._process.ended(), said))
            if self._clock.now() >= deadline:
                raise ReachFailed(_with_reason(f"{self._process.program} told no address in time.", said))
            await self._clock.sleep(LOOK_SECONDS)

    def _address_in(self, said: str) -> str:
        if self._named:
            return self._named if cloudflared.is_registered(said) else ""
        return cloudflared.address_in(said)

    async def ended(self) -> str:
        """Returns how the process ended, as soon as it has."""
        how = await self._process.ended()
        return _with_reason(how, self._process.output())

    async def check(self) -> str:
        """Asks the node how it is, by way of the tunnel."""
        return await self._probe(self._url)

    async def close(self) -> None:
        """Ends the process and removes what tells of it, but for the log."""
        self._url = ""
        self._url_file.unlink(missing_ok=True)
        await self._process.end()

    def _read_url(self) -> str:
        try:
            return self._url_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return ""


def _with_reason(sentence: str, said: str) -> str:
    """The sentence, and the last that the program complained of."""
    reason = cloudflared.complaint_in(said)
    return f"{sentence} It says: {reason}" if reason else sentence
