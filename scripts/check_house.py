"""Checks what no linter knows: sizes of modules and functions, words to avoid in names, an opening sentence."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

MODULE_LINES = 600
FUNCTION_LINES = 80
AVOIDED = {"utils", "util", "manager", "helper", "helpers", "base", "common", "misc"}
ROOT = Path(__file__).resolve().parent.parent


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
    found += unlocked()
    for line in found:
        print(line)
    print(f"{len(modules)} modules, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
