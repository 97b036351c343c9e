"""`farhand setup`: a guided first start, from nothing to a running node and the first message on the phone."""

import argparse
import os
import shutil
import sys
from pathlib import Path

from farhand.channels.telegram.outbound import NAME
from farhand.channels.telegram.settings import chat_id
from farhand.channels.telegram.stored import TelegramStored
from farhand.cli import run as run_command
from farhand.cli.agent_clis import AgentCli, agent_clis
from farhand.cli.bot_api import BotApi, TokenRefused, bot_api, token_of
from farhand.cli.flags import command_parser
from farhand.cli.manager import open_managers
from farhand.cli.node_choice import choose, env_path, node_env
from farhand.cli.node_flag import add_node
from farhand.cli.pairing import PhonePairing, show
from farhand.cli.prompts import Prompts
from farhand.config.env_file import quoted
from farhand.config.places import node_folder
from farhand.model.channel_ports import Manager
from farhand.model.errors import NodeRunning, SettingMissing
from farhand.model.reach import ReachMode, reach_mode
from farhand.model.words import Mode
from farhand.store import folder as node_folders

BOT_FATHER = "https://t.me/BotFather"
TRIES = 5
MODES = """
What may a worker do without asking you? default: look; auto_edit: change files, too; plan: look, and make a plan;
yolo: everything, unasked, as you yourself could"""


REACH = """
How is this node reached from outside? tailscale: by your own devices; cloudflared: by anybody who knows the address;
none: by nobody, and Telegram is polled"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `setup` takes: every question has its flag, so that nobody need be asked."""
    add_node(parser)
    parser.add_argument("--demo", action="store_true", help="without Telegram and without an agent: the demo worker")
    parser.add_argument("--token-file", type=Path, help="the bot's token (else TELEGRAM_BOT_TOKEN, else asked)")
    parser.add_argument("--admin", metavar="CHAT", help="the manager's chat (else: the phone is paired)")
    parser.add_argument("--no-pair", action="store_true", help="pair later: the node's terminal shows the code")
    parser.add_argument("--backend", "--adapter", dest="backend", help="the agent that is hired by default")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], help="what workers may do unasked")
    parser.add_argument("--dir", dest="directory", type=Path, help="the folder that workers begin in (default: here)")
    parser.add_argument("--no-start", action="store_true", help="write the env file and start nothing")


def run(arguments: argparse.Namespace) -> int:
    """Goes through the steps."""
    node = choose(arguments)
    folder = node_folder(node, os.environ)
    if (process := node_folders.running(folder)) is not None:
        raise NodeRunning(f"Node '{node}' is running (pid {process}).", hints=(f"farhand stop --node {node}",))
    prompts = Prompts(asks=sys.stdin.isatty() and not arguments.headless)
    show(f"Setting up node '{node}'.\n")
    return Setup(node, folder, arguments, prompts).run()


class Setup:
    """One going through the steps: what was chosen so far."""

    def __init__(self, node: str, folder: Path, arguments: argparse.Namespace, prompts: Prompts) -> None:
        self._node = node
        self._folder = folder
        self._given = arguments
        self._prompts = prompts
        self._values: dict[str, str] = {}

    def run(self) -> int:
        """Every step in its order; nothing is written before all questions are answered."""
        clis = self._look_around()
        chat = "" if self._given.demo else self._bot()
        self._agent(clis)
        self._mode()
        self._reach()
        directory = self._directory()
        self._write(chat)
        if self._given.no_start:
            show(f"\nStart it with: farhand run --node {self._node}")
            return 0
        return self._start(directory)

    def _look_around(self) -> list[AgentCli]:
        show("1. What is here")
        if shutil.which("tmux") is None and not self._given.demo:
            raise run_command.tmux_missing()
        clis = agent_clis()
        for cli in clis:
            show(f"   {cli.backend:<10}{cli.line}" + ("" if cli.path else f"  → {cli.install}"))
        return clis

    def _bot(self) -> str:
        """The bot's token, tried at once, and the phone that may speak to it."""
        show("\n2. Your bot")
        api, username = self._token()
        if self._given.admin:
            return chat_id(self._given.admin)
        if self._given.no_pair or not self._prompts.asks:
            show("   The phone is paired when the node runs: its terminal shows the code.")
            return ""
        self._free(api)
        show("\n3. Your phone")
        return PhonePairing(api, username, show).run()

    def _token(self) -> tuple[BotApi, str]:
        token = self._given_token()
        for _ in range(TRIES):
            if not token:
                token = self._ask_token()
            api = bot_api({**os.environ, "TELEGRAM_BOT_TOKEN": token})
            try:
                me = api.call("getMe")
            except TokenRefused:
                if not self._prompts.asks:
                    raise
                show("   Telegram does not know that token. Once more:")
                token = ""
                continue
            show(f"   @{me.get('username')} is your bot.")
            self._values["TELEGRAM_BOT_TOKEN"] = token
            return api, str(me.get("username", ""))
        raise TokenRefused("Telegram refuses the bot token.", hints=("make a bot with @BotFather on Telegram",))

    def _given_token(self) -> str:
        if self._given.token_file is None:
            return token_of(os.environ)
        try:
            return str(self._given.token_file.read_text("utf-8").strip())
        except (OSError, UnicodeDecodeError):
            raise SettingMissing(f"The token file {self._given.token_file} cannot be read.") from None

    def _ask_token(self) -> str:
        if not self._prompts.asks:
            raise SettingMissing("TELEGRAM_BOT_TOKEN not set", hints=("set it, or give --token-file",))
        from farhand.channels.kit.who_may_speak import as_qr

        show(f"   Open @BotFather on your phone, send /newbot, and answer its two questions:\n{as_qr(BOT_FATHER)}")
        return self._prompts.secret("   The token that it gave you (you will not see it): ")

    def _free(self, api: BotApi) -> None:
        """A webhook of before would leave us deaf; it is deleted with a yes."""
        url = str(api.call("getWebhookInfo").get("url") or "")
        if url and (self._given.force or self._prompts.yes(f"   Its webhook leads to {url}. Delete it?")):
            api.call("deleteWebhook")

    def _agent(self, clis: list[AgentCli]) -> None:
        able = [cli.backend for cli in sorted(clis, key=lambda one: one.logged_in is False) if cli.path]
        usual = "demo" if self._given.demo or not able else able[0]
        chosen = self._given.backend or ("demo" if self._given.demo else "")
        if not chosen and len(able) > 1:
            chosen = self._prompts.choice("\nWhich agent is hired when you do not say?", able, usual)
        self._values["FARHAND_HIRE_BACKEND"] = chosen or usual

    def _mode(self) -> None:
        modes = [mode.value for mode in Mode]
        mode = self._given.mode or self._prompts.choice(MODES, modes, Mode.DEFAULT.value)
        self._values["FARHAND_HIRE_MODE"] = mode

    def _reach(self) -> None:
        """The way in from outside: what is there is offered, and nobody is let in who was not asked for."""
        here = [name for name in ("tailscale", "cloudflared") if shutil.which(name)]
        chosen = self._given.reach or ""
        if not chosen and here and not self._given.demo and not self._given.tunnel_url:
            chosen = self._prompts.choice(REACH, [*here, ReachMode.NONE.value], ReachMode.NONE.value)
        self._values["FARHAND_REACH"] = reach_mode(chosen or ReachMode.NONE).value

    def _directory(self) -> Path:
        usual = Path.cwd()
        given = self._given.directory or Path(self._prompts.line("\nThe folder that workers begin in", str(usual)))
        directory = Path(given).expanduser().absolute()
        if not directory.is_dir():
            raise SettingMissing(f"There is no folder {directory}.", hints=(f"mkdir -p {directory}",))
        return directory

    def _write(self, chat: str) -> None:
        """The node's env file, for its owner alone; what it held beside our variables stays."""
        for name in ("PORT", "TUNNEL_URL"):
            if value := {"PORT": self._given.port, "TUNNEL_URL": self._given.tunnel_url}[name]:
                self._values[name] = value
        for name in ("TELEGRAM_API_URL",):
            if os.environ.get(name):
                self._values[name] = os.environ[name]
        self._values |= {"ADMIN_PAIRING": "required", "FARHAND_HOST": "127.0.0.1", "FARHAND_KEYLESS": "unix"}
        node_folders.make(self._folder)
        path = env_path(self._node, os.environ)
        merged = {**node_env(self._node, os.environ), **self._values}
        node_folders.write(path, "".join(f"{name}={quoted(value)}\n" for name, value in merged.items()))
        if chat:
            self._keep_manager(Manager(chat=chat, person="" if chat.startswith("-") else chat))
        show(f"\nWritten: {path} (yours alone)")

    def _keep_manager(self, manager: Manager) -> None:
        """In the store, which the node believes, and in the file that other programs read."""
        with open_managers(self._folder) as managers:
            managers.keep_manager(NAME, manager)
        TelegramStored(self._folder).write_manager(manager)

    def _start(self, directory: Path) -> int:
        os.environ.update(self._values)
        os.chdir(directory)
        flags = ["--node", self._node, "--detach", "--headless"]
        flags += ["--demo", "--no-telegram", "--no-tunnel"] if self._given.demo else []
        is_reached = self._given.tunnel_url or self._values["FARHAND_REACH"] != ReachMode.NONE
        flags += [] if is_reached else ["--no-tunnel"]
        merged = command_parser("farhand run", "", run_command).parse_args(flags)
        merged.from_env_file = []
        code = run_command.run(merged)
        if code == 0 and not self._given.demo:
            show("The node has written to you on Telegram. Answer it: /hire ann")
        return code
