"""`farhand setup`: a guided first start, from nothing to a running node and the first message on the phone."""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

from farhand.channels.push.settings import contact_address
from farhand.channels.telegram.outbound import NAME
from farhand.channels.telegram.settings import chat_id
from farhand.channels.telegram.state_files import TelegramStored
from farhand.cli import run as run_command
from farhand.cli.agent_clis import AgentCli, agent_clis, catalogue_clis, check_backend
from farhand.cli.bot_api import BotApi, TokenRefused, bot_api, token_of
from farhand.cli.detach import LOOK_SECONDS, OUTPUT_FILE
from farhand.cli.flags import command_parser
from farhand.cli.manager import open_managers, store_of
from farhand.cli.node_choice import choose, env_path, node_env
from farhand.cli.node_flag import add_node
from farhand.cli.pairing import PhonePairing, show
from farhand.cli.prompts import Prompts
from farhand.cli.telegram_checks import is_own_webhook
from farhand.config.env_file import quoted
from farhand.config.places import node_folder
from farhand.model.channel_ports import Manager
from farhand.model.compat import SESSIONS_FOLDER
from farhand.model.errors import NodeRunning, SettingMissing, SettingWrong
from farhand.model.reach import ReachMode, reach_mode
from farhand.model.variables import is_yes
from farhand.model.visible import visible
from farhand.model.words import Mode
from farhand.store import folder as node_folders
from farhand.store.database import has_events

BOT_FATHER = "https://t.me/BotFather"
TRIES = 5
CODE_SECONDS = 15.0
# What the line with the code begins with.
CODE_SHOWN = "To become the manager"
MODES = {
    Mode.DEFAULT.value: "it looks around by itself, and asks before it changes or runs anything",
    Mode.AUTO_EDIT.value: "it changes files, too, and asks before it runs anything",
    Mode.PLAN.value: "it only looks, and makes a plan",
    Mode.YOLO.value: "it does everything that you could do here, and asks nothing",
}
WAYS = {
    "tailscale": "by your own devices",
    "cloudflared": "by anybody who knows the address",
    "none": "by nobody; Telegram is polled",
}


CONTACT = """
Your mail address, for the services that bring notifications to your phone (Enter: none)"""


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
    parser.add_argument("--contact", metavar="ADDRESS", help="your mail address, for push services")
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
        self._asked = False

    def run(self) -> int:
        """Every step in its order; nothing is written before all questions are answered."""
        if self._given.backend:
            check_backend(self._given.backend, self._folder, "--backend")
        clis = self._look_around()
        chat = "" if self._given.demo else self._bot()
        show("\nYour workers")
        self._agent(clis)
        self._mode()
        self._directory()
        agent, mode = self._values["FARHAND_HIRE_BACKEND"], self._values["FARHAND_HIRE_MODE"]
        show(f"   {visible(agent)}, mode {mode}, in {visible(self._values['FARHAND_DIRECTORY'])}")
        self._reach()
        self._contact()
        self._write(chat)
        if self._given.no_start:
            show(" ".join(["\nStart it with: farhand run --node", self._node, *self._flags()]))
            return 0
        return self._start(paired=bool(chat))

    def _look_around(self) -> list[AgentCli]:
        show("What is here")
        if shutil.which("tmux") is None and not self._given.demo:
            raise run_command.tmux_missing()
        clis = [*agent_clis(), *(cli for cli in catalogue_clis(self._folder) if cli.path)]
        for cli in clis:
            todo = cli.install if not cli.path else cli.how_to_log_in if cli.logged_in is False else ""
            show(f"   {cli.backend:<10}{visible(cli.line)}" + (f"  → {visible(todo)}" if todo else ""))
        return clis

    def _bot(self) -> str:
        """The bot's token, tried at once, and the phone that may speak to it."""
        show("\nYour bot")
        api, username = self._token()
        self._free(api)
        if self._given.admin:
            return chat_id(self._given.admin)
        if self._given.no_pair or not self._prompts.asks:
            show("   The phone is paired once the node runs.")
            return ""
        show("\nYour phone")
        return PhonePairing(api, username, show).run()

    def _token(self) -> tuple[BotApi, str]:
        token = self._given_token()
        for _ in range(TRIES):
            if not token:
                token = self._ask_token()
            try:
                api = bot_api({**os.environ, "TELEGRAM_BOT_TOKEN": token})
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

        if not self._asked:
            show("   Open @BotFather on your phone, send /newbot, and answer its two questions:")
            show(f"{as_qr(BOT_FATHER)}\n   {BOT_FATHER}")
        self._asked = True
        return self._prompts.secret("   The token that it gave you (you will not see it): ")

    def _free(self, api: BotApi) -> None:
        """A webhook of before would leave us deaf; it is deleted with a yes."""
        url = str(api.call("getWebhookInfo").get("url") or "")
        if not url or is_own_webhook(url, self._folder, os.environ):
            return
        leads = f"   Its webhook leads to {visible(url)}"
        if self._given.force or self._prompts.yes(f"{leads}. Delete it?"):
            api.call("deleteWebhook")
            show(f"{leads}: it is deleted." if self._given.force else "   It is deleted.")
        else:
            show(f"{leads}: this node hears nothing until you say: farhand webhook delete --node {self._node}")

    def _agent(self, clis: list[AgentCli]) -> None:
        here = sorted((cli for cli in clis if cli.path), key=lambda one: one.logged_in is False)
        able = {cli.backend: "not logged in yet" if cli.logged_in is False else "" for cli in here}
        usual = "demo" if self._given.demo or not able else next(iter(able))
        chosen = self._given.backend or ("demo" if self._given.demo else "")
        if not chosen and len(able) > 1:
            chosen = self._prompts.choice("   Which agent is hired when you do not say?", able, usual)
        self._values["FARHAND_HIRE_BACKEND"] = chosen or usual

    def _mode(self) -> None:
        question = "   What may a worker do without asking you?"
        mode = self._given.mode or self._prompts.choice(question, MODES, Mode.DEFAULT.value)
        self._values["FARHAND_HIRE_MODE"] = mode
        if mode == Mode.YOLO.value and os.geteuid() == 0 and not is_yes(os.environ.get("FARHAND_ROOT_YOLO", "")):
            show("   ⚠ You are root: workers ask all the same, unless the node is started with FARHAND_ROOT_YOLO=1.")

    def _reach(self) -> None:
        """The way in from outside: what is there is offered, and nobody is let in who was not asked for."""
        here = [name for name in ("tailscale", "cloudflared") if shutil.which(name)]
        chosen = self._given.reach or ""
        if not chosen and here and not self._given.demo and not self._given.tunnel_url:
            ways = {name: WAYS[name] for name in (*here, ReachMode.NONE.value)}
            chosen = self._prompts.choice("\nHow is this node reached from outside?", ways, ReachMode.NONE.value)
        self._values["FARHAND_REACH"] = reach_mode(chosen or ReachMode.NONE).value

    def _directory(self) -> None:
        """The folder, kept for every start: also for one from elsewhere, or by the system."""
        given = self._given.directory
        while True:
            said = given or Path(self._prompts.line("   The folder that they begin in", str(Path.cwd())))
            directory = Path(said).expanduser().absolute()
            if directory.is_dir():
                self._values["FARHAND_DIRECTORY"] = str(directory)
                return
            if given or not self._prompts.asks:
                raise SettingMissing(f"There is no folder {directory}.", hints=(f"mkdir -p {directory}",))
            show(f"   There is no folder {directory}.")

    def _contact(self) -> None:
        """How push services reach whoever runs the node; asked where phones can reach it, and never needed."""
        is_reached = self._given.tunnel_url or self._values["FARHAND_REACH"] != ReachMode.NONE
        contact = self._given.contact or ""
        asks = is_reached and not self._given.demo and not contact
        for _ in range(TRIES if asks else 0):
            try:
                contact = contact_address(self._prompts.line(CONTACT, ""))
                break
            except SettingWrong as error:
                show(f"   {error.text}")
        if contact:
            self._values["FARHAND_PUSH_CONTACT"] = contact_address(contact)

    def _write(self, chat: str) -> None:
        """The node's env file, for its owner alone; what it held beside our variables stays."""
        for name in ("PORT", "TUNNEL_URL"):
            if value := {"PORT": self._given.port, "TUNNEL_URL": self._given.tunnel_url}[name]:
                self._values[name] = value
        for name in ("TELEGRAM_API_URL",):
            if os.environ.get(name):
                self._values[name] = os.environ[name]
        self._values |= {"ADMIN_PAIRING": "required", "FARHAND_HOST": "127.0.0.1", "FARHAND_KEYLESS": "unix"}
        if (self._folder / SESSIONS_FOLDER).is_dir() and not has_events(store_of(self._folder)):
            # Sessions of a bridge before this node post their answers without a key.
            self._values["FARHAND_KEYLESS"] = "local"
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

    def _flags(self) -> list[str]:
        """The flags of a run that is as it was set up."""
        if self._given.demo:
            return ["--demo", "--no-telegram", "--no-tunnel"]
        is_reached = self._given.tunnel_url or self._values["FARHAND_REACH"] != ReachMode.NONE
        return [] if is_reached else ["--no-tunnel"]

    def _start(self, *, paired: bool) -> int:
        os.environ.update(self._values)
        os.chdir(self._values["FARHAND_DIRECTORY"])
        flags = ["--node", self._node, "--detach", "--headless", *self._flags()]
        merged = command_parser("farhand run", "", run_command).parse_args(flags)
        merged.from_env_file = []
        code = run_command.run(merged)
        if code or self._given.demo:
            return code
        if paired:
            show("The node has written to you on Telegram. Answer it: /hire ann")
        else:
            show(pairing_code(self._folder / OUTPUT_FILE))
        show(f"It ends when this machine does; farhand service install --node {self._node} keeps it running.")
        return 0


def pairing_code(output: Path, seconds: float = CODE_SECONDS) -> str:
    """The code that the node shows to whoever may become its manager, as soon as it does."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        text = output.read_text("utf-8", "replace")
        if CODE_SHOWN in text and text.endswith("\n"):
            return text[text.rindex(CODE_SHOWN) :].rstrip()
        time.sleep(LOOK_SECONDS)
    return f"The code for your phone is in {output}, once the bot can be reached."
