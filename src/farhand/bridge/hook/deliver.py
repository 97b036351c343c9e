"""Puts what an agent said into the outbox, and keeps it until it was seen there as sent.

A copy of this module runs inside an agent CLI's hooks: it imports the standard library and its neighbours alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from farhand.bridge.hook import rules
from farhand.bridge.hook.files import BridgeState, MessageFile, read_regular, write_private
from farhand.bridge.hook.rules import MOST_MESSAGES, OUTBOX, SENT, Message

WHOLE_TEXTS = "wa_texts"


def queue(folder: str, state: BridgeState, text: str, now: float) -> None:
    """Adds a message to what waits for the outbox: a summary, and the whole text in a file beside it if it is long."""
    message = rules.new_message("resp", "agent", rules.summary(text), now, os.urandom(2).hex(), SENT)
    if message["text"] != text.strip():
        name = f"{message['id']}.txt"
        with suppress(FileExistsError):
            os.mkdir(os.path.join(folder, WHOLE_TEXTS), mode=0o700)
        with suppress(OSError), texts_folder(folder) as texts:
            write_private(name, text.encode("utf-8", "replace"), texts)
            message["whole"] = f"{WHOLE_TEXTS}/{name}"
    state.queued.append(message)


def flush(folder: str, state: BridgeState, now: float) -> None:
    """Writes what waits; what a foreign writer has overwritten is put back, what was sent is forgotten."""
    state.write()
    outbox = MessageFile(folder, OUTBOX, SENT)
    held = outbox.change(lambda messages: _with(messages, state, now))
    in_file = {rules.key(one): rules.is_done(one, SENT) for one in held}
    written = [one for one in state.queued if rules.key(one) in in_file]
    state.queued = [one for one in state.queued if rules.key(one) not in in_file]
    state.pending = [
        one for one in (*state.pending, *written) if not in_file.get(rules.key(one)) and _is_young(one, now)
    ]
    state.write()
    _drop_texts(folder, {*held_texts(held), *held_texts(state.queued)}, now)


def _with(messages: list[Message], state: BridgeState, now: float) -> list[Message]:
    """The outbox with what is missing in it; never more than it may hold: the rest waits."""
    kept = rules.pruned(messages, SENT, now)
    known = {rules.key(one) for one in messages}
    missing = [one for one in (*state.pending, *state.queued) if rules.key(one) not in known]
    if len(kept) + len(missing) > MOST_MESSAGES:
        kept = [one for one in kept if not rules.is_done(one, SENT)]
    return kept + missing[: max(0, MOST_MESSAGES - len(kept))]


def _is_young(message: Message, now: float) -> bool:
    # What is sent stays in the file for an hour: older and gone means that it was sent.
    return rules.written_at(message, now) > now - rules.KEPT_SECONDS


def held_texts(messages: list[Message]) -> set[str]:
    """The names of the files with whole texts that these messages need."""
    return {os.path.basename(str(one["whole"])) for one in messages if "whole" in one}


@contextmanager
def texts_folder(folder: str) -> Iterator[int]:
    """The folder of whole texts, opened; OSError where it is a link, or another user's."""
    path = os.path.join(folder, WHOLE_TEXTS)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != os.getuid():
            raise PermissionError(path)
        yield descriptor
    finally:
        os.close(descriptor)


def _drop_texts(folder: str, needed: set[str], now: float) -> None:
    with suppress(OSError), texts_folder(folder) as texts:
        for name in os.listdir(texts):
            is_ours = name.startswith("resp_") and name.endswith(".txt")
            written = os.stat(name, dir_fd=texts, follow_symlinks=False).st_mtime
            if is_ours and name not in needed and written < now - rules.KEPT_SECONDS:
                os.unlink(name, dir_fd=texts)


def whole_text(folder: str, message: Message) -> str:
    """All that was said: the file beside the outbox if there is one, the summary else."""
    name = os.path.basename(str(message.get("whole", "")))
    if name:
        with suppress(OSError), texts_folder(folder) as texts:
            return read_regular(name, texts)[0].decode("utf-8", "replace")
    return rules.text_of(message)
