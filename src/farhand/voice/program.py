"""Has a program of the manager's own listen: it is given the recording's file and prints what was said."""

import os
import shlex
import signal
import subprocess
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread

from farhand.disk.atomic import write_private
from farhand.model.body_limits import read_bounded
from farhand.model.errors import NotTranscribed, TooLarge
from farhand.model.voice import VoiceOptions, as_transcript, recording_name, refuse_others

FILE, LANGUAGE = "{file}", "{language}"
LARGEST_OUTPUT = 1_000_000
WHY_CHARACTERS = 200


def words_of(command: str, file: str, language: str) -> list[str]:
    """The program's words: `{file}` is the recording, which comes last where the command does not say where."""
    words = shlex.split(command)
    if not any(FILE in word for word in words):
        words.append(FILE)
    return [word.replace(FILE, file).replace(LANGUAGE, language or "auto") for word in words]


class ProgramTranscriber:
    """Runs without a shell and without the node's secrets; the recording goes when the program has ended."""

    def __init__(self, options: VoiceOptions, folder: Path, environment: Mapping[str, str]) -> None:
        self._options = options
        self._folder = folder
        self._environment = dict(environment)
        self.confirm = options.confirm

    async def transcribe(self, audio: bytes, media_type: str, language: str = "") -> str:
        """What was said; raises NotTranscribed."""
        refuse_others(audio)
        suffix = recording_name(media_type).removeprefix("recording")
        path = self._folder / f"{uuid.uuid4().hex}{suffix}"
        spoken = language or self._options.language
        try:
            await anyio.to_thread.run_sync(write_private, path, audio)
            return as_transcript(await self._run(words_of(self._options.command, str(path), spoken)))
        except OSError as error:
            raise NotTranscribed(f"The transcription program cannot be run: {error.strerror}.") from None
        finally:
            path.unlink(missing_ok=True)

    async def _run(self, words: list[str]) -> str:
        process = await anyio.open_process(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
            cwd=self._folder,
            start_new_session=True,
        )
        try:
            with anyio.fail_after(self._options.seconds):
                said, complained = await _outputs(process)
                code = await process.wait()
        except TimeoutError:
            raise NotTranscribed(f"The transcription program took more than {self._options.seconds:g} s.") from None
        except TooLarge:
            raise NotTranscribed("The transcription program says too much.") from None
        finally:
            await _end(process)
        if code != 0:
            why = as_transcript(complained.decode("utf-8", "replace"))[-WHY_CHARACTERS:]
            raise NotTranscribed(f"The transcription program ended with {code}{f': {why}' if why else ''}.")
        return said.decode("utf-8", "replace")


async def _outputs(process: anyio.abc.Process) -> tuple[bytes, bytes]:
    """What the program prints and what it complains of, both to their ends."""
    found: dict[str, bytes] = {}
    too_large: list[TooLarge] = []

    async def read(name: str, stream: anyio.abc.ByteReceiveStream | None) -> None:
        found[name] = await read_bounded(stream, LARGEST_OUTPUT, "What the program says") if stream else b""

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read, "said", process.stdout)
            tasks.start_soon(read, "complained", process.stderr)
    except* TooLarge as many:
        too_large += [one for one in many.exceptions if isinstance(one, TooLarge)]
    # Not from within: Python 3.11.2 would put it into a group again.
    if too_large:
        raise too_large[0]
    return found["said"], found["complained"]


async def _end(process: anyio.abc.Process) -> None:
    """Ends the program and whatever it has started."""
    with anyio.CancelScope(shield=True):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.aclose()
