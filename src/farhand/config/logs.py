"""Structured logs with ids and no secrets: lines of JSON in the node's folder, readable lines on a terminal."""

import json
import logging
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

import msgspec
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

REDACTED = "[redacted]"
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


class _Foreign(logging.Handler):
    """Passes warnings of the libraries on, through the same redaction."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger(record.name).warning(record.getMessage())


def open_log(path: Path) -> TextIO:
    """The log file, for its owner alone, appended to line by line."""
    file = path.open("a", buffering=1, encoding="utf-8")
    path.chmod(0o600)
    return file


def set_up(file: TextIO | None, *, secrets: Iterable[str] = (), verbose: bool = False, quiet: bool = False) -> None:
    """Sends all logs to that file; to standard error when there is none."""
    level = logging.DEBUG if verbose else logging.ERROR if quiet else logging.INFO
    render: Processor = structlog.processors.JSONRenderer(serializer=as_json)
    if file is None and sys.stderr.isatty():
        render = structlog.dev.ConsoleRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            Redactor(secrets),
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file or sys.stderr),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers[:] = [_Foreign()]
    root.setLevel(logging.WARNING)
