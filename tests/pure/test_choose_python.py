"""Which Python a new .venv is made of, on machines with one, with two, and with a poor one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "choose-python.sh"
# What is asked of an interpreter, by a word that only that question has.
OPTIMIZED, NEW_ENOUGH, MAKES_VENVS = "CONFIG_ARGS", "version_info", "ensurepip"


def interpreter(place: Path, *true: str) -> Path:
    """A python3 that says yes to these questions, and no to every other."""
    place.parent.mkdir(parents=True, exist_ok=True)
    answers = "".join(f"*{word}*) exit 0 ;;\n" for word in true)
    place.write_text(f'#!/bin/sh\ncase "$2" in\n{answers}*) exit 1 ;;\nesac\n')
    place.chmod(0o755)
    return place


def chosen(folder: Path, system: Path, root: bool = False, **variables: str) -> str:
    """What the script says, where `id` names root or somebody else and there is an apt-get."""
    for name, said in (("id", "0" if root else "1000"), ("apt-get", "")):
        (folder / name).write_text(f"#!/bin/sh\necho {said}\n")
        (folder / name).chmod(0o755)
    ran = subprocess.run(
        ["/bin/sh", str(SCRIPT), str(system)],
        env={"PATH": str(folder), **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.strip()


@pytest.mark.parametrize(
    ("on_the_path", "of_the_system", "root", "takes_the_systems"),
    [
        ((), (NEW_ENOUGH, MAKES_VENVS), False, True),
        ((OPTIMIZED,), (NEW_ENOUGH, MAKES_VENVS), False, False),
        ((), (MAKES_VENVS,), False, False),
        ((), (NEW_ENOUGH,), False, False),
        ((), (NEW_ENOUGH,), True, True),
    ],
    ids=["a poor one", "a well-built one", "a system that is too old", "no ensurepip", "no ensurepip, but root"],
)
def test_the_better_of_two(
    tmp_path: Path, on_the_path: tuple[str, ...], of_the_system: tuple[str, ...], root: bool, takes_the_systems: bool
) -> None:
    interpreter(tmp_path / "bin" / "python3", *on_the_path)
    system = interpreter(tmp_path / "usr" / "python3", *of_the_system)
    assert chosen(tmp_path / "bin", system, root) == (str(system) if takes_the_systems else "python3")


def test_a_machine_without_a_python_of_the_system_and_one_without_any_other(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    system = interpreter(tmp_path / "usr" / "python3", NEW_ENOUGH, MAKES_VENVS)
    assert chosen(tmp_path / "bin", system) == str(system)
    interpreter(tmp_path / "bin" / "python3")
    assert chosen(tmp_path / "bin", tmp_path / "none") == "python3"


def test_the_one_that_is_named_is_taken(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    system = interpreter(tmp_path / "usr" / "python3", NEW_ENOUGH, MAKES_VENVS)
    assert chosen(tmp_path / "bin", system, PYTHON="python3.13") == "python3.13"


def test_what_is_asked_of_an_interpreter_can_be_answered_by_a_real_one(tmp_path: Path) -> None:
    # This one runs the tests: it is new enough, and it can make a .venv or is in one that was made.
    (tmp_path / "bin").mkdir()
    assert chosen(tmp_path / "bin", Path(sys.executable), root=True) == sys.executable
