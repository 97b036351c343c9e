"""What a notification's buttons may choose: the same yes that the app's card has, and none where there are two."""

from __future__ import annotations

import pytest

from farhand.channels.push.notification import narrow_choices
from farhand.model.present import Ask
from farhand.model.words import AskKind, Choice

ONCE = Choice(id="once", label="Allow once")
ALSO = Choice(id="also", label="Yes")
SESSION = Choice(id="session", label="For this session", scope="git push, until it ends")
WORDS = Choice(id="other", label="Something else", words=True)
DENY = Choice(id="no", label="Deny", allows=False)


@pytest.mark.parametrize(
    ("choices", "allows"),
    [
        ((SESSION, ONCE, DENY), ONCE),
        ((SESSION, DENY), None),
        ((WORDS, DENY), None),
        # Nobody can tell which of the two is the narrow one.
        ((ONCE, ALSO, DENY), None),
    ],
)
def test_a_button_allows_only_the_one_choice_that_is_plainly_this_one_time(
    choices: tuple[Choice, ...], allows: Choice | None
) -> None:
    ask = Ask(id="a", worker="ann", turn=None, seq=1, question="Run it?", about=AskKind.PERMISSION, choices=choices)
    assert narrow_choices(ask) == (allows, DENY)
