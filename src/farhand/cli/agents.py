"""`farhand agents`: which agents can be hired here, which could be, and what each needs."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from farhand.cli.agent_clis import NOT_LOGGED_IN, AgentCli, agent_clis, catalogue_clis
from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.config.places import node_folder
from farhand.model.action import on_one_line
from farhand.model.visible import visible

LONGEST_LINE = 160
READY, LOGIN, ABSENT = "Ready to hire", "Here, and not logged in", "Not installed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `agents` takes."""
    add_node(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object an agent")


def run(arguments: argparse.Namespace) -> int:
    """Prints them: those that are ready first."""
    folder = node_folder(choose(arguments), os.environ)
    found = [*agent_clis(), *catalogue_clis(folder)]
    if arguments.json:
        sys.stdout.write("".join(json.dumps(_fields(one)) + "\n" for one in found))
    else:
        sys.stdout.write("\n".join(agent_lines(found)) + "\n")
    return 0


def _fields(one: AgentCli) -> dict[str, object]:
    return {**asdict(one), "installed": bool(one.path)}


def agent_lines(found: Iterable[AgentCli]) -> Iterator[str]:
    """The agents under their headings; what one cannot do without is behind its arrow."""
    groups: dict[str, list[AgentCli]] = {READY: [], LOGIN: [], ABSENT: []}
    for one in found:
        groups[_group(one)].append(one)
    first = True
    for heading, some in groups.items():
        if some:
            yield from ([] if first else [""])
            yield f"{heading}:"
            first = False
        for one in some:
            yield from _lines(heading, one)
    yield ""
    yield "farhand hire <name> --backend <agent>; agents of your own: docs/how-to/acp-agents.md"


def _group(one: AgentCli) -> str:
    if not one.path:
        return ABSENT
    return LOGIN if one.logged_in is False else READY


def _lines(heading: str, one: AgentCli) -> Iterator[str]:
    title = _clean(one.title or one.program)
    told = {
        READY: _clean(one.line),
        LOGIN: f"{_clean(one.line.removesuffix(NOT_LOGGED_IN))} → {_clean(one.how_to_log_in)}",
        ABSENT: f"{title:<20}→ {_clean(one.install)}" if one.install else title,
    }[heading]
    yield f"  {one.backend:<13}{told}"
    if heading != ABSENT and not one.asks:
        yield f"  {'':<13}⚠ acts without asking: only in the mode yolo"
    elif heading != ABSENT and one.modes:
        yield f"  {'':<13}modes: {', '.join(one.modes)}"


def _clean(text: str) -> str:
    """On one line, with nothing in it that a terminal would obey."""
    return on_one_line(visible(text), LONGEST_LINE)
