"""What a figure is: a value, the floor it stands beside, and the gate that the two must pass. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Row:
    """One figure. The limit is for the ratio to the floor; where there is no floor, for the value itself."""

    name: str
    value: float
    unit: str
    floor_name: str = ""
    floor: float | None = None
    ratio: float | None = None
    # None: the figure is shown and gates nothing.
    limit: float | None = None
    better: Literal["lower", "higher"] = "lower"
    note: str = ""

    @property
    def measured(self) -> float:
        """What the limit speaks of."""
        return self.value if self.ratio is None else self.ratio

    @property
    def passed(self) -> bool | None:
        """Whether the gate is passed; None when there is none."""
        if self.limit is None:
            return None
        return self.measured <= self.limit if self.better == "lower" else self.measured >= self.limit


def beside(
    name: str, value: float, unit: str, floor_name: str, floor: float, limit: float | None = None, note: str = ""
) -> Row:
    """A figure beside its floor."""
    return Row(name, value, unit, floor_name, floor, value / floor, limit, note=note)


def adapted(found: object) -> Row:
    """A row as a module may give it: the type above, a mapping with its names, or an object that calls a limit `gate`.

    A limit that is said to be absolute is one for the value, whatever floor stands beside it."""
    if isinstance(found, Row):
        return found
    given = dict(found) if isinstance(found, Mapping) else {name: getattr(found, name) for name in _fields(found)}
    absolute = bool(given.get("absolute"))
    return Row(
        name=str(given["name"]),
        value=float(given["value"]),
        unit=str(given.get("unit", "")),
        floor_name=str(given.get("floor_name", "")),
        floor=_number(given.get("floor")) or None,
        ratio=None if absolute else _number(given.get("ratio")),
        limit=_number(given.get("limit", given.get("gate"))),
        better="higher" if "higher" in str(given.get("better", "")) else "lower",
        note=str(given.get("note", "")),
    )


def _fields(found: object) -> list[str]:
    names = ("name", "value", "unit", "floor_name", "floor", "ratio", "limit", "gate", "absolute", "better", "note")
    return [name for name in names if hasattr(found, name)]


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def as_json(row: Row) -> dict[str, Any]:
    """A row as it stands in the results file."""
    return {**asdict(row), "passed": row.passed}


def table(groups: Mapping[str, Sequence[Row]]) -> str:
    """All figures, one line each, in columns."""
    lines: list[tuple[str, ...]] = [("", "figure", "value", "floor", "", "ratio", "limit", "")]
    for group, rows in groups.items():
        lines.append(("", f"[{group}]", "", "", "", "", "", ""))
        lines.extend(_cells(row) for row in rows)
    widths = [max(len(line[column]) for line in lines) for column in range(8)]
    return "\n".join(_line(line, widths) for line in lines)


_RIGHT = {2, 3, 5, 6}


def _line(cells: Iterable[str], widths: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if column in _RIGHT else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()


def _cells(row: Row) -> tuple[str, ...]:
    sign = {True: "✓", False: "✗", None: "·"}[row.passed]
    floor = "" if row.floor is None else f"{shown(row.floor)} {row.unit}"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f} ×"
    return (sign, row.name, f"{shown(row.value)} {row.unit}", floor, row.floor_name, ratio, _limit(row), row.note)


def _limit(row: Row) -> str:
    if row.limit is None:
        return ""
    relation = "≤" if row.better == "lower" else "≥"
    return f"{relation} {row.limit:g} {'×' if row.ratio is not None else row.unit}"


def shown(value: float) -> str:
    """A number with three digits that mean something."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"
