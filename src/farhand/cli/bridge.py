"""`farhand bridge`: puts the file bridge's hooks into a project, takes them out again, tells how it is, tries it."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from farhand.bridge.hook.files import BridgeState, MessageFile
from farhand.bridge.hook.rules import INBOX, OUTBOX, READ, SENT, encode, new_message, waiting
from farhand.bridge.place import PROGRAM, place_program
from farhand.cli.node_flag import add_node
from farhand.config.places import home
from farhand.drivers.wires.hooks.bridge import BridgeHooks
from farhand.hooks import install as hooks
from farhand.manifests import bridge_hooks
from farhand.model.bridge import BACKEND
from farhand.model.commands import Hire
from farhand.model.compat import FILE_BRIDGE_BACKEND, FILE_BRIDGE_FOLDER
from farhand.model.errors import NodeError, SettingMissing, UnknownBackend

OWN = (PROGRAM,)
# What the bridge's files are called, all of them, and the folders for those that are not its own.
FILES = "wa_"
ASIDE = f"{FILES}before-"
IGNORED = f"{FILE_BRIDGE_FOLDER}/{FILES}*"
PATIENCE_SECONDS = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `bridge` takes."""
    parser.add_argument("what", choices=["install", "uninstall", "status", "test", "attach"], help="what to do")
    parser.add_argument("--project", type=Path, default=Path(), help="the agent's folder (default: this one)")
    parser.add_argument(
        "--backend",
        "--adapter",
        dest="backend",
        default=FILE_BRIDGE_BACKEND,
        help="whose hooks: %(default)s unless given, or another that has any",
    )
    parser.add_argument("--worker", default="", help="for attach: the name on the team (default: the folder's)")
    add_node(parser)


class BridgePlace:
    """A project's bridge: the folder of its files, the CLI's settings, the program that the hooks run."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.project: Path = arguments.project.expanduser().resolve()
        if not self.project.is_dir():
            raise SettingMissing(f"There is no folder {self.project}.", hints=("farhand bridge install --project DIR",))
        known = bridge_hooks()
        if arguments.backend not in known:
            raise UnknownBackend(arguments.backend, known=sorted(known))
        self.hooks: BridgeHooks = known[arguments.backend]
        self.folder = self.project / FILE_BRIDGE_FOLDER
        self.settings = self.project / self.hooks.settings
        self.programs = home(os.environ) / "bridge"
        self.keep = home(os.environ) / "hooks"

    def groups(self) -> hooks.Groups:
        """What is merged into the settings."""
        return self.hooks.groups(hooks.interpreter(), self.programs / PROGRAM, self.folder)


def run(arguments: argparse.Namespace) -> int:
    """Does it."""
    place = BridgePlace(arguments)
    try:
        match arguments.what:
            case "install":
                return _install(place)
            case "uninstall":
                return _uninstall(place)
            case "status":
                return _status(place)
            case "attach":
                _install(place)
                return _attach(arguments, place)
            case _:
                return _test(place)
    except OSError as error:
        raise NodeError(f"{error.filename or place.settings} cannot be used: {error.strerror}.") from None


def _install(place: BridgePlace) -> int:
    _refuse_links(place)
    place_program(place.programs)
    place.folder.mkdir(mode=0o700, exist_ok=True)
    _set_old_files_aside(place)
    _keep_out_of_commits(place.project)
    fresh = hooks.install(place.settings, place.groups(), place.keep, OWN)
    sys.stdout.write(f"{'Bridge installed' if fresh else 'Bridge was installed already'}: {place.settings}\n")
    sys.stdout.write(f"messages to the agent:   {place.folder / INBOX}\n")
    sys.stdout.write(f"messages from the agent: {place.folder / OUTBOX}\n{place.hooks.advice}\n")
    return 0


def _refuse_links(place: BridgePlace) -> None:
    """A repository may bring links: what is written for this project stays in it."""
    for path in (place.folder, place.folder / INBOX, place.folder / OUTBOX, place.settings.parent, place.settings):
        if not path.resolve().is_relative_to(place.project):
            raise NodeError(f"{path} is a link out of the project, to {path.resolve()}: nothing was installed.")


def _set_old_files_aside(place: BridgePlace) -> None:
    """Nobody has spoken to the agent before the bridge was there: messages, leftovers of a writer and sprints that a
    repository brought go into a folder that nobody reads."""
    everyone = [place.project / one.settings for one in bridge_hooks().values()]
    # Some disks take names in capitals for the same.
    old = [one for one in place.folder.iterdir() if one.name.casefold().startswith(FILES)]
    found = [one for one in old if not one.name.startswith(ASIDE)]
    if not found or any(hooks.was_installed(settings, place.keep, OWN) for settings in everyone):
        return
    aside = place.folder / f"{ASIDE}{time.time_ns()}"
    aside.mkdir(mode=0o700)
    for one in found:
        one.rename(aside / one.name)
    sys.stdout.write(f"⚠ files that were there before the bridge are not given to the agent: {aside}\n")


def _attach(arguments: argparse.Namespace, place: BridgePlace) -> int:
    """Makes the agent there a worker of a node that runs."""
    from farhand.cli.hire import hire
    from farhand.cli.options import new_id, with_hub

    name = arguments.worker or worker_name(place.project.name)
    command = Hire(id=new_id(), worker=name, backend=BACKEND, directory=str(place.project))
    return with_hub(arguments, lambda hub: hire(hub, command))


def worker_name(folder: str) -> str:
    """A worker's name after a folder's."""
    plain = re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-")
    return plain if plain[:1].isalpha() else f"desk-{plain}".strip("-")


def _keep_out_of_commits(project: Path) -> None:
    """What people and agents say to one another is nobody's source code."""
    exclude = project / ".git" / "info" / "exclude"
    if not exclude.parent.is_dir() or not exclude.resolve().is_relative_to(project):
        return
    lines = exclude.read_text("utf-8").splitlines() if exclude.exists() else []
    if IGNORED not in lines:
        exclude.write_text("\n".join([*lines, IGNORED]) + "\n", "utf-8")


def _uninstall(place: BridgePlace) -> int:
    """The messages stay: they are the person's."""
    gone = hooks.uninstall(place.settings, place.keep, OWN)
    sys.stdout.write(f"{'Bridge removed' if gone else 'No bridge of ours was there'}: {place.settings}\n")
    return 0


def _status(place: BridgePlace) -> int:
    ready = hooks.installed(place.settings, place.groups(), OWN)
    lines = [f"bridge:   {'installed' if ready else 'not installed'}", f"settings: {place.settings}"]
    if ready and not (place.programs / PROGRAM).exists():
        lines.append(f"⚠ missing: {place.programs / PROGRAM}; install it again")
    unread = len(waiting(_messages(place.folder / INBOX), READ))
    unsent = len(waiting(_messages(place.folder / OUTBOX), SENT))
    lines.append(f"inbox:    {unread} unread, outbox: {unsent} unsent")
    lines.append(f"sprint:   {'on' if BridgeState(str(place.folder)).sprint else 'off'}")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _messages(path: Path) -> list[dict[str, object]]:
    from farhand.bridge.hook.rules import Malformed, parse

    try:
        return parse(path.read_bytes())
    except FileNotFoundError:
        return []
    except Malformed as problem:
        sys.stdout.write(f"⚠ {path} makes no sense: {problem}\n")
        return []


def _test(place: BridgePlace) -> int:
    """Runs the installed hooks as the CLI would, in a folder of their own: nobody's messages are touched."""
    if not hooks.installed(place.settings, place.groups(), OWN):
        raise SettingMissing("The hooks are not installed.", hints=("farhand bridge install",))
    with tempfile.TemporaryDirectory() as folder:
        inbox = Path(folder) / INBOX
        inbox.write_bytes(encode([new_message("msg", "user", "farhand bridge test", 0.0, "test", READ)]))
        before, after = place.hooks.commands(hooks.interpreter(), place.programs / PROGRAM, Path(folder))
        told = _run(before, {})
        _run(after, _ended("It works."))
        answered = waiting(MessageFile(folder, OUTBOX, SENT).messages(), SENT)
    if "farhand bridge test" not in told or [one["text"] for one in answered] != ["It works."]:
        raise NodeError("The hooks ran, and the test message did not come through.", hints=("farhand bridge install",))
    sys.stdout.write("The hooks work: a message went in, an answer came out.\n")
    return 0


def _ended(text: str) -> dict[str, str]:
    return {"prompt_response": text, "last_assistant_message": text}


def _run(command: str, payload: dict[str, str]) -> str:
    shell = shutil.which("sh") or "/bin/sh"
    done = subprocess.run(
        [shell, "-c", command],
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    return done.stdout.decode("utf-8", "replace")
