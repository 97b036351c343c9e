"""`farhand hook`: puts our hooks into an agent CLI's own settings, takes them out again, and tries them."""

import argparse
import os
import sys
from pathlib import Path

from farhand.cli.node_flag import add_node
from farhand.config.places import home
from farhand.config.settings import ask_deadline
from farhand.hooks import install as hooks
from farhand.model.compat import DEFAULT_BACKEND
from farhand.model.errors import NodeError
from farhand.roster import hook_settings_of

OLDER = "send-to-telegram.sh"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `hook` takes."""
    add_node(parser)
    parser.add_argument("what", choices=["install", "uninstall", "status", "test"], help="what to do")
    parser.add_argument("--settings", type=Path, help="the settings file (default: the CLI's own)")
    parser.add_argument("--events", action="store_true", help="install the hooks that report and ask, too")
    parser.add_argument(
        "--backend", "--adapter", dest="backend", default=DEFAULT_BACKEND, help="whose settings (default: %(default)s)"
    )
    parser.add_argument("--worker", default="", help="test: whose session (default: who is focused)")


class HookPlace:
    """Where hooks are put: the settings, the folder of programs beside them, and what stood there before."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.module = hook_settings_of(arguments.backend)
        self.settings: Path = arguments.settings or self.module.settings_file(os.environ)
        self.programs = self.settings.absolute().parent / "hooks"
        self.keep = home(os.environ) / "hooks"

    def groups(self, *, events: bool) -> hooks.Groups:
        """What is merged into the settings."""
        groups: hooks.Groups = self.module.groups(
            hooks.interpreter(),
            self.programs / hooks.ANSWERS,
            self.programs / hooks.PROGRAM if events else None,
            ask_deadline(os.environ),
        )
        return groups


def run(arguments: argparse.Namespace) -> int:
    """Does it."""
    place = HookPlace(arguments)
    try:
        match arguments.what:
            case "install":
                return _install(place, events=arguments.events)
            case "uninstall":
                return _uninstall(place)
            case "status":
                return _status(place)
            case _:
                from farhand.cli.hook_test import try_hook

                return try_hook(arguments, place.module, place.programs / hooks.ANSWERS)
    except OSError as error:
        raise NodeError(f"{error.filename or place.settings} cannot be used: {error.strerror}.") from None


def _install(place: HookPlace, *, events: bool) -> int:
    hooks.place_stop_hook(place.programs)
    if events:
        hooks.place_program(place.programs)
    fresh = hooks.install(place.settings, place.groups(events=events), place.keep)
    sys.stdout.write(f"{'Hook installed' if fresh else 'Hook was installed already'}: {place.settings}\n")
    return 0


def _uninstall(place: HookPlace) -> int:
    gone = hooks.uninstall(place.settings, place.keep)
    hooks.remove_programs(place.programs)
    sys.stdout.write(f"{'Hook removed' if gone else 'No hook of ours was there'}: {place.settings}\n")
    return 0


def _status(place: HookPlace) -> int:
    whole, answers = (hooks.installed(place.settings, place.groups(events=events)) for events in (True, False))
    state = "installed, with events" if whole else "installed" if answers else "not installed"
    lines = [f"hook:     {state}", f"settings: {place.settings}"]
    missing = [name for name in (hooks.ANSWERS, hooks.FORWARDER) if not (place.programs / name).exists()]
    if (whole or answers) and missing:
        lines.append(f"⚠ missing: {', '.join(str(place.programs / name) for name in missing)}; install it again")
    if place.settings.exists() and OLDER in place.settings.read_text("utf-8", errors="replace"):
        lines.append(f"⚠ the hook of another bridge is there, too ({OLDER}): answers may come twice")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0
