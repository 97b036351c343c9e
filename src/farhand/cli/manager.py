"""`farhand manager`: tells who the manager is, and changes it on purpose; whoever it was reads of it."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.config.places import node_folder
from farhand.model.channel_ports import Manager
from farhand.model.errors import BadInput, NodeRunning
from farhand.store import folder as folders
from farhand.store.database import Database
from farhand.store.managers import SqliteManagers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `manager` takes."""
    add_node(parser)
    parser.add_argument("--channel", default="telegram", help="the channel that is meant (default: telegram)")
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--set", metavar="CHAT", help="this chat's number is the manager's from the next start on")
    change.add_argument("--forget", action="store_true", help="nobody is: the next to register will be")


def run(arguments: argparse.Namespace) -> int:
    """Prints who it is, after the change if one is asked for. For a change the node must be stopped."""
    node = choose(arguments)
    folder = node_folder(node, os.environ)
    wants_change = arguments.forget or arguments.set is not None
    if wants_change and (process := folders.running(folder)) is not None:
        hints = (f"farhand stop --node {node}",)
        raise NodeRunning(f"Node '{node}' is running (pid {process}) and knows its manager.", hints=hints)
    manager = _wanted(arguments.set or "")
    if not wants_change and not store_of(folder).exists():
        found = None
    else:
        folders.make(folder)
        with open_managers(folder) as managers:
            if wants_change:
                managers.keep_manager(arguments.channel, manager)
            found = managers.manager(arguments.channel)
    who = found.title if found is not None and found.chat else "nobody"
    sys.stdout.write(f"The manager of node '{node}' on {arguments.channel} is {who}.\n")
    return 0


def _wanted(chat: str) -> Manager:
    if chat and not (chat.isascii() and chat.removeprefix("-").isdigit()):
        raise BadInput(f"A chat is a number, not '{chat[:40]}'. The bot's log tells who wrote; so does @userinfobot.")
    return Manager(chat=chat, person="" if chat.startswith("-") else chat)


def store_of(folder: Path) -> Path:
    """The store of the node in that folder."""
    return folder / "farhand.db"


@contextmanager
def open_managers(folder: Path) -> Iterator[SqliteManagers]:
    """Who the managers of the node in that folder are."""
    database = Database(store_of(folder))
    try:
        yield SqliteManagers(database)
    finally:
        database.close()


def forget_all(folder: Path) -> bool:
    """Forgets the managers of the node in that folder; whether there was one."""
    if not store_of(folder).exists():
        return False
    with open_managers(folder) as managers:
        known = [name for name in managers.channels() if (found := managers.manager(name)) and found.chat]
        for name in known:
            managers.keep_manager(name, Manager())
    return bool(known)
