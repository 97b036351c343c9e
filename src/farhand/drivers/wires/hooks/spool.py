"""The spool: files that hooks leave for the node, so that a report outlives a node that is down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import structlog

from farhand.drivers.wires.hooks.endpoint import HookReport, process_id

log = structlog.get_logger("hooks")


def read_spool(folder: Path) -> Iterator[HookReport]:
    """What hooks left, oldest first, each read when it is its turn; one that cannot be read ends it."""
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            yield _report(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            log.warning("spool not read", file=path.name, error=str(error))
            return


def _report(path: Path) -> HookReport:
    """Named `<id>.<process of the agent>.<event>.json`, of which the id begins with the time."""
    name, agent, event = [*path.name.split("."), "", "", ""][:3]
    return HookReport(id=name, event=event, payload=path.read_bytes(), agent=process_id(agent), spooled=path)
