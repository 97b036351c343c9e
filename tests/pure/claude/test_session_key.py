"""The word that a session's hooks are known by is chosen once, and never empty."""

from pathlib import Path

from farhand.drivers.claude.launch import session_key


def test_it_is_chosen_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "worker" / "key"
    key = session_key(path)
    assert len(key) >= 32
    assert session_key(path) == key
    assert path.stat().st_mode & 0o777 == 0o600


def test_one_that_a_kill_left_empty_is_chosen_anew(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.touch()
    assert session_key(path)
    assert session_key(path) == path.read_text("ascii")
