"""Words that may be for somebody else than the worker who would get them: for the node, as `help`, `hire bob` and `what
did this cost?`, or for the worker whose name and a colon they begin with. Pure."""

import re
from typing import Final

from farhand.model.compat import BACKENDS
from farhand.model.lazy_pattern import lazy_pattern
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
LONGEST_SENTENCE: Final = 80
_QUESTION_MARKS: Final = frozenset({"?", "？", "??", "？？"})
_NAMED: Final = re.compile(r"([\w-]+)[:,]\s+(\S.*)", re.DOTALL)
# What is done with a worker that is named.
_TO_WORKERS: Final = (
    (
        "end {name}",
        "End {name}",
        lazy_pattern(
            r"(?:fire|end|dismiss|remove|let go of) (?P<a>[\w-]+)(?: for good| from (?:the|my) team)?|"
            r"let (?P<b>[\w-]+) go(?: for good)?|entlass(?:e)? (?P<c>[\w-]+)|renvoie (?P<d>[\w-]+)|"
            r"despide a (?P<e>[\w-]+)|解雇\s*(?P<f>[\w-]+)"
        ),
    ),
    (
        "history {name}",
        "History of {name}",
        lazy_pattern(
            r"what (?:did|has) (?P<a>[\w-]+) (?:say|said|answer|answered|write|written)(?: earlier| before|"
            r" last| so far)?"
            r"(?: about [\w ]+)?|(?:show(?: me)? )?(?:the )?history of (?P<b>[\w-]+)|"
            r"(?:show(?: me)? )?(?:what )?(?P<c>[\w-]+)(?:'s history| said(?: earlier| before| last| so far)?)"
        ),
    ),
    (
        "focus {name}",
        "Talk to {name}",
        lazy_pattern(
            r"(?:i want to |let me )?(?:talk|speak|switch|go back|back)(?: again)? (?:to|with) "
            r"(?P<a>[\w-]+)(?: again)?|"
            r"(?:ich will )?(?:mit )?(?P<b>[\w-]+) sprechen|parler? (?:à|avec) (?P<c>[\w-]+)|hablar con (?P<d>[\w-]+)"
        ),
    ),
)
_SHOW: Final = r"(?:show(?: me)? )?(?:(?:the|my|your|its) )?(?:whole )?"
_HIRE: Final = lazy_pattern(
    r"(?:i (?:want|need|would like) (?:you )?to )?hire(?: me)?(?P<a> (?:a|an|another|one|the))?(?: new)? (?P<en>[\w-]+)"
    r"(?: (?:worker|agent|one))?(?: (?:in|into) (?:the )?(?:folder )?[^\s]+(?: folder)?)?|"
    r"stelle?(?P<ein> einen| eine| ein)? (?P<de>[\w-]+)(?: arbeiter| agenten)? ein|"
    r"(?:embauche|engage)(?P<un> une?)? (?P<fr>[\w-]+)|contrata(?P<uno> una?| a)? (?P<es>[\w-]+)|"
    r"雇用?(?P<yi>一个)?\s*(?P<zh>[\w-]+)"
)
_INTO_FOLDER: Final = lazy_pattern(
    r"\s(?:in|into)\s+(?:the\s+)?(?:folder\s+)?(\S+?)(?:\s+folder)?(?:,?\s+please)?[.!?\s]*$", re.IGNORECASE
)
_NAMES: Final = ("en", "de", "fr", "es", "zh")
_ANYBODY: Final = frozenset("worker agent someone somebody one arbeiter agenten jemanden quelqu'un alguien 人".split())
# What a person wants to see or to set, said in a sentence of its own; the agent could do none of it.
_ASKED: Final = (
    (
        "usage",
        "Show the cost",
        r"(?:what|how much) (?:has|did|does|is) (?:this|that|it|all (?:this|that|of this|of it))(?: all)? "
        rf"costs?(?: me| us)?(?: so far)?|how much (?:have|did) (?:i|we) (?:spent|spend)(?: so far)?|"
        rf"{_SHOW}costs?(?: so far)?|"
        r"(?:was|wie ?viel) hat das(?: alles)?(?: bisher| bis jetzt)? gekostet|(?:die |zeig(?: mir)? die )?kosten|"
        r"combien (?:ça|cela)(?: a coûté| coûte)(?: jusqu'ici)?|(?:le )?coût|"
        r"cu[aá]nto ha costado(?: esto| todo)?(?: hasta ahora)?|(?:这)?花了多少钱|费用",
    ),
    (
        "team",
        "Show the team",
        rf"{_SHOW}team|who(?:'s| is| are)(?: all)? (?:there|here|on (?:the|my) team)|who(?:'s| is) doing what|"
        r"who works (?:here|for me)|(?:zeig(?: mir)? )?das team|wer ist da|(?:montre(?:-moi)? )?l'équipe|qui est là|"
        r"(?:muestra )?el equipo|quién está|团队|谁在",
    ),
    (
        "queue",
        "Show what waits",
        rf"what(?:'s| is)? (?:waiting|queued|in the queue)|what waits|{_SHOW}queue|was wartet(?: noch)?|"
        r"qu'est-ce qui attend|qué espera|什么在等待",
    ),
    (
        "history",
        "Show what was said",
        rf"what did (?:you|he|she|it|they) say(?: earlier| before| last| so far)?(?: about [\w ]+)?|"
        rf"{_SHOW}history|(?:der )?verlauf|"
        r"l'historique|el historial|历史",
    ),
    (
        "sessions",
        "Show the conversations",
        rf"{_SHOW}(?:open )?(?:sessions|conversations)(?: (?:at|on|from) (?:the|my) (?:desk|computer))?|"
        r"(?:i want to |let me )?take over (?:the|my|that|this)(?: [\w-]+){0,3} (?:session|conversation|"
        r"chat)(?: [\w']+){0,8}|"
        r"(?:i want to |let me )?(?:take over|take up|pick up|continue|resume|go on with) (?:the|my|that|this)"
        r"(?: [\w-]+){0,3} (?:session|conversation|chat)(?: [\w']+){0,4} (?:at|on|from|in) (?:the|my) "
        r"(?:desk|computer|terminal|laptop|machine)",
    ),
    (
        "mode auto_edit",
        "Let it edit unasked",
        r"(?:(?:use|go to|switch to|enter|turn on) )?(?:the )?(?:auto[- _]?)?edit mode|"
        r"(?:from now on,? )?(?:(?:you|it) (?:may|can|should|are allowed to) (?:now )?|i want you to |i allow you to |"
        r"let (?:it|him|her|[\w-]+) )?"
        r"(?:edit|change|write|create|make edits to)(?: [\w,]+){0,4}? (?:without asking|and don't ask|unasked|freely)"
        r"(?: me)?(?: first| every time| again| for leave| for permission)?(?: from now on| now| any ?more)?|"
        r"(?:don't|stop|no need to) ask(?:ing)?(?: me)?(?: again)? (?:before|for|about) "
        r"(?:the |every |each )?edit(?:s|ing)?"
        r"(?: from now on| now| any ?more)?",
    ),
    (
        "mode plan",
        "Only read and plan",
        r"(?:from now on,? )?(?:(?:you|it) (?:may|can|should) (?:now )?)?(?:only|just) (?:make )?plans?"
        r"(?:(?: and|,)? (?:change nothing|(?:don't|do not) (?:change|touch|edit) (?:anything|any files?|the files)))?"
        r"(?: now| from now on| yet)?|plan only|"
        r"(?:(?:use|go to|switch to|enter|turn on) )?(?:the )?plan(?:ning)? mode",
    ),
    (
        "tune",
        "Choose a model",
        r"(?:change|switch|choose|use)(?: to)? (?:the |its |your |a |another )?(?:different |other )?model",
    ),
    (
        "tune model={model}",
        "Use {model}",
        r"(?:use|switch to|change to)(?: the)? (?:model (?P<any>[\w.-]+)|(?P<model>opus|sonnet|haiku)(?: model)?)",
    ),
)
_PATTERNS: Final = tuple((command, label, lazy_pattern(pattern)) for command, label, pattern in _ASKED)


class DoneHere(Word):
    """What the node itself would do: the command without its slash, and what a button says."""

    command: str
    label: str


def done_here(text: str, present: Present) -> DoneHere | None:
    """What the node would do, where the words are all of the text; None for anything else."""
    words = bare(text)
    if words in _HELP or text.strip() in _QUESTION_MARKS:
        return DoneHere(command="commands", label="Show help")
    if hired := _HIRE.fullmatch(words):
        name = next(filter(None, hired.group(*_NAMES)), "")
        if name in _ANYBODY:
            return DoneHere(command="hire", label="Hire somebody")
        # With an article it is no name: "hire a developer" is a message like any other.
        one_of = any(hired.group("a", "ein", "un", "uno", "yi"))
        if normalize(name) == name and (not one_of or name in BACKENDS):
            into = _INTO_FOLDER.search(text)
            where = f" in {into[1]}" if into else ""
            return DoneHere(command=f"hire {name}{where}", label=f"Hire {name}{where}")
        return None
    sentence = bare(text, LONGEST_SENTENCE)
    for command, label, pattern in _TO_WORKERS:
        named = pattern.fullmatch(sentence)
        if named and (worker := find_worker(next(filter(None, named.groups()), ""), present)):
            return DoneHere(command=command.format(name=worker), label=label.format(name=worker))
    for command, label, pattern in _PATTERNS:
        if found := pattern.fullmatch(sentence):
            model = next(filter(None, found.groups()), "")
            return DoneHere(command=command.format(model=model), label=label.format(model=model))
    return None


def named_first(text: str, present: Present) -> tuple[str, str]:
    """The worker whose name and a colon the text begins with, and what stands behind them; empty where none is."""
    found = _NAMED.match(text)
    worker = find_worker(found[1], present) if found else ""
    return (worker, found[2]) if found and worker else ("", "")
