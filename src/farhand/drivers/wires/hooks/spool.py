"""The spool: files that hooks leave for the node, so that a report outlives a node that is down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from farhand.disk.plain_files import NotPlain, read_plain
from farhand.drivers.wires.hooks.endpoint import LARGEST_REPORT_BYTES, HookReport, process_id
from farhand.model.logger import get_logger

log = get_logger("hooks")


def read_spool(folder: Path) -> Iterator[HookReport]:
    """What hooks left, oldest first, each read when it is its turn; one that cannot be read ends it.

    An agent in a sandbox writes there, too: what is no report goes."""
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            yield _report(path)
        except FileNotFoundError:
            continue
        except NotPlain as error:
            log.warning("no report", file=path.name, error=str(error))
            with suppress(OSError):
                path.unlink()
        except OSError as error:
            log.warning("spool not read", file=path.name, error=str(error))
            return


def _report(path: Path) -> HookReport:
    """Named `<id>.<process of the agent>.<event>.json`, of which the id begins with the time."""
    name, agent, event = [*path.name.split("."), "", "", ""][:3]
    payload = read_plain(path, LARGEST_REPORT_BYTES, links=False)
    return HookReport(id=name, event=event, payload=payload, agent=process_id(agent), spooled=path)
