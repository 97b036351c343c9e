"""From the tap on Review to the start of the reviewer's turn, for a change of 2,000 lines: our own time alone."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.rows import Row
from bench.timing import median, percentile
from farhand.model.commands import Review
from farhand.model.facts import CameOnline, Ended, Fact, HandedOver, Hired, Said, TurnEnded, TurnStarted
from farhand.model.ports import Deliver
from farhand.model.words import HowEnded
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver

ROUNDS = 15
FILES = 400
CHANGED_LINES = 2000
LIMIT_MS = 300.0


class _Reviewer(ScriptedDriver):
    """Answers at once: what an agent needs to start and to think is not ours."""

    def default(self, errand: Deliver) -> Sequence[Fact]:
        """Anything but a verdict ends a review, too."""
        return (Said(text=errand.message.id), TurnEnded(how=HowEnded.COMPLETED))


def _repository(folder: Path) -> Path:
    folder.mkdir()
    for number in range(FILES):
        (folder / f"module_{number}.py").write_text("".join(f"value_{line} = {line}\n" for line in range(100)))
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "start")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    for number in range(20):
        text = "".join(f"value_{line} = {line + 1}\n" for line in range(CHANGED_LINES // 40))
        (folder / f"module_{number}.py").write_text(text + "# the rest is as it was\n" * (CHANGED_LINES // 40))
    return folder


async def _tap(house: House, number: int) -> tuple[float, float]:
    """The time to the start of the turn, and to its proof."""
    began = time.perf_counter()
    accepted = await house.send(Review(id=f"tap-{number}", worker="ann", by=("reviewer",)))
    hired = await house.event(Hired, after=accepted.seq)
    await house.event(CameOnline, after=hired.seq)
    await house.event(TurnStarted, after=hired.seq)
    started = time.perf_counter() - began
    await house.event(HandedOver, after=hired.seq)
    handed = time.perf_counter() - began
    await house.event(Ended, lambda event: event.worker == hired.worker, after=hired.seq)
    return started, handed


async def measure() -> list[Row]:
    """Every figure, measured in this run."""
    with tempfile.TemporaryDirectory(prefix="farhand-bench-") as name:
        shop = _repository(Path(name) / "shop")
        async with open_house(Path(name), drivers={"reviewer": _Reviewer(backend="reviewer")}) as house:
            await house.hire(directory=shop)
            first = await _tap(house, 0)
            times = [await _tap(house, number) for number in range(1, ROUNDS + 1)]
    starts = [started for started, _ in times]
    what = f"a review of {CHANGED_LINES:,} lines among {FILES} files: tap → its turn begins"
    return [
        Row(what, median(starts) * 1e3, "ms", limit=LIMIT_MS, note=f"p90 {percentile(starts, 0.9) * 1e3:.0f} ms"),
        Row(f"{what}, the first one of a worker", first[0] * 1e3, "ms", limit=LIMIT_MS),
        Row(f"{what} and the agent has it", median([handed for _, handed in times]) * 1e3, "ms"),
    ]
