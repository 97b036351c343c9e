"""What the node says is known by code in five languages, and hides nothing in its values."""

from __future__ import annotations

import re

import pytest

from farhand.model.action import run
from farhand.model.ask_text import as_shown
from farhand.model.facts import AskRaised
from farhand.model.phrases import PHRASES, choice, phrase, said
from farhand.model.words import LANGUAGES, Phrase

VALUES = re.compile(r"\{(\w+)\}")


@pytest.mark.parametrize("code", PHRASES)
def test_every_phrase_has_the_same_values_in_every_language(code: str) -> None:
    sentences = PHRASES[code]
    assert len(sentences) == len(LANGUAGES)
    assert all(one.strip() for one in sentences)
    assert {tuple(sorted(VALUES.findall(one))) for one in sentences} == {tuple(sorted(VALUES.findall(sentences[0])))}
    assert len(set(sentences)) == len(sentences)


def test_a_phrase_is_said_in_the_language_that_is_asked_for() -> None:
    network = phrase("risk_network_hosts", hosts="x.org")
    assert said(network) == "uses the network: x.org"
    assert said(network, "de") == "benutzt das Netz: x.org"
    assert said(network, "tlh") == said(network)
    assert said(phrase("risk_network_hosts", hosts="{hosts}")) == "uses the network: {hosts}"


def test_a_code_that_nobody_knows_is_a_bug_of_whoever_makes_it_and_says_nothing_to_whoever_reads_it() -> None:
    with pytest.raises(KeyError):
        phrase("risk_of_tomorrow")
    assert said(Phrase(code="risk_of_tomorrow")) == ""


def test_an_ask_has_its_risks_and_choices_by_code_beside_the_english_words() -> None:
    hidden = choice("pattern", phrase("label_always_allow_what", what="a\u202eb"), scope=phrase("scope_command"))
    shown = as_shown(
        AskRaised(ask="a", question="Run: curl x", action=run("curl ../x\u202e"), choices=(hidden,)), "/srv/app"
    )
    assert [said(one) for one in shown.risk_phrases] == list(shown.risks)
    assert [one.code for one in shown.risk_phrases] == ["risk_shell", "risk_network", "risk_reaches_outside"]
    told = shown.choices[0]
    assert told.label_phrase is not None
    assert told.scope_phrase is not None
    assert (told.label, told.scope) == (said(told.label_phrase), said(told.scope_phrase))
    assert "\u202e" not in told.label + said(shown.risk_phrases[2])
