"""Words are read as the answer to a question, and never as a wider yes than was said."""

import pytest

from farhand.drivers.wires.asks.build import plan
from farhand.model.answers import Answered, OutOfRange, begins_with_yes, is_like_an_answer, read_answer
from farhand.model.phrases import phrase
from farhand.model.present import Ask
from farhand.model.words import AskKind, Choice

PERMISSION = (
    Choice(id="once", label="Allow"),
    Choice(id="session", label="Allow for this session"),
    Choice(id="no", label="Deny", allows=False),
)
PLAN = (
    Choice(id="auto", label="Yes, and auto-accept edits"),
    Choice(id="manual", label="Yes, ask me each time"),
    Choice(id="no", label="No, keep planning", allows=False),
)
PLAN_OF_OURS = (
    Choice(id="ask", label="Go ahead, ask before edits"),
    Choice(id="free", label="Go ahead, edit freely", scope="Every edit without a question."),
    Choice(id="no", label="Keep planning", allows=False, words=True),
)
WIDE = (Choice(id="all", label="Yes, always"), Choice(id="no", label="No", allows=False))
WIDER = (
    Choice(id="all", label="Always"),
    Choice(id="s", label="For this session"),
    Choice(id="no", label="No", allows=False),
)
DRINKS = (Choice(id="t", label="Tea"), Choice(id="m", label="Milk (warm)"), Choice(id="mt", label="Milk tea"))


def ask(choices: tuple[Choice, ...], about: AskKind = AskKind.PERMISSION, *, several: bool = False) -> Ask:
    return Ask(id="a", worker="ann", turn="t", seq=1, question="?", choices=choices, about=about, several=several)


@pytest.mark.parametrize(
    ("text", "choice", "note"),
    [
        ("yes", "once", ""),
        ("  YES. ", "once", ""),
        ("go ahead", "once", ""),
        ("yes, once", "once", ""),
        ("go ahead, just this once please", "once", ""),
        ("ja bitte", "once", ""),
        ("oui, une fois", "once", ""),
        ("sí", "once", ""),
        ("да", "once", ""),
        ("👍", "once", ""),
        ("allow", "once", ""),
        ("Allow for this session", "session", ""),
        ("2", "session", ""),
        ("2.", "session", ""),
        ("nein", "no", ""),
        ("don’t", "no", ""),
        ("no: it is Friday", "no", "it is Friday"),
        ("3 it is Friday", "no", "it is Friday"),
    ],
)
def test_an_answer(text: str, choice: str, note: str) -> None:
    assert read_answer(text, ask(PERMISSION)) == Answered(choice=choice, note=note)


@pytest.mark.parametrize(
    "text",
    [
        "yes, but not the tests",
        "yes, always",
        "ok now push",
        "please",
        "1 file is missing",
        "1,2",
        "yesterday",
        "no way that works",
        "allow me to explain",
        "",
    ],
)
def test_what_might_mean_something_else_is_no_answer(text: str) -> None:
    assert read_answer(text, ask(PERMISSION)) is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "yes go ahead",
            "Yes, go ahead!",
            "yes do it",
            "do it",
            "yes please do",
            "sure, go ahead",
            "ok go",
            "Go for it.",
        ),
        *("looks good, go ahead", "looks good to me", "LGTM", "agreed", "sieht gut aus", "看起来不错"),
        *("please go ahead", "just do it", "ja mach das", "Ja, mach weiter", "mach weiter", "nur zu"),
        *("vas-y", "oui vas-y", "Oui, allez-y s'il te plaît", "d'accord, continue", "fais-le"),
        *("adelante", "sí, adelante", "¡Sí, adelante!", "vale, hazlo por favor", "de acuerdo"),
        *("好的，继续", "好的。", "可以", "继续吧", "请继续", "是的，请继续！"),
    ],
)
def test_a_yes_in_more_words_is_a_yes(text: str) -> None:
    assert read_answer(text, ask(PERMISSION)) == Answered(choice="once")
    assert begins_with_yes(text) or text.casefold().startswith(("please", "just", "请"))


@pytest.mark.parametrize(
    "text",
    [
        *("yes but not the tests", "yes if the tests pass", "go ahead without the tests", "do it later", "ok go home"),
        *("ja, aber nicht die Tests", "mach weiter mit dem Rest", "oui si les tests passent", "sí, pero sin borrar"),
        *("sí, si pasan las pruebas", "好的，但是不要删除", "可以吗我不知道", "yes and no", "ok go all in"),
    ],
)
def test_a_yes_with_a_condition_is_none_and_is_seen_to_begin_with_one(text: str) -> None:
    assert read_answer(text, ask(PERMISSION)) is None
    assert begins_with_yes(text)


@pytest.mark.parametrize("text", ["", "no", "go", "yesterday", "use it", "dont do it", "please", "不可以"])
def test_what_does_not_begin_with_a_yes(text: str) -> None:
    assert not begins_with_yes(text)
    assert not isinstance(read_answer(text, ask(PERMISSION)), Answered) or text == "no"


def test_advice_behind_a_number_allows_only_where_it_is_meant_for_the_question() -> None:
    assert read_answer("1 but quickly", ask(PERMISSION)) is None
    assert read_answer("1 but quickly", ask(PERMISSION), addressed=True) == Answered(choice="once", note="but quickly")


@pytest.mark.parametrize(
    "choices", [plan("It.", phrase("scope_edit_any"), "accept_edits").choices, PLAN_OF_OURS[:1] + PLAN_OF_OURS[2:]]
)
def test_a_yes_to_a_plan_lets_the_agent_ask_before_it_edits(choices: tuple[Choice, ...]) -> None:
    for said in ("yes", "go ahead", "ja"):
        assert read_answer(said, ask(choices, AskKind.PLAN)) == Answered(choice=choices[0].id)


def test_what_allows_more_than_this_once_is_never_a_bare_yes_whatever_its_label() -> None:
    assert read_answer("yes", ask(PLAN_OF_OURS, AskKind.PLAN)) is None


@pytest.mark.parametrize("said", ["1 and 3", "1, 3", "1 & 3", "1 3", "1 und 3", "Tea and milk tea", "Tea, 3", "1 和 3"])
def test_several_are_chosen_as_people_say_it(said: str) -> None:
    assert read_answer(said, ask(DRINKS, AskKind.CHOICE, several=True)) == Answered(choice="t,mt")
    assert not isinstance(read_answer(said, ask(DRINKS, AskKind.CHOICE)), Answered)


@pytest.mark.parametrize("said", ["1 and 9", "Tea and biscuits", "1 and then sleep", "and"])
def test_what_names_something_else_beside_the_choices_chooses_none(said: str) -> None:
    assert read_answer(said, ask(DRINKS, AskKind.CHOICE, several=True)) is None


def test_a_bare_yes_is_never_the_wider_one() -> None:
    assert read_answer("yes", ask(PLAN, AskKind.PLAN)) == Answered(choice="manual")
    assert read_answer("yes", ask(WIDER)) is None
    # The only one there is.
    assert read_answer("yes", ask(WIDE)) == Answered(choice="all")
    assert read_answer("yes", ask(DRINKS, AskKind.CHOICE)) is None


def test_labels_of_a_choice() -> None:
    drinks = ask(DRINKS, AskKind.CHOICE, several=True)
    assert read_answer("TEA", drinks) == Answered(choice="t")
    assert read_answer("tea, milk (warm)", drinks) == Answered(choice="t,m")
    assert read_answer("1, 3", drinks) == Answered(choice="t,mt")
    assert read_answer("milk", drinks) is None


DATABASES = (
    Choice(id="s", label="SQLite"),
    Choice(id="p", label="PostgreSQL"),
    Choice(id="n", label="Not yet"),
    Choice(id="o", label="Something else", words=True),
)


@pytest.mark.parametrize(
    "said",
    [
        *(
            "postgres please",
            "Postgres",
            "pos",
            "PostgreSQL, please!",
            "please, postgres",
            "2 please",
            "bitte PostgreSQL",
        ),
        *("postgres s'il te plaît", "postgresql s’il vous plaît", "postgres, por favor", "请 postgres", "postgres谢谢"),
    ],
)
def test_the_beginning_of_a_label_chooses_it_and_polite_words_change_nothing(said: str) -> None:
    assert read_answer(said, ask(DATABASES, AskKind.CHOICE)) == Answered(choice="p")


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ("the second one please", "m"),
        ("Second.", "m"),
        ("2nd", "m"),
        ("the last one", "mt"),
        ("let's take the second one this time", "m"),
        ("option 2", "m"),
        ("number 1, please", "t"),
        ("let's go with tea", "t"),
        ("I'd take milk tea", "mt"),
        ("use tea", "t"),
        ("I prefer the first option", "t"),
        ("die zweite bitte", "m"),
        ("nimm den ersten", "t"),
        ("la deuxième, s'il te plaît", "m"),
        ("la primera", "t"),
        ("第二个", "m"),
    ],
)
def test_one_of_several_is_chosen_by_its_place_or_in_a_sentence(said: str, choice: str) -> None:
    assert read_answer(said, ask(DRINKS, AskKind.CHOICE)) == Answered(choice=choice)
    assert read_answer(said, ask(PERMISSION)) is None


@pytest.mark.parametrize(
    "said",
    [
        "po",
        "please",
        "some",
        "the sixth one",
        "the fourth one",
        "use",
        "the",
        "use it",
        "the second test fails",
        "not postgres please",
        "postgres and redis",
        "no",
        "sql server",
    ],
)
def test_what_is_no_beginning_of_one_label_chooses_none(said: str) -> None:
    assert read_answer(said, ask(DATABASES, AskKind.CHOICE)) is None


def test_half_a_label_never_answers_a_question_for_leave() -> None:
    assert read_answer("allow for", ask(PERMISSION)) is read_answer("allow for please", ask(PERMISSION)) is None


def test_half_a_label_that_two_begin_with_chooses_none() -> None:
    assert read_answer("mil", ask(DRINKS, AskKind.CHOICE)) is None
    assert read_answer("tea and milk t please", ask(DRINKS, AskKind.CHOICE, several=True)) == Answered(choice="t,mt")


def test_a_number_out_of_range_is_told_so() -> None:
    assert read_answer("0", ask(PERMISSION)) == read_answer("7", ask(PERMISSION)) == OutOfRange(choices=3)
    assert OutOfRange(choices=3).text == "1–3, please."
    assert read_answer("7 dwarfs", ask(PERMISSION)) is None


def test_what_can_only_be_an_answer() -> None:
    assert all(is_like_an_answer(text) for text in ("yes", "No!", "2", "1,3", "ok"))
    assert not any(is_like_an_answer(text) for text in ("yes please do the tests", "2 files", "", "deny all cookies"))
