"""What `make check` holds of driver folders: the same files with the same meaning, and no others."""

from pathlib import Path

import pytest
from scripts import check_drivers

BUILD = '"""Builds."""\n\n\ndef build(context):\n    return []\n'
FLAT = ("__init__.py", "manifest.toml", "agent.py", "translate.py")
PARTED = ("__init__.py", "manifest.toml", *check_drivers.REQUIRED_WITH_WIRES, "tmux/__init__.py", "tmux/driver.py")


def drivers(folder: Path, *files: str, build: str = BUILD) -> Path:
    for name in files:
        path = folder / "one" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (folder / "one" / "driver.py").write_text(build)
    return folder


@pytest.mark.parametrize("files", [FLAT, PARTED, (*PARTED, "tmux/keyboard.py", "exec/__init__.py", "exec/driver.py")])
def test_a_folder_that_is_like_the_others_is_left_alone(tmp_path: Path, files: tuple[str, ...]) -> None:
    assert check_drivers.complaints(drivers(tmp_path, *files)) == []


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (("__init__.py",), "one/manifest.toml is missing"),
        ((*FLAT, "turns.py"), "one/turns.py: "),
        ([name for name in PARTED if name != "limits.py"], "one/limits.py is missing"),
        ([name for name in PARTED if name != "tmux/driver.py"], "one/tmux/driver.py is missing"),
        ((*PARTED, "translate.py"), "one/translate.py: "),
        ((*PARTED, "tmux/said.py"), "one/tmux/said.py: "),
        ((*PARTED, "exec/__init__.py", "exec/driver.py", "exec/screen.py"), "one/exec/screen.py: "),
        ((*PARTED, "pipe/__init__.py", "pipe/driver.py"), "one/pipe/: no wire is called so"),
    ],
)
def test_what_is_missing_or_unknown_is_found(tmp_path: Path, files: tuple[str, ...], words: str) -> None:
    (complaint,) = check_drivers.complaints(drivers(tmp_path, *files))
    assert complaint.startswith(words)


@pytest.mark.parametrize(
    ("build", "words"),
    [("", "one/driver.py has no build"), (f"{BUILD}\n\nclass Link:\n    pass\n", "one/driver.py only builds; Link")],
)
def test_a_driver_module_builds_and_does_no_more(tmp_path: Path, build: str, words: str) -> None:
    (complaint,) = check_drivers.complaints(drivers(tmp_path, *PARTED, build=build))
    assert complaint.startswith(words)


def test_the_page_for_writers_of_drivers_shows_the_table() -> None:
    assert check_drivers.table() in check_drivers.PAGE.read_text("utf-8")
