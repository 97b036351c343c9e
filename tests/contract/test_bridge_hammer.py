"""A foreign bot that knows no lock, the hooks, a node, and kills: nothing lost, no torn read, never over 100 messages.

Both writers go on until the inbox is full, so that they take its last places at once; the bot writes no file with more
than 100 messages, so that one which has more is ours.

`FARHAND_HAMMER_ROUNDS=1000` takes more than half a minute on a quiet machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from random import Random

from tests.contract.bridge_hooks import SAFETY_SECONDS, HookedProject, read

from farhand.bridge.hook.files import MessageFile
from farhand.bridge.hook.rules import BridgeMessage

ROUNDS = int(os.environ.get("FARHAND_HAMMER_ROUNDS", "60"))
# Every so many rounds the agent looks at nothing until the inbox is full.
FULL_EVERY = 6
# A hook takes about this long, so that some are killed in each of their steps.
KILLS = [0, 0, 0.01, 0.015, 0.02, 0.03, 0.04]
# A bot as a person would write it: reads, changes, writes beside and renames; it knows the two files and nothing else.
BOT = """
import json, os, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
inbox, outbox = folder / "wa_inbox.json", folder / "wa_outbox.json"
def put(path, messages):
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps({"messages": messages}), "utf-8")
    temporary.rename(path)
def get(path):
    return json.loads(path.read_text("utf-8"))["messages"] if path.exists() else []
sent, added = {}, 0
def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
while True:
    messages = get(inbox)
    assert len(messages) <= 100, len(messages)
    if len(messages) == 100:
        messages = [one for one in messages if not one["read"]]
    if len(messages) < 100:
        fresh = {"id": f"m{added}", "timestamp": now(), "from": "user", "text": f"in-{added}-", "read": False}
        put(inbox, [*messages, fresh])
        added += 1
    found = get(outbox)
    assert len(found) <= 100, len(found)
    for one in found:
        if not one["sent"]:
            sent[one["text"]] = sent.get(one["text"], 0) + 1
            one["sent"] = True
    put(outbox, found)
    print(json.dumps({"added": added, "sent": sorted(sent)}), flush=True)
    if sys.stdin.readline() == "":
        break
"""


# What a node does with the files, as a process of its own that can be killed. Where there is no place left it takes
# back its last message, so that there is one more for both writers to take at once.
NODE = """
import pathlib, sys
from farhand.bridge.project import ProjectFiles
from farhand.model.errors import DriverError
project = ProjectFiles(pathlib.Path(sys.argv[1]))
project.attach()
mine = []
for line in sys.stdin:
    number = line.strip()
    project.look()
    try:
        project.put(f"n{number}", f"node-{number}-")
        mine.append(number)
        print("put", number, flush=True)
    except DriverError:
        print("taking", mine[-1] if mine else "", flush=True)
        took_back = bool(mine) and project.take_back(f"n{mine[-1]}")
        print("full", mine.pop() if took_back else "", flush=True)
"""


class KilledNode:
    """A node that writes to the inbox without a pause, killed and started again until it is told to end."""

    def __init__(self, folder: Path) -> None:
        self.put: set[str] = set()
        self._found_full = threading.Semaphore(0)
        self.kills = 0
        self.problems = ""
        self._folder = folder
        self._number = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._drive)

    def __enter__(self) -> KilledNode:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def finds_it_full(self) -> None:
        """Returns when there was no place for a message of its from now on."""
        while self._found_full.acquire(blocking=False):
            pass
        assert self._found_full.acquire(timeout=SAFETY_SECONDS), "the inbox was never full"

    def _drive(self) -> None:
        chance = Random(11)
        while not self._ended.is_set():
            self._live(chance.randrange(10, 60), chance.random() * 0.003)

    def _live(self, messages: int, kill_after: float) -> None:
        """So many messages, and killed in the midst of the next."""
        words = [sys.executable, "-c", NODE, str(self._folder)]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as node:
            assert node.stdin is not None
            assert node.stdout is not None
            assert node.stderr is not None
            for _ in range(messages):
                if self._ended.is_set():
                    break
                print(self._number, file=node.stdin, flush=True)
                told, _, number = node.stdout.readline().strip().partition(" ")
                if told == "taking":
                    told, _, number = node.stdout.readline().strip().partition(" ")
                if told == "put":
                    self.put.add(number)
                else:
                    self.put.discard(number)
                    self._found_full.release()
                self._number += 1
            print(self._number, file=node.stdin, flush=True)
            self._number += 1
            self._ended.wait(kill_after)
            node.kill()
            self.problems += node.stderr.read()
            # Killed while it took a message back: nobody knows whether that one is still there.
            self.put.difference_update(re.findall(r"taking (\d+)", node.stdout.read()))
        self.kills += 1


class ForeignBot:
    """The bot, which works without a pause until it is told to end."""

    def __init__(self, folder: Path) -> None:
        self.added = 0
        self.sent: list[str] = []
        self.exit_code = -1
        self._ended = threading.Event()
        self._folder = folder
        self._thread = threading.Thread(target=self._drive)

    def __enter__(self) -> ForeignBot:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _drive(self) -> None:
        words = [sys.executable, "-I", "-c", BOT, str(self._folder)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as bot:
            assert bot.stdin is not None
            assert bot.stdout is not None
            while line := bot.stdout.readline():
                told = json.loads(line)
                self.added, self.sent = told["added"], told["sent"]
                if self._ended.is_set():
                    bot.stdin.close()
                    break
                bot.stdin.write("\n")
                bot.stdin.flush()
        self.exit_code = bot.returncode


def test_a_foreign_bot_the_hooks_a_node_and_kills_lose_nothing(tmp_path: Path) -> None:
    project = HookedProject(tmp_path, "gemini")
    chance = Random(7)
    told: list[str] = []
    cut_off: list[str] = []
    said: list[str] = []
    with ForeignBot(project.folder) as bot, KilledNode(project.folder) as node:
        for number in range(ROUNDS):
            if number % FULL_EVERY == 0:
                node.finds_it_full()
            context, whole = hook(project, 0, {}, kill_after=chance.choice(KILLS))
            (told if whole else cut_off).append(context)
            words = f"out-{number}-"
            _, whole = hook(project, 1, {"prompt_response": words}, kill_after=chance.choice(KILLS))
            said += [words] if whole else []
    assert bot.exit_code == 0, "the bot saw a torn file, or one that was too long"
    assert node.problems == ""
    assert node.kills
    assert cut_off
    told += [json.dumps(project.before()), json.dumps(project.before())]
    written = [f"in-{number}-" for number in range(bot.added)] + [f"node-{number}-" for number in node.put]
    counted, perhaps = (Counter(re.findall(r"(?:in|node)-\d+-", "".join(texts))) for texts in (told, cut_off))
    assert [one for one in written if not counted[one] + perhaps[one]] == [], "lost"
    assert [one for one in written if counted[one] > 1] == [], "twice"
    delivered = {*bot.sent, *project.said()}
    assert [words for words in said if words not in delivered] == []
    assert len(read(project.inbox)) <= 100
    assert not list(project.folder.glob("*.malformed-*"))


def hook(project: HookedProject, which: int, payload: dict[str, str], *, kill_after: float) -> tuple[str, bool]:
    """Runs a hook, killed after so long if at all; what it printed, and whether it came to its end."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", f"exec {project.commands[which].removesuffix(' || true')}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if kill_after:
        threading.Timer(kill_after, process.kill).start()
    printed, _ = process.communicate(json.dumps(payload).encode())
    return printed.decode("utf-8", "replace"), process.returncode == 0


def test_a_file_that_got_the_number_of_the_one_that_was_read_is_not_taken_for_it(tmp_path: Path) -> None:
    """File systems give the number of a replaced file to the next one."""
    path = tmp_path / "wa_inbox.json"

    def put(*texts: str) -> None:
        messages = [{"id": text, "timestamp": "2026-01-01T00:00:00Z", "text": text, "read": False} for text in texts]
        fresh = path.with_name("wa_inbox.json.tmp")
        fresh.write_text(json.dumps({"messages": messages}))
        fresh.rename(path)

    put("first")
    number = path.stat().st_ino

    def while_somebody_writes(messages: list[BridgeMessage]) -> list[BridgeMessage]:
        texts = ["first"]
        while len(messages) == 1 and len(texts) < 20:
            texts.append(f"more {len(texts)}")
            put(*texts)
            if path.stat().st_ino == number:
                break
        return [{**one, "read": True} for one in messages]

    held = MessageFile(str(tmp_path), "wa_inbox.json", "read").change(while_somebody_writes)
    assert len(held) > 1
    assert [one["text"] for one in read(path)] == [one["text"] for one in held]
