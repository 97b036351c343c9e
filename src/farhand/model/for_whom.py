"""Words that may be for somebody else than the worker who would get them: for the node, as `help` and `hire bob`, or
for the worker whose name and a colon they begin with. Pure."""

import re
from typing import Final

from farhand.model.names import normalize
from farhand.model.plain_orders import bare
from farhand.model.present import Present
from farhand.model.slash_argument import find_worker
from farhand.model.words import Word

_HELP: Final = frozenset(
    {
        *("help", "help me"),
        *("hilfe", "hilf mir", "hilf"),
        *("aide", "aide-moi", "aidez-moi", "à l'aide"),
        *("ayuda", "ayúdame", "ayudame"),
        *("帮助", "帮帮我", "帮我"),
    }
)
_QUESTION_MARKS: Final = frozenset({"?", "？", "??", "？？"})
_NAMED: Final = re.compile(r"([\w-]+):\s+(\S.*)", re.DOTALL)


class DoneHere(Word):
    """What the node itself would do: the command without its slash, and what a button says."""

    command: str
    label: str


def done_here(text: str, present: Present) -> DoneHere | None:
    """What the node would do, where the words are all of the text; None for anything else."""
    words = bare(text)
    if words in _HELP or text.strip() in _QUESTION_MARKS:
        return DoneHere(command="commands", label="Show help")
    order, _, name = words.partition(" ")
    if order == "hire" and name and normalize(name) == name:
        return DoneHere(command=f"hire {name}", label=f"Hire {name}")
    worker = find_worker(name, present) if order == "fire" else ""
    return DoneHere(command=f"end {worker}", label=f"End {worker}") if worker else None


def named_first(text: str, present: Present) -> tuple[str, str]:
    """The worker whose name and a colon the text begins with, and what stands behind them; empty where none is."""
    found = _NAMED.match(text)
    worker = find_worker(found[1], present) if found else ""
    return (worker, found[2]) if found and worker else ("", "")
