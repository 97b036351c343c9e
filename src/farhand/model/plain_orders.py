"""Lone words that are an order, and no message for an agent: `stop` and `take it back`, in the languages of the texts.

Nothing else may stand beside them: "stop using tabs" is a message like any other. Pure."""

from enum import StrEnum
from typing import Final

from farhand.model.bridge import BACKEND
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.present import Message, Worker
from farhand.model.provenance import NODES_OWN, is_by_pipe
from farhand.model.sprint import wants_stop

_PLEASE: Final = frozenset({"please", "bitte", "stp", "svp", "por favor", "请"})
_STOP: Final = frozenset(
    {
        *("stop", "stop it", "stop that", "stop now", "halt", "cancel", "abort"),
        *("stopp", "anhalten", "aufhören", "hör auf", "abbrechen", "abbruch"),
        *("arrête", "arrete", "arrêter", "arrête ça", "arrêtez", "stoppe"),
        *("para", "parar", "detente", "detener", "alto", "basta"),
        *("停", "停止", "停下", "停一下", "停下来"),
    }
)
_TAKE_BACK: Final = frozenset(
    {
        *("take it back", "take that back", "take this back"),
        *("nimm es zurück", "nimm das zurück", "zurücknehmen", "zurückziehen"),
        *("reprends-le", "reprends ça", "retire-le", "retire ça"),
        *("retíralo", "retira eso", "retirar"),
        *("撤回", "收回", "撤回它"),
    }
)
_AROUND: Final = lazy_pattern(r"^[\s.,;:!?…¡¿。！？，-]+|[\s.,;:!?…¡¿。！？，-]+$")
LONGEST: Final = 40


class PlainOrder(StrEnum):
    """What somebody wants who says nothing but that."""

    STOP = "stop"
    TAKE_BACK = "take back"


def plain_order(text: str) -> PlainOrder | None:
    """The order that is all of the text; None for anything else."""
    words = bare(text)
    if words in _STOP:
        return PlainOrder.STOP
    return PlainOrder.TAKE_BACK if words in _TAKE_BACK else None


def bare(text: str, longest: int = LONGEST) -> str:
    """The words without case, punctuation around them and politeness; empty for a text too long for an order."""
    if len(text) > longest:
        return ""
    words = " ".join(_AROUND.sub("", text).casefold().replace("’", "'").split())
    for please in _PLEASE:
        words = _AROUND.sub("", words.removeprefix(please).removesuffix(please))
    return words


def not_begun(worker: Worker) -> list[Message]:
    """The messages that can still be taken back."""
    return [one for one in worker.queue if not one.on_its_way]


def can_stop(worker: Worker) -> bool:
    """Whether there is anything that a stop would end."""
    return worker.turn is not None or bool(not_begun(worker))


def last_said(worker: Worker) -> Message | None:
    """The newest message of a person that still waits."""
    said = (one for one in reversed(not_begun(worker)) if not is_by_pipe(one.by) and one.by.via not in NODES_OWN)
    return next(said, None)


def order_for(worker: Worker, text: str) -> PlainOrder | None:
    """The order that somebody gives with these words to that worker. A STOP at a sprint is the sprint's own; to an
    agent at its own desk, whose turns nobody here can end, its hook brings it."""
    order = plain_order(text)
    of_others = worker.backend == BACKEND or (worker.sprint is not None and wants_stop(text))
    return None if order is PlainOrder.STOP and of_others else order
