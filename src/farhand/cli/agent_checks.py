"""What `farhand doctor` looks at of the agents: each CLI, our hooks in its settings, what this folder does to it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from farhand.cli.agent_clis import AgentCli, agent_clis, catalogue_clis
from farhand.cli.check_result import ABSENT, GOOD, WARNING, CheckResult
from farhand.drivers.wires.folders.check import FolderCheck
from farhand.drivers.wires.folders.reads import reads_of
from farhand.hooks.install import ANSWERS
from farhand.manifests import DRIVERS, manifest, packages, person_hooks
from farhand.model.folder_trust import FolderNotTrusted


class AgentChecks:
    """The checks of the agents' CLIs on this machine, for one node and for the folder that somebody is in."""

    def __init__(self, environ: Mapping[str, str], folder: Path, directory: Path) -> None:
        self._environ = environ
        self._folder = folder
        self._directory = directory

    def all(self) -> Iterator[CheckResult]:
        """Each agent's CLI, of which one is enough; those of the catalogue where they are installed."""
        own, others = agent_clis(self._environ), catalogue_clis(self._folder, self._environ)
        here = [*own, *(cli for cli in others if cli.path)]
        for cli in here:
            yield _of(cli)
        if not any(cli.path for cli in here):
            yield CheckResult(
                "agents", WARNING, "no agent CLI is installed", "install one; or try: farhand run --no-telegram --demo"
            )
        installed = [cli.backend for cli in own if cli.path]
        yield from self._hooks()
        yield from self._trust(installed)

    def _hooks(self) -> Iterator[CheckResult]:
        """Our hooks in the persons' own settings: whole, or half there. Workers bring hooks of their own."""
        known = person_hooks()
        found: list[str] = []
        half: list[str] = []
        for backend in sorted(known):
            settings = known[backend].settings(self._environ)
            if not _mentions(settings):
                continue
            programs = settings.parent / "hooks" / ANSWERS
            is_whole = programs.exists() or not known[backend].programs_beside
            (found if is_whole else half).append(backend)
        for backend in half:
            todo = f"farhand hook install --backend {backend}"
            yield CheckResult("hook", WARNING, f"{backend}: half installed", todo)
        if not half:
            told = f"installed for {', '.join(found)}" if found else "not installed: only your own sessions need it"
            yield CheckResult("hook", GOOD if found else ABSENT, told)

    def _trust(self, installed: list[str]) -> Iterator[CheckResult]:
        """Whether what lies in this folder would configure an agent: then a person is asked before it starts."""
        asked = []
        home = self._environ.get("HOME")
        check = FolderCheck(self._folder, home=Path(home) if home else None)
        for backend in (name for name in packages() if name in installed):
            try:
                check.look_now(str(self._directory), reads_of(manifest(DRIVERS, backend)))
            except FolderNotTrusted:
                asked.append(backend)
        if asked:
            told = f"{self._directory} configures {', '.join(asked)}: you are asked before it starts there"
            yield CheckResult("trust", WARNING, told)
        elif installed:
            yield CheckResult("trust", GOOD, f"nothing in {self._directory} that you would be asked about")


def _of(cli: AgentCli) -> CheckResult:
    if not cli.path:
        return CheckResult(cli.backend, ABSENT, "not installed", cli.install)
    if cli.logged_in is False:
        return CheckResult(cli.backend, WARNING, cli.line, cli.how_to_log_in)
    return CheckResult(cli.backend, GOOD, cli.line)


def _mentions(settings: Path) -> bool:
    try:
        return ANSWERS in settings.read_text("utf-8", "replace")
    except OSError:
        return False
