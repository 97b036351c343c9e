"""The command `farhand`: finds the command that is meant and loads only that one."""

import os
import sys
from importlib import import_module

from farhand.cli.global_flags import ENDS, GLOBAL_FLAGS, UnknownFlag, nearest, split
from farhand.cli.slash_help import MIRRORED

COMMANDS = {
    "setup": "set a node up, step by step, until the first message is on your phone",
    "run": "start a node, and talk to its team here when this is a terminal",
    "chat": "talk to a node's team in this terminal",
    "tui": "talk to an agent in this folder, or to a node's team, on the whole terminal",
    "remote": "show an agent's own terminal here, and let programs drive it, too",
    "say": "give a worker a message",
    **MIRRORED,
    "answer": "settle a question that waits",
    "ask": "ask an agent in this folder, without a node",
    "events": "print the journal, and follow it",
    "status": "tell how a node is",
    "stop": "stop a node, its tunnel and its agents",
    "agents": "list the agents that can be hired here, and what the others need",
    "doctor": "look whether all is there that a node needs, and repair what is safe to",
    "restart": "restart a node; its agents live on",
    "logs": "print a node's log, and follow it",
    "pair": "a one-time code that pairs a phone, a browser or a program with a node",
    "devices": "list the devices that are paired, revoke one",
    "manager": "tell who the manager is, and change it",
    "clean": "forget who the manager is, so that somebody can register anew",
    "adapter": "call an agent CLI once for a worker and post its answer",
    "webhook": "set, show or delete the bot's webhook",
    "whatsapp": "set a WhatsApp number up for a node, tell how it stands",
    "hook": "put hooks into an agent CLI's settings, take them out, try them",
    "sandbox": "build the image that sandboxed workers run in, tell which engine runs them",
    "bridge": "reach an agent that runs at the desk through two files and its CLI's hooks",
    "service": "keep a node running after log-out and reboot",
    "completion": "print the completion for bash, zsh or fish",
}

# What the same is called in a chat, or elsewhere.
SPOKEN = {
    "team": "status",
    "progress": "status",
    "ps": "status",
    "list": "status",
    "pause": "interrupt",
    "mode": "tune",
    "model": "tune",
    "effort": "tune",
    "verdict": "review",
    "queue": "status",
    "fire": "end",
    "start": "run",
    "install": "setup",
    "init": "setup",
    "log": "logs",
}

USAGE = """usage: farhand <command> [options]

Run a team of coding agents from a phone.

commands:
{commands}
  {help:<13}tell this, or what a command takes

flags of every command, before or after its name:
{flags}
  {h:<22}help
  {v:<22}the version

variables:
  TELEGRAM_BOT_TOKEN    the bot
  ADMIN_CHAT_ID         the manager's chat (else: the first who writes)
  NODE_NAME, PORT       as --node, --port
  TUNNEL_URL            as --tunnel-url
  FARHAND_REACH         as --reach
  SANDBOX_ENABLED, SANDBOX_IMAGE, SANDBOX_MOUNTS
                        as --sandbox, --sandbox-image, --mount
  TELEGRAM_WEBHOOK_SECRET, SESSIONS_DIR, TMUX_PREFIX, BRIDGE_URL and more: docs/reference/settings.md

`farhand <command> --help` tells more.
Exit codes: 0 success, 1 runtime error, 2 wrong usage, 3 something is not configured, 4 something is not installed.
"""


def usage() -> str:
    """The help that needs nothing loaded."""
    flags = [(" ".join(filter(None, (", ".join(one.names), one.value))), one.about) for one in GLOBAL_FLAGS]
    return USAGE.format(
        commands="\n".join(f"  {name:<13}{text}" for name, text in COMMANDS.items()),
        flags="\n".join(f"  {names:<22}{about}" for names, about in flags),
        help="help",
        h="-h, --help",
        v="-V, --version",
    )


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        before, rest = split(given)
    except UnknownFlag as error:
        return _wrong(f"{error}", error.meant)
    if not rest:
        return _wrong("No command was given.") if before else _say(usage())
    name = {"-h": "help", "--help": "help", "-V": "version", "--version": "version"}.get(rest[0], rest[0])
    if name == "help" and (rest[0] in ENDS or len(rest) == 1):
        return _say(usage())
    if name == "help":
        name, before, rest = rest[1], [], [rest[1], "--help"]
    if name == "version":
        from farhand import __version__

        return _say(f"farhand {__version__}\n")
    if name not in COMMANDS:
        meant = SPOKEN.get(name) or nearest(name, COMMANDS)
        return _wrong(f"Unknown command: {name}", f"farhand {meant}" if meant else "")
    return _run(name, before, rest[1:])


def _say(text: str) -> int:
    sys.stdout.write(text)
    return 0


def _wrong(text: str, meant: str = "") -> int:
    hint = f"→ did you mean: {meant}?\n" if meant else ""
    sys.stderr.write(f"error: {text}\n{hint}→ farhand --help\n")
    return 2


def _run(name: str, before: list[str], rest: list[str]) -> int:
    from farhand.cli.call_command import call

    try:
        return call(name, COMMANDS[name].capitalize() + ".", import_module(f"farhand.cli.{name}"), before, rest)
    except SystemExit as leaving:
        return int(leaving.code or 0)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has enough of it; what is left in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    raise SystemExit(main())
