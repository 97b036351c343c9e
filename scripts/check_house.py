"""Checks what no linter knows: sizes, words to avoid, an opening sentence, and where a backend may be named."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from farhand.model.compat import BACKENDS

MODULE_LINES = 600
FUNCTION_LINES = 80
AVOIDED = {"utils", "util", "manager", "helper", "helpers", "base", "common", "misc"}
ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "farhand"
# Whoever else needs to know what an agent can do asks its driver. A name may stand in its own driver, in what tests
# are made of, and among the names that people and programs already rely on.
NAMED = (SOURCE / "testing", SOURCE / "model" / "compat.py")
# To the SDK, and to the driver that runs it, one of these names is a vendor of models and the CLI whose settings and
# files it reads; so are the variables that a CLI for every vendor's models is handed. No worker's backend is meant.
VENDORS = (SOURCE / "sdk", SOURCE / "drivers" / "native", SOURCE / "drivers" / "opencode" / "manifest.toml")


def complaints(path: Path) -> list[str]:
    """Everything that is wrong with one module."""
    text = path.read_text("utf-8")
    name = path.relative_to(ROOT)
    found: list[str] = []
    lines = text.count("\n")
    if lines > MODULE_LINES:
        found.append(f"{name}: {lines} lines; {MODULE_LINES} is the limit")
    if path.stem in AVOIDED:
        found.append(f"{name}: '{path.stem}' says nothing; name the module after what it is for")
    tree = ast.parse(text)
    if not ast.get_docstring(tree) and lines:
        found.append(f"{name}: opens without a sentence that says what it is for")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                found.append(f"{name}:{node.lineno}: {node.name} has {length} lines; {FUNCTION_LINES} is the limit")
    return found


def names_backends(path: Path, text: str, backends: Iterable[str]) -> list[str]:
    """Every line on which a backend is named that has no business there."""
    if path.is_relative_to(SOURCE / "drivers"):
        own = path.relative_to(SOURCE / "drivers").parts[0]
        backends = [name for name in backends if name != own]
    if any(path.is_relative_to(place) for place in (*NAMED, *VENDORS)) or not path.is_relative_to(SOURCE):
        return []
    named = re.compile("|".join(backends), re.IGNORECASE)
    return [
        f"{path.relative_to(ROOT)}:{number}: '{found[0]}' is named outside its own driver; ask what a driver can do"
        for number, line in enumerate(text.splitlines(), 1)
        if (found := named.search(line))
    ]


def unlocked() -> list[str]:
    """Dependencies that pyproject.toml names and a lock file does not."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = {
        "requirements.lock": project["dependencies"],
        "requirements-dev.lock": [*project["dependencies"], *extras["testing"], *extras["dev"]],
    }
    found: list[str] = []
    for lock, dependencies in wanted.items():
        locked = {line.partition("==")[0] for line in (ROOT / lock).read_text("utf-8").splitlines() if "==" in line}
        names = {re.split(r"[\[<>=~! ;]", dependency)[0].lower() for dependency in dependencies} - {"farhand"}
        found += [f"{lock}: {name} is not locked; run `make lock`" for name in sorted(names - locked)]
    return found


def main() -> int:
    """Prints every complaint; the exit code is 1 when there is one."""
    modules = [
        path
        for folder in ("src", "tests", "bench", "scripts", "examples")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    found = [line for path in modules for line in complaints(path)]
    for path in sorted(one for one in SOURCE.rglob("*") if one.suffix in {".py", ".toml"}):
        found += names_backends(path, path.read_text("utf-8"), BACKENDS)
    found += unlocked()
    for line in found:
        print(line)
    print(f"{len(modules)} modules, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
