"""`farhand hook`: puts our hooks into an agent CLI's own settings, takes them out again, and tries them."""

import argparse
import hashlib
import os
import sys
from pathlib import Path

from farhand.cli.node_flag import add_node
from farhand.config.places import home
from farhand.config.settings import ask_deadline
from farhand.drivers.wires.hooks.person import HookPrograms, PersonHooks
from farhand.hooks import install as hooks
from farhand.manifests import person_hooks
from farhand.model.compat import DEFAULT_BACKEND
from farhand.model.errors import BadUsage, NodeError, SettingMissing, UnknownBackend

OLDER = "send-to-telegram.sh"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `hook` takes."""
    add_node(parser)
    parser.add_argument("what", choices=["install", "uninstall", "status", "test"], help="what to do")
    parser.add_argument("--settings", type=Path, help="the settings file (default: the CLI's own, for all projects)")
    where = "a project's own settings, of DIR or of this folder"
    parser.add_argument("--project", type=Path, nargs="?", const=Path(), metavar="DIR", help=where)
    parser.add_argument("--events", action="store_true", help="install the hooks that report and ask, too")
    parser.add_argument(
        "--backend", "--adapter", dest="backend", default=DEFAULT_BACKEND, help="whose settings (default: %(default)s)"
    )
    parser.add_argument("--worker", default="", help="test: whose session (default: who is focused)")


class HookPlace:
    """Where hooks are put: the settings, the folder of their programs, and what stood there before."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        known = person_hooks()
        if arguments.backend not in known:
            raise UnknownBackend(arguments.backend, known=sorted(known))
        self.hooks: PersonHooks = known[arguments.backend]
        self.settings = self._settings(arguments.settings, arguments.project)
        self.keep = home(os.environ) / "hooks"
        own = hashlib.sha256(str(self.settings.absolute()).encode()).hexdigest()[:8]
        beside = self.hooks.programs_beside and arguments.project is None
        apart = self.keep / f"{arguments.backend}-{own}"
        self.programs = self.settings.absolute().parent / "hooks" if beside else apart

    def _settings(self, given: Path | None, project: Path | None) -> Path:
        if given is not None and project is not None:
            raise BadUsage("Either --settings or --project, not both.", hints=("farhand hook --help",))
        if project is None:
            return given or self.hooks.settings(os.environ)
        if not project.expanduser().is_dir():
            raise SettingMissing(f"There is no folder {project}.", hints=("farhand hook install --project DIR",))
        settings = project.expanduser().resolve() / self.hooks.project
        if not settings.resolve().is_relative_to(project.expanduser().resolve()):
            # A repository may bring links: what is written for this project stays in it.
            raise NodeError(f"{settings} is a link out of the project, to {settings.resolve()}: nothing was done.")
        return settings

    def hook_programs(self, *, events: bool) -> HookPrograms:
        """What the hooks run."""
        asking = self.programs / hooks.PROGRAM if events else None
        return HookPrograms(hooks.interpreter(), self.programs / hooks.ANSWERS, asking, ask_deadline(os.environ))

    def install(self, *, events: bool) -> bool:
        """Puts them in; False when they were there."""
        if events and not self.hooks.has_events:
            raise BadUsage("These settings take no hooks that report and ask.", hints=("leave out --events",))
        programs = self.hook_programs(events=events)
        if self.hooks.whole_file is not None:
            return hooks.install_file(self.settings, self.hooks.whole_file(programs), self.keep)
        return hooks.install(self.settings, self._groups(programs), self.keep)

    def uninstall(self) -> bool:
        """Takes them out; False when none was there."""
        if self.hooks.whole_file is not None:
            return hooks.uninstall_file(self.settings, self.keep)
        return hooks.uninstall(self.settings, self.keep)

    def has(self, *, events: bool) -> bool:
        """Whether they are there, exactly."""
        if events and not self.hooks.has_events:
            return False
        programs = self.hook_programs(events=events)
        if self.hooks.whole_file is not None:
            return hooks.is_file(self.settings, self.hooks.whole_file(programs))
        return hooks.installed(self.settings, self._groups(programs))

    def _groups(self, programs: HookPrograms) -> hooks.Groups:
        return self.hooks.groups(programs) if self.hooks.groups is not None else {}


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

                return try_hook(arguments, place.hooks, place.programs / hooks.ANSWERS)
    except OSError as error:
        raise NodeError(f"{error.filename or place.settings} cannot be used: {error.strerror}.") from None


def _install(place: HookPlace, *, events: bool) -> int:
    hooks.place_stop_hook(place.programs)
    if events:
        hooks.place_program(place.programs)
    fresh = place.install(events=events)
    sys.stdout.write(f"{'Hook installed' if fresh else 'Hook was installed already'}: {place.settings}\n")
    sys.stdout.write(f"{place.hooks.advice}\n" if fresh and place.hooks.advice else "")
    return 0


def _uninstall(place: HookPlace) -> int:
    gone = place.uninstall()
    hooks.remove_programs(place.programs)
    sys.stdout.write(f"{'Hook removed' if gone else 'No hook of ours was there'}: {place.settings}\n")
    return 0


def _status(place: HookPlace) -> int:
    whole, answers = (place.has(events=events) for events in (True, False))
    state = "installed, with events" if whole else "installed" if answers else "not installed"
    lines = [f"hook:     {state}", f"settings: {place.settings}"]
    missing = [name for name in (hooks.ANSWERS, hooks.FORWARDER) if not (place.programs / name).exists()]
    if (whole or answers) and missing:
        lines.append(f"⚠ missing: {', '.join(str(place.programs / name) for name in missing)}; install it again")
    if place.settings.exists() and OLDER in place.settings.read_text("utf-8", errors="replace"):
        lines.append(f"The hook of another bridge is there, too ({OLDER}): what it posts a second time is told once.")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0
