"""Runs the driver contract of an agent CLI against another version of it, and tells what it writes differently.

`make live CLI=codex@latest`; without a version, the one that the tests pin. Each version has a folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from farhand.testing import clis, witness

ROOT = Path(__file__).resolve().parent.parent
PINNED = ROOT / ".cache" / "npm"
PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}


def main(arguments: list[str]) -> int:
    """Installs, runs, reports; the exit code is that of the contract."""
    name, _, version = (arguments[0] if len(arguments) == 1 else "").partition("@")
    tests = ROOT / "tests" / "live" / name
    if name not in PACKAGES or not tests.is_dir():
        sys.stderr.write(f"usage: make live CLI=<{'|'.join(PACKAGES)}>[@version]\n")
        return 2
    folder = installed(name, version) if version else PINNED
    sys.stdout.write(f"{name} {version_of(folder, name)} in {folder}\n")
    with tempfile.TemporaryDirectory(prefix="farhand-live-") as seen:
        code = run(tests, folder, Path(seen))
        recordings = sorted((ROOT / "tests" / "pure" / name / "recordings").glob("*"))
        lines = witness.report((file for file in recordings if file.is_file()), sorted(Path(seen).iterdir()))
    pinned = version_of(PINNED, name)
    sys.stdout.write(f"\nAgainst the recordings (of {pinned}):\n" + "".join(f"  {line}\n" for line in lines))
    sys.stdout.write(f"\nThe contract {'holds' if not code else 'does not hold'} for {name} {version or pinned}.\n")
    return code


def installed(name: str, version: str) -> Path:
    """A folder with that version; the other CLIs in it are the pinned ones."""
    folder = ROOT / ".cache" / "live" / f"{name}@{version}"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / "tests" / "live" / "clis" / ".npmrc", folder / ".npmrc")
    (folder / "package.json").write_text(json.dumps({"private": True}))
    # The newest may be another one tomorrow: asked for again every time.
    subprocess.run(
        [*npm(), "install", "--no-save", "--loglevel=error", f"{PACKAGES[name]}@{version}"],
        cwd=folder,
        check=True,
        env={**os.environ, "PATH": f"{ROOT / '.cache/node/bin'}:{os.environ['PATH']}"},
    )
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


def run(tests: Path, folder: Path, seen: Path) -> int:
    """The contract, with everything kept that the CLI writes."""
    environment = {**os.environ, clis.FOLDER: str(folder), witness.FOLDER: str(seen)}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)]
    return subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
