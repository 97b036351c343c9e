"""Files that are named as `@path` in the terminal app of a team: they go along, by their path or uploaded."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.house.test_worker_conversations import key_of

from farhand.cli.team_files import FilesUploaded, files_of
from farhand.cli.tui_team import TeamDesk
from farhand.client.http import HttpHub
from farhand.model.errors import BadInput, TooLarge
from farhand.model.facts import Event, Queued
from farhand.model.words import Attachment, Sender
from farhand.remote.upload import LARGEST_BYTES
from farhand.testing.house import House

pytestmark = pytest.mark.anyio


async def queued(house: House, text: str) -> tuple[Attachment, ...]:
    """What went along with that message."""

    def is_it(event: Event) -> bool:
        return isinstance(event.fact, Queued) and event.fact.text == text

    return (await house.fact(Queued, is_it)).attachments


async def test_a_file_of_the_workers_folder_goes_along_by_its_path(house: House, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "plan.png").write_bytes(b"\x89PNG")
    await house.hire("ann", directory=work)
    desk = TeamDesk(house.hub, Sender(via="tui"))
    await desk.open()
    assert [one.text for one in desk.completions("@pl", first=False)] == ["@plan.png"]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.run)
        await desk.submit("look at @plan.png and @nothing")
        [file] = await queued(house, "look at @plan.png and @nothing")
        assert (file.path, file.name, file.media_type) == (str(work / "plan.png"), "plan.png", "image/png")
        # A program without a key could show an agent so what is kept from it.
        await desk.submit("now @plan.png again", may_allow=False)
        assert await queued(house, "now @plan.png again") == ()
        tasks.cancel_scope.cancel()


async def test_a_file_of_this_machine_is_given_to_a_worker_elsewhere(house: House, tmp_path: Path) -> None:
    await house.hire("ann")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "plan.txt").write_text("forty-two")
    async with HttpHub(f"http://127.0.0.1:{house.node.port}", key_of(house)) as hub:
        assert isinstance(files_of(hub), FilesUploaded)
        desk = TeamDesk(hub, Sender(via="tui"), FilesUploaded(hub, mine))
        await desk.open()
        assert [one.text for one in desk.completions("@pl", first=False)] == ["@plan.txt"]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.run)
            await desk.submit("read @plan.txt")
            [file] = await queued(house, "read @plan.txt")
            assert Path(file.path).is_relative_to(house.node.inbox("ann"))
            assert Path(file.path).read_text() == "forty-two"
            # What cannot go along is told, and nothing is said without it.
            (mine / "big.bin").write_bytes(b"x" * (LARGEST_BYTES + 1))
            with pytest.raises(TooLarge, match=r"big\.bin"):
                await desk.submit("read @big.bin")
            with pytest.raises(BadInput, match="was not taken"):
                await hub.upload("nobody", "x.txt", b"x")
            tasks.cancel_scope.cancel()
    assert "read @big.bin" not in str(house.worker().queue)
