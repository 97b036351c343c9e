"""What the buttons of a hiring carry, and how it is written in few bytes. Pure."""

import hashlib

from farhand.model.words import Mode, Word

# How the slots of the cards begin that ask for a folder or a mode.
FOLDER = "hire:"
BACKEND, IN_FOLDER, IN_MODE, GIVEN_UP = "c", "f", "m", "x"
KINDS = frozenset((BACKEND, IN_FOLDER, IN_MODE, GIVEN_UP))
_MODES = tuple(Mode)


class HireTap(Word, tag="hire"):
    """The button chooses an agent, a folder (by its digest) or a mode; with a mode it hires."""

    backend: str
    folder: str = ""
    mode: Mode | None = None
    given_up: bool = False


def digest(name: str) -> str:
    """A short name for a long one."""
    return hashlib.sha256(name.encode()).hexdigest()[:20]


def hire_data(tap: HireTap) -> str:
    """What such a button carries."""
    if tap.given_up:
        return f"{GIVEN_UP}:{tap.backend}"
    if not tap.folder:
        return f"{BACKEND}:{tap.backend}"
    if tap.mode is None:
        return f"{IN_FOLDER}:{tap.folder}:{tap.backend}"
    return f"{IN_MODE}:{_MODES.index(tap.mode)}:{tap.folder}:{tap.backend}"


def hire_tap(data: str) -> HireTap | None:
    """What such a button was made for; None for data that no button of ours carries."""
    kind, _, rest = data.partition(":")
    if kind in {BACKEND, GIVEN_UP}:
        return HireTap(backend=rest, given_up=kind == GIVEN_UP)
    place, _, rest = rest.partition(":") if kind == IN_MODE else ("", "", rest)
    folder, _, backend = rest.partition(":")
    if kind == IN_FOLDER:
        return HireTap(backend=backend, folder=folder)
    known = place.isascii() and place.isdigit() and len(place) == 1 and int(place) < len(_MODES)
    return HireTap(backend=backend, folder=folder, mode=_MODES[int(place)]) if known else None
