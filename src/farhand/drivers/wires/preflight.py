"""Whether an agent can work here: its program is on PATH, its folder is there; otherwise what to do about it."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from farhand.model.errors import AgentMissing, DriverError
from farhand.model.phrases import phrase
from farhand.model.present import Worker
from farhand.model.start_problems import PROGRAM_MISSING


def program_path(name: str, install: str, environment: Mapping[str, str]) -> str:
    """Where the program is; raises AgentMissing with the command that installs it."""
    path = shutil.which(name, path=environment.get("PATH"))
    if path is None:
        raise AgentMissing(phrase(PROGRAM_MISSING, program=name, install=install), program=name)
    return path


def workplace(worker: Worker) -> Path:
    """The worker's folder as it really is; raises DriverError when there is none."""
    directory = Path(worker.directory)
    if not directory.is_dir():
        raise DriverError(phrase("why_folder_gone", folder=str(directory), worker=worker.name))
    return directory.resolve()


def is_folder(directory: str, resolved: str) -> bool:
    """Whether a directory, as a CLI wrote it down, is this one, which is resolved."""
    return directory == resolved or str(Path(directory).resolve()) == resolved
