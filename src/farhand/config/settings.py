"""Everything that can be set of a node, read once from environment and command line and handed on as values."""

import os
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path

from farhand.config.places import node_folder
from farhand.config.run_as import AgentUser, agent_user
from farhand.config.sandbox import read_sandbox
from farhand.config.taken_secrets import take_secrets
from farhand.config.voice import KEY as VOICE_KEY
from farhand.config.voice import read_voice
from farhand.model import compat
from farhand.model.ask_limits import ASK_SECONDS, OPEN_ASKS
from farhand.model.earlier_bridge import EarlierTeam
from farhand.model.errors import SettingWrong
from farhand.model.names import node_name
from farhand.model.reach import ReachMode, reach_mode
from farhand.model.sandbox import SandboxOptions
from farhand.model.variables import is_yes, number, port_number
from farhand.model.voice import VoiceOptions
from farhand.model.words import Mode

DAY_SECONDS = 86_400.0
NO_ROOT_YOLO = (
    "This node runs as root, and a worker in the mode 'yolo' would do anything to this machine unasked. "
    "Run the node or its agents (FARHAND_RUN_AS) as another user, or say FARHAND_ROOT_YOLO=1 when you start it."
)


@dataclass(frozen=True)
class Settings:
    """The settings of one node."""

    node: str
    folder: Path
    port: int
    working_directory: Path
    host: str = "0.0.0.0"  # noqa: S104 - spec 2's own; who may call what is decided by key and address
    headless: bool = False
    demo: bool = False
    verbose: bool = False
    quiet: bool = False
    retention_days: float = 90.0
    ask_deadline_seconds: float = ASK_SECONDS
    drain_seconds: float = 5.0
    # How long a stop may take before the process ends all the same.
    stop_seconds: float = 60.0
    # How many questions of one worker wait at once, and how large the journal may become.
    open_asks: int = OPEN_ASKS
    journal_megabytes: float = 2000.0
    # What a worker may do unasked, and which agent it is, when its hiring does not say: spec 2's own.
    hire_mode: Mode = Mode.YOLO
    hire_backend: str = compat.DEFAULT_BACKEND
    # Whether agents of a node that runs as root may act without asking.
    root_yolo: bool = False
    # Whether a merge from a device needs a verdict that approves and still holds.
    review_gate: bool = True
    # Whether programs of the node's own user may use its routes over TCP without a key.
    keyless_tcp: bool = True
    # Whether browsers on other machines are paired without TLS.
    plain_http: bool = False
    # Whom agents run as, if not as the node's own user.
    agent_user: AgentUser | None = None
    # How workers are sandboxed, and whether all of them are.
    sandbox: SandboxOptions = field(default_factory=SandboxOptions)
    # The socket of the tmux server that workers run in; the person's own server when empty.
    tmux_socket: str = ""
    # The node's public address, if it has one; the way in that it opens itself, and whose tunnel that address is.
    public_url: str = ""
    reach: ReachMode = ReachMode.AUTO
    tunnel_name: str = ""
    # Where a worker's small files, its pipe and its inbox are; what its tmux session's name begins with.
    sessions_folder: Path | None = None
    temporary: Path = Path(compat.TEMPORARY_FOLDER)
    given_tmux_prefix: str = ""
    given_bridge_url: str = ""
    # What another bridge of its name has left, found at its first start.
    earlier: EarlierTeam = field(default_factory=EarlierTeam)
    # The flags that it was started with, and whether its agents end with it.
    flags: tuple[str, ...] = ()
    ends_workers: bool = False
    # The app is opened in this machine's browser when the node is ready.
    opens_app: bool = False
    # How recordings become text.
    voice: VoiceOptions = field(default_factory=VoiceOptions)
    # The node's own variables, from which the environments of children are built.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    # What channels sign in with: taken out of the environment, so that no child ever gets it.
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def no_yolo(self) -> str:
        """Why nobody may be hired in the mode `yolo`; empty where they may."""
        return "" if self.root_yolo or self.agent_user is not None or os.geteuid() != 0 else NO_ROOT_YOLO

    @property
    def usual_mode(self) -> Mode:
        """The mode of a worker whose hiring does not say: where nobody may act without asking, it asks."""
        return Mode.DEFAULT if self.hire_mode is Mode.YOLO and self.no_yolo else self.hire_mode

    @property
    def own_environment(self) -> Mapping[str, str]:
        """The variables for programs that the node itself runs: none from where agents of another user can write."""
        path = self.environment.get("PATH", "")
        if self.agent_user is None or not path:
            return self.environment
        return {**self.environment, "PATH": self.agent_user.own_path(path)}

    @property
    def secret_paths(self) -> tuple[Path, ...]:
        """What no agent that runs as another user may reach."""
        return (self.folder, self.store, self.door, self.hooks, self.http_socket, self.key, self.holders)

    @property
    def private_folder(self) -> Path:
        """All of this person's nodes where they lie together, or this one: nobody is shown what is in it."""
        nodes = self.folder.parent
        return nodes.parent if nodes.name == compat.NODES_FOLDER else self.folder

    @property
    def door(self) -> Path:
        """The unix socket of the hub."""
        return self.folder / "hub.sock"

    @property
    def hooks(self) -> Path:
        """The unix socket to which agents' hooks connect."""
        return self.folder / "hooks.sock"

    @property
    def http_socket(self) -> Path:
        """The unix socket on which the HTTP routes are served to programs on this machine."""
        return self.folder / "http.sock"

    @property
    def sessions(self) -> Path:
        """The folders of workers' small files."""
        return self.sessions_folder or self.folder / compat.SESSIONS_FOLDER

    @property
    def tmux_prefix(self) -> str:
        """What the names of the workers' tmux sessions begin with."""
        return self.given_tmux_prefix or compat.tmux_prefix(self.node)

    def bridge_url(self, port: int) -> str:
        """Where workers find the node."""
        return self.given_bridge_url or f"http://localhost:{port}"

    def tunnel_target(self, port: int) -> str:
        """Where a tunnel on this machine leads to."""
        return f"http://{'127.0.0.1' if self.host == Settings.host else self.host}:{port}"

    @property
    def store(self) -> Path:
        """The SQLite file."""
        return self.folder / "farhand.db"

    @property
    def holders(self) -> Path:
        """The folders of held children."""
        return self.folder / "holders"

    @property
    def key(self) -> Path:
        """The file with the key that callers from elsewhere need."""
        return self.folder / "key"


def working_directory(environ: Mapping[str, str]) -> Path:
    """The folder that workers begin in: the one that is set, or where the node was started."""
    given = environ.get("FARHAND_DIRECTORY", "").strip()
    found = Path(given).expanduser() if given else Path.cwd()
    if not found.is_dir():
        raise SettingWrong(f"FARHAND_DIRECTORY is no folder: {given}.", name="FARHAND_DIRECTORY")
    return found.absolute()


def ask_deadline(environ: Mapping[str, str]) -> float:
    """How long a question waits for its answer."""
    return number(environ, "FARHAND_ASK_DEADLINE_SECONDS", Settings.ask_deadline_seconds, least=1.0)


def hire_mode(text: str) -> Mode:
    """The mode that workers are hired in."""
    try:
        return Mode(text.strip().lower() or Settings.hire_mode)
    except ValueError:
        known = ", ".join(Mode)
        raise SettingWrong(f"FARHAND_HIRE_MODE is one of {known}, not '{text}'.", name="FARHAND_HIRE_MODE") from None


def keyless_tcp(text: str) -> bool:
    """Whether TCP needs no key: `local` (the usual) for the node's own user, `unix` for nobody."""
    given = text.strip().lower() or "local"
    if given not in ("local", "unix"):
        raise SettingWrong(f"FARHAND_KEYLESS is local or unix, not '{text[:40]}'.", name="FARHAND_KEYLESS")
    return given == "local"


def review_gate(text: str) -> bool:
    """Whether the gate of reviews is on: `on` (the usual) or `off`."""
    given = text.strip().lower() or "on"
    if given not in ("on", "off"):
        raise SettingWrong(f"FARHAND_REVIEW_GATE is on or off, not '{text[:40]}'.", name="FARHAND_REVIEW_GATE")
    return given == "on"


def choose_node(flag: str | None, environ: Mapping[str, str]) -> str:
    """The node that is meant: the flag, then NODE_NAME, then the default."""
    return node_name(flag or environ.get("NODE_NAME") or compat.DEFAULT_NODE)


def read_settings(
    *,
    node: str | None = None,
    port: int | None = None,
    headless: bool = False,
    demo: bool = False,
    verbose: bool = False,
    quiet: bool = False,
    tunnel_url: str = "",
    tunnel: bool = True,
    reach: str = "",
    secret_names: Iterable[str] = (),
    environ: MutableMapping[str, str] | None = None,
) -> Settings:
    """The settings of a node that is about to run; without a tunnel it has no public address. `secret_names` are the
    variables that its channels want kept from everybody else."""
    environ = os.environ if environ is None else environ
    name = choose_node(node, environ)
    if port is None:
        port = port_number(environ["PORT"]) if environ.get("PORT") else compat.default_port(name)
    secrets = take_secrets(environ, (*secret_names, VOICE_KEY))
    root_yolo = is_yes(environ.get("FARHAND_ROOT_YOLO", ""))
    return Settings(
        node=name,
        folder=node_folder(name, environ),
        port=port,
        working_directory=working_directory(environ),
        headless=headless,
        demo=demo,
        verbose=verbose,
        quiet=quiet,
        retention_days=number(environ, "FARHAND_RETENTION_DAYS", Settings.retention_days, least=1.0),
        ask_deadline_seconds=ask_deadline(environ),
        open_asks=int(number(environ, "FARHAND_OPEN_ASKS", Settings.open_asks, least=1.0)),
        journal_megabytes=number(environ, "FARHAND_JOURNAL_MB", Settings.journal_megabytes, least=10.0),
        hire_mode=hire_mode(environ.get("FARHAND_HIRE_MODE", "")),
        root_yolo=root_yolo,
        review_gate=review_gate(environ.get("FARHAND_REVIEW_GATE", "")),
        agent_user=agent_user(environ.get("FARHAND_RUN_AS", "").strip()),
        keyless_tcp=keyless_tcp(environ.get("FARHAND_KEYLESS", "")),
        plain_http=is_yes(environ.get("FARHAND_PLAIN_HTTP", "")),
        hire_backend=environ.get("FARHAND_HIRE_BACKEND", "").strip().lower() or Settings.hire_backend,
        public_url=(tunnel_url or environ.get("TUNNEL_URL", "").strip()) if tunnel else "",
        reach=reach_mode(reach or environ.get("FARHAND_REACH", "")) if tunnel else ReachMode.NONE,
        tunnel_name=environ.get("FARHAND_TUNNEL_NAME", "").strip(),
        host=environ.get("FARHAND_HOST", "").strip() or Settings.host,
        sessions_folder=Path(environ["SESSIONS_DIR"]).expanduser() if environ.get("SESSIONS_DIR") else None,
        temporary=Path(environ.get("FARHAND_TEMPORARY", "").strip() or compat.TEMPORARY_FOLDER),
        given_tmux_prefix=environ.get("TMUX_PREFIX", "").strip(),
        given_bridge_url=environ.get("BRIDGE_URL", "").strip().rstrip("/"),
        tmux_socket=environ.get("FARHAND_TMUX_SOCKET", ""),
        sandbox=read_sandbox(environ),
        voice=read_voice(environ, secrets),
        environment=dict(environ),
        secrets=secrets,
    )
