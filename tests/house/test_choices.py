"""What can be chosen: what workers can do, and what can be hired here."""

from pathlib import Path

import pytest
from tests.house.workdir_client import api, hired_in

from farhand.testing.house import House

pytestmark = pytest.mark.anyio


async def test_workers_tell_what_they_can_do(house: House) -> None:
    await house.hire("ann")
    async with api(house) as phone:
        (ann,) = (await phone.get("/api/workers"))["workers"]
        assert (await phone.get("/api/workers/ann"))["worker"] == ann
        assert await phone.error("/api/workers/bob") == "unknown_worker"
    assert (ann["worker"], ann["backend"]) == ("ann", "scripted")
    assert ann["can"]["interrupt"] is True


async def test_a_hiring_has_its_choices(house: House, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    await hired_in(house, tmp_path / "project")
    async with api(house) as phone:
        hire = (await phone.get("/api/hire"))["hire"]
    assert hire["directory"] == str(house.node.settings.working_directory)
    assert [one["backend"] for one in hire["backends"]] == ["scripted"]
    assert hire["backends"][0]["wires"][0]["can"]["interrupt"] is True
    assert hire["folders"] == [str(tmp_path / "project"), str(tmp_path)]
