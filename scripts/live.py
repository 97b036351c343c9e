"""Runs the driver contract of an agent CLI against another version of it, and tells what it writes differently.

`make live CLI=codex@latest`; without a version, the one that the tests pin. Each version has a folder of its own.
`TESTS=tests/live/codex/test_codex_contract.py` runs a part of the tests; what did not come up is no news then.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from farhand.testing import cli_records, clis
from farhand.testing import format_changes as changes

ROOT = Path(__file__).resolve().parent.parent
PINNED = ROOT / ".cache" / "npm"
# What the tests saw the pinned versions write.
SEEN = ROOT / "tests" / "live" / "clis" / "seen"
PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}


def main(arguments: list[str]) -> int:
    """Installs, runs, reports; the exit code is that of the contract."""
    name, _, version = (arguments[0] if arguments else "").partition("@")
    tests = arguments[1:] or [str(ROOT / "tests" / "live" / name)]
    if name not in PACKAGES or not all(Path(one.partition("::")[0]).exists() for one in tests):
        sys.stderr.write(f"usage: make live CLI=<{'|'.join(PACKAGES)}>[@version] [TESTS=…]\n")
        return 2
    folder = installed(name, version) if version else PINNED
    if folder is None:
        sys.stderr.write(f"npm could not install {PACKAGES[name]}@{version}; see what it said above.\n")
        return 4
    found = version_of(folder, name)
    sys.stdout.write(f"{name} {found} in {folder.relative_to(ROOT)}\n")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="farhand-live-") as seen:
        code = run(tests, folder, Path(seen))
        witnessed = cli_records.kinds_in(sorted(Path(seen).iterdir()))
    lines = told(name, found, witnessed, holds=not code, whole=not arguments[1:])
    sys.stdout.write("\n" + "".join(f"{line}\n" for line in lines))
    return code


def told(name: str, version: str, witnessed: list[cli_records.Kinds], *, holds: bool, whole: bool) -> list[str]:
    """The report; what the pinned version writes is kept for the next one to be held against."""
    recordings = sorted((ROOT / "tests" / "pure" / name / "recordings").glob("*"))
    recorded = cli_records.merged(cli_records.kinds_in(recordings))
    kept, pinned = SEEN / f"{name}.json", version_of(PINNED, name)
    before = (
        msgspec.json.decode(kept.read_bytes(), type=changes.SeenFormat) if kept.exists() else changes.SeenFormat("", {})
    )
    now = changes.spoken(witnessed, cli_records.merged([recorded, before.kinds]))
    expected = before.kinds if whole else {kind: before.kinds[kind] for kind in before.kinds.keys() & now.keys()}
    sources = {path.name: path.read_text() for path in sorted((ROOT / "src/farhand/drivers" / name).glob("*.py"))}
    found = changes.report(changes.changes(recorded, expected, now), lambda field: changes.readers(sources, field))
    if version == pinned and holds and whole:
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(msgspec.json.format(msgspec.json.encode(changes.SeenFormat(version, now)), indent=1) + b"\n")
    than = f"the recordings and {before.version}" if before.version else "the recordings"
    heading = f"What {name} {version} writes differently from {than}:"
    return [
        heading,
        *(f"  {line}" for line in found or ["  nothing"]),
        "",
        verdict(name, version, found, holds=holds, whole=whole),
    ]


def verdict(name: str, version: str, found: list[str], *, holds: bool, whole: bool = True) -> str:
    """What to do now."""
    tried = "The contract" if whole else "What was tried of the contract"
    if not holds:
        return f"{tried} does not hold for {name} {version}. Look at the tests that failed, then at the '!' lines."
    if any(line.startswith("!") for line in found):
        return f"{tried} holds for {name} {version}. Look at the '!' lines before you trust it."
    return f"{tried} holds for {name} {version}, and nothing that a driver reads has changed."


def installed(name: str, version: str) -> Path | None:
    """A folder with that version, None when there is no such; the other CLIs in it are the pinned ones."""
    folder = ROOT / ".cache" / "live" / f"{name}@{version}"
    # The newest may be another one tomorrow; a number stays what it is.
    if not (folder / "node_modules").exists() or version_of(folder, name) != version:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "tests" / "live" / "clis" / ".npmrc", folder / ".npmrc")
        (folder / "package.json").write_text(json.dumps({"private": True}))
        words = [*npm(), "install", "--no-save", "--loglevel=error", f"{PACKAGES[name]}@{version}"]
        path = f"{ROOT / '.cache/node/bin'}:{os.environ['PATH']}"
        if subprocess.run(words, cwd=folder, check=False, env={**os.environ, "PATH": path}).returncode:
            shutil.rmtree(folder)
            return None
    for other in (PINNED / "node_modules" / ".bin").iterdir():
        mine = folder / "node_modules" / ".bin" / other.name
        if not mine.exists():
            mine.unlink(missing_ok=True)
            mine.symlink_to(other)
    return folder


def npm() -> list[str]:
    """The npm that came with the node of the tests."""
    node = ROOT / ".cache" / "node" / "bin" / "node"
    wheel = node.resolve().parents[1]
    return [str(node), str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def version_of(folder: Path, name: str) -> str:
    """What is installed there."""
    package = folder / "node_modules" / PACKAGES[name] / "package.json"
    return str(json.loads(package.read_text())["version"])


def run(tests: list[str], folder: Path, seen: Path) -> int:
    """The contract, with everything kept that the CLI writes."""
    environment = {**os.environ, clis.FOLDER: str(folder), cli_records.FOLDER: str(seen)}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile", *tests]
    return subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
