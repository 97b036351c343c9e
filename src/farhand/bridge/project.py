"""The two files of one project, for the node: the same lock, the same rules and the same care as the hooks."""

from __future__ import annotations

import time
from pathlib import Path

from farhand.bridge.hook import rules
from farhand.bridge.hook.deliver import collect, flush, tell_set_aside, whole_text
from farhand.bridge.hook.files import BridgeState, FolderLock, MessageFile, is_own_folder
from farhand.bridge.hook.rules import INBOX, MOST_MESSAGES, OUTBOX, READ, SENT, BridgeMessage
from farhand.model.bridge import BridgeAnswer, BridgeLook
from farhand.model.errors import AgentMissing, DriverError

FULL = "The inbox is full of messages that nobody has read."


class ProjectFiles:
    """One project's files."""

    def __init__(self, folder: Path) -> None:
        self._path = folder
        self._folder = str(folder)

    def attach(self) -> None:
        """The hooks tell from now on where the agent sits: they do once they keep anything here at all."""
        if not is_own_folder(self._folder):
            where = self._path.parent
            raise AgentMissing(
                f"There is no bridge in {where}. Put one there first: farhand bridge install --project {where}"
            )
        with FolderLock(self._folder):
            state = BridgeState(self._folder)
            if not state.attached:
                state.attached = True
                state.write()

    def look(self) -> BridgeLook:
        """How they are now; a file that makes no sense yet holds nothing."""
        if not is_own_folder(self._folder):
            raise DriverError(f"{self._folder} is gone, or is no folder of yours any more.")
        with FolderLock(self._folder):
            state = BridgeState(self._folder)
            held = MessageFile(self._folder, INBOX, READ)
            held.bring_back(time.time())
            inbox = held.messages()
            if len(state.kept(inbox)) < len(inbox):
                inbox = self._clean(state, held)
            outbox = MessageFile(self._folder, OUTBOX, SENT)
            if collect(self._folder, state) or state.queued:
                flush(self._folder, state, time.time())
            unsent = rules.waiting(outbox.messages(), SENT)
            if self._tell(state, held, outbox):
                unsent = rules.waiting(outbox.messages(), SENT)
            # What was read may have been pruned since.
            seen = set(state.seen)
            given = frozenset(map(rules.id_of, state.seen))
            read = dict.fromkeys(given, True)
            read.update({str(one.get("id", "")): rules.is_done(one, READ) or rules.key(one) in seen for one in inbox})
            answers = [self._answer(one) for one in unsent]
        return BridgeLook(
            inbox=read,
            given=given,
            answers=tuple(answers),
            has_more=bool(state.queued),
            busy=state.busy,
            tmux=state.tmux,
            pane=state.pane,
            agent=state.agent,
            event=state.event,
        )

    def _answer(self, message: BridgeMessage) -> BridgeAnswer:
        is_notice = message.get("from") == rules.BRIDGE
        # What no encoding can write must stop nobody: half a character is shown as one that is missing.
        text = whole_text(self._folder, message).encode("utf-8", "replace").decode()
        return BridgeAnswer(key=rules.key(message), text=text, is_notice=is_notice)

    def _tell(self, state: BridgeState, *files: MessageFile) -> bool:
        """Puts into the outbox which of them made no sense and were set aside; whether one was."""
        now = time.time()
        # Each of them, and not only the first.
        told = [tell_set_aside(self._folder, state, one, now) for one in files]
        if any(told):
            flush(self._folder, state, now)
        return any(told)

    def put(self, identity: str, text: str) -> None:
        """A message for the agent, once."""
        now = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
        made: BridgeMessage = {"id": identity, "timestamp": stamp, "from": "user", "text": text, READ: False}
        with FolderLock(self._folder):
            state, held = BridgeState(self._folder), MessageFile(self._folder, INBOX, READ)
            if identity in state.withdrawn:
                state.withdrawn.remove(identity)
                state.write()

            def add(messages: list[BridgeMessage]) -> list[BridgeMessage]:
                # It is asked again with what others wrote meanwhile.
                kept = state.kept(messages)
                is_there = any(one.get("id") == identity for one in kept)
                return rules.pruned(kept if is_there else [*kept, made], READ, now)

            unread = rules.waiting(state.kept(held.messages()), READ)
            # What is there already takes no further place.
            if len(unread) >= MOST_MESSAGES and all(one.get("id") != identity for one in unread):
                raise DriverError(FULL)
            held.change(add)
            self._tell(state, held)

    def take_back(self, identity: str) -> bool:
        """Removes what nobody has read; the agent is not given it from now on, whoever puts it there again."""
        with FolderLock(self._folder):
            state, held = BridgeState(self._folder), MessageFile(self._folder, INBOX, READ)
            if identity in map(rules.id_of, state.seen):
                return False
            unread = {one.get("id") for one in rules.waiting(held.messages(), READ)}
            # A node that was killed after it had taken it back does it again.
            if identity not in {*unread, *state.withdrawn} and not held.is_unsettled:
                return False
            state.withdrawn = [*(one for one in state.withdrawn if one != identity), identity]
            state.write()
            kept = self._clean(state, held)
            self._tell(state, held)
        return all(one.get("id") != identity or not rules.is_done(one, READ) for one in kept)

    def _clean(self, state: BridgeState, held: MessageFile) -> list[BridgeMessage]:
        """The inbox without what was taken back."""
        return held.change(lambda messages: rules.pruned(state.kept(messages), READ, time.time()))

    def mark_sent(self, keys: tuple[str, ...]) -> None:
        """Passed on; what was sent goes after an hour."""
        now = time.time()
        with FolderLock(self._folder):
            held = MessageFile(self._folder, OUTBOX, SENT)
            held.change(lambda messages: rules.pruned(rules.marked(messages, keys, SENT), SENT, now))
            self._tell(BridgeState(self._folder), held)
