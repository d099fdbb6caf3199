from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.extract.language import guess_language, running_language
from curation.extract.sentences import sentence_at, sentence_spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See Fig. 2 for it. Next one.", ["See Fig. 2 for it.", "Next one."]),
        ("It was seen (Fig. 2). Next one.", ["It was seen (Fig. 2).", "Next one."]),
        ("Smith et al. Reported it. Then more.", ["Smith et al. Reported it.", "Then more."]),
        ("By Smith et al. The patient died.", ["By Smith et al.", "The patient died."]),
        ("Glucose was 3.5 mg/dL. He left.", ["Glucose was 3.5 mg/dL.", "He left."]),
        (
            "Drugs, e.g. Aspirin, i.e. ASA. Dr. Roe vs. Dr. Doe.",
            ["Drugs, e.g. Aspirin, i.e. ASA.", "Dr. Roe vs. Dr. Doe."],
        ),
        ("By J. Smith. We saw it.", ["By J. Smith.", "We saw it."]),
        ("Low vitamin C. The skin bled.", ["Low vitamin C.", "The skin bled."]),
        ("It is rare.12 The cause is unknown.", ["It is rare.12", "The cause is unknown."]),
        ("A capacity of 14.37 Mets was reached.", ["A capacity of 14.37 Mets was reached."]),
        ("Was it? Yes! It was.", ["Was it?", "Yes!", "It was."]),
        ("患者发热。第二天好转。", ["患者发热。", "第二天好转。"]),
        ("¿Tiene dolor? Sí. El Sr. García vino.", ["¿Tiene dolor?", "Sí.", "El Sr. García vino."]),
        ("1. Introduction to it. Then.", ["1. Introduction to it.", "Then."]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == expected


@given(st.text(alphabet="aB.!? \n(1)。Fig", max_size=60))
def test_spans_cover_everything_but_space(text: str) -> None:
    spans = sentence_spans(text)
    covered = {at for start, end in spans for at in range(start, end)}
    assert all(text[at].isspace() or at in covered for at in range(len(text)))
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    for start, end in spans:
        assert sentence_at(spans, start) == (start, end) == sentence_at(spans, end - 1)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The patient was seen in the clinic with a fever that had lasted for three days.", "en"),
        ("El paciente acudió a la consulta con fiebre que había durado tres días y se fue.", "es"),
        ("O paciente foi atendido na clínica com uma febre que não cedeu e os exames foram normais.", "pt"),
        ("Le patient a été vu dans la clinique avec une fièvre qui est restée pour les trois jours.", "fr"),
        ("Der Patient wurde in der Klinik mit dem Fieber gesehen und die Werte sind nicht gut.", "de"),
        (
            "Il paziente è stato visto nella clinica con la febbre che non è passata e una tosse.",
            "it",
        ),
        ("Пациент обратился в клинику с лихорадкой.", "ru"),
        ("患者は発熱のため受診した。", "ja"),
        ("患者因发热就诊。", "zh"),
        ("xyz 123", "und"),
        ("", "und"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert guess_language([text]) == language
    assert running_language("pt-BR", [text]) == "pt-BR"
    assert running_language("und", [text]) == language
