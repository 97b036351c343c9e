"""What a decision must know beside the present: which agents there are, and the defaults of a hiring. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from farhand.model import commands, errors
from farhand.model.compat import BACKENDS, DEFAULT_BACKEND
from farhand.model.names import normalize
from farhand.model.present import WIRE, kind_of
from farhand.model.words import Mode


@dataclass(frozen=True)
class HirePolicy:
    """What a decision must know beside the present: the kinds of worker, and the defaults of a hiring."""

    # Every `<backend>` and `<backend>/<wire>` that has a driver.
    kinds: Collection[str]
    directory: str
    mode: Mode
    # Names of earlier versions: they still mean an agent, and nobody is told of them.
    former: Collection[str] = ()
    # The kinds whose conversations can be handed back.
    resumable: Collection[str] = ()
    backend: str = DEFAULT_BACKEND
    # The backends whose agents are here; all kinds, where nobody knows.
    installed: Callable[[], Collection[str]] = tuple
    # The kinds that judge nobody's work: what they do is held by no mode, and they do not ask.
    cannot_review: Collection[str] = ()
    # How hard each kind can be told to think; a kind that cannot is not there.
    efforts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Why nobody may work in the mode `yolo` here; empty where they may.
    no_yolo: str = ""
    # What `~` stands for in a folder's name; nothing special where it is not known.
    home: str = ""
    # Whether somebody could work there.
    is_folder: Callable[[str], bool] = lambda _: True

    def check_mode(self, mode: Mode | None) -> None:
        """Raises Refused for a mode that this node does not have."""
        if mode is Mode.YOLO and self.no_yolo:
            raise errors.CannotDo(self.no_yolo)

    def check_effort(self, kind: str, effort: str) -> None:
        """Raises Refused for an effort that this kind of worker does not have."""
        known = self.efforts.get(kind, ())
        if not known:
            raise errors.CannotDo(f"A {kind} worker cannot be told how hard to think.")
        if effort not in known:
            raise errors.BadInput(f"A {kind} worker has no effort '{effort}'. Known: {', '.join(known)}.")

    def backend_of(self, command: commands.Hire) -> str:
        """The backend that is meant: the one that is named, the one that the name is or begins with, or the node's."""
        name = normalize(command.worker)
        known = {*BACKENDS, *(kind for kind in self.kinds if "/" not in kind)}
        prefixes = (one for one in sorted(known, key=len, reverse=True) if name == one or name.startswith(f"{one}-"))
        return command.backend or next(prefixes, self.backend)

    def reviewer_for(self, backend: str) -> str:
        """The backend that judges the work of another by default: any but its own, where there is one."""
        here = self.installed() or sorted(kind for kind in self.kinds if "/" not in kind)
        return next((one for one in here if one != backend and one not in self.cannot_review), backend)

    def check_reviewer(self, backend: str, options: Mapping[str, str]) -> None:
        """Raises Refused when there is no such agent, or none that may judge."""
        self.check(backend, options)
        if kind_of(backend, options) in self.cannot_review:
            raise errors.CannotDo(f"{backend} cannot be kept from acting, so that it judges nobody's work.")

    def inside(self, directory: str) -> str:
        """The folder that is meant, seen from where workers start; nothing for none."""
        return self.folder(directory) if directory else ""

    def folder(self, directory: str) -> str:
        """The folder that is meant, seen from where workers start; for none, where they start."""
        first, *rest = PurePath(directory).parts or ("",)
        from_home = first == "~" and self.home
        return str(PurePath(self.home, *rest) if from_home else PurePath(self.directory) / directory)

    def check_folder(self, directory: str) -> None:
        """Raises Refused when nobody could work there."""
        if not self.is_folder(directory):
            raise errors.NoFolder(directory)

    def check(self, backend: str, options: Mapping[str, str]) -> None:
        """Raises Refused when there is no such backend, or none with that wire."""
        backends = {kind for kind in self.kinds if "/" not in kind}
        if backend not in backends:
            raise errors.UnknownBackend(backend, sorted(backends.difference(self.former)))
        if kind_of(backend, options) not in self.kinds:
            wires = sorted(kind.partition("/")[2] for kind in self.kinds if kind.startswith(f"{backend}/"))
            raise errors.BadInput(f"A {backend} worker has no wire '{options[WIRE]}'. It has: {', '.join(wires)}.")
