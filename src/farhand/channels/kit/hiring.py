"""Hires by buttons: an agent that is here, then the folder, then what it may do unasked; each tap edits one card."""

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread

from farhand.channels.kit.bot import Bot
from farhand.channels.kit.card import Button, Card, removal
from farhand.channels.kit.hire_taps import FOLDER, HireTap, digest
from farhand.channels.kit.surface import ChatTap, ShowsCards
from farhand.model import commands
from farhand.model.errors import FarhandError
from farhand.model.ports import Hub
from farhand.model.visible import visible
from farhand.model.words import Mode, Sender, replace

NOT_OFFERED = "That folder is not offered any more."
MOST_FOLDERS = 8
# So many entries of the node's folder are looked at for projects.
MOST_ENTRIES = 500
# An agent with very many conversations must not hold up a tap.
SESSIONS_SECONDS = 2.0
PATH_CHARACTERS = 44
MODES = {
    Mode.DEFAULT: "Asks before it acts",
    Mode.AUTO_EDIT: "Edits files, asks for the rest",
    Mode.PLAN: "Only reads and plans",
    Mode.YOLO: "Acts without asking",
}


class FindsSlots(ShowsCards, Protocol):
    """Shows cards, and finds the slot of a message that was sent."""

    async def slot_of(self, chat: str, reference: str) -> str:
        """The slot of the message that the surface calls so; empty for one that is not ours."""
        ...

    async def slots(self, beginning: str) -> list[str]:
        """The slots of our messages that begin so."""
        ...


class HireButtons:
    """The hirings by taps of one chat. What was chosen so far is in the buttons themselves: no state here."""

    def __init__(
        self, hub: Hub, bot: Bot, chat: FindsSlots, agents: Callable[[], tuple[str, ...]], directory: Path
    ) -> None:
        self._hub = hub
        self._bot = bot
        self._chat = chat
        self._agents = agents
        self._directory = directory

    def offer(self) -> tuple[tuple[Button, ...], ...]:
        """A button for each agent that is here, two in a row."""
        buttons = [Button(label=f"Hire {name}", tap=HireTap(backend=name)) for name in self._agents()]
        return tuple(tuple(buttons[place : place + 2]) for place in range(0, len(buttons), 2))

    async def take(self, tap: ChatTap, chosen: HireTap, sender: Sender) -> str:
        """Asks for what is not chosen yet, or hires; the few words that the surface shows."""
        slot = await self._chat.slot_of(tap.chat, tap.reference)
        asked = slot if slot.startswith(FOLDER) else ""
        if chosen.given_up:
            await self._chat.show(removal(asked), tap.chat) if asked else None
            return ""
        folders = await self._folders(chosen.backend)
        if not chosen.folder:
            await self._chat.show(where(tap.id, chosen, folders[:MOST_FOLDERS]), tap.chat)
            return ""
        folder = next((one for one in folders if digest(one) == chosen.folder), "")
        if not folder:
            return NOT_OFFERED
        if chosen.mode is None:
            await self._chat.show(how(tap.id, asked, chosen, folder), tap.chat)
            return ""
        hire = commands.Hire(id=f"t:{tap.id}", worker="", backend=chosen.backend, directory=folder, mode=chosen.mode)
        refused = await self._bot.obey(hire, sender)
        if not refused and asked:
            await self._chat.show(removal(asked), tap.chat)
        return refused

    async def _folders(self, backend: str) -> list[str]:
        """Where somebody may be hired: the node's folder, where agents have been, and the projects that are there."""
        present = await self._hub.look()
        workers = [worker.directory for worker in present.workers.values()]
        projects = await anyio.to_thread.run_sync(projects_in, self._directory)
        known = [str(self._directory), *workers, *await self._been(backend), *projects]
        return list(dict.fromkeys(one for one in known if one and one.isprintable()))

    async def _been(self, backend: str) -> list[str]:
        with anyio.move_on_after(SESSIONS_SECONDS):
            try:
                return [one.directory for one in await self._hub.sessions(backend)]
            except FarhandError:
                # This agent cannot tell.
                return []
        return []


def projects_in(directory: Path) -> list[str]:
    """The folders in that folder that are under version control."""
    try:
        inside = [one for one in islice(directory.iterdir(), MOST_ENTRIES) if (one / ".git").exists()]
    except OSError:
        return []
    return sorted(map(str, inside))


def where(identity: str, chosen: HireTap, folders: Sequence[str]) -> Card:
    """Asks for the folder."""
    rows = [(Button(label=short_path(one), tap=replace(chosen, folder=digest(one))),) for one in folders]
    slot = f"{FOLDER}{identity}"
    head = f"Hire {chosen.backend}: where? For another folder: /hire <name> --backend {chosen.backend} --dir <folder>"
    return Card(key=slot, slot=slot, head=head, buttons=(*rows, _not_now(chosen)), silent=True)


def how(identity: str, slot: str, chosen: HireTap, folder: str) -> Card:
    """Asks for the mode, in the message that asked for the folder."""
    rows = [(Button(label=label, tap=replace(chosen, mode=mode)),) for mode, label in MODES.items()]
    key = f"{FOLDER}{identity}"
    head = f"Hire {chosen.backend} in {visible(folder)}: what may it do unasked?"
    card = Card(key=key, slot=slot or key, head=head, buttons=(*rows, _not_now(chosen)), silent=True)
    return replace(card, edit=True) if slot else card


def _not_now(chosen: HireTap) -> tuple[Button, ...]:
    return (Button(label="Not now", tap=replace(chosen, folder="", mode=None, given_up=True)),)


def short_path(path: str) -> str:
    """The path as a button can show it: its end, which tells most."""
    shown = visible(path)
    return shown if len(shown) <= PATH_CHARACTERS else f"…{shown[-PATH_CHARACTERS + 1 :]}"
