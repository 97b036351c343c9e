"""`farhand tui --team`, here and with --url, before a node that is killed in the middle of a turn and started again:
nothing is lost and nothing is shown twice, on the screen and for a program that follows the events."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.live.nodes import Home

from farhand.testing.ports import lasting_port
from farhand.testing.tmux import SAFETY_SECONDS, Screen, terminal


class KilledNode:
    """A node with the scripted agent, at the place where `farhand` looks for the node `test`."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.port = lasting_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it can be spoken to."""
        folder = self._home.node_folder().parent
        folder.mkdir(parents=True, exist_ok=True)
        order = [sys.executable, "-m", "farhand.testing.node", str(folder), "--port", str(self.port)]
        with (self._home.folder / "node.log").open("ab") as log:
            self._process = subprocess.Popen(
                order, env=self._home.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._home.wait_ready("test", self._process)

    def kill(self) -> None:
        """As `kill -9` does; its agents live on."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@contextmanager
def node(folder: Path) -> Iterator[tuple[KilledNode, Home]]:
    home = Home(folder, PS1="$ ")
    one = KilledNode(home)
    try:
        one.start()
        hired = home.farhand("hire", "ann", "--backend", "scripted", "--node", "test")
        assert hired.returncode == 0, hired.stderr
        yield one, home
    finally:
        one.kill()
        home.end_agents()


class Follower:
    """A program that follows the events, goes away and comes back with the last id it has."""

    def __init__(self, address: str, key: str = "") -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.Client(base_url=address, headers=headers, trust_env=False, timeout=SAFETY_SECONDS)
        self.last_id = ""
        self.resumes: list[str] = []
        # What it would show: every message as it was told last, by its id.
        self.messages: dict[int, tuple[str, str]] = {}
        self.asks: list[str] = []
        self.status: dict[str, Any] = {}

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *problem: object) -> None:
        self._client.close()

    def follow_until(self, true: Callable[[Follower], bool]) -> None:
        """Reads on from where it was until it is so."""
        headers = {"Last-Event-ID": self.last_id} if self.last_id else {}
        with self._client.stream("GET", "/events", headers=headers) as response:
            name, is_whole = "", False
            for line in response.iter_lines():
                field, _, value = line.partition(": ")
                match field:
                    case "id":
                        # Of the last event of a batch.
                        self.last_id, is_whole = value, True
                    case "event":
                        name = value
                    case "data":
                        self._take(name, json.loads(value))
                    case _ if is_whole and true(self):
                        return
                    case _:
                        is_whole = False

    def _take(self, name: str, data: Any) -> None:
        match name:
            case "resume":
                self.resumes.append(data["resume"])
            case "message_update":
                self.messages[data["id"]] = (data["role"], data["message"])
            case "asks":
                self.asks = [one["id"] for one in data["asks"]]
            case "status_change":
                self.status = data
            case _:
                pass

    def get(self, path: str) -> Any:
        return self._client.get(path).json()

    def post(self, text: str) -> int:
        return self._client.post("/message", json={"message": text}).status_code


def see(screen: Screen, text: str) -> str:
    return screen.wait(lambda shown: text in shown, repr(text))


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_a_node_that_was_killed_in_mid_turn_is_found_again(short_folder: Path, where: str) -> None:
    with node(short_folder) as (killed, home):
        port = lasting_port()
        source = ("--team", "--node", "test") if where == "here" else ("--url", f"http://127.0.0.1:{killed.port}")
        home.environment["FARHAND_NODE_KEY"] = (home.node_folder() / "key").read_text().strip()
        with (
            terminal(home.folder, home.environment, columns=120, rows=30) as screen,
            Follower(f"http://127.0.0.1:{port}") as program,
        ):
            screen.type(" ".join(home.command("tui", *source, "--remote-port", str(port))))
            see(screen, f"remote :{port}")
            screen.type("think tool ask")
            see(screen, "May I?")
            assert [program.post(text) for text in ("second", "third")] == [200, 200]
            see(screen, "⋯ 2. third")
            program.follow_until(lambda seen: bool(seen.asks) and seen.status.get("queued") == 2)
            asked = program.asks
            killed.kill()
            see(screen, "asked again")
            assert program.post("too early") == 503
            killed.start()
            once = ("waits for your answer", "think tool ask", "✓ list files", "⋯ 1. second", "⋯ 2. third")
            screen.wait(
                lambda shown: "asked again" not in shown and all(shown.count(text) == 1 for text in once),
                "the node again, and each thing once",
            )
            assert [one["id"] for one in program.get("/asks")["asks"]] == asked
            screen.press("1")
            program.follow_until(lambda seen: seen.status.get("status") == "stable" and not seen.status["queued"])
            assert program.resumes == ["whole", "whole"]
            told = [(one["role"], one["content"]) for one in program.get("/messages")["messages"]]
            assert [said for role, said in told if role == "user"] == ["think tool ask", "second", "third"]
            answers = [said for role, said in told if role == "agent"]
            assert [said.count("answer to ") for said in answers] == [1, 1, 1]
            assert answers[0].startswith("chosen: yes")
            assert len(set(answers)) == 3
            # Whoever followed the events, and was away meanwhile, has the same.
            assert sorted(program.messages.values()) == sorted(told)
            see(screen, answers[-1])
            assert program.get("/asks")["asks"] == []
            screen.press("C-d")
            see(screen, "→ farhand tui")


def test_a_program_that_follows_a_worker_is_told_that_the_node_began_anew(short_folder: Path) -> None:
    """The node's own `/workers/ann/events`: numbers of the node that is gone mean nothing to it, and all is told."""
    with node(short_folder) as (killed, home):
        key = (home.node_folder() / "key").read_text().strip()
        with Follower(f"http://127.0.0.1:{killed.port}/workers/ann", key) as program:
            assert [program.post(text) for text in ("think ask", "second")] == [200, 200]
            program.follow_until(lambda seen: bool(seen.asks) and seen.status.get("queued") == 1)
            asked, program.asks = program.asks, []
            killed.kill()
            killed.start()
            program.messages.clear()
            program.follow_until(lambda seen: bool(seen.asks))
            assert (program.resumes, program.asks) == (["whole", "gap"], asked)
            home.farhand("answer", "--node", "test", asked[0], "yes")
            program.follow_until(lambda seen: seen.status.get("status") == "stable" and not seen.status["queued"])
            told = [(one["role"], one["content"]) for one in program.get("/messages")["messages"]]
            assert [said for role, said in told if role == "user"] == ["think ask", "second"]
            assert [said.count("answer to ") for role, said in told if role == "agent"] == [1, 1]
            assert sorted(program.messages.values()) == sorted(told)
            assert program.resumes == ["whole", "gap", "whole"]
