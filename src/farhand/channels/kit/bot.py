"""Obeys a manager's wishes and words the answers: the same bot on every chat surface."""

import time
from collections.abc import Callable

from farhand.channels.kit import texts
from farhand.channels.kit.card import Card, session_list
from farhand.channels.kit.texts import About
from farhand.model import commands
from farhand.model.commands import Command
from farhand.model.errors import NothingRunning, Refused
from farhand.model.grammar import InfoRequest, Listing, Tell, Wish, Wrong
from farhand.model.ports import Hub
from farhand.model.present import Present
from farhand.model.words import Attachment, Sender


class Bot:
    """Takes wishes to the hub. Everything it sends has an id of its own, so that a repeated wish does nothing more."""

    def __init__(self, hub: Hub, about: Callable[[], About]) -> None:
        self._hub = hub
        self._about = about

    async def obey(self, wish: Wish, sender: Sender) -> str:
        """Does what was wished for; what there is to say at once."""
        match wish:
            case Wrong(why=why):
                return why
            case InfoRequest(about=about):
                return self.answer(about, await self._hub.look())
            case Tell():
                return await self.tell(wish, sender)
            case Listing():
                return (await self.listed(wish)).head
            case _:
                return await self._send(wish, sender)

    def answer(self, question: str, present: Present) -> str:
        """The answer to a question about the team or the node."""
        match question:
            case "progress":
                return texts.progress(present, self._about().terminals, time.time())
            case "settings":
                return texts.settings(present, self._about())
            case "start":
                return texts.online(present)
            case _:
                return texts.team(present)

    async def listed(self, wish: Listing) -> Card:
        """The conversations that could be taken up, or why they cannot be told."""
        key = f"sessions:{wish.id}"
        try:
            found = await self._hub.sessions(wish.backend, wish.directory)
        except Refused as error:
            return Card(key=key, head=error.text)
        return session_list(key, found, time.time())

    async def _send(self, command: Command, sender: Sender) -> str:
        try:
            accepted = await self._hub.send(command, sender)
        except NothingRunning as error:
            return texts.paused(str(error.details["worker"]))
        except Refused as error:
            return texts.refused(command, error)
        return texts.done(command, accepted.worker)

    def targets(self, wish: Tell, present: Present) -> tuple[str, ...]:
        """Who is meant."""
        if wish.everybody:
            return tuple(one.name for one in present.workers.values() if one.online and not one.ending)
        name = wish.worker or present.focus
        return (name,) if name else ()

    async def tell(self, wish: Tell, sender: Sender, files: dict[str, tuple[str, Attachment]] | None = None) -> str:
        """Brings a message to those who are meant; `files` has, for each of them, a text of its own and a file."""
        present = await self._hub.look()
        targets = self.targets(wish, present)
        if not targets:
            if wish.everybody:
                return texts.NOBODY_ONLINE
            return texts.nobody_focused(present, needs_focus=wish.needs_focus or files is not None)
        said = [await self._focus(wish, targets[0], present, sender)] if wish.focus else []
        for name in targets:
            text, attachments = wish.text, tuple[Attachment, ...]()
            if files and name in files:
                text, attachments = files[name][0], (files[name][1],)
            identity = f"{wish.id}:{name}" if wish.everybody else wish.id
            say = commands.Say(id=identity, text=text, worker=name, attachments=attachments)
            said.append(await self._say(say, present, sender))
        return "\n".join(part for part in said if part)

    async def _focus(self, wish: Tell, name: str, present: Present, sender: Sender) -> str:
        changed = present.focus != name
        said = await self._send(commands.Focus(id=f"{wish.id}:focus", worker=name), sender)
        return said if changed else ""

    async def _say(self, say: commands.Say, present: Present, sender: Sender) -> str:
        worker = present.workers.get(say.worker)
        if worker is not None and texts.is_offline(worker):
            return texts.offline(worker.name)
        return await self._send(say, sender)
