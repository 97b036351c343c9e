"""Names that people and programs already rely on: folders, prefixes, ports."""

from farhand.model.names import normalize

HOME_FOLDER = ".claude/telegram"
NODES_FOLDER = "nodes"
SESSIONS_FOLDER = "sessions"
DEFAULT_SESSIONS = f"{HOME_FOLDER}/{SESSIONS_FOLDER}"
TMUX_PREFIX = "claude-"
DEFAULT_NODE = "prod"
PORTS = {"prod": 8081, "dev": 8082, "test": 8095}
DEFAULT_PORT = 8080
PID_FILE = "pid"
BRIDGE_PID_FILE = "bridge.pid"
PORT_FILE = "port"
LOG_FILE = "bridge.log"
LAST_ACTIVE_FILE = "last_active"
LAST_CHAT_FILE = "last_chat_id"
# What earlier bridges called the manager's chat.
ADMIN_CHAT_FILE = "admin_chat_id"
ADMIN_FILES = (ADMIN_CHAT_FILE, LAST_CHAT_FILE)
CHAT_FILE = "chat_id"
TUNNEL_LOG_FILE = "tunnel.log"
TUNNEL_PID_FILE = "tunnel.pid"
TUNNEL_URL_FILE = "tunnel_url"
TUNNEL_FILES = (TUNNEL_LOG_FILE, TUNNEL_PID_FILE, TUNNEL_URL_FILE)
# Which port of the tailnet leads to the node, kept so that `stop` can close what a killed node left open.
SERVE_FILE = "tailscale_serve"
# Where the remote control of a terminal listens: the document's two spellings, the first one first.
REMOTE_PORT_VARIABLES = ("GEMINI_CLI_REMOTE_PORT", "GEMINI_CLI_TUI_REMOTE_PORT")
# Where the agent keeps its settings, below HOME; its hooks' programs are in `hooks` beside them.
AGENT_SETTINGS = ".claude/settings.json"
STALE_HOOKS_ADVICE = "restart Claude (/exit) to reload settings.json"
DEFAULT_BACKEND = "claude"
# Where the two files of the file bridge are, below a project, and whose hooks they were made for.
FILE_BRIDGE_FOLDER = ".gemini"
# The file there by which hooks and nodes take turns.
FILE_BRIDGE_LOCK = "wa_bridge.lock"
FILE_BRIDGE_BACKEND = "gemini"
BACKENDS = ("claude", "codex", "gemini", "opencode")
TEMPORARY_FOLDER = "/tmp/claudecode-telegram"  # noqa: S108
# In a worker's folder there: what the manager sends it.
WORKER_INBOX = "inbox"
PRODUCT = "claudecode-telegram"
BANNER = "Claude-Telegram Multi-Session Bridge"
# Answers of these backends are plain text, whatever the caller says.
PLAIN_SOURCES = frozenset({"codex"})
# Files of agents in which there are keys.
ACCOUNT_FILES = frozenset({".claude.json"})
# Files in which a folder tells agents what to do, or configures them; folders that do have a dot before their name.
INSTRUCTION_FILES = frozenset(
    (
        "agents.md agents.override.md agent.md claude.md claude.local.md gemini.md qwen.md crush.md warp.md context.md "
        "opencode.json opencode.jsonc bunfig.toml copilot-instructions.md skill.md"
    ).split()
)
PENDING_SECONDS = 600.0


def default_port(node: str) -> int:
    """The port that a node of that name has when nobody says otherwise."""
    return PORTS.get(node, DEFAULT_PORT)


def tmux_prefix(node: str) -> str:
    """What the names of a node's tmux sessions begin with."""
    return f"{TMUX_PREFIX}{node}-"


def node_of_prefix(prefix: str) -> str:
    """The node's name as temporary folders have it, read off its tmux prefix."""
    return normalize(prefix.removeprefix(TMUX_PREFIX)) or "default"
