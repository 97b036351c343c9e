"""Each setting has one default: what is read from an empty environment is what the class has."""

import os
import subprocess
import sys
import tempfile
from dataclasses import fields, replace
from pathlib import Path

import pytest

from farhand.config import parents
from farhand.config.run_as import AgentUser
from farhand.config.settings import Settings, read_settings
from farhand.model.errors import SettingWrong
from farhand.model.words import Mode

# What no class can know: it depends on the machine, the folder or the name of the node.
READ = {"environment"}


def test_an_empty_environment_is_read_as_the_defaults(tmp_path: Path) -> None:
    read = read_settings(node="test", environ={"HOME": str(tmp_path)})
    plain = Settings(node="test", folder=read.folder, port=read.port, working_directory=read.working_directory)
    for one in fields(Settings):
        if one.name not in READ:
            assert getattr(read, one.name) == getattr(plain, one.name), one.name


def test_the_agent_that_is_hired_by_default_is_a_setting(tmp_path: Path) -> None:
    assert read_settings(environ={"HOME": str(tmp_path)}).hire_backend == "claude"
    assert read_settings(environ={"HOME": str(tmp_path), "FARHAND_HIRE_BACKEND": " Demo "}).hire_backend == "demo"


TOKEN = "123:a-secret-word"
NAME = "TELEGRAM_BOT_TOKEN"


def token(environ: dict[str, str]) -> str:
    return read_settings(secret_names=[NAME], environ={"HOME": "/nowhere", **environ}).secrets.get(NAME, "")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "telegram-bot-token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    return path


def test_a_secret_may_stand_in_a_file_of_its_own(file: Path) -> None:
    assert token({f"{NAME}_FILE": str(file)}) == TOKEN
    assert token({NAME: "1:other", f"{NAME}_FILE": str(file)}) == "1:other"
    assert token({"CREDENTIALS_DIRECTORY": str(file.parent)}) == TOKEN
    assert token({"CREDENTIALS_DIRECTORY": str(file.parent / "none")}) == ""


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o602])
def test_a_secret_that_others_can_read_is_refused(file: Path, mode: int) -> None:
    file.chmod(mode)
    with pytest.raises(SettingWrong, match="chmod 600") as refused:
        token({f"{NAME}_FILE": str(file)})
    assert TOKEN not in refused.value.text


def test_a_secret_that_is_not_there_is_refused(tmp_path: Path, file: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for wrong in (tmp_path / "none", tmp_path, tmp_path / "pipe"):
        with pytest.raises(SettingWrong):
            token({f"{NAME}_FILE": str(wrong)})
    file.write_text("\n")
    with pytest.raises(SettingWrong, match="is empty"):
        token({f"{NAME}_FILE": str(file)})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_secret_of_another_user_is_refused(file: Path) -> None:
    os.chown(file, 65534, 65534)
    with pytest.raises(SettingWrong, match="another user"):
        token({f"{NAME}_FILE": str(file)})


def test_a_parent_that_carries_the_token_is_named_without_it() -> None:
    program = "from farhand.config import parents; print(parents.warning(parents.carriers(['123:a-secret-word'])))"
    words = ["/bin/sh", "-c", f'{sys.executable} -c "{program}"; true']
    done = subprocess.run(words, env={"TOKEN": TOKEN}, capture_output=True, text=True, check=True)
    assert "sh (pid " in done.stdout
    assert TOKEN not in done.stdout
    assert parents.carriers(["a word that nobody has"]) == []
    assert parents.warning([]) == ""


def test_as_root_nobody_acts_unasked_without_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = {"HOME": str(tmp_path)}
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert (read_settings(environ=dict(home)).usual_mode, read_settings(environ=dict(home)).no_yolo) == (Mode.YOLO, "")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    asking = read_settings(environ=dict(home))
    assert asking.usual_mode is Mode.DEFAULT
    assert "FARHAND_ROOT_YOLO=1" in asking.no_yolo
    assert replace(asking, hire_mode=Mode.PLAN).usual_mode is Mode.PLAN
    allowed = read_settings(environ={**home, "FARHAND_ROOT_YOLO": "1"})
    assert (allowed.usual_mode, allowed.no_yolo) == (Mode.YOLO, "")


@pytest.mark.parametrize(
    ("file", "folder", "reads"),
    [(0o644, 0o755, True), (0o644, 0o711, True), (0o600, 0o755, False), (0o640, 0o755, False), (0o644, 0o700, False)],
)
def test_another_user_reads_what_the_modes_let_others_read(file: int, folder: int, reads: bool) -> None:
    nobody = AgentUser(name="nobody", uid=65534, gid=65534, home="/", shell="/bin/false")
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        path = Path(made) / "notes.md"
        path.write_text("x")
        path.chmod(file)
        Path(made).chmod(folder)
        assert nobody.can_read(path) is reads
        assert not nobody.can_read(Path(made) / "none.md")
