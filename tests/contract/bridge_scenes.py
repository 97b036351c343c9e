"""The steps of the hooks and of a node on a bridge's two files, with a foreign program beside them and kills.

    python -m tests.contract.bridge_scenes BOX STEPS SEEN exchange|rename    prints a line for each problem

STEPS is what we do while that happens and, after a comma, what a node does then.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.contract.bridge_moments import Scene, explore, printed_by

from farhand.bridge.hook import program, rules
from farhand.bridge.hook.rules import INBOX, MOST_MESSAGES, OUTBOX, READ, SENT, BridgeMessage
from farhand.bridge.project import ProjectFiles
from farhand.model.errors import DriverError

# What a foreign program has read when it writes: the file as it is then, or as it was at an earlier time.
SEEN = ("now", "before ours", "before the step")


def get(path: Path) -> list[BridgeMessage]:
    """The messages of a file, as a foreign script reads it."""
    found = json.loads(path.read_bytes())["messages"] if path.exists() else []
    assert isinstance(found, list)
    return found


def put(path: Path, messages: list[BridgeMessage]) -> None:
    """As a foreign script writes: beside, and renamed."""
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.write_bytes(rules.encode(messages))
    temporary.rename(path)


def message(name: str, done: str) -> BridgeMessage:
    """One of a foreign script."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"id": name, "timestamp": stamp, "from": "user", "text": f"<{name}>", done: False}


def names(text: str) -> Counter[str]:
    """How often each message is in this text."""
    return Counter(re.findall(r"<(\w+)>", text))


def hook_before(folder: Path) -> str:
    """The hook before a turn."""
    program.before(program.BridgeOutput(), "BeforeAgent", str(folder))
    return ""


def hook_after(folder: Path, said: str) -> str:
    """The hook after a turn."""
    program.after(program.BridgeOutput(), said, str(folder), "deny", tells=False)
    return ""


class Box:
    """One of the two files, with what a foreign program knows of it."""

    def __init__(self, place: Path, name: str) -> None:
        self.folder = place / ".gemini"
        self.folder.mkdir()
        self.node = ProjectFiles(self.folder)
        self.path = self.folder / name
        self.known: dict[str, list[BridgeMessage]] = {}
        self._written = place / "written"

    @property
    def has_written(self) -> bool:
        """Whether the foreign program did something."""
        return self._written.exists()

    def read_by(self, seen: str) -> list[BridgeMessage]:
        """What the foreign program takes the file for."""
        self._written.touch()
        return self.known.get(seen) or get(self.path)

    def too_much(self) -> list[str]:
        """What is wrong with the file itself."""
        count = len(get(self.path))
        many = [f"{count} messages"] if count > MOST_MESSAGES else []
        return many + [f"set aside: {path.name}" for path in self.folder.glob("*.malformed-*")]


class Inbox:
    """A node has put a message there, and a bot adds one; in the end the agent takes its turns.

    Before that a node may do something `then`: what it was killed in, or what a person asks for meanwhile."""

    def __init__(self, place: Path, *, step: str, then: str = "", seen: str, there: int = 2) -> None:
        self._box = Box(place, INBOX)
        self._step, self._then, self._seen = step, then, seen
        self._placed = place / "placed"
        self._there = [f"m{number}" for number in range(there)]
        put(self._box.path, [message(name, READ) for name in self._there])
        self._box.known["before ours"] = get(self._box.path)
        self._box.node.put("ours", "<ours>")
        self._box.known["before the step"] = get(self._box.path)

    @property
    def has_written(self) -> bool:
        return self._box.has_written

    def write(self) -> None:
        found = self._box.read_by(self._seen)
        if len(found) >= MOST_MESSAGES:
            found = [one for one in found if not one[READ]]
        if len(found) < MOST_MESSAGES:
            put(self._box.path, [*found, message("theirs", READ)])
            self._placed.touch()

    def step(self) -> str:
        return self._do(self._step)

    def _do(self, step: str) -> str:
        match step:
            case "put":
                return self._put()
            case "take back":
                return str(self._box.node.take_back("ours"))
            case "look":
                self._box.node.look()
                return ""
            case "hook":
                return hook_before(self._box.folder)
            case _:
                return ""

    def _put(self) -> str:
        try:
            self._box.node.put("next", "<next>")
        except DriverError:
            return ""
        return "put"

    def problems(self, printed: str, *, whole: bool) -> list[str]:
        wrong = self._box.too_much()
        then = self._do(self._then)
        turns = "".join(printed_by(partial(hook_before, self._box.folder)) for _ in range(2))
        is_hook = self._step == "hook"
        told = names(turns + (printed if is_hook and whole else ""))
        perhaps = names(printed if is_hook and not whole else "")
        owed = [*self._there, *(["theirs"] if self._placed.exists() else [])]
        owed += ["next"] if "put" in (printed, then) else []
        is_stopped = "True" in (printed, then)
        is_unknown = self._step == "take back" and not whole and not then
        owed += [] if is_stopped or is_unknown else ["ours"]
        wrong += [f"lost: {name}" for name in owed if not told[name] + perhaps[name]]
        wrong += [f"twice: {name}" for name, times in told.items() if times > 1]
        wrong += ["told although it was taken back"] if is_stopped and told["ours"] else []
        return wrong + self._box.too_much()


class Outbox:
    """The agent has said something; a bot passes on what is unsent and marks it, or a script adds an answer of its own
    where the node passes it on."""

    def __init__(self, place: Path, *, step: str, seen: str) -> None:
        self._box = Box(place, OUTBOX)
        self._step, self._seen = step, seen
        self._passed_on = place / "passed on"
        self._passed_on.touch()
        hook_after(self._box.folder, "<first>")
        self._box.known["before ours"] = get(self._box.path)
        hook_after(self._box.folder, "<ours>")
        self._box.known["before the step"] = get(self._box.path)

    @property
    def has_written(self) -> bool:
        return self._box.has_written

    def write(self) -> None:
        found = self._box.read_by(self._seen)
        if self._step == "mark":
            put(self._box.path, [*found, message("theirs", SENT)])
        else:
            self._pass_on(found)

    def _pass_on(self, found: list[BridgeMessage]) -> None:
        fresh = [str(one["text"]) for one in found if not one[SENT]]
        with self._passed_on.open("a") as file:
            file.write("".join(fresh))
        put(self._box.path, [{**one, SENT: True} for one in found])

    def step(self) -> str:
        match self._step:
            case "mark":
                return self._node_passes_on()
            case "say":
                return hook_after(self._box.folder, "<next>") + "said"
            case _:
                return hook_before(self._box.folder)

    def _node_passes_on(self) -> str:
        answers = self._box.node.look().answers
        told = set(names(self._passed_on.read_text()))
        fresh = [one.text for one in answers if one.text.strip("<>") not in told]
        # As a node writes it down before it marks it.
        with self._passed_on.open("a") as file:
            file.write("".join(fresh))
        self._box.node.mark_sent(tuple(one.key for one in answers))
        return ""

    def problems(self, printed: str, *, whole: bool) -> list[str]:
        wrong = self._box.too_much()
        owed = ["first", "ours", *(["next"] if printed == "said" else [])]
        owed += ["theirs"] if self._step == "mark" and self.has_written else []
        for _ in range(2):
            hook_before(self._box.folder)
            if self._step == "mark":
                self._node_passes_on()
            else:
                self._pass_on(get(self._box.path))
        heard = names(self._passed_on.read_text())
        wrong += [f"lost: {name}" for name in owed if not heard[name]]
        wrong += [f"twice: {name}" for name, times in heard.items() if times > 1]
        return wrong + self._box.too_much()


def scene(box: str, steps: str, seen: str) -> Callable[[Path], Scene]:
    """How to make a scene."""
    step, _, then = steps.partition(", ")
    if box == "outbox":
        return partial(Outbox, step=step, seen=seen)
    return partial(Inbox, step=step, then=then, seen=seen, there=2 if box == "inbox" else MOST_MESSAGES - 1)


def main(box: str, steps: str, seen: str, way: str) -> None:
    """Prints what is wrong."""
    for problem in explore(scene(box, steps, seen), can_exchange=way == "exchange"):
        print(problem)


if __name__ == "__main__":
    main(*sys.argv[1:])
