"""Every room of the package is under the contracts of imports: a new one cannot be forgotten in a list."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
PACKAGE = ROOT / "src" / "farhand"
ROOMS = {
    f"farhand.{path.stem}" for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
}
MODULES = ROOMS - {"farhand.__init__", "farhand.__main__"}
# What a contract is about, and what it lets its sources import.
ALLOWED = {
    "Model imports no one": {"farhand.model"},
    "Disk imports model alone": {"farhand.disk", "farhand.model"},
    "The SDK stands on model and disk alone": {"farhand.sdk", "farhand.disk", "farhand.model", "farhand.hooks"},
    "Hook programs stand on the standard library alone": {"farhand.hooks"},
    "The file bridge's hooks stand on the standard library alone": {"farhand.bridge"},
    "What installs hooks stands on model and disk": {"farhand.hooks", "farhand.disk", "farhand.model"},
}


@pytest.mark.parametrize("name", ALLOWED)
def test_a_contract_forbids_every_room_that_it_does_not_allow(name: str) -> None:
    [contract] = [one for one in CONTRACTS if one["name"] == name]
    forbidden = {one for one in contract["forbidden_modules"] if one.count(".") == 1}
    assert forbidden == MODULES - ALLOWED[name]


def test_every_room_is_kept_from_the_rooms_beside_it_and_from_what_joins_them() -> None:
    [beside] = [one for one in CONTRACTS if one["name"] == "Rooms never import one another"]
    [joined] = [one for one in CONTRACTS if one["name"].startswith("Only app, node, run,")]
    assert set(beside["modules"]) == set(joined["source_modules"])
    foundation = {"farhand.model", "farhand.disk", "farhand.sdk", "farhand.hooks"}
    assert {*beside["modules"], *joined["forbidden_modules"], *foundation} == MODULES


def test_every_hook_module_is_under_a_contract() -> None:
    sources = {one for contract in CONTRACTS for one in contract.get("source_modules", ())}
    hooks = {f"farhand.hooks.{path.stem}" for path in (PACKAGE / "hooks").glob("*.py")} - {"farhand.hooks.__init__"}
    assert hooks <= sources


def test_every_driver_is_kept_from_the_others_and_from_what_they_share() -> None:
    folders = {path.parent.name for path in (PACKAGE / "drivers").glob("*/manifest.toml")}
    drivers = {f"farhand.drivers.{name}" for name in folders}
    lists = [one.get("modules", one.get("forbidden_modules", ())) for one in CONTRACTS]
    assert [set(one) for one in lists if any(name.startswith("farhand.drivers.") for name in one)] == [drivers] * 2
