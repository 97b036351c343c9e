"""`farhand sandbox`: builds the image that sandboxed workers run in, and tells which engine runs them."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from farhand.config.sandbox import read_sandbox
from farhand.model.errors import BadUsage, NodeError
from farhand.model.sandbox import SandboxEngine
from farhand.sandbox.engine import call, find_engine

DOCKERFILE = Path(__file__).parent.parent / "sandbox" / "Dockerfile"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `sandbox` takes."""
    parser.add_argument("action", choices=("build", "info", "file"), help="build the image; tell; print the Dockerfile")
    parser.add_argument("--file", help="a Dockerfile of your own")
    parser.add_argument("--image", "--sandbox-image", dest="sandbox_image", help="the image's name")
    parser.add_argument("--build-arg", action="append", default=[], metavar="NAME=VALUE", help="passed to the engine")


def run(arguments: argparse.Namespace) -> int:
    """Does it with the engine that workers would have."""
    if arguments.action == "file":
        sys.stdout.write(DOCKERFILE.read_text("utf-8"))
        return 0
    options = read_sandbox(os.environ)
    image = arguments.sandbox_image or options.image
    engine = find_engine(options.engine, os.environ)
    if arguments.action == "info":
        return _tell(engine.kind, engine.program, image)
    if engine.kind is SandboxEngine.BWRAP:
        raise BadUsage("bubblewrap needs no image: workers have this system's own programs, read-only.")
    file = Path(arguments.file).expanduser() if arguments.file else DOCKERFILE
    if not file.is_file():
        raise BadUsage(f"There is no Dockerfile {file}.", hints=("farhand sandbox file > Dockerfile",))
    words = [engine.program, "build", "--tag", image, "--file", str(file)]
    words += [f"--build-arg={one}" for one in arguments.build_arg]
    code = subprocess.run([*words, str(file.parent)], check=False, stdin=subprocess.DEVNULL).returncode
    if code:
        raise NodeError(f"{engine.kind} could not build '{image}' (code {code}).", hints=("what it said is above",))
    sys.stdout.write(f"Image '{image}' is built. Workers run in it with: farhand run --sandbox\n")
    return 0


def _tell(kind: SandboxEngine, program: str, image: str) -> int:
    sys.stdout.write(f"engine:  {kind} ({program})\n")
    if kind is not SandboxEngine.BWRAP:
        there = call([program, "image", "inspect", image], os.environ).code == 0
        sys.stdout.write(f"image:   {image} ({'there' if there else 'missing: farhand sandbox build'})\n")
    return 0
