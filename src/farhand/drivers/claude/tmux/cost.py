"""What a turn costs, as Claude Code itself counts it: it tells its status line the sum of its session. Pure.

No prices are kept here: they change, and a table of them would soon be wrong."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from farhand.drivers.claude.tmux.state import ClaudeState, Told
from farhand.drivers.wires.foreign_json import parse
from farhand.model.facts import Used
from farhand.model.ports import Heard
from farhand.model.words import replace


def status_line(file: Path) -> dict[str, Any]:
    """A status line that shows nothing, and leaves what it is told in a file, whole or not at all."""
    place = shlex.quote(str(file))
    return {"type": "command", "command": f"umask 077; cat > {place}.$$ && mv {place}.$$ {place}"}


def priced(payload: bytes, state: ClaudeState) -> Told:
    """What the status line was told: the running turn's cost, or that of the turn which has just ended."""
    record = parse(payload)
    total = record.fields("cost").number("total_cost_usd") if record else None
    if record is None or total is None or record.text("session_id") != state.session or total == state.cost:
        return [], state
    # A new life of the agent may count from nothing.
    before = state.cost_before if total >= state.cost_before else 0.0
    state = replace(state, cost=total, cost_before=before)
    if state.prompts.get(record.text("prompt_id")) != state.turn or not state.turn:
        # Nobody's turn: what a session had cost before it was taken up again.
        return [], replace(state, cost_before=total)
    usage = replace(state.usage, cost_dollars=round(total - before, 10))
    return [Heard(fact=Used(usage=usage), turn=state.turn)], replace(state, usage=usage)
