"""`farhand logs -f`: what is there at once, then what comes, line by line, also in a new file."""

from __future__ import annotations

import queue
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.live.nodes import SAFETY_SECONDS, Home, home_without_nodes

from farhand.model.compat import LOG_FILE


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home without any node."""
    with home_without_nodes(tmp_path) as made:
        yield made


class Followed:
    """A log that is being followed: its lines, as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: queue.Queue[str] = queue.Queue()
        self.seen: list[str] = []
        self.reading = threading.Thread(target=self._read)
        self.reading.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def until(self, words: str) -> str:
        """The next line with these words."""
        while True:
            line = self._lines.get(timeout=SAFETY_SECONDS)
            self.seen.append(line)
            if words in line:
                return line

    def leave(self) -> int:
        """Ctrl-C, as a person leaves it; its exit code."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(SAFETY_SECONDS)


@contextmanager
def followed(home: Home, *words: str) -> Iterator[Followed]:
    order = home.command("logs", "-n", "test", "-f", *words)
    with subprocess.Popen(
        order, cwd=home.folder, env=home.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        log = Followed(process)
        try:
            yield log
        finally:
            process.kill()
            log.reading.join()


def test_what_is_there_is_shown_at_once_and_what_comes_is_followed(home: Home) -> None:
    home.start("test")
    with followed(home) as log:
        # Nothing is logged meanwhile: it does not wait for the next line.
        log.until("node ready")
        assert home.farhand("hire", "ann", "--backend", "demo").returncode == 0
        assert "worker=ann" in log.until(" hired ")
        assert home.farhand("end", "ann").returncode == 0
        log.until("command=End")
        assert sum(" hired " in line for line in log.seen) == 1
        assert log.leave() == 130


def test_a_log_that_is_put_aside_is_followed_in_its_new_file_and_no_line_is_torn(home: Home) -> None:
    path = home.node_folder() / LOG_FILE
    path.parent.mkdir(parents=True)
    path.write_text("first\nsecond\nhalf a ")
    with followed(home, "--json") as log:
        log.until("second")
        with path.open("a") as file:
            file.write("line\nthird\n")
        log.until("third")
        path.rename(path.with_name("old"))
        path.write_text("fourth\n")
        log.until("fourth")
        assert log.seen == ["first\n", "second\n", "half a line\n", "third\n", "fourth\n"]
        assert log.leave() == 130
