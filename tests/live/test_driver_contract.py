"""The demo driver, with the demo agent and with the scripted one, keeps what every driver promises."""

import os
import sys
from pathlib import Path

import pytest

from farhand.drivers.demo.driver import DemoDriver
from farhand.model.ports import Driver
from farhand.sandbox.environment import child_environment
from farhand.sandbox.holders import LocalHolders
from farhand.testing import agent
from farhand.testing.contracts.driver import DriverContract, Words


class TestDemoAgent(DriverContract):
    @pytest.fixture
    def directory(self, tmp_path: Path) -> Path:
        return tmp_path

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Driver:
        environment = child_environment(os.environ, {})
        return DemoDriver(LocalHolders(tmp_path / "holders"), python=sys.executable, environment=environment)

    @pytest.fixture
    def words(self) -> Words:
        return Words(plain="good morning", tool="tool", ask="ask", fail="fail", slow="slow")


class TestScriptedAgent(TestDemoAgent):
    @pytest.fixture
    def driver(self, tmp_path: Path) -> Driver:
        return DemoDriver(
            LocalHolders(tmp_path / "holders"),
            python=sys.executable,
            environment=child_environment(os.environ, {}),
            program=Path(agent.__file__),
            arguments=[str(tmp_path / "ledger")],
            backend="scripted",
        )

    @pytest.fixture
    def words(self) -> Words:
        return Words(plain="hello", tool="tool", ask="ask", fail="fail", slow="wait", die="die")
