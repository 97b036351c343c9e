"""What our Dockerfile installs for Python is what our programs inside import, with the bounds of the package itself."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import farhand

ROOT = Path(farhand.__file__).parent
PROJECT = Path(__file__).parents[2] / "pyproject.toml"
# The programs that drivers run where the worker is.
PROGRAMS = tuple(sorted(ROOT.glob("drivers/**/agent.py")))
# Only with an extra, and told so where it is not there.
EXTRAS = {"mcp", "mcp_types", "opentelemetry"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def dockerfile_packages() -> dict[str, str]:
    """The names in `ARG PACKAGES`, each with what is written there."""
    text = (ROOT / "sandbox" / "Dockerfile").read_text("utf-8")
    (listed,) = re.findall(r'^ARG PACKAGES="([^"]*)"$', text, re.MULTILINE)
    return {normal(re.split(r"[<>=~!]", one)[0]): one for one in listed.split()}


def imported(file: Path) -> Iterator[str]:
    """Every module that a file names in an import, wherever it stands; what is for a type checker alone is left out."""
    waiting: list[ast.AST] = [ast.parse(file.read_text("utf-8"))]
    while waiting:
        found = waiting.pop()
        if isinstance(found, ast.If) and "TYPE_CHECKING" in ast.dump(found.test):
            continue
        waiting += ast.iter_child_nodes(found)
        if isinstance(found, ast.Import):
            yield from (alias.name for alias in found.names)
        elif isinstance(found, ast.ImportFrom) and found.module:
            yield found.module
            yield from (f"{found.module}.{alias.name}" for alias in found.names)


def files_of(module: str) -> Iterator[Path]:
    """The files that are run when one of our modules is imported."""
    place = ROOT
    for word in module.split(".")[1:]:
        yield place / "__init__.py"
        place /= word
    yield place.with_suffix(".py") if place.with_suffix(".py").is_file() else place / "__init__.py"


def needed() -> set[str]:
    """The packages of others that our programs may import, however late."""
    waiting, seen, others = list(PROGRAMS), set[Path](), set[str]()
    while waiting:
        file = waiting.pop()
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        for module in imported(file):
            top = module.partition(".")[0]
            if top == ROOT.name:
                waiting += files_of(module)
            elif top not in sys.stdlib_module_names:
                others.add(top)
    known = packages_distributions()
    return {normal(known[one][0]) for one in others - EXTRAS}


def test_the_programs_inside_are_all_looked_at() -> None:
    assert {file.parent.name for file in PROGRAMS} >= {"acp", "exec", "native", "demo"}


def test_the_image_has_every_package_that_a_program_inside_imports_and_no_other() -> None:
    assert needed() == set(dockerfile_packages())


@pytest.mark.parametrize("name", sorted(dockerfile_packages()))
def test_the_image_has_the_versions_that_the_package_asks_for(name: str) -> None:
    wanted = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["dependencies"]
    assert dockerfile_packages()[name] in wanted
