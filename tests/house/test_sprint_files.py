"""A sprint whose tasks stand in a file of the worker's folder, asked for by anybody who can write a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from farhand.model.commands import Sprint
from farhand.model.errors import BadInput, NotInFolder, Refused
from farhand.model.facts import SprintEnded
from farhand.model.grammar import CHAT, read
from farhand.testing.house import House, open_house

pytestmark = pytest.mark.anyio
LIST = "# Plan\n\n- [x] done\n- [ ] write a\n- [ ] write b\n"


async def start(house: House, text: str) -> None:
    """Starts one as a chat does."""
    wish = read(house.id(), text, house.hub.present, CHAT)
    assert isinstance(wish, Sprint)
    await house.send(wish)


async def test_a_sprint_takes_the_open_items_of_a_file(tmp_path: Path) -> None:
    async with open_house(tmp_path / "node") as house:
        folder = tmp_path / "project"
        (folder / "docs").mkdir(parents=True)
        (folder / "docs" / "TO DO.md").write_text(LIST)
        await house.hire(directory=folder)
        await start(house, '/sprint start --no-commit --file "docs/TO DO.md"\n- and this')
        ended = await house.fact(SprintEnded)
        assert [one.task for one in ended.sprint.outcomes] == ["and this", "write a", "write b"]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("../outside.md", Refused),
        ("{outside}", Refused),
        ("link.md", Refused),
        ("linked/outside.md", Refused),
        (".env", NotInFolder),
        ("nowhere.md", NotInFolder),
        ("docs", Refused),
        ("binary.md", BadInput),
        ("large.md", BadInput),
        ("done.md", BadInput),
    ],
)
async def test_a_file_that_is_not_in_the_folder_or_no_list_is_refused(
    tmp_path: Path, name: str, error: type[Refused]
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(LIST)
    folder = tmp_path / "project"
    (folder / "docs").mkdir(parents=True)
    (folder / "link.md").symlink_to(outside)
    (folder / "linked").symlink_to(tmp_path)
    (folder / ".env").write_text("- KEY=1\n")
    (folder / "binary.md").write_bytes(b"- a\0b\n")
    (folder / "large.md").write_text("- a\n" * 1_000_000)
    (folder / "done.md").write_text("- [x] all of it\n")
    async with open_house(tmp_path / "node") as house:
        await house.hire(directory=folder)
        with pytest.raises(error):
            await start(house, f"/sprint start --file {name.format(outside=outside)}")
        assert house.worker().sprint is None
