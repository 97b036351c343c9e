"""What every driver of the Gemini CLI can say of the sessions that the CLI keeps."""

from __future__ import annotations

import shlex

import anyio.to_thread

from farhand.drivers.gemini.launch import MANIFEST, GeminiPaths
from farhand.drivers.gemini.sessions import list_sessions
from farhand.model.ports import SessionFound
from farhand.model.present import Worker


class Keeping:
    """Lists the sessions of a folder, and says how to go on with one at the desk."""

    places: GeminiPaths

    async def sessions(self, directory: str) -> list[SessionFound]:
        """The CLI's conversations of that folder, newest first; of every folder, when it is empty."""
        return await anyio.to_thread.run_sync(list_sessions, directory, self.places.kept)

    def resume_command(self, worker: Worker) -> str:
        """What a person types to go on with the worker's session."""
        return f"cd {shlex.quote(worker.directory)} && {MANIFEST['program']} --resume {shlex.quote(worker.session)}"
