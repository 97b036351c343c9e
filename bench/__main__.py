"""Runs the figures: `python -m bench` all of them, `python -m bench NAME` those of one module."""

from __future__ import annotations

import json
import logging
import platform
import sys
import time
import traceback
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import anyio
import structlog

from bench.rows import Row, adapted, as_json, table

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results.json"
# Parts of the bench that measure nothing by themselves.
SUPPORT = {"__init__", "__main__", "rows", "node", "timing", "conversations", "turns", "slow_clients"}
SUPPORT |= {"wire_client", "wire_clients", "pane_client", "app_agent"}


def modules() -> list[str]:
    """Every module that offers rows."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in SUPPORT)


def say(text: str) -> None:
    """A line of progress, beside the table and not in it."""
    print(text, file=sys.stderr, flush=True)


def offered(module: ModuleType) -> Iterable[object]:
    """What the module measures: by `rows()`, or by `measure()` where it must be awaited."""
    if hasattr(module, "rows"):
        return module.rows()  # type: ignore[no-any-return]
    found: Iterable[object] = anyio.run(module.measure)
    return found


def measure(name: str) -> list[Row]:
    """All rows of one module, told as they come; what breaks costs that module alone, and the run fails."""
    began = time.monotonic()
    say(f"{name} …")
    found: list[Row] = []
    try:
        for given in offered(import_module(f"bench.{name}")):
            found.append(adapted(given))
            say(f"  {time.monotonic() - began:6.1f} s  {found[-1].name}")
    except Exception:  # noqa: BLE001 - the other modules are measured all the same
        traceback.print_exc()
        found.append(Row(f"{name} broke off; its error stands above", 1, "errors", limit=0))
    return found


def write(groups: dict[str, list[Row]], seconds: float) -> None:
    """The results file: the machine and every figure with its floor."""
    results = {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "seconds": round(seconds, 1),
        "figures": {name: [as_json(row) for row in rows] for name, rows in groups.items()},
    }
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main(arguments: Sequence[str]) -> int:
    """Measures, prints and writes; 1 when a gate is not passed, 2 when there is no such module."""
    known = modules()
    unknown = [name for name in arguments if name not in known]
    if unknown:
        say(f"error: No figures called '{unknown[0]}'. Known: {', '.join(known)}.")
        return 2
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    began = time.monotonic()
    groups = {name: measure(name) for name in (arguments or known)}
    seconds = time.monotonic() - began
    print(table(groups))
    write(groups, seconds)
    rows = [row for group in groups.values() for row in group]
    missed = [row.name for row in rows if row.passed is False]
    gates = sum(row.passed is not None for row in rows)
    print(f"\n{len(rows)} figures, {gates} gates, {len(missed)} missed, {seconds:.0f} s; written to {RESULTS.name}")
    for name in missed:
        print(f"✗ {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
