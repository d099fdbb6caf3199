"""One form of a word that languages share."""

from __future__ import annotations

import pytest

from curation.concepts.cognates import LANGUAGES, cognate, is_adjective, is_cognate, is_telling

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


@pytest.mark.parametrize(
    ("word", "english", "language"),
    [
        ("sífilis", "syphilis", "es"), ("prurito", "pruritus", "it"), ("infarctus", "infarct", "fr"),
        ("Typhus", "typhus", "de"), ("Ödem", "oedema", "de"), ("ipertensione", "hypertension", "it"),
        ("inibição", "inhibition", "pt"), ("attivo", "active", "it"), ("minéraux", "minerals", "fr"),
        ("fístulas", "fistula", "es"), ("linguística", "linguistics", "pt"),
        ("granulomatosa", "granulomatous", "es"),
    ],
)  # fmt: skip
def test_a_word_is_the_english_one_that_its_language_makes_so(word: str, english: str, language: str) -> None:
    assert is_cognate(word, english, language)


@pytest.mark.parametrize(
    ("word", "english", "language"),
    [
        ("Albert", "Alberta", "pt"), ("diante", "Dianthus", "pt"), ("decide", "deciduum", "es"),
        ("calcula", "calculus", "pt"), ("calculó", "calculus", "es"),  # verbs
        ("actitud", "aptitude", "es"), ("olhando", "Holland", "pt"), ("Cooper", "copper", "pt"),
        ("pulmonar", "Pulmonaria", "es"), ("influencia", "influenza", "es"), ("chineses", "kinesis", "pt"),
        ("genéticos", "genetics", "es"), ("violações", "Violaceae", "pt"),
    ],
)  # fmt: skip
def test_false_friends_have_endings_or_letters_that_no_cognate_has(
    word: str, english: str, language: str
) -> None:
    assert not is_cognate(word, english, language)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_any_two_words_may_be_compared(language: str) -> None:
    for word in ("x", "é", "梅毒", "a" * 10_000, "s", "ß"):
        assert is_cognate(word, "syphilis", language) is False


def test_adjectives_are_told_by_their_endings() -> None:
    assert is_adjective("magnética") and is_adjective("cutanée") and is_adjective("pulmonar")
    assert not is_adjective("sífilis") and not is_adjective("otite") and not is_adjective("linfoma")
