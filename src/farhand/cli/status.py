"""`farhand status`: tells how a node is, or all of them, for people or as JSON."""

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from farhand.cli.node_choice import choose, known_nodes, running_nodes
from farhand.cli.node_flag import add_node
from farhand.cli.node_report import NodeReport, bot_id, report
from farhand.cli.orphans import find_orphans, orphan_lines
from farhand.config.places import home, node_folder
from farhand.model.action import on_one_line
from farhand.model.compat import STALE_HOOKS_ADVICE
from farhand.model.visible import visible

# A message is handed over within moments; when it takes longer, a person should know.
STUCK_SECONDS = 60.0
LONGEST_QUESTION = 100

KEYLESS = {
    "local": "programs of this user, over TCP too (FARHAND_KEYLESS=unix closes that)",
    "unix": "the unix socket alone",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `status` takes."""
    add_node(parser)
    parser.add_argument("--all", action="store_true", help="every node")
    parser.add_argument("--json", action="store_true", help="one JSON object a node, each on a line")


def run(arguments: argparse.Namespace) -> int:
    """Prints it; the exit code is 0 also for a node that is stopped."""
    nodes = known_nodes() if arguments.all else [choose(arguments)]
    reports = [report(node, os.environ) for node in nodes]
    if arguments.json:
        sys.stdout.write("".join(json.dumps(as_json(one)) + "\n" for one in reports))
        return 0
    blocks = ["\n".join(as_text(one, time.time())) for one in reports]
    if arguments.all:
        blocks.insert(0, "All Nodes")
        blocks += [] if reports else ["No node has been run here."]
    conflicts = conflict_lines(_running_bots(nodes))
    found = find_orphans([node_folder(node, os.environ) for node in known_nodes()], home(os.environ))
    blocks += ["\n".join(lines) for lines in (conflicts, orphan_lines(found)) if lines]
    sys.stdout.write("\n\n".join(blocks) + "\n")
    return 0


def _running_bots(nodes: list[str]) -> dict[str, list[str]]:
    """The running nodes by their bots: those of these nodes, and whoever shares one with them."""
    bots: dict[str, list[str]] = {}
    for node in running_nodes():
        if number := bot_id(node, os.environ):
            bots.setdefault(number, []).append(node)
    return {number: names for number, names in bots.items() if set(nodes) & set(names)}


def conflict_lines(bots: Mapping[str, list[str]]) -> list[str]:
    """What is said of nodes that share a bot: only one of them hears anything."""
    lines = []
    for number, names in bots.items():
        if len(names) > 1:
            lines += [
                f"⚠ CONFLICT: {len(names)} nodes running with same bot (id:{number})",
                f"  Running: {' '.join(names)}",
                "  Only ONE node receives webhook. Others miss messages.",
                "  Fix: Use different TELEGRAM_BOT_TOKEN per node, or stop extras.",
            ]
    return lines


# --- for programs


def as_json(one: NodeReport) -> dict[str, Any]:
    """The fields that were promised, and behind them what else the node says of itself."""
    promised = {
        "node": one.node,
        "running": one.running,
        "port": one.port,
        "sessions": [session.name for session in one.sessions],
        "hook": one.hook,
        "settings": one.settings,
        "token": one.token,
        "bot": one.bot.username,
        "webhook": one.bot.webhook or "",
    }
    warnings = {session.name: tags for session in one.sessions if (tags := one.tags(session))}
    more = {**one.said, "session_warnings": warnings} if warnings else one.said
    return {**promised, **{name: value for name, value in more.items() if name not in promised}}


# --- for people


def as_text(one: NodeReport, now: float) -> list[str]:
    """The status as a person reads it."""
    lines = [f"Node: {one.node} [{'running' if one.running else 'stopped'}]"]
    if one.running:
        lines.append(f"  port:     {one.port}")
        lines += [f"  tunnel:   {visible(one.tunnel_url)}"] if one.tunnel_url else []
    lines += _sessions(one)
    lines.append(f"  hook:     {'installed' if one.hook and one.settings else 'not installed'}")
    lines.append(f"  bot:      {_bot(one)}")
    lines += _webhook(one)
    if one.running and not one.said:
        lines.append("  ⚠ the node does not answer at its door; see farhand logs")
    return lines + (_life(one.said, now) if one.said else [])


def _sessions(one: NodeReport) -> list[str]:
    tags = {session.name: one.tags(session) for session in one.sessions}
    found = [tag for some in tags.values() for tag in some]
    lines = [f"  sessions: {f'{len(tags)} running' if tags else 'none'}"]
    for name, some in tags.items():
        lines.append(f"            - {visible(name)}" + (f" [{' '.join(some)}]" if some else ""))
    if set(found) - {"stale-hooks"}:
        lines.append("  ⚠ env mismatch: restart node to fix")
    if "stale-hooks" in found:
        lines.append(f"  ⚠ stale-hooks: {STALE_HOOKS_ADVICE}")
    return lines


def _bot(one: NodeReport) -> str:
    match one.bot.state:
        case "online":
            return f"online (@{visible(one.bot.username)}, id:{one.bot.id})"
        case "error":
            return "error" + (f": {visible(one.bot.why)}" if one.bot.why else "")
        case _:
            return "not configured"


def _webhook(one: NodeReport) -> list[str]:
    """Whether Telegram calls this node; a node that polls is deaf while any webhook is set."""
    actual, expected = one.bot.webhook, one.webhook_url
    if actual is None:
        return []
    if not actual:
        return ["  webhook:  not set"]
    if not one.running or actual.rstrip("/") == expected.rstrip("/"):
        return ["  webhook:  set"]
    return [
        "  webhook:  mismatch (pointing to different URL)",
        f"            actual:   {visible(actual)}",
        f"            expected: {visible(expected) or 'none: this node polls (farhand webhook delete)'}",
    ]


def _life(said: Mapping[str, Any], now: float) -> list[str]:
    """What the node says of itself: since when it runs, its journal, its channels, its team."""
    lines = [
        f"  up:       {_ago(now - said['started_at'])} (pid {said['pid']})",
        f"  journal:  {said['seq']} events{', ' + said['journal'] if said.get('journal') else ''}",
    ]
    if keyless := KEYLESS.get(said.get("keyless", "")):
        lines.append(f"  keyless:  {keyless}")
    if said.get("run_as"):
        lines.append(f"  run as:   {visible(str(said['run_as']))}")
    lines += [f"  {name + ':':<10}{visible(str(one)) or 'serving'}" for name, one in said.get("channels", {}).items()]
    lines += _reach(said, now) + _receiving(said, now)
    lines.append("  team:     " + (str(len(said["workers"])) if said["workers"] else "none"))
    for worker in said["workers"]:
        lines += worker_lines(worker, said["focus"], now)
    return lines


def _reach(said: Mapping[str, Any], now: float) -> list[str]:
    """How the way in that the node keeps open stands."""
    reach = said.get("reach")
    if not reach:
        return []
    line = f"  reach:    {visible(reach['way'])}, {reach['state']} for {_ago(now - reach['since'])}"
    return [
        line,
        *([f"            {on_one_line(visible(reach['problem']), LONGEST_QUESTION)}"] if reach["problem"] else []),
    ]


def _receiving(said: Mapping[str, Any], now: float) -> list[str]:
    """When each chat was heard last."""
    lines = []
    for name, one in said.get("hearing", {}).items():
        heard = f"heard {_ago(now - one['heard_at'])} ago" if one["heard_at"] else "not heard yet"
        deaf = f" ⚠ deaf for {_ago(now - one['deaf_since'])}" if one["deaf_since"] else ""
        lines.append(f"  hearing:  {visible(name)} {heard}{deaf}")
    return lines


def worker_lines(worker: Mapping[str, Any], focus: str, now: float) -> list[str]:
    """One worker: its state, its questions, what is uncertain."""
    notes = [worker["state"], f"backend={worker['backend']}"]
    if worker["name"] == focus:
        notes.insert(0, "focused")
    if worker["queued"]:
        since = worker.get("queued_since")
        notes.append(f"{worker['queued']} queued" + (f" for {_ago(now - since)}" if since else ""))
    text = f"            - {worker['name']} ({', '.join(notes)})"
    lines = [f"{text}: {visible(worker['why_offline'])}" if worker["why_offline"] else text]
    if mode := worker.get("mode"):
        lines.append(f"              mode {visible(str(mode))}, in {visible(str(worker['directory']))}")
    for ask in worker.get("questions", ()):
        question = on_one_line(visible(str(ask["question"])), LONGEST_QUESTION)
        lines.append(f"              ? {question}  (farhand answer {visible(str(ask['id']))} <choice>)")
    if worker.get("unknown"):
        lines.append("              ⚠ nobody knows whether the last message arrived")
    elif (since := worker.get("handing_over_since")) and now - since > STUCK_SECONDS:
        lines.append(f"              ⚠ a message has been on its way for {_ago(now - since)}")
    return lines


def _ago(seconds: float) -> str:
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    if hours >= 48:
        return f"{hours // 24} days"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{int(max(seconds, 0))} s"
