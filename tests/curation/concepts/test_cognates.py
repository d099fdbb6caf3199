"""One form of a word that languages share."""

from __future__ import annotations

import pytest

from curation.concepts.cognates import cognate, is_telling

SAME = (
    ("syphilis", "sífilis", "Syphilis"),
    ("encephalitis", "encefalitis", "encéphalite", "encefalite", "Encephalitis"),
    ("limbic", "límbica", "limbique", "limbisch"),
    ("lymphoma", "linfoma", "lymphome", "Lymphom"),
    ("infection", "infección", "infecção", "infezione", "Infektion"),
    ("hypertension", "hipertensión", "hipertensão", "ipertensione"),
    ("nephropathy", "nefropatía", "néphropathie", "Nephropathie"),
    ("stenosis", "estenosis", "sténose", "stenosi", "Stenose"),
    ("splenomegaly", "esplenomegalia", "splénomégalie", "Splenomegalie"),
    ("leukaemia", "leukemia", "leucemia", "leucémie", "Leukämie"),
    ("obesity", "obesidad", "obesidade", "obésité", "obesità"),
    ("insufficiency", "insuficiencia", "insuficiência", "insufficienza"),
    ("abscess", "absceso", "abscesso"),
    ("erythematosus", "eritematoso"),
)
OTHER = (
    ("granulomatous", "granulomatosis"),
    ("platónica", "platonychia"),
    ("hepatitis", "hepatic"),
    ("gastritis", "gastric"),
)


@pytest.mark.parametrize("words", SAME, ids=lambda words: words[0])
def test_the_same_word_has_one_form(words: tuple[str, ...]) -> None:
    forms = {cognate(word) for word in words}
    assert len(forms) == 1 and forms != {""}


@pytest.mark.parametrize("words", OTHER, ids=lambda words: words[0])
def test_another_ending_is_another_word(words: tuple[str, str]) -> None:
    one, other = map(cognate, words)
    assert one and other and one != other


@pytest.mark.parametrize("word", ["", "de", "coma", "β2-microglobulin", "CD20", "梅毒", "x" * 100_000])
def test_anything_may_be_asked(word: str) -> None:
    assert isinstance(cognate(word), str)


def test_short_stems_tell_only_with_the_ending_of_a_disease() -> None:
    assert not is_telling(cognate("muchos")) and not is_telling(cognate("captar"))
    assert is_telling(cognate("otitis")) and is_telling(cognate("syphilis"))
