"""What one sandbox has inside: its mounts in order, what is hidden, its variables and its PATH. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from farhand.model.compat import WORKER_INBOX
from farhand.model.errors import SettingWrong
from farhand.model.http_guard import HOST_NAME
from farhand.model.present import Worker
from farhand.model.sandbox import PRIVATE, SPOOL, WORKSPACE, Mount, sender_folder

# Where an image has its programs, and most systems.
USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Under the home folder: whoever reaches an engine's socket reaches the whole machine.
ENGINE_FOLDERS = (
    ".colima",
    ".docker/desktop",
    ".docker/run",
    ".lima",
    ".local/share/containers",
    ".orbstack/run",
    ".rd",
)

# In a worker's own folder: what its agent writes.
WRITABLE = (SPOOL, PRIVATE)


@dataclass(frozen=True)
class SandboxPlaces:
    """Where a node's things are."""

    # Where all nodes of this person are, and this one.
    nodes: str
    folder: str
    hooks: str
    sessions: str
    temporary: str
    home: str
    tmux_prefix: str = ""
    # The node's address, if somebody has set one.
    bridge_url: str = ""
    # Where the sockets of the person's tmux servers are: whoever reaches one runs commands outside.
    tmux: tuple[str, ...] = ()


def shared_mounts(places: SandboxPlaces, directory: str, extra: Sequence[Mount], *, home: bool) -> list[Mount]:
    """What of this machine is inside for every worker: its home twice, its folder, what the manager adds."""
    found = []
    if home:
        found += [Mount(source=places.home, target=WORKSPACE), Mount(source=places.home, target=places.home)]
    found += [Mount(source=directory, target=directory)]
    for mount in extra:
        if is_inside(mount.source, places.nodes):
            raise SettingWrong(
                f"{mount.source} has the node's own key and team: it cannot be mounted.", name="SANDBOX_MOUNTS"
            )
        if is_inside(mount.source, places.temporary):
            raise SettingWrong(f"{mount.source} has other workers' pipes: it cannot be mounted.", name="SANDBOX_MOUNTS")
    return [*found, *extra]


def hidden_folders(secret: Iterable[str], mounts: Iterable[Mount]) -> list[str]:
    """Where the secret folders would show through the mounts."""
    return [
        str(PurePath(mount.target) / PurePath(folder).relative_to(mount.source))
        for folder in secret
        for mount in mounts
        if is_inside(folder, mount.source)
    ]


def pinned_mounts(secret: Sequence[str], directory: str, mounts: Iterable[Mount]) -> list[Mount]:
    """The folders between a mount and a secret folder, the worker's own, or another mount's source below it, each
    mounted in its own place: what is a mount cannot be renamed inside, so that nothing is moved to where it is not
    hidden, or changed for another. What is secret itself stays hidden, also where the worker's folder lies in it."""
    there = list(mounts)
    taken = {each.target for each in there}
    found: dict[str, Mount] = {}
    kept = [*secret, directory, *(one.source for one in there)]
    for folder in dict.fromkeys(kept):
        for mount in there:
            between = [
                one for one in (PurePath(folder), *PurePath(folder).parents) if is_inside(str(one), mount.source)
            ]
            for one in between:
                if any(is_inside(str(one), each) for each in secret):
                    continue
                target = str(PurePath(mount.target) / one.relative_to(mount.source))
                if target not in taken:
                    found[target] = Mount(source=str(one), target=target, read_only=mount.read_only)
    return list(found.values())


def own_mounts(places: SandboxPlaces, worker: Worker, worker_folder: str, named: Iterable[str]) -> list[Mount]:
    """What of the node itself is inside: the worker's own folder with its socket, hooks to run, files that are
    exchanged; `named` are further paths of its backend that the agent is told of.

    What the node writes is read-only inside, or a link left there could lead it elsewhere; so are the other workers'
    files, which speak for them. Where others find the pipes of the team are pipes of its own, which can be written to
    all the same: what comes through one of them is from this worker."""
    found = [same(worker_folder, read_only=True), same(places.hooks, read_only=True)]
    found += [same(str(PurePath(worker_folder) / name)) for name in WRITABLE]
    found += [same(path, read_only=True) for path in named if not is_inside(path, worker_folder)]
    found += [same(places.sessions, read_only=True), same(own_session(places, worker.name))]
    pipes = str(sender_folder(Path(places.folder), worker.hiring_id))
    found.append(Mount(source=pipes, target=places.temporary, read_only=True))
    return [*found, same(own_inbox(places, worker.name), read_only=True)]


def own_session(places: SandboxPlaces, worker: str) -> str:
    """Where the worker's hooks leave its answers."""
    return str(PurePath(places.sessions) / worker)


def own_inbox(places: SandboxPlaces, worker: str) -> str:
    """Where the files are that the manager sends the worker."""
    return str(PurePath(places.temporary) / worker / WORKER_INBOX)


def made_folders(places: SandboxPlaces, worker: Worker, worker_folder: str) -> list[str]:
    """What must be there before the sandbox starts: what is mounted, and the places where it is mounted."""
    own = [worker_folder, *(str(PurePath(worker_folder) / name) for name in WRITABLE)]
    exchanged = [places.sessions, own_session(places, worker.name), own_inbox(places, worker.name)]
    return [*own, *exchanged, str(sender_folder(Path(places.folder), worker.hiring_id) / worker.name / WORKER_INBOX)]


def same(path: str, *, read_only: bool = False) -> Mount:
    """The same path inside."""
    return Mount(source=path, target=path, read_only=read_only)


def named_paths(texts: Iterable[str], folder: str) -> list[str]:
    """The paths under that folder which these texts are."""
    return sorted({text for text in texts if is_inside(text, folder) and text != folder})


def inside_path(path: str, mounts: Iterable[Mount]) -> str:
    """PATH inside: the folders of this machine that are mounted under their own names, then the image's."""
    there = list(mounts)
    kept = [one for one in path.split(":") if one and is_mounted(one, there)]
    return ":".join(dict.fromkeys([*kept, *USUAL_PATH.split(":")]))


def is_mounted(path: str, mounts: Iterable[Mount]) -> bool:
    """Whether the path is inside under its own name."""
    return any(mount.source == mount.target and is_inside(path, mount.source) for mount in mounts)


def is_inside(path: str, folder: str) -> bool:
    """Whether the path is that folder, or under it."""
    return path.startswith("/") and PurePath(path).is_relative_to(folder)


def bridge_variables(places: SandboxPlaces, worker: str, port: int, *, container: bool) -> dict[str, str]:
    """How programs inside find the node, and which session they are of."""
    usual = f"http://{HOST_NAME}:{port}" if container else f"http://localhost:{port}"
    return {
        "BRIDGE_URL": places.bridge_url or usual,
        "PORT": str(port),
        "TMUX_PREFIX": places.tmux_prefix,
        "SESSIONS_DIR": places.sessions,
        "BRIDGE_SESSION": worker,
        "TMUX_FALLBACK": "1",
    }
