"""What can be chosen: what workers can do, and what can be hired here."""

import os
from pathlib import Path

import pytest
from tests.house.workdir_client import api, hired_in

from farhand.choices import NodeChoices
from farhand.drivers.bridge.driver import BridgeDriver
from farhand.model.bridge import BACKEND as BRIDGE
from farhand.model.ports import Driver
from farhand.roster import open_bridge
from farhand.testing.house import House
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio


async def test_workers_tell_what_they_can_do(house: House) -> None:
    await house.hire("ann")
    async with api(house) as phone:
        (ann,) = (await phone.get("/api/workers"))["workers"]
        assert (await phone.get("/api/workers/ann"))["worker"] == ann
        assert await phone.error("/api/workers/bob") == "unknown_worker"
    assert (ann["worker"], ann["backend"]) == ("ann", "scripted")
    assert ann["can"]["interrupt"] is True
    assert ann["effort"] == ["low", "high"]


async def test_a_worker_that_nobody_here_can_run_is_told_of_all_the_same(house: House) -> None:
    await house.hire("ann")
    assert not NodeChoices(house.node, {}).abilities(house.worker("ann")).can.interrupt


async def test_a_hiring_has_its_choices(house: House, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    await hired_in(house, tmp_path / "project")
    async with api(house) as phone:
        hire = (await phone.get("/api/hire"))["hire"]
    assert hire["directory"] == str(house.node.settings.working_directory)
    assert [one["backend"] for one in hire["backends"]] == ["scripted"]
    assert hire["backends"][0]["wires"][0]["can"]["interrupt"] is True
    assert hire["backends"][0]["wires"][0]["can"]["effort"] == ["low", "high"]
    assert hire["folders"] == [str(tmp_path / "project"), str(tmp_path)]


async def test_an_agent_that_was_started_elsewhere_is_offered_last(house: House) -> None:
    agent = ScriptedDriver()
    drivers: dict[str, Driver] = {BRIDGE: BridgeDriver(open_bridge), agent.backend: agent}
    offered = await NodeChoices(house.node, drivers).hire(versions=False)
    assert [one.backend for one in offered.backends] == [agent.backend, BRIDGE]


async def test_who_needs_no_versions_waits_for_no_program(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho asked >> {tmp_path}/asked\necho 1.2.3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    async with api(house) as phone:
        await phone.get("/api/hire", versions="0")
        assert not (tmp_path / "asked").exists()
        await phone.get("/api/hire")
        assert (tmp_path / "asked").exists()
