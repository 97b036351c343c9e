"""What `make check` holds beside style and types: a backend is named in its own driver, and nowhere else."""

import pytest
from scripts import check_house

from farhand.model.compat import BACKENDS

SOURCE = check_house.SOURCE


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("core/team.py", 'if backend == "codex":'),
        ("channels/kit/card.py", "GEMINI_COLOUR = 1"),
        ("drivers/codex/tmux/link.py", "# as Claude does"),
        ("drivers/wires/holder/process.py", "class OpencodeWire:"),
        ("drivers/demo/manifest.toml", 'like = "claude"'),
    ],
)
def test_a_backend_that_is_named_elsewhere_is_found(place: str, line: str) -> None:
    (complaint,) = check_house.names_backends(SOURCE / place, f"\n{line}\n", BACKENDS)
    assert complaint.startswith(f"src/farhand/{place}:2: ")


@pytest.mark.parametrize(
    "place",
    [
        "drivers/codex/tmux/link.py",
        "testing/claude_env.py",
        "model/compat.py",
        "sdk/settings.py",
        "drivers/native/x.py",
    ],
)
def test_where_it_belongs_it_may_be_named(place: str) -> None:
    assert check_house.names_backends(SOURCE / place, "codex", BACKENDS) == []
