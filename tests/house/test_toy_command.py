"""A new command is one entry in the table and one decision: the page that says so is played on a copy of the source."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import farhand

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "add-a-command.md"
_BLOCK = re.compile(r"^ *```python (\w+)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def insert(file: Path, before: str, block: str, indent: str) -> None:
    """Puts a block of the page before a line of the file."""
    text = file.read_text("utf-8")
    assert text.count(before) == 1, f"{before!r} in {file}"
    file.write_text(text.replace(before, textwrap.indent(textwrap.dedent(block), indent) + before), "utf-8")


def test_a_new_command_works_on_every_surface(short_folder: Path, telegram_address: str) -> None:
    blocks = dict(_BLOCK.findall(PAGE.read_text("utf-8")))
    assert list(blocks) == ["commands", "slash", "decide"]
    source = short_folder / "src" / "farhand"
    shutil.copytree(Path(farhand.__file__).parent, source, ignore=shutil.ignore_patterns("__pycache__"))
    insert(source / "model" / "commands.py", "Command: TypeAlias = (\n", blocks["commands"] + "\n\n", "")
    insert(source / "model" / "commands.py", "    Hire\n    | End\n", "Praise |", "    ")
    insert(source / "model" / "slash.py", '    Slash("team",', blocks["slash"].rstrip() + ",\n", "    ")
    insert(source / "core" / "decide.py", "        case commands.Focus(", blocks["decide"], "        ")
    paths = f"{source.parent}{os.pathsep}{ROOT}"
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    order = [sys.executable, "-m", "tests.house.toy_node", str(short_folder / "node"), telegram_address]
    told = subprocess.run(order, env=environment, capture_output=True, text=True, check=False)
    assert told.stdout.endswith("praised everywhere\n"), told.stdout + told.stderr
