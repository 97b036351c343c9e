"""A pattern that is compiled at its first use finds what the same pattern finds."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from farhand.model.lazy_pattern import lazy_pattern

SOURCE = Path(__file__).resolve().parents[2] / "src" / "farhand"


def test_it_is_compiled_when_it_is_used_and_not_before() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("a")
    assert broken.pattern == "("


def test_it_finds_what_re_finds() -> None:
    found = lazy_pattern(r"(\w)-(\d)", re.IGNORECASE)
    same = re.compile(r"(\w)-(\d)", re.IGNORECASE)
    text = "a-1, B-2 c-x"
    for _ in range(2):
        assert found.findall(text) == same.findall(text)
        assert found.sub(r"\2\1", text) == same.sub(r"\2\1", text)
        assert found.split(text) == same.split(text)
        match = found.match(text)
        assert match is not None
        assert match.groups() == ("a", "1")
        assert found.fullmatch(text) is None
        assert [one.start() for one in found.finditer(text)] == [0, 5]
    assert lazy_pattern(rb"\d").search(b"x1") is not None
    with pytest.raises(AttributeError):
        _ = found.flags


def test_every_lazy_pattern_of_ours_can_be_compiled() -> None:
    """What is wrong with one would show at its first use alone."""
    users = sorted(path for path in SOURCE.rglob("*.py") if "import lazy_pattern" in path.read_text("utf-8"))
    names = [".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in users]
    assert len(names) > 8
    program = (
        "import importlib, re, sys\n"
        "import farhand.model.lazy_pattern as lazy\n"
        "made = []\n"
        "lazy.lazy_pattern = lambda pattern, flags=0: made.append(re.compile(pattern, flags)) or made[-1]\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        "print(len(made))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *names], capture_output=True, text=True, check=True)
    assert int(done.stdout) > len(names)
