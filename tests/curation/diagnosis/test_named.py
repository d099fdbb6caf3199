"""What a case is taken to be about, among the diseases its report names."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from curation.diagnosis import score, sentences
from curation.diagnosis.named import Named, Rest, named_in
from curation.diagnosis.statements import select
from curation.diagnosis.story import Sentence, Story
from curation.diagnosis.topic import NO_TOPIC, Topic, topic_of

CAME = "A 40-year-old man came with fever and weight loss."
FIRST = "Sarcoidosis was diagnosed, and prednisolone was given without effect."
THEN = "Culture of the sputum grew acid-fast bacilli."
MADE = "A diagnosis of pulmonary tuberculosis was made."
HOME = "The tuberculosis healed, and he went home."
TOLD = (CAME, FIRST, THEN, MADE, HOME)


def _story(told: Sequence[str]) -> Story:
    read = sentences.features(told, NO_TOPIC)
    return Story(
        tuple(Sentence("p", 0, text) for text in told),
        (False,) * len(told),
        tuple((frozenset(found), rule) for found, rule in read),
    )


def _best(told: Sequence[str], rest: Rest) -> Topic:
    """The topic that most speaks for."""
    named = list(named_in(_story(told), rest))
    best = max(named, key=lambda item: score.of_words(item, score.weights()), default=Named("", NO_TOPIC))
    return rest.topic_of(best.phrase)


@pytest.mark.parametrize(
    ("title", "disease"),
    [
        ("A long fever", "tuberculosis"),
        ("Fever that did not yield: not every granuloma is sarcoidosis", "tuberculosis"),
        ("Tuberculosis misdiagnosed as sarcoidosis", "tuberculosis"),
        ("An unusual cause of weight loss", "tuberculosis"),
    ],
)
def test_a_case_is_about_what_it_comes_to(title: str, disease: str) -> None:
    topic = _best(TOLD, Rest(title=title))
    assert topic.agreement(disease) == 2
    assert topic.agreement("sarcoidosis") < 2


def test_the_first_error_is_no_statement_of_the_diagnosis() -> None:
    rest = Rest(title="Fever that did not yield: is it sarcoidosis?")
    chosen = [TOLD[at] for at, _ in select(TOLD, _best(TOLD, rest))]
    assert MADE in chosen
    assert FIRST not in chosen


def test_the_titles_disease_stands_where_the_case_names_no_other() -> None:
    told = (CAME, "Biopsy showed gout of the knee.", HOME.replace("tuberculosis", "gout"))
    assert _best(told, Rest(title="Gout of the knee in a baker")).agreement("gout") == 2


def test_what_the_report_says_it_presents_is_a_candidate() -> None:
    rest = Rest(title="A baker in pain", text="We report a case of scurvy in a baker.")
    assert _best(["He was pale.", "The scurvy was treated."], rest).agreement("scurvy") == 2


def test_a_keyword_is_a_candidate() -> None:
    rest = Rest(title="A baker in pain", keywords=("pain", "scurvy"))
    assert _best(["He was pale.", "The scurvy was treated."], rest).agreement("scurvy") == 2


def test_an_acronym_that_is_stated_is_a_candidate() -> None:
    told = [CAME, "Finally, he was diagnosed as a case of CEP.", "The CEP was treated."]
    topic = _best(told, Rest(title="A baker in pain"))
    assert topic.agreement("CEP") == 2
    assert [at for at, _ in select(told, topic)] == [1]


def test_an_acronym_behind_diagnosed_is_a_candidate() -> None:
    told = [CAME, "Blood gas showed acidosis.", "The patient was diagnosed with XPRIS.", "He went home."]
    phrases = [item.phrase for item in named_in(_story(told), Rest(title="Case report"))]
    assert "the XPRIS" in phrases


def test_a_title_that_names_nothing_is_the_topic_of_a_case_that_names_nothing() -> None:
    assert _best(["He was pale."], Rest(title="A long illness")) == topic_of("A long illness")


def test_evidence_counts_from_0_to_1() -> None:
    rest = Rest(title="Tuberculosis or sarcoidosis?")
    made = list(named_in(_story(TOLD), rest))
    assert len(made) > 1
    for name, value in (pair for item in made for pair in item.evidence.items()):
        assert -1 <= value <= 1, name


def test_a_title_that_names_a_disease_is_a_candidate_though_the_case_does_not_name_it() -> None:
    named = list(named_in(_story(["He was pale."]), Rest(title="Scurvy in a baker")))
    assert [item.phrase for item in named] == [""]
    assert not list(named_in(_story(["He was pale."]), Rest(title="A baker in pain")))


def test_the_topic_stated_outright_stands_though_a_finding_is_named_later() -> None:
    told = [
        CAME,
        "The level of the hormone established primary hyperparathyroidism as the cause.",
        "The neck was explored.",
        "Histology showed an adenoma of chief cells.",
        "He went home.",
    ]
    topic = _best(told, Rest(title="Primary hyperparathyroidism in a baker"))
    assert topic.agreement("hyperparathyroidism") == 2
    assert 1 in [at for at, _ in select(told, topic)]
