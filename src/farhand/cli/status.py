"""`farhand status`: tells how a node is, for people or as JSON."""

import argparse
import json
import sys
import time
from typing import Any

from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.cli.options import open_hub
from farhand.model.errors import NodeNotRunning


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `status` takes."""
    add_node(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object a node")


def run(arguments: argparse.Namespace) -> int:
    """Prints it; the exit code is 0 also for a node that is stopped."""
    import anyio

    node = choose(arguments)
    try:
        status = anyio.run(_ask, arguments)
    except NodeNotRunning:
        status = {"node": node}
    if arguments.json:
        sys.stdout.write(json.dumps({"running": "pid" in status, **status}) + "\n")
    else:
        sys.stdout.write(as_text(status, time.time()))
    return 0


async def _ask(arguments: argparse.Namespace) -> dict[str, Any]:
    async with open_hub(arguments) as hub:
        return await hub.status()


def as_text(status: dict[str, Any], now: float) -> str:
    """The status as a person reads it."""
    if "pid" not in status:
        return f"Node: {status['node']} [stopped]\n"
    lines = [
        f"Node: {status['node']} [running]",
        f"  port:     {status['port']}",
        f"  up:       {_ago(now - status['started_at'])} (pid {status['pid']})",
        f"  journal:  {status['seq']} events",
    ]
    lines += [f"  {name + ':':<10}{health or 'serving'}" for name, health in status.get("channels", {}).items()]
    lines.append("  team:     " + (str(len(status["workers"])) if status["workers"] else "none"))
    lines += [f"            - {_worker(worker, status['focus'])}" for worker in status["workers"]]
    return "\n".join(lines) + "\n"


def _worker(worker: dict[str, Any], focus: str) -> str:
    notes = [worker["state"], f"backend={worker['backend']}"]
    if worker["name"] == focus:
        notes.insert(0, "focused")
    if worker["queued"]:
        notes.append(f"{worker['queued']} queued")
    if worker["asks"]:
        notes.append(f"{worker['asks']} waiting for an answer")
    text = f"{worker['name']} ({', '.join(notes)})"
    return f"{text}: {worker['why_offline']}" if worker["why_offline"] else text


def _ago(seconds: float) -> str:
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    if hours >= 48:
        return f"{hours // 24} days"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{int(seconds)} s"
