"""Kills the node at a named place of the road: `place:count` means the count-th time that the road comes there."""

import os
import signal

from farhand.model import road
from farhand.model.errors import SettingWrong


class Killer:
    """Waits at one place and kills its own process there, as `kill -9` would."""

    def __init__(self, place: str, count: int) -> None:
        self._place = place
        self._left = count

    def __call__(self, place: str) -> None:
        if place != self._place:
            return
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def read(text: str) -> Killer:
    """The killer that the text asks for."""
    place, _, count = text.partition(":")
    if place not in road.PLACES or not count.isdigit() or int(count) < 1:
        raise SettingWrong(f"'{text}' is no place and count. Places: {', '.join(road.PLACES)}.")
    return Killer(place, int(count))
