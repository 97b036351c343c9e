"""`farhand sandbox build` with the real podman: from an image that the test made, since none can be fetched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.live.nodes import Home
from tests.live.sandbox.engines import variables

from farhand.sandbox.engine import call

BUILT = f"localhost/farhand-test-built:{os.getpid()}"


@pytest.fixture
def home(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Somebody with podman, and with the storage and the settings in which it runs here."""
    given = variables("podman", tmp_path_factory.getbasetemp())
    made = Home(tmp_path, **{**given, "HOME": os.environ.get("HOME", "/"), "FARHAND_SANDBOX_ENGINE": "podman"})
    (tmp_path / "Dockerfile").write_text("ARG BASE\nFROM ${BASE}\nENV MADE=here\nWORKDIR /workspace\n")
    return made


def test_an_image_is_built_from_the_base_that_was_named_and_is_then_there(home: Home) -> None:
    base = f"BASE={home.environment['SANDBOX_IMAGE']}"
    try:
        assert "(missing: farhand sandbox build)" in home.farhand("sandbox", "info", "--image", BUILT).stdout
        told = home.farhand("sandbox", "build", "--file", "Dockerfile", "--image", BUILT, "--build-arg", base)
        assert told.returncode == 0, told.stderr
        assert told.stdout.endswith(f"Image '{BUILT}' is built. Workers run in it with: farhand run --sandbox\n")
        assert f"{BUILT} (there)" in home.farhand("sandbox", "info", "--image", BUILT).stdout
    finally:
        call(["podman", "image", "rm", "--force", BUILT], {**os.environ, **home.environment})


def test_what_cannot_be_built_is_told_with_its_reason_above(home: Home) -> None:
    (home.folder / "Dockerfile").write_text("NONSENSE\n")
    told = home.farhand("sandbox", "build", "--file", "Dockerfile", "--image", BUILT)
    assert told.returncode == 1
    *above, sentence, hint = told.stderr.splitlines()
    assert above
    assert sentence.startswith(f"error: podman could not build '{BUILT}' (code ")
    assert hint == "→ what it said is above"


def test_our_own_file_installs_nothing_by_a_name_that_is_not_ours(home: Home) -> None:
    """Whoever took the name `farhand` in an index of packages would have been in every image."""
    lines = home.farhand("sandbox", "file").stdout.splitlines()
    assert 'ARG FARHAND=""' in lines
    assert 'ARG BASE="debian:bookworm-slim"' in lines
