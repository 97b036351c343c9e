"""What the demo agent works on: a small program, the patch to its next version, a plan, a questionnaire. Pure."""

import difflib
from typing import NamedTuple

FILE = "lighthouse.py"
_FIRST = '''"""Blinks a letter a night to the ships."""

NIGHTS = 7


def blink(letter):
    for night in range(NIGHTS):
        print(letter)


blink("Good evening")
'''
_SECOND = '''"""Blinks a letter a night to the ships, and reads what they answer."""

NIGHTS = 7


def blink(letter: str, ships: list[str]) -> list[str]:
    answers = []
    for night in range(NIGHTS):
        ship = ships[night % len(ships)]
        answers.append(f"{ship}: {letter}, too!")
    return answers


print("\\n".join(blink("Good evening", ["Petrel", "Gannet"])))
'''

PLAN_QUESTION = "Teach the lighthouse to read answers, 3 steps"
PLAN = f"""## Read what the ships answer

1. Let `blink()` take a list of ships.
2. Collect an answer a night, and return them.
3. Print the answers.

One file changes: `{FILE}`. **No new dependency.**"""


class QuestionPart(NamedTuple):
    """One part of the questionnaire."""

    name: str
    question: str
    choices: tuple[tuple[str, str], ...]
    several: bool = False


QUESTIONNAIRE = (
    QuestionPart(
        "ships", "Which ships shall be greeted?", (("petrel", "Petrel"), ("gannet", "Gannet"), ("tern", "Tern")), True
    ),
    QuestionPart("hour", "At which hour?", (("dusk", "At dusk"), ("midnight", "At midnight"))),
)


def before_and_after(found: str) -> tuple[str, str]:
    """What the file holds before the edit, and after it; one that is neither version is begun anew."""
    return (_SECOND, _FIRST) if found == _SECOND else (_FIRST, _SECOND)


def patch(before: str, after: str) -> str:
    """The change as git would print it."""
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{FILE}", f"b/{FILE}")
    return "".join(lines)


def answered(parts: dict[str, str]) -> str:
    """What was chosen, in a sentence."""
    ships = [label for one, label in QUESTIONNAIRE[0].choices if one in parts["ships"].split(",")]
    hour = dict(QUESTIONNAIRE[1].choices).get(parts["hour"], "whenever you like")
    return f"I greet {' and '.join(ships) or 'nobody'}, {hour[0].lower()}{hour[1:]}."
