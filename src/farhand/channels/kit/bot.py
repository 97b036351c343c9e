"""Obeys a manager's wishes and words the answers: the same bot on every chat surface."""

import time
from collections.abc import Callable
from typing import assert_never

from farhand.channels.kit import overview, texts
from farhand.channels.kit.card import Card
from farhand.channels.kit.device_texts import devices_text
from farhand.channels.kit.history import exchanges
from farhand.channels.kit.session_list import session_list
from farhand.channels.kit.shared_answers import shared_answer
from farhand.channels.kit.texts import About
from farhand.model import commands, wishes
from farhand.model.abilities import can_words
from farhand.model.attention_ports import NO_ATTENTION, AttentionView
from farhand.model.commands import Command
from farhand.model.devices import DeviceRegistry
from farhand.model.digest import digest_text, leads_to
from farhand.model.errors import IdTaken, NothingRunning, Refused, UnknownWorker
from farhand.model.grammar import CHAT
from farhand.model.ports import Can, Hub
from farhand.model.present import Present, Worker
from farhand.model.slash import Surface
from farhand.model.wishes import DeviceWish, InfoRequest, Listing, Quit, Tell, Unsure, Wish, Wrong
from farhand.model.words import Attachment, Sender, replace

HISTORY_EXCHANGES = 6
MOST_EXCHANGES = 30
ENTRIES_AN_EXCHANGE = 3


class Bot:
    """Takes wishes to the hub. Everything it sends has an id of its own, so that a repeated wish does nothing more."""

    def __init__(
        self,
        hub: Hub,
        about: Callable[[], About],
        surface: Surface = CHAT,
        devices: DeviceRegistry | None = None,
        attention: AttentionView = NO_ATTENTION,
        way_in: Callable[[], str] = str,
        can: Callable[[Worker], Can] = lambda _worker: Can(),
    ) -> None:
        self._hub = hub
        self._devices = devices
        self._attention = attention
        # Where the node is found from outside now, if it is.
        self._way_in = way_in
        self._can = can
        self._about = about
        self._surface = surface

    async def obey(self, wish: Wish, sender: Sender) -> str:
        """Does what was wished for; what there is to say at once."""
        match wish:
            case Wrong(why=why):
                return why
            case InfoRequest(about="history", of=worker, count=count):
                return await history_text(self._hub, worker, count)
            case InfoRequest():
                return self.answer(wish, await self._hub.look())
            case Tell():
                return await self.tell(wish, sender)
            case Listing():
                return (await self.listed(wish)).head
            case DeviceWish(revoke=device):
                return await devices_text(self._devices, device, time.time())
            case Unsure(question=question):
                return question
            case Quit():
                return ""
            case _:
                return await self._send(wish, sender)

    def answer(self, question: InfoRequest, present: Present) -> str:
        """The answer to a question about the team or the node."""
        match question.about:
            case "inbox" | "mode" | "queue" | "quiet" | "review" | "sprint" | "usage":
                return shared_answer(question.about, question.of, present, self._surface)
            case "progress":
                return texts.progress(present, self._about().terminals, time.time(), question.of)
            case "digest":
                return digest_text(self._attention.digest(), leads_to(self._way_in()))
            case "settings":
                return texts.settings(present, self._about())
            case "start":
                return texts.online(present, self._about().sandbox)
            case "help":
                worker = present.workers.get(present.focus)
                return texts.help_text(
                    self._surface, question.of, can_words(worker, self._can(worker)) if worker else ""
                )
            case "team" | "history":
                return texts.team(present)
            case _:
                assert_never(question.about)

    async def listed(self, wish: Listing) -> Card:
        """The conversations that could be taken up, or why they cannot be told."""
        key = f"sessions:{wish.id}"
        try:
            found = await self._hub.sessions(wish.backend, wish.directory)
        except Refused as error:
            return Card(key=key, head=error.text)
        return session_list(key, found, time.time())

    async def _send(self, command: Command, sender: Sender) -> str:
        # What waits now is not there any more when it is told that it was taken back.
        before = await self._hub.look() if isinstance(command, commands.Interrupt | commands.Withdraw) else None
        try:
            accepted = await self._hub.send(command, sender)
        except NothingRunning as error:
            return texts.nothing_to_pause(str(error.details["worker"]))
        except IdTaken:
            # It came once more, and was obeyed as something else: an answer, when its question was still open.
            return ""
        except Refused as error:
            return texts.refused(command, error)
        return texts.done(command, accepted.worker, before)

    def targets(self, wish: Tell, present: Present) -> tuple[str, ...]:
        """Who is meant."""
        return wishes.targets(wish, present)

    async def tell(self, wish: Tell, sender: Sender, files: dict[str, tuple[str, Attachment]] | None = None) -> str:
        """Brings a message to those who are meant; `files` has, for each of them, a text of its own and a file."""
        present = await self._hub.look()
        targets = self.targets(wish, present)
        if not targets:
            if wish.everybody:
                return wishes.nobody_meant(wish)
            if files is None and (name := wishes.named_alone(wish, present)):
                return await self._send(commands.Focus(id=f"{wish.id}:focus", worker=name), sender)
            return texts.nobody_focused(present, needs_focus=wish.needs_focus or files is not None)
        replies = [await self._focus(wish, targets[0], present, sender)] if wish.focus else []
        for name in targets:
            say = wishes.say(wish, name)
            if files and name in files:
                text, attachment = files[name]
                say = replace(say, text=text, attachments=(attachment,))
            replies.append(await self._send(wishes.stop_of(wish, name, present) or say, sender))
        return "\n".join(part for part in replies if part)

    async def _focus(self, wish: Tell, name: str, present: Present, sender: Sender) -> str:
        changed = present.focus != name
        reply = await self._send(commands.Focus(id=f"{wish.id}:focus", worker=name), sender)
        return reply if changed else ""


async def history_text(hub: Hub, worker: str, count: int = 0) -> str:
    """`/history` of a worker, of the focused one without a name; so many of the last."""
    present = await hub.look()
    name, wanted = worker or present.focus, min(count or HISTORY_EXCHANGES, MOST_EXCHANGES)
    if not name:
        return texts.NOBODY_ASSIGNED
    # What is no exchange stands between them.
    page = await hub.history(name, limit=wanted * ENTRIES_AN_EXCHANGE)
    found = exchanges(page)
    if not found and name not in present.workers:
        return UnknownWorker(name, present.workers).text
    is_more = (page.more or len(found) > wanted) and wanted < MOST_EXCHANGES
    earlier = f"\nMore of it: /history {name} {MOST_EXCHANGES}" if is_more else ""
    # Whose it is, where it could be another's.
    whose = f"What was said with {name}:\n" if len(present.workers) > 1 and found else ""
    return whose + overview.history(found[-wanted:]) + earlier
