from __future__ import annotations

import pytest

from curation.diagnosis.statements import in_keywords, in_title, select
from curation.diagnosis.topic import NO_TOPIC, topic_of
from tests.curation.diagnosis.builders import title_of

TITLE = "Polyarteritis nodosa with renal infarction: a case report"
TOPIC = topic_of(TITLE)


@pytest.mark.parametrize(
    "sentence",
    [
        "The final diagnosis was polyarteritis nodosa.",
        "A diagnosis of polyarteritis nodosa was made.",
        "She was subsequently diagnosed with polyarteritis nodosa.",
        "Angiography confirmed the diagnosis of polyarteritis.",
        "Renal biopsy revealed polyarteritis.",
        "Histopathology was consistent with polyarteritis nodosa.",
        "El diagnóstico definitivo fue polyarteritis nodosa.",
        "La biopsia renal demostró una poliarteritis nodosa.",
        "Fue diagnosticada de poliarteritis nodosa y tratada.",
        "O exame histopatológico confirmou poliarterite com arteritis.",
        "L'histologie du nerf a montré une périartérite (polyarteritis).",
        "Damit stand fest, dass eine Polyarteritis vorlag.",
        "Despite a history of smoking, he was diagnosed with polyarteritis nodosa.",
    ],
)
def test_statements_of_the_final_diagnosis(sentence: str) -> None:
    assert [at for at, _ in select(["He had pain.", sentence, "He recovered."], TOPIC)] == [1]


@pytest.mark.parametrize(
    "sentence",
    [
        "The differential diagnosis included polyarteritis nodosa.",
        "Con sospecha de polyarteritis nodosa la biopsia no mostró nada.",
        "Inicialmente fue diagnosticada de polyarteritis nodosa.",
        "El diagnóstico de polyarteritis nodosa fue abandonado.",
        "Le diagnostic de polyarteritis nodosa a été écarté.",
        "Die Diagnose einer polyarteritis nodosa wurde verworfen.",
        "He was initially diagnosed with polyarteritis nodosa.",
        "The biopsy showed no evidence of polyarteritis.",
        "Histology did not reveal polyarteritis.",
        "He had been diagnosed with polyarteritis five years earlier.",
        "His mother was diagnosed with polyarteritis nodosa.",
        "He had a history of polyarteritis confirmed by biopsy.",
        "Polyarteritis was ruled out because the diagnosis was confirmed to be another.",
        "He was given prednisolone for his pain.",
    ],
)
def test_negated_differential_past_and_family_diagnoses_do_not_count(sentence: str) -> None:
    assert select(["He had pain.", sentence, "He recovered."], TOPIC) == []


def test_explicit_statements_that_agree_with_the_title_win_over_others() -> None:
    sentences = [
        "A diagnosis of pneumonia was made.",
        "Biopsy revealed polyarteritis.",
        "The patient was then diagnosed with polyarteritis nodosa.",
    ]
    assert [at for at, _ in select(sentences, TOPIC)] == [1, 2]
    assert [at for at, _ in select([sentences[0], sentences[2]], TOPIC)] == [1]


def test_an_acronym_of_the_title_agrees() -> None:
    topic = topic_of("Idiopathic pulmonary fibrosis after infection")
    assert [at for at, _ in select(["He was diagnosed with gout.", "He was diagnosed with IPF."], topic)] == [
        1
    ]


@pytest.mark.parametrize(
    ("title", "stated"),
    [
        ("Brucellosis mimicking lymphoma: a case report", "Brucellosis"),
        ("Splenic torsion", "Splenic torsion"),
        ("A case report", None),
    ],
)
def test_titles_state_up_to_what_the_disease_looked_like(title: str, stated: str | None) -> None:
    found = [statement.text for statement in in_title(title_of(title))]
    assert found == ([] if stated is None else [stated])


def test_keywords_that_name_a_stated_disease() -> None:
    keywords = ("polyarteritis nodosa", "renal infarction", "prednisolone", "case report", "appendicitis")
    found = [statement.text for statement in in_keywords(keywords, in_title(title_of(TITLE)))]
    assert found == ["polyarteritis nodosa", "renal infarction"]


def test_under_a_title_that_says_so_the_sentence_with_the_disease_is_the_final_diagnosis() -> None:
    told = ["He had a fever.", "All agreed.", "Visceral leishmaniasis.", "He was treated."]
    assert select(told, NO_TOPIC) == []
    assert select(told, NO_TOPIC, [False, True, True, False]) == [(2, "final diagnosis")]
