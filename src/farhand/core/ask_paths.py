"""Follows the links on the way to the files of an ask, before anybody is told that they lie in the folder."""

from __future__ import annotations

import os
from typing import Final

from farhand.model.action import Action
from farhand.model.facts import AskRaised
from farhand.model.ports import Heard
from farhand.model.words import replace

# Each is a few looks at the disk; who asks about more says so in its headline.
MOST_PATHS: Final = 100


def followed(heard: tuple[Heard, ...], folder: str) -> tuple[Heard, ...]:
    """What was heard; an ask knows where those of its files are that a link leads out of the folder."""
    return tuple(
        replace(one, fact=replace(one.fact, action=_followed(one.fact.action, folder)))
        if isinstance(one.fact, AskRaised) and one.fact.action is not None and one.fact.action.paths
        else one
        for one in heard
    )


def _followed(action: Action, folder: str) -> Action:
    real = os.path.realpath(folder)
    leads = []
    for path in action.paths[:MOST_PATHS]:
        try:
            named, found = os.path.normpath(os.path.join(folder, path)), os.path.realpath(os.path.join(folder, path))  # noqa: PTH118
        except ValueError:
            continue
        if _is_in(named, os.path.normpath(folder)) and not _is_in(found, real):
            leads.append(f"{path} → {found}")
    return replace(action, leads=tuple(leads))


def _is_in(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")
