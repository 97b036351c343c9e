"""`farhand hook test`: runs the installed hook as an agent's session would, and sees its message arrive at the node."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from farhand.channels.telegram.state_files import TelegramStored
from farhand.cli.bot_api import bot_api
from farhand.cli.node_choice import choose
from farhand.cli.options import new_id, with_hub
from farhand.client.door import SocketHub
from farhand.config.settings import Settings, read_settings
from farhand.drivers.wires.hooks.person import PersonHooks
from farhand.hooks.forward_to_bridge import post
from farhand.hooks.install import interpreter
from farhand.manifests import channel_secrets
from farhand.model.errors import NodeError, NodeNotRunning, SettingMissing
from farhand.model.facts import Responded

PATIENCE_SECONDS = 15.0


def try_hook(arguments: argparse.Namespace, hooks: PersonHooks, program: Path) -> int:
    """Sends a test message to the manager's chat by the very road that answers take."""
    if not program.exists():
        raise SettingMissing(f"There is no {program}.", hints=("farhand hook install",))
    settings = read_settings(node=choose(arguments), secret_names=channel_secrets(), environ=dict(os.environ))
    try:
        result = with_hub(arguments, lambda hub: _try(hub, settings, hooks, program, arguments.worker))
    except NodeNotRunning:
        result = send_directly(settings)
    sys.stdout.write(f"{result}\n")
    return 0


async def _try(hub: SocketHub, settings: Settings, hooks: PersonHooks, program: Path, wanted: str) -> str:
    status = await hub.status()
    address = settings.bridge_url(int(status["port"]))
    if not status.get("manager"):
        raise SettingMissing("No chat is known yet.", hints=("write to the bot once, then try again",))
    text = f"Test message of the Stop hook ({new_id()[:8]})."
    names = [one["name"] for one in status["workers"]]
    worker = wanted or status["focus"] or next(iter(names), "")
    if not names and not wanted:
        return await _notice(settings.node, address, text)
    if worker not in names:
        raise SettingMissing(f"Nobody called '{worker}' is on the team.", hints=(f"on it: {', '.join(names)}",))
    with tempfile.TemporaryDirectory() as folder:
        payload = json.dumps(hooks.sample(Path(folder), text)).encode()
        await _run([str(program), *hooks.words], session_variables(settings, worker, address), payload)
    with anyio.move_on_after(PATIENCE_SECONDS):
        async for event in hub.watch(after=int(status["seq"])):
            if isinstance(event.fact, Responded) and text in event.fact.text:
                return f"The hook reaches node '{settings.node}': the test message went to {worker}'s chat."
    raise NodeError(f"The hook ran, and nothing arrived at {address} within {PATIENCE_SECONDS:g} s.")


def send_directly(settings: Settings) -> str:
    """Without a node the hook's message has nowhere to go; that the bot reaches the last chat can still be seen."""
    chat = TelegramStored(settings.folder).read_manager().chat or settings.environment.get("ADMIN_CHAT_ID", "").strip()
    if not chat:
        raise SettingMissing("No chat is known yet.", hints=("write to the bot once, then try again",))
    api = bot_api({**settings.environment, **settings.secrets})
    api.call("sendMessage", chat_id=chat, text=f"Test message of node '{settings.node}', which is not running.")
    return f"Node '{settings.node}' is not running: the bot itself sent the test message to the last chat."


async def _notice(node: str, address: str, text: str) -> str:
    """Nobody is on the team for whom the hook could speak: the address that it uses is tried with a notice."""
    body = json.dumps({"text": text}).encode()
    if await anyio.to_thread.run_sync(post, f"{address}/notify", body) != 200:
        raise NodeError(f"Nothing arrived at {address}.")
    return f"Node '{node}' is reached: the test message went to your chat. With a worker the hook itself is tried."


def session_variables(settings: Settings, worker: str, address: str) -> dict[str, str]:
    """What a session carries that runs outside of tmux, and no more."""
    return {
        **{name: value for name, value in os.environ.items() if name == "PATH"},
        "TMUX_PREFIX": settings.tmux_prefix,
        "SESSIONS_DIR": str(settings.sessions),
        "BRIDGE_URL": address,
        "BRIDGE_SESSION": worker,
    }


async def _run(words: Sequence[str], environment: Mapping[str, str], payload: bytes) -> None:
    command = [interpreter(), "-I", "-S", *words]
    await anyio.run_process(command, input=payload, env=environment, check=False, stderr=subprocess.DEVNULL)
