"""A figure passes its gate or not, in whatever shape its module gives it."""

import ast
import re
from dataclasses import dataclass

import pytest
from bench.__main__ import FOLDER, modules
from bench.rows import Row, adapted, beside, shown, table


def test_the_limit_is_for_the_ratio_when_there_is_a_floor() -> None:
    assert beside("a", 10, "ms", "floor", 4, limit=3).passed is True
    assert beside("a", 13, "ms", "floor", 4, limit=3).passed is False
    assert beside("a", 13, "ms", "floor", 4).passed is None


def test_the_limit_is_for_the_value_when_there_is_none() -> None:
    assert Row("a", 79, "MB", limit=80).passed is True
    assert Row("a", 81, "MB", limit=80).passed is False


def test_higher_may_be_better() -> None:
    assert Row("a", 1, "ms", ratio=7, limit=6, better="higher").passed is True
    assert Row("a", 1, "ms", ratio=5, limit=6, better="higher").passed is False


def test_a_mapping_is_a_row() -> None:
    row = adapted(
        {"name": "a", "value": 5, "unit": "ms", "floor": 2, "ratio": 2.5, "limit": 6, "better": "higher ratio"}
    )
    assert (row.floor, row.ratio, row.passed) == (2.0, 2.5, False)


@dataclass
class Foreign:
    """A row of a module with its own words."""

    gate: float
    absolute: bool
    name: str = "a"
    value: float = 50.0
    unit: str = "ms"
    floor: float = 10.0
    ratio: float = 5.0


@pytest.mark.parametrize(
    ("gate", "absolute", "passed"), [(4, False, False), (6, False, True), (49, True, False), (51, True, True)]
)
def test_an_object_that_calls_its_limit_a_gate_is_a_row(gate: float, absolute: bool, passed: bool) -> None:
    assert adapted(Foreign(gate, absolute)).passed is passed


def test_the_table_shows_what_was_missed() -> None:
    lines = table({"one": [Row("good", 1, "MB", limit=2), Row("bad", 3, "MB", limit=2), Row("seen", 3, "MB")]}).split(
        "\n"
    )
    assert [line[0] for line in lines[2:]] == ["✓", "✗", "·"]
    assert len({line.index("MB") for line in lines[2:]}) == 1


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.0123, "0.012"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1,234")]
)
def test_numbers_have_three_digits_that_mean_something(value: float, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize("name", modules())
def test_every_module_offers_its_figures_without_being_told_anything(name: str) -> None:
    text = (FOLDER / f"{name}.py").read_text("utf-8")
    offers = [one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = {one.name: one.args for one in offers}
    given = named.get("rows") or named["measure"]
    assert len(given.args) == len(given.defaults)


def test_the_page_names_every_module_that_can_be_run_alone() -> None:
    page = (FOLDER.parent / "docs" / "explanation" / "performance.md").read_text("utf-8")
    [line] = [line for line in page.splitlines() if "runs one module alone: " in line]
    assert re.findall(r"`([a-z_]+)`", line.partition("runs one module alone: ")[2]) == modules()
