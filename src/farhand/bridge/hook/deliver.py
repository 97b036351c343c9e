"""Puts what an agent said into the outbox, and keeps it until it was seen there as sent.

A copy of this module runs inside an agent CLI's hooks: it imports the standard library and its neighbours alone.
"""

from __future__ import annotations

import os

from farhand.bridge.hook import quick_json, rules
from farhand.bridge.hook.files import BridgeState, MessageFile, read_regular, write_private
from farhand.bridge.hook.rules import MOST_MESSAGES, OUTBOX, SENT, BridgeMessage

WHOLE_TEXTS = "wa_texts"
# How the files begin that keep what was said while somebody else held the lock.
SPOOLED = "wa_said."


def spool(folder: str, texts: list[str], now: float) -> None:
    """Keeps what was said, without the lock, for whoever holds it next: a file each, in their order."""
    for index, text in enumerate(texts):
        name = os.path.join(folder, f"{SPOOLED}{int(now * 1000)}-{index}-{os.urandom(3).hex()}")
        content = {"text": text, "at": now, "salt": os.urandom(2).hex()}
        write_private(f"{name}.new", quick_json.dumps(content).encode())
        os.rename(f"{name}.new", f"{name}.json")


def collect(folder: str, state: BridgeState) -> bool:
    """Adds what was spooled to what waits for the outbox, each once although a kill may come between; whether any was.

    The turn in which it was said is over."""
    found = sorted(name for name in os.listdir(folder) if name.startswith(SPOOLED) and name.endswith(".json"))
    for name in found:
        _take_in(folder, state, os.path.join(folder, name))
    if found:
        state.busy = False
        state.write()
    for name in found:
        try:
            os.unlink(os.path.join(folder, name))
        except OSError:
            pass
    return bool(found)


def _take_in(folder: str, state: BridgeState, path: str) -> None:
    try:
        content = quick_json.loads(read_regular(path)[0].decode())
    except (OSError, ValueError):
        return
    if not isinstance(content, dict):
        return
    text, at, salt = content.get("text"), content.get("at"), content.get("salt")
    if isinstance(text, str) and text and isinstance(at, float) and isinstance(salt, str):
        queue(folder, state, text, at, salt=salt)


def queue(folder: str, state: BridgeState, text: str, now: float, sender: str = rules.AGENT, salt: str = "") -> None:
    """Adds a message to what waits for the outbox: a summary, and the whole text in a file beside it if it is long."""
    message = rules.new_message("resp", sender, rules.summary(text), now, salt or os.urandom(2).hex(), SENT)
    if any(one["id"] == message["id"] for one in (*state.queued, *state.pending)):
        return
    if message["text"] != text.strip():
        name = f"{message['id']}.txt"
        try:
            _write_text(folder, name, text)
            message["whole"] = f"{WHOLE_TEXTS}/{name}"
        except OSError:
            pass
    state.queued.append(message)


def tell_set_aside(folder: str, state: BridgeState, file: MessageFile, now: float) -> bool:
    """Adds to what waits for the outbox that a file was found malformed and set aside; whether one was."""
    path, file.set_aside = file.set_aside, ""
    if path:
        name = os.path.basename(file.path)
        queue(folder, state, f"⚠ {name} made no sense and was set aside: {path}", now, rules.BRIDGE)
    return bool(path)


def _write_text(folder: str, name: str, text: str) -> None:
    try:
        os.mkdir(os.path.join(folder, WHOLE_TEXTS), mode=0o700)
    except FileExistsError:
        pass
    with TextsFolder(folder) as texts:
        write_private(name, text.encode("utf-8", "replace"), texts)


def flush(folder: str, state: BridgeState, now: float) -> None:
    """Writes what waits; what a foreign writer has overwritten is put back, what was sent is forgotten."""
    state.write()
    outbox = MessageFile(folder, OUTBOX, SENT)
    # What is sent may be pruned in the same change.
    sent: set[str] = set()

    def with_ours(messages: list[BridgeMessage]) -> list[BridgeMessage]:
        sent.update(rules.key(one) for one in messages if rules.is_done(one, SENT))
        return _with(messages, state, now)

    held = outbox.change(with_ours)
    if tell_set_aside(folder, state, outbox, now):
        held = outbox.change(with_ours)
    in_file = set(map(rules.key, held))
    written = [one for one in state.queued if rules.key(one) in in_file]
    state.queued = [one for one in state.queued if rules.key(one) not in in_file]
    state.pending = [one for one in (*state.pending, *written) if rules.key(one) not in sent and _is_young(one, now)]
    state.write()
    _drop_texts(folder, {*held_texts(held), *held_texts(state.queued)}, now)


def _with(messages: list[BridgeMessage], state: BridgeState, now: float) -> list[BridgeMessage]:
    """The outbox with what is missing in it; never more than it may hold: the rest waits."""
    kept = rules.pruned(messages, SENT, now)
    known = {rules.key(one) for one in messages}
    missing = [one for one in (*state.pending, *state.queued) if rules.key(one) not in known]
    if len(kept) + len(missing) > MOST_MESSAGES:
        kept = [one for one in kept if not rules.is_done(one, SENT)]
    return kept + missing[: max(0, MOST_MESSAGES - len(kept))]


def _is_young(message: BridgeMessage, now: float) -> bool:
    # What is sent stays in the file for an hour: older and gone means that it was sent.
    return rules.written_at(message, now) > now - rules.KEPT_SECONDS


def held_texts(messages: list[BridgeMessage]) -> set[str]:
    """The names of the files with whole texts that these messages need."""
    return {os.path.basename(str(one["whole"])) for one in messages if "whole" in one}


class TextsFolder:
    """The folder of whole texts, opened; OSError where it is a link, or another user's."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, WHOLE_TEXTS)
        self._descriptor = -1

    def __enter__(self) -> int:
        self._descriptor = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        if os.fstat(self._descriptor).st_uid != os.getuid():
            os.close(self._descriptor)
            raise PermissionError(self._path)
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _drop_texts(folder: str, needed: set[str], now: float) -> None:
    try:
        with TextsFolder(folder) as texts:
            for name in os.listdir(texts):
                is_ours = name.startswith("resp_") and name.endswith(".txt")
                written = os.stat(name, dir_fd=texts, follow_symlinks=False).st_mtime
                if is_ours and name not in needed and written < now - rules.KEPT_SECONDS:
                    os.unlink(name, dir_fd=texts)
    except OSError:
        pass


def whole_text(folder: str, message: BridgeMessage) -> str:
    """All that was said: the file beside the outbox if there is one, the summary else."""
    name = os.path.basename(str(message.get("whole", "")))
    if name:
        try:
            with TextsFolder(folder) as texts:
                return read_regular(name, texts)[0].decode("utf-8", "replace")
        except OSError:
            pass
    return rules.text_of(message)
