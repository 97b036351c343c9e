"""`farhand doctor`: looks whether all is there that a node needs, says what to do, and repairs some of it."""

import argparse
import json
import os
import sys

from farhand.cli.check_result import ABSENT, BAD, GOOD, WARNING, CheckResult
from farhand.cli.checks import NodeChecks
from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.model.visible import visible

SIGNS = {GOOD: "✓", ABSENT: "–", WARNING: "⚠", BAD: "✗"}
COLOURS = {GOOD: "32", ABSENT: "2", WARNING: "33", BAD: "31"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `doctor` takes."""
    add_node(parser)
    parser.add_argument("--fix", action="store_true", help="repair what can be repaired safely")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Looks; the exit code is 1 when something is bad and was not repaired."""
    node = choose(arguments)
    results, repaired = [], []
    for found in NodeChecks(node, os.environ).all():
        result = found
        if arguments.fix and found.repair is not None:
            found.repair()
            repaired.append(found.name)
            result = CheckResult(found.name, GOOD, f"repaired: {found.told}")
        results.append(result)
        if not arguments.json:
            sys.stdout.write(line(result, colours=sys.stdout.isatty() and "NO_COLOR" not in os.environ) + "\n")
            sys.stdout.flush()
    is_well = not any(one.state == BAD for one in results)
    if arguments.json:
        sys.stdout.write(json.dumps(as_json(node, results, repaired, is_well=is_well)) + "\n")
    else:
        sys.stdout.write(f"\nNode '{node}': {summary(results)}\n")
    return 0 if is_well else 1


def summary(results: list[CheckResult]) -> str:
    """All checks in a few words; warnings keep no node from running, and all is not well with them."""
    bad, warnings = (sum(one.state == state for one in results) for state in (BAD, WARNING))
    if bad:
        return f"{bad} to be put right."
    return f"nothing is broken; {warnings} worth a look (⚠)." if warnings else "all is well."


def line(result: CheckResult, *, colours: bool = False) -> str:
    """One check as a person reads it."""
    sign = SIGNS[result.state]
    sign = f"\x1b[{COLOURS[result.state]}m{sign}\x1b[0m" if colours else sign
    todo = f"  → {result.todo}" if result.todo else ""
    return f"{sign} {result.name:<11}{visible(result.told)}{todo}"


def as_json(node: str, results: list[CheckResult], repaired: list[str], *, is_well: bool) -> dict[str, object]:
    """All checks for a program."""
    checks = [{"name": one.name, "state": one.state, "told": one.told, "todo": one.todo} for one in results]
    return {"node": node, "ok": is_well, "repaired": repaired, "checks": checks}
