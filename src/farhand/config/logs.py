"""Structured logs with ids and no secrets: lines of JSON in the node's folder, readable lines on a terminal."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import msgspec

from farhand.config.log_repeats import RepeatLimit
from farhand.model.logger import structlog

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

REDACTED = "[redacted]"
MOST_BYTES = 10_000_000
# Of a library's warning, which may have what a stranger sent in it.
MOST_CHARACTERS = 2000
_encode = msgspec.json.Encoder(enc_hook=repr).encode


class Redactor:
    """Takes the secrets out of every value of a log line, wherever they hide in it."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple(sorted((secret for secret in secrets if len(secret) >= 6), key=len, reverse=True))

    def __call__(self, _: WrappedLogger, __: str, line: EventDict) -> EventDict:
        if self._secrets:
            for name, value in line.items():
                line[name] = self.clean(value)
        return line

    def clean(self, value: Any) -> Any:
        """The value without secrets."""
        match value:
            case str():
                for secret in self._secrets:
                    value = value.replace(secret, REDACTED)
                return value
            case dict():
                return {name: self.clean(one) for name, one in value.items()}
            case list() | tuple():
                return [self.clean(one) for one in value]
            case BaseException():
                return self.clean(repr(value))
            case _:
                return value


def as_json(line: EventDict, **_: Any) -> str:
    """A log line as JSON, whatever is in it."""
    try:
        return _encode(line).decode()
    except (TypeError, ValueError, RecursionError):
        # Half a character, or a key that is no text: the slow encoder takes them.
        return json.dumps(line, default=repr, skipkeys=True)


class _LibraryWarnings(logging.Handler):
    """Passes warnings of the libraries on, through the same redaction."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger(record.name).warning(record.getMessage()[:MOST_CHARACTERS], library=record.name)


class LogFile:
    """A log file for its owner alone, rotated at a size: one old file is kept."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        self._path = path
        self._most_bytes = most_bytes
        self._size = 0
        self._file = self._open()

    def write(self, text: str) -> int:
        """Adds whole lines. A disk that is full costs the line, not the node."""
        with suppress(OSError):
            size = len(text.encode("utf-8", "backslashreplace"))
            if self._size + size > self._most_bytes:
                self._rotate()
            self._size += size
            return self._file.write(text)
        return 0

    def flush(self) -> None:
        """Writes out what is in the buffer."""
        with suppress(OSError):
            self._file.flush()

    def close(self) -> None:
        """Ends it."""
        self._file.close()

    def _open(self) -> TextIO:
        file = self._path.open("a", buffering=1, encoding="utf-8", errors="backslashreplace")
        self._path.chmod(0o600)
        self._size = self._path.stat().st_size
        return file

    def _rotate(self) -> None:
        self._file.close()
        self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        self._file = self._open()


class _FileCopy:
    """Leaves a copy of every line in the file, on its way to the terminal."""

    def __init__(self, file: LogFile) -> None:
        self._file = file

    def __call__(self, _: WrappedLogger, __: str, line: EventDict) -> EventDict:
        self._file.write(as_json(line) + "\n")
        return line


def set_up(
    file: LogFile | None,
    *,
    secrets: Iterable[str] = (),
    verbose: bool = False,
    quiet: bool = False,
    show: bool = True,
) -> None:
    """Sends all logs to standard error, if they are to be shown, and to the file, if there is one."""
    level = logging.DEBUG if verbose else logging.ERROR if quiet else logging.INFO
    shown = show or file is None
    render: Processor = structlog.processors.JSONRenderer(serializer=as_json)
    if shown and sys.stderr.isatty():
        render = structlog.dev.ConsoleRenderer()
    copies: list[Processor] = [_FileCopy(file)] if shown and file else []
    structlog.configure(
        processors=[
            RepeatLimit(),
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            Redactor(secrets),
            *copies,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr if shown else cast("TextIO", file)),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers[:] = [_LibraryWarnings()]
    root.setLevel(logging.WARNING)
