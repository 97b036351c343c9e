"""Checks that the docs are true: links lead somewhere, names exist, settings, routes and dependencies are all told."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "farhand"
DOCS = ROOT / "docs"
# Pages elsewhere whose names in backticks must exist.
NAMING = ("glossary.md", "CONTRIBUTING.md", "findings.md")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"`([^`\n]+)`")
READS = re.compile(
    r'(?:environ(?:ment)?(?:\.get\(|\.pop\(|\[)|number\(\s*environ,\s*)\s*"([A-Z][A-Z0-9_]+)"'
    r'|"([A-Z][A-Z0-9_]+)" not in \w*environ'
)
_ROAD = re.compile(r"^### Road: (.+?)\n(.*?)(?=^##|\Z)", re.DOTALL | re.MULTILINE)
_ROW = re.compile(r"^\| *([0-9–]+) *\|([^|]*)\|(.*)\|$", re.MULTILINE)
_FUNCTION = re.compile(r"`([\w./-]+\.py)::([\w.]+)`")
_COUNTS = re.compile(r"^(\d+) hops, (\d+) files; in all (\d+) functions, (\d+) files\.$", re.MULTILINE)


def pages() -> list[Path]:
    """Every page of ours."""
    return [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]


# --- links


def anchors(text: str) -> set[str]:
    """What can be linked to in a page: its headings, as they are spelled in addresses."""
    headings = re.findall(r"^#+ +(.+)$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, text: str) -> Iterator[str]:
    """Links of a page that lead nowhere inside the project."""
    for target in _LINK.findall(_FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        if not found.exists():
            yield f"{page.relative_to(ROOT)}: the link to {target} leads nowhere"
        elif anchor and found.suffix == ".md" and anchor not in anchors(found.read_text("utf-8")):
            yield f"{page.relative_to(ROOT)}: {path or 'the page'} has no heading for #{anchor}"


# --- names in backticks


def functions(file: Path) -> set[str]:
    """The functions of a module, methods as `Class.method`."""
    found: set[str] = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            inner = (one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
            found |= {f"{node.name}.{one.name}" for one in inner}
    return found


def defined(file: Path) -> set[str]:
    """The functions, classes and constants of a module, methods as `Class.method`."""
    found = functions(file)
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def located(path: str) -> Path | None:
    """A path as a page writes it: from the package, or from the project."""
    return next((found for found in (SOURCE / path, ROOT / path) if found.exists()), None)


def is_readers_own(page: Path, path: str) -> bool:
    """Whether a how-to page names a file that its reader is about to write: in no folder of ours."""
    return page.parent.name == "how-to" and located(path.partition("/")[0] + "/") is None


def missing_names(page: Path, text: str) -> Iterator[str]:
    """Paths (`core/hub.py`) and names in them (`core/hub.py::LocalHub.send`) that do not exist."""
    for span in _SPAN.findall(_FENCE.sub("", text)):
        path, _, name = span.partition("::")
        if not re.fullmatch(r"[\w./-]+/|[\w./-]+\.(py|md|toml|sh)", path) or path.startswith(("/", ".", "~")):
            continue
        found = located(path)
        if found is None and not name and is_readers_own(page, path):
            continue
        if found is None:
            yield f"{page.relative_to(ROOT)}: there is no {path}"
        elif name and name not in defined(found):
            yield f"{page.relative_to(ROOT)}: {path} has no {name}"


# --- the roads of a message


class RoadCounts(NamedTuple):
    """How long a road is: its hops, the files that it names, and both with what is asked on the way."""

    hops: int
    files: int
    all_functions: int
    all_files: int


# The longest that each road may be. Only ever shorter than this.
LIMITS: Mapping[str, RoadCounts] = {
    "Claude in tmux": RoadCounts(20, 25, 61, 48),
    "Codex headless": RoadCounts(17, 21, 52, 38),
    "The demo": RoadCounts(17, 22, 53, 38),
}


def road_counts(text: str) -> RoadCounts:
    """How long the road in this section is."""
    rows = _ROW.findall(text)
    on_the_way = {path for _, hop, happens in rows for path, _ in _FUNCTION.findall(hop + happens)}
    named = set(_FUNCTION.findall(text))
    hops = sum(number.isdecimal() for number, _, _ in rows)
    return RoadCounts(hops, len(on_the_way), len(named), len({path for path, _ in named}))


def road_complaints(title: str, text: str, limits: RoadCounts) -> Iterator[str]:
    """What is wrong with one road."""
    where = f"docs/explanation/architecture.md, road '{title}'"
    for path, name in sorted(set(_FUNCTION.findall(text))):
        file = SOURCE / path
        if not file.is_file() or name not in functions(file):
            yield f"{where}: {path}::{name} is no function"
    expected = 0
    for number, hop, _ in _ROW.findall(text):
        if not number.isdecimal():
            continue
        expected += 1
        if int(number) != expected:
            yield f"{where}: hop {number} should be {expected}"
        if len(_FUNCTION.findall(hop)) != 1:
            yield f"{where}: hop {number} is not one function"
    found, stated = road_counts(text), _COUNTS.search(text)
    if stated is None or RoadCounts(*map(int, stated.groups())) != found:
        yield (
            f"{where}: it has {found.hops} hops, {found.files} files; in all {found.all_functions} functions,"
            f" {found.all_files} files"
        )
    for what, is_, most in zip(("hops", "files", "functions in all", "files in all"), found, limits, strict=True):
        if is_ > most:
            yield f"{where}: {is_} {what}, at most {most}"


def roads_complaints(page: str) -> Iterator[str]:
    """Everything that is wrong with the roads of the page."""
    roads = dict(_ROAD.findall(page))
    for title, limits in LIMITS.items():
        if title in roads:
            yield from road_complaints(title, roads[title], limits)
        else:
            yield f"docs/explanation/architecture.md: there is no road '{title}'"


# --- what must be told


def rows(text: str) -> set[str]:
    """The code spans that every row of every table begins with."""
    begun = re.findall(r"^\| *(`[^`]+`(?:, `[^`]+`)*)", text, re.MULTILINE)
    return {name for spans in begun for name in re.findall(r"`([^`]+)`", spans)}


def differing(what: str, page: str, told: Iterable[str], true: Iterable[str]) -> Iterator[str]:
    """What a page leaves out, and what it invents."""
    told, true = set(told), set(true)
    yield from (f"docs/{page}: {what} {name} is not told" for name in sorted(true - told))
    yield from (f"docs/{page}: there is no {what} {name}" for name in sorted(told - true))


def settings_read() -> set[str]:
    """Every environment variable that a node or the command line reads. The SDK tells its own."""
    rooms = [
        SOURCE / "run.py",
        *(SOURCE / "config").glob("*.py"),
        *(SOURCE / "cli").glob("*.py"),
        *(SOURCE / "channels").glob("*/settings.py"),
    ]
    found = (match for room in rooms for match in READS.finditer(room.read_text("utf-8")))
    return {match.group(1) or match.group(2) for match in found}


def routes_served() -> set[str]:
    """Every method and path that a room hands to a listener."""
    rooms = ("server", "channels", "drivers")
    texts = [file.read_text("utf-8") for room in rooms for file in sorted((SOURCE / room).rglob("*.py"))]
    return {route for text in texts for route in routes_in(text)}


def routes_in(text: str) -> Iterator[str]:
    """The routes of one module, a WebSocket's among them; a path may be, or begin with, a constant of that module."""
    tree = ast.parse(text)
    assigned = (node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant))
    constants = {ast.unparse(node.targets[0]): node.value for node in assigned}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("Route", "WebSocketRoute"):
            parts = call.args[:1]
            if isinstance(parts[0], ast.BinOp):
                parts = [parts[0].left, parts[0].right]
            known = [constants.get(ast.unparse(part), part) for part in parts]
            if path := "".join(str(one.value) for one in known if isinstance(one, ast.Constant)):
                methods = next((ast.literal_eval(one.value) for one in call.keywords if one.arg == "methods"), ["GET"])
                yield from (f"{method} {path}" for method in methods)


def dependencies() -> set[str]:
    """Every package that pyproject.toml and the phone app's package.json ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    app = json.loads((ROOT / "web" / "package.json").read_text("utf-8"))
    python = {re.split(r"[\[<>=~! ;]", one)[0].lower() for one in named} - {"farhand"}
    return {*python, *app["dependencies"], *app["devDependencies"]}


def complaints() -> Iterator[str]:
    """Everything that is wrong with the docs."""
    for page in pages():
        text = page.read_text("utf-8")
        yield from broken_links(page, text)
        if page.parent.name in ("explanation", "how-to") or page.name in NAMING:
            yield from missing_names(page, text)
    for what, name, true in (
        ("setting", "reference/settings.md", settings_read()),
        ("route", "reference/http-api.md", routes_served()),
        ("dependency", "explanation/dependencies.md", dependencies()),
    ):
        yield from differing(what, name, rows((DOCS / name).read_text("utf-8")), true)
    yield from roads_complaints((DOCS / "explanation" / "architecture.md").read_text("utf-8"))


def main() -> int:
    """Prints every complaint; the exit code is 1 when there is one."""
    found = list(complaints())
    for line in found:
        print(line)
    print(f"{len(pages())} pages, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
