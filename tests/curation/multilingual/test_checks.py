"""Checks of translations, on texts written for this: right ones are kept, each fault has its own name."""

from __future__ import annotations

import pytest

from benchmarks.planted_translations import PLANTS
from benchmarks.translation_pairs import Pair
from benchmarks.translations import CAUGHT_BY, fitted
from curation.multilingual.checks import Concepts, Fault, Translation, check, script_of
from curation.multilingual.numbers import english_numerals, numerals, plain
from curation.multilingual.words import known_languages, words_of
from curation.prompts import translation

ASKED = "Which drugs are not given to patients with a fracture of the left femur within 14 days of surgery?"
SAID = {
    "de": "Welche Medikamente werden Patienten mit einer Fraktur des linken Femurs innerhalb von 14 Tagen"
    " nach der Operation nicht gegeben?",
    "es": "¿Qué fármacos no se administran a pacientes con una fractura del fémur izquierdo en los 14 días"
    " siguientes a la cirugía?",
    "fr": "Quels médicaments ne sont pas donnés aux patients ayant une fracture du fémur gauche dans les"
    " 14 jours suivant l'opération ?",
    "it": "Quali farmaci non si somministrano ai pazienti con frattura del femore sinistro entro 14 giorni"
    " dall'intervento?",
    "ja": "左大腿骨骨折の患者に手術後14日以内に投与しない薬剤はどれですか。",
    "pt": "Quais medicamentos não são dados a pacientes com fratura do fêmur esquerdo nos 14 dias após a"
    " cirurgia?",
    "ru": "Какие препараты не назначают пациентам с переломом левой бедренной кости в течение 14 дней"
    " после операции?",
    "zh": "左股骨骨折患者术后14天内不应使用哪些药物？",
}
AFFIRMED = "Which drugs are given to patients with a fracture of the left femur within 14 days of surgery?"


def faults(source: str, text: str, language: str, *answers: str) -> tuple[Fault, ...]:
    return check(Translation(source, text, language, answers)).faults


def test_every_language_has_a_text_here_and_a_name_in_the_prompt() -> None:
    assert set(SAID) == set(known_languages()) == set(translation.NAMED)


@pytest.mark.parametrize("language", sorted(SAID))
def test_a_right_translation_is_kept_and_every_score_stays(language: str) -> None:
    found = check(Translation(ASKED, SAID[language], language))
    assert found.is_kept, found.faults
    scores = {score.check: score for score in found.scores}
    assert scores["numbers"].status == scores["negation"].status == scores["sides"].status == "passed"
    assert scores["back_translation"].status == scores["concepts"].status == "not_run"
    assert all(score.detail for score in found.scores if score.status == "not_run")


@pytest.mark.parametrize("language", sorted(SAID))
@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (ASKED.replace("14", "21"), Fault.NUMBER_CHANGED),
        (ASKED.replace("days", "weeks"), Fault.UNIT_CHANGED),
        (ASKED.replace("left", "right"), Fault.SIDE_CHANGED),
        (AFFIRMED, Fault.NEGATION_CHANGED),
    ],
)
def test_each_change_is_told_by_its_name_alone(language: str, source: str, fault: Fault) -> None:
    assert faults(source, SAID[language], language) == (fault,)


@pytest.mark.parametrize("language", sorted(SAID))
@pytest.mark.parametrize("other", sorted(SAID))
def test_no_language_passes_for_another(language: str, other: str) -> None:
    found = set(faults(ASKED, SAID[other], language)) & {Fault.WRONG_LANGUAGE, Fault.WRONG_SCRIPT}
    assert bool(found) == (language != other)


@pytest.mark.parametrize("language", sorted(SAID))
def test_what_is_left_in_english_is_seen(language: str) -> None:
    assert set(faults(ASKED, ASKED, language)) & {
        Fault.UNTRANSLATED,
        Fault.WRONG_LANGUAGE,
        Fault.WRONG_SCRIPT,
    }
    half = (
        f"Which drugs are not given to patients with a fracture {SAID[language][len(SAID[language]) // 2 :]}"
    )
    assert Fault.UNTRANSLATED in faults(ASKED, half, language)


def test_an_answer_may_stay_only_where_the_source_says_it() -> None:
    assert faults(ASKED, SAID["es"], "es", "femur", "fémur") == (Fault.ANSWER_LEFT,)
    assert faults(ASKED.replace("femur", "fémur"), SAID["es"], "es", "fémur") == ()
    assert faults(ASKED, SAID["zh"], "zh", "骨折") == (Fault.ANSWER_LEFT,)


def test_a_concept_next_to_the_right_one_is_another() -> None:
    def kin(one: str, other: str) -> bool:
        return one[0] == other[0]

    def of(*retold: str) -> tuple[Fault, ...]:
        concepts = Concepts({"A1", "B1"}, set(retold), kin)
        return check(Translation(ASKED, SAID["de"], "de"), concepts).faults

    assert of() == of("A1") == of("A2", "B1") == ()
    assert of("A1", "C1") == (Fault.CONCEPT_CHANGED,)


@pytest.mark.parametrize("text", ["", "  ", "?!", "12"])
def test_what_has_no_letter_is_no_translation(text: str) -> None:
    assert faults(ASKED, text, "fr") == (Fault.EMPTY,)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("es", "1.051.635 casos", "1051635"),
        ("fr", "1 051 635 cas", "1051635"),
        ("de", "3,5 mg täglich", "3.5"),
        ("zh", "760 万人", "7600000"),
        ("zh", "二十三岁", "23"),
        ("zh", "１２ 天", "12"),
        ("ja", "三日間", "3"),
        ("ru", "1,2 млн человек", "1200000"),
        ("pt", "dois dias", "2"),
        ("it", "trenta giorni", "30"),
    ],
)
def test_numbers_as_each_language_writes_them(language: str, text: str, expected: str) -> None:
    assert any(expected in item.readings for item in numerals(plain(text), words_of(language)))


def test_english_numbers_are_no_parts_of_words() -> None:
    assert [sorted(item.readings) for item in english_numerals("twenty four tendons in 1.2 million men")] == [
        ["1.2", "1200000"],
        ["24"],
    ]
    assert not english_numerals("the fourth often tends to heighten")


def test_scripts_are_told_by_the_names_of_letters() -> None:
    assert [script_of(char) for char in "aéзあア漢々α"] == [
        "Latin", "Latin", "Cyrillic", "Hiragana", "Katakana", "Han", "Han", "Greek",
    ]  # fmt: skip


def test_words_of_denial_that_deny_nothing_are_learnt_from_translations() -> None:
    known = [
        Pair("sentence", "es", "However, fever came back.", "Sin embargo, volvió la fiebre."),
        Pair("sentence", "es", "However, he was well.", "Sin embargo, estaba bien."),
        Pair("sentence", "es", "He had no fever.", "Estaba sin fiebre."),
    ]
    assert '"sin embargo"' in fitted(known)
    assert "fiebre" not in fitted(known)


@pytest.mark.parametrize("name", ["number", "unit", "negation", "untranslated", "wrong_language"])
def test_planted_errors_are_found_in_every_language(name: str) -> None:
    for language, text in SAID.items():
        planted = PLANTS[name](Pair("sentence", language, ASKED, text), SAID)
        assert planted is not None
        found = faults(planted.source, planted.text, language)
        assert set(found) & CAUGHT_BY[name], (language, planted)


def test_the_prompt_names_the_language_and_its_answer_is_read() -> None:
    prompt = translation.ask("q1", "multilingual_evidence", ASKED, "es", [("femur", "fémur")])
    other = translation.ask("q1", "multilingual_evidence", ASKED, "fr")
    assert prompt.id != other.id and "Spanish" in "".join(part.value for part in prompt.parts)
    assert translation.text_of({"text": f" {SAID['es']}\n"}) == SAID["es"]
    assert translation.text_of({"text": f"{SAID['es']} {'a1' * 16}"}) == "holds_mark"
