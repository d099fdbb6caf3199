"""Language of a text: by script, by function words, by letters; the same answer always."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from curation.extract import language as module
from curation.extract.language import by_letters, guess_language, running_language

TITLES = (
    "Fièvre prolongée chez un nourrisson allaité",
    "Tos y fiebre en lactantes amamantados",
    "Ein seltener Fall von Lungenentzündung",
    "Febbre prolungata in un lattante allattato",
    "A rare case of pneumonia after drowning",
    "Febre maculosa brasileira em gestante",
)


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
        ("Pacjent zgłosił się do poradni z gorączką, która utrzymywała się przez trzy dni.", "pl"),
        ("Fièvre prolongée chez un nourrisson allaité", "fr"),  # no words to count, but letters
        ("A febre e a tosse de uma criança: o que se sabe de casos na Amazônia", "pt"),  # words of several
        ("Tumor retroperitoneal", "und"),  # of too few letters to be told from its neighbours
        ("患者因發熱就診，醫師予以檢查。", "zh"),
        ("xyz 123", "und"),
        ("1234567890 " * 9, "und"),
        ("", "und"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert guess_language([text]) == language
    assert running_language("pt-BR", [text]) == "pt-BR"
    assert running_language("und", [text]) == language


def test_the_same_text_has_the_same_language_after_many_others_and_in_other_processes() -> None:
    first = [by_letters(title) for title in TITLES]
    for title in TITLES * 20:
        by_letters(title[::-1])
    assert [by_letters(title) for title in reversed(TITLES)] == first[::-1]
    code = "import sys; from curation.extract.language import by_letters as b; print(*map(b, sys.argv[1:]))"
    for seed in ("0", "7"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code, *TITLES], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == first


def test_the_order_of_profiles_on_the_disk_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda *path: sorted(listed(*path), reverse=True))
    module._detectors.cache_clear()
    assert module._detectors().langlist == sorted(module._detectors().langlist)
