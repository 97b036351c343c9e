"""Gathers how one node is: what it says itself, its files, its tmux sessions, its bot. Loads little, to be quick."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from farhand.cli.bot_api import bot_api, token_of
from farhand.cli.node_choice import node_env
from farhand.cli.quick_status import quick_status
from farhand.cli.tmux_sessions import TmuxSession, sessions_of
from farhand.config.launch import Launch, read_launch
from farhand.config.node_variables import foreign
from farhand.config.places import node_folder, nodes_folder
from farhand.hooks.install import ANSWERS, FORWARDER
from farhand.model import compat
from farhand.model.errors import FarhandError
from farhand.store.folder import running

BOT_SECONDS = 4.0


@dataclass(frozen=True)
class BotReport:
    """The bot: `online`, `error` or empty when none is set; its webhook where somebody could ask."""

    state: str = ""
    username: str = ""
    id: str = ""
    webhook: str | None = None
    why: str = ""


@dataclass(frozen=True)
class NodeReport:
    """One node, as the status tells it."""

    node: str
    launch: Launch
    running: bool = False
    # What the node says of itself; empty when it is stopped or does not answer.
    said: dict[str, Any] = field(default_factory=dict)
    port: str = ""
    sessions: tuple[TmuxSession, ...] = ()
    hook: bool = False
    settings: bool = False
    settings_changed_at: float = 0.0
    token: bool = False
    bot: BotReport = field(default_factory=BotReport)

    @property
    def tunnel_url(self) -> str:
        """Where the node is found from outside, as far as anybody can tell."""
        reach = self.said.get("reach")
        return str(reach["url"]) if reach else self.launch.public_url

    @property
    def webhook_url(self) -> str:
        """Where its webhook must lead; empty for a node that polls."""
        receive = self.said.get("hearing", {}).get("telegram", {})
        return self.tunnel_url if receive.get("mode", "webhook") == "webhook" else ""

    def tags(self, session: TmuxSession) -> list[str]:
        """What is wrong with a session: it has another port, folder or prefix, or hooks older than the settings."""
        said = session.variables
        wanted = {"PORT": self.port, "SESSIONS_DIR": self.launch.sessions, "TMUX_PREFIX": self.launch.tmux_prefix}
        names = {"PORT": "port", "SESSIONS_DIR": "dir", "TMUX_PREFIX": "prefix"}
        wrong = [names[one] for one, value in wanted.items() if value and said.get(one, value) != value]
        # tmux tells whole seconds.
        stale = self.hook and self.settings and session.made_at < int(self.settings_changed_at)
        return wrong + (["stale-hooks"] if stale else [])


def environ_of(node: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that count for that node: the environment's, but for another node's, and those of its own file."""
    found = dict(environ)
    for name in foreign(node, environ, nodes_folder(environ)):
        del found[name]
    return {**found, **node_env(node, found)}


def report(node: str, environ: Mapping[str, str]) -> NodeReport:
    """How that node is now."""
    folder, own = node_folder(node, environ), environ_of(node, environ)
    launch, runs = read_launch(folder, node), running(folder) is not None
    said = (quick_status(folder) or {}) if runs else {}
    settings, hook, entry = stop_hook(environ)
    return NodeReport(
        node=node,
        launch=launch,
        running=runs,
        said=said,
        port=str(said.get("port") or _read(folder / compat.PORT_FILE)) if runs else "",
        sessions=tuple(sessions_of(launch)),
        hook=hook,
        settings=entry,
        settings_changed_at=settings.stat().st_mtime if settings.exists() else 0.0,
        token=bool(token_of(own)) or "telegram" in said.get("channels", {}),
        bot=_bot(folder, own, said, launch),
    )


def stop_hook(environ: Mapping[str, str]) -> tuple[Path, bool, bool]:
    """The agent's settings; whether the programs of the Stop hook are there, and whether the settings run them."""
    settings = Path(environ.get("HOME") or Path.home()) / compat.AGENT_SETTINGS
    programs = all((settings.parent / "hooks" / name).exists() for name in (ANSWERS, FORWARDER))
    return settings, programs, ANSWERS in _read(settings)


def _bot(folder: Path, environ: Mapping[str, str], said: Mapping[str, Any], launch: Launch) -> BotReport:
    """Asked of Telegram where the token is known; else told by the node, or by what it left in its folder."""
    if token_of(environ):
        return ask_bot(environ)
    health = said.get("channels", {}).get("telegram")
    if health is None:
        return BotReport()
    name, number = _read(folder / "bot_username"), _read(folder / "bot_id")
    state = "online" if name and str(health).startswith(("polling", "webhook")) else "error"
    is_called = said.get("hearing", {}).get("telegram", {}).get("mode") == "webhook" or launch.public_url
    return BotReport(state, name, number, _read(folder / "webhook_url") if is_called else "")


def ask_bot(environ: Mapping[str, str]) -> BotReport:
    """Who the bot is and where its webhook leads."""
    try:
        api = bot_api(environ, BOT_SECONDS)
        me = api.call("getMe")
        url = str(api.call("getWebhookInfo").get("url") or "")
    except FarhandError as error:
        return BotReport("error", why=error.text)
    return BotReport("online", str(me.get("username", "")), str(me.get("id", "")), url)


def bot_id(node: str, environ: Mapping[str, str]) -> str:
    """The number of the bot that a running node uses; empty without one."""
    return _read(node_folder(node, environ) / "bot_id")


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""
