"""Checks of translations, on texts written for this: right ones are kept, each fault has its own name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks import denial_weights
from benchmarks.planted_translations import PLANTS
from benchmarks.translation_pairs import Pair, paired_wrongly
from benchmarks.translations import CAUGHT_BY, fitted
from curation.multilingual.back import Back, control, known_pairs
from curation.multilingual.checks import Translation, check, script_of
from curation.multilingual.language import log_odds
from curation.multilingual.named import Concepts, says
from curation.multilingual.numbers import english_numerals, numerals, plain
from curation.multilingual.scores import Fault
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


SHORT = {
    "de": "Wie behandelt man Kinder mit Asthma?",
    "es": "¿Cómo se trata a los niños con asma?",
    "fr": "Comment traite-t-on l’asthme de l’enfant ?",
    "it": "Come si curano i bambini con l’asma?",
    "ja": "子供の喘息はどう治療しますか？",
    "pt": "Como se tratam as crianças com asma?",
    "zh": "儿童哮喘如何治疗？",
}


@pytest.mark.parametrize("language", sorted(SHORT))
@pytest.mark.parametrize("other", sorted(SHORT))
def test_a_short_question_in_another_language_is_seen(language: str, other: str) -> None:
    found = set(faults("How is asthma in children treated?", SHORT[other], language))
    assert bool(found & {Fault.WRONG_LANGUAGE, Fault.WRONG_SCRIPT}) == (language != other)
    assert bool(found) == (language != other)


@pytest.mark.parametrize("language", sorted({"de", "es", "fr", "it", "pt"}))
@pytest.mark.parametrize("asked", ["What is Crohn's disease?", "Does HIV cause AIDS?", "What causes asthma?"])
def test_a_short_question_left_in_english_is_seen(language: str, asked: str) -> None:
    assert Fault.UNTRANSLATED in faults(asked, asked, language)


def test_a_name_may_be_the_same_in_another_language() -> None:
    assert faults("Pemphigus vulgaris", "Pemphigus vulgaris", "es") == ()


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
    assert faults(ASKED, SAID["es"], "es", "femur", "fémur") == ()
    other = ASKED.replace("femur", "thighbone")
    assert faults(other, SAID["es"], "es", "thighbone", "fémur") == (Fault.ANSWER_LEFT,)
    assert faults(ASKED, SAID["zh"], "zh", "骨折") == (Fault.ANSWER_LEFT,)


@pytest.mark.parametrize(
    ("text", "name", "language", "expected"),
    [
        ("¿Qué causa las fracturas?", "fractura", "es", True),
        ("¿Qué causa la gota?", "A drop of gota.", "es", False),
        ("¿Qué causa la fiebre alta de los pantanos?", "fiebre de los pantanos", "es", True),
        ("¿Tiene el paciente fiebre tras su visita a los pantanos?", "fiebre de los pantanos", "es", False),
        ("¿Qué causa la neumonia?", "Neumonía", "es", True),
        ("¿Trata la diabetes tipo 1?", "diabetes tipo 2", "es", False),
        ("¿Qué causa la COPD?", "COPD", "es", True),
        ("¿Qué ve a la derecha?", "A", "es", False),
        ("A 型肝炎とは何ですか。", "A型肝炎", "ja", True),
        ("喘息の原因は何ですか。", "asthma", "ja", False),
        ("asthmaの原因は何ですか。", "asthma", "ja", True),
        ("Чем лечат подагру?", "подагра", "ru", True),
    ],
)
def test_a_name_is_found_inflected_and_with_words_between(
    text: str, name: str, language: str, expected: bool
) -> None:
    assert says(text, name, language) is expected


def concepts(
    told: dict[str, list[str]], *retold: str, are_shown: bool = True, general: str = ""
) -> tuple[str, str]:
    """(status, detail) of a text on "gota" where A is below AB, and AB below ABC."""
    found = Concepts(
        told,
        set(retold),
        parents=lambda one: frozenset({{"A": "AB", "AB": "ABC"}.get(one, "")}),
        is_above=lambda one, other: len(one) > len(other) and other in one,
        general=frozenset(general.split()),
        are_shown=are_shown,
    )
    score = next(
        one
        for one in check(Translation("What causes it?", "¿Qué causa la gota?", "es"), found).scores
        if one.check == "concepts"
    )
    return score.status, score.detail


def test_each_concept_is_found_by_the_name_given_or_by_another() -> None:
    assert concepts({"A": ["gota"]}) == ("passed", "")
    assert concepts({"A": ["podagra"]}, "A") == ("passed", "")
    assert concepts({"A": ["podagra"]}) == ("failed", "lost: podagra")
    assert concepts({"A": ["gota"], "D": ["asma"]}) == ("failed", "lost: asma")
    assert concepts({"A": ["gota"]}, "D") == ("failed", "new: D")


def test_one_step_up_is_told_and_what_is_below_or_further_up_is_no_kin() -> None:
    assert concepts({"A": ["podagra"]}, "AB") == ("passed", "broader: AB for A")
    assert concepts({"A": ["podagra"]}, "ABC") == ("failed", "lost: podagra")
    assert concepts({"A": ["gota"]}, "ABC") == ("passed", "")  # said beside it
    assert concepts({"AB": ["gota"]}, "A") == ("failed", "new: A")  # cancer, made breast cancer


def test_what_cannot_be_looked_for_is_not_run_and_says_why() -> None:
    assert concepts({}) == ("not_run", "the source names no concept")
    assert concepts({"A": []}) == ("not_run", "no name: A")
    assert concepts({"A": []}, "A") == ("passed", "")
    assert concepts({"A": []}, "D")[0] == "not_run"  # which may be A under another id
    assert concepts({"A": []}, "D", "E")[0] == "failed"
    assert concepts({"A": ["gota"]}, "D", general="D") == ("passed", "")
    assert concepts({}, general="D") == ("not_run", "too general: D")
    assert concepts({}, "E", general="D") == ("failed", "new: E; too general: D")


def test_who_was_shown_no_names_may_use_others() -> None:
    assert concepts({"A": ["podagra"]}, are_shown=False) == ("not_run", "lost: podagra")
    assert concepts({"A": ["podagra"]}, "D", are_shown=False) == ("failed", "lost: podagra; new: D")


@pytest.mark.parametrize(
    ("source", "language", "text", "is_wrong"),
    [
        ("How is a fracture treated?", "es", "¿Cómo se trata una fractura izquierda?", True),
        ("Which drug is given for fever?", "ja", "右側の発熱にはどの薬が使われますか。", True),
        ("How is knee pain treated?", "pt", "Como se trata a dor em ambos os joelhos?", False),
        ("Which right does the patient have?", "es", "¿Qué derecho tiene el paciente?", False),
        ("Has the patient a right to care?", "es", "¿Tiene el paciente derecho a la atención?", False),
        ("Has the patient a right to care?", "fr", "Le patient a-t-il droit aux soins ?", False),
        ("What does the kidney of a child look like?", "es", "¿Cómo es el riñón derecho de un niño?", True),
        ("What does the lung of a child look like?", "fr", "Comment est le poumon droit d'un enfant ?", True),
        ("Do about 20 patients recover?", "zh", "20名左右的患者会康复吗？", False),
        ("Is levofloxacin effective?", "zh", "左氧氟沙星有效吗？", False),
        ("Is dextrocardia inherited?", "zh", "右位心会遗传吗？", False),
        ("Which rule is correct?", "ru", "Какое правило правильно?", False),
        ("Is it treated in time?", "de", "Wird es rechtzeitig behandelt?", False),
        ("Are both lungs affected, left and right?", "it", "Sono colpiti entrambi i polmoni?", False),
        ("Is the left lung affected?", "fr", "Le poumon est-il atteint ?", True),
        ("Is the lung affected?", "de", "Ist der linke Lungenflügel betroffen?", True),
    ],
)
def test_a_side_that_only_one_text_has_is_seen_and_idioms_are_none(
    source: str, language: str, text: str, is_wrong: bool
) -> None:
    assert (Fault.SIDE_CHANGED in faults(source, text, language)) is is_wrong


@pytest.mark.parametrize(
    ("source", "language", "text"),
    [
        ("Which drugs are given to patients?", "zh", "患者不应使用哪些药物？"),
        ("How is tuberculosis not treated?", "de", "Wie wird Tuberkulose behandelt?"),
    ],
)
def test_neither_the_end_of_a_word_nor_a_disease_excuses_a_denial(
    source: str, language: str, text: str
) -> None:
    assert Fault.NEGATION_CHANGED in faults(source, text, language)


def test_the_odds_of_a_language_are_whole_and_add_up_alike_everywhere() -> None:
    found = log_odds("¿Qué pacientes con meningitis tienen riesgo de ictus?")
    assert all(isinstance(value, int) for value in found.values())
    assert found["es"] == 575 == -found["fr"] and max(found, key=found.__getitem__) == "es"
    assert log_odds("12 ?!") == {}


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


@pytest.mark.parametrize("name", ["number", "unit", "negation_new", "untranslated", "wrong_language"])
def test_planted_errors_are_found_in_every_language(name: str) -> None:
    for language, text in SAID.items():
        planted = PLANTS[name](Pair("sentence", language, ASKED, text), SAID)
        assert planted is not None
        found = faults(planted.source, planted.text, language)
        assert set(found) & CAUGHT_BY[name], (language, planted)


LONG = (
    "In patients who recovered at home after a week of fever, the cough was treated with fluids alone, and"
    " the swelling of the ankles was seen again after the second visit."
)
LONG_SAID = {
    "es": "En los pacientes que se recuperaron en casa tras una semana de fiebre, la tos se trató solo con"
    " líquidos, y la hinchazón de los tobillos volvió a verse después de la segunda visita.",
    "fr": "Chez les patients qui se sont rétablis à domicile après une semaine de fièvre, la toux a été"
    " traitée uniquement par des liquides, et le gonflement des chevilles a été revu à la deuxième visite.",
    "pt": "Nos pacientes que se recuperaram em casa após uma semana de febre, a tosse foi tratada apenas com"
    " líquidos, e o inchaço dos tornozelos foi visto novamente após a segunda visita.",
    "ru": "У пациентов, которые выздоровели дома после недели лихорадки, кашель лечили одной жидкостью, а"
    " отёк лодыжек снова наблюдали после второго визита.",
    "zh": "在家中发热一周后康复的患者，咳嗽仅用补液治疗，第二次就诊后再次见到踝部肿胀。",
}


@pytest.mark.parametrize("language", sorted(LONG_SAID))
def test_a_denial_in_long_texts_is_weighed(language: str) -> None:
    right = check(Translation(LONG, LONG_SAID[language], language))
    assert right.is_kept, right.faults
    lost = PLANTS["negation_lost"](Pair("sentence", language, LONG, LONG_SAID[language]), {})
    assert lost is not None
    changed = check(Translation(lost.source, lost.text, language))
    if language != "zh":  # of Chinese, one in eight is not found
        assert changed.faults == (Fault.NEGATION_CHANGED,)
    for found, sign in ((right, 1), (changed, -1)):
        value = next(score.value for score in found.scores if score.check == "negation")
        assert value is not None and value * sign > 1, "log-odds of what is seen"


def test_weights_of_denials_are_learnt_from_known_translations_alone() -> None:
    said = {True: "el paciente volvió sin fiebre", False: "el paciente volvió con fiebre"}
    known = [
        Pair(
            "sentence",
            "es",
            f"On day {day} after the operation in the old hospital of the small town the patient came back"
            f" {'without' if denied else 'with'} fever",
            f"El día {day} después de la operación en el viejo hospital de la ciudad {said[denied]}",
        )
        for day in range(2, 302)
        for denied in (day % 2 == 0,)
    ]
    found = denial_weights.fit(known, "es", dict.fromkeys(denial_weights.FOLDS, ()))
    assert found is not None and found.bounds.rejected == 0 and found.bounds.found == 2
    assert found.denial.weights["word sin"] + found.denial.weights.get("denials 1", 0) > 0
    assert denial_weights.fit(known[:50], "es", dict.fromkeys(denial_weights.FOLDS, ())) is None


def test_documents_that_stand_beside_the_wrong_english_are_left_out() -> None:
    english = [
        f"{name} fever in {place} hospital" for name in ("acute", "severe", "mild") for place in "abcdef"
    ]
    spanish = [
        f"{name} fiebre en hospital {place}" for name in ("acuta", "severa", "milda") for place in "abcdef"
    ]
    right = [Pair("sentence", "es", *texts, "right") for texts in zip(english, spanish, strict=True)]
    moved = [*spanish[5:], *spanish[:5]]
    wrong = [Pair("sentence", "es", *texts, "wrong") for texts in zip(english, moved, strict=True)]
    assert set(paired_wrongly([*right, *wrong])) == {("es", "wrong")}


@pytest.mark.parametrize(
    ("source", "language", "text"),
    [
        ("It was found in the 1930s.", "zh", "它在 20 世纪 30 年代被发现。"),
        ("About .08 of all", "es", "Alrededor de 0,08 de todos"),
        ("twenty four hours of rest", "ru", "двадцать четыре часа отдыха"),
        ("35 patients were seen", "es", "Treinta y cinco pacientes fueron atendidos"),
        ("five to six days of rest", "ru", "пять-шесть дней отдыха"),
        ("between 14 and 22 million people", "zh", "1,400 万至 2,200 万人"),
        ("over 200,000 students", "zh", "20多万名学生"),
        ("the 2019–20 season", "pt", "a temporada de 2019-2020"),
        ("children under five years of age", "fr", "enfants de moins de cinq ans"),
    ],
)
def test_one_number_told_in_two_ways_is_no_other_number(source: str, language: str, text: str) -> None:
    assert not {Fault.NUMBER_CHANGED, Fault.UNIT_CHANGED} & set(faults(source, text, language))


def test_a_number_in_a_name_has_no_unit() -> None:
    text = "El SARS-CoV-2 se detectó 2 semanas antes"
    assert faults("SARS-CoV-2 was detected 2 weeks earlier", text, "es") == ()
    assert faults("SARS-CoV-2 was detected 2 days earlier", text, "es") == (Fault.UNIT_CHANGED,)


def test_the_same_number_of_something_else_lends_no_unit() -> None:
    source = "These two viruses cause an illness of 2 months."
    text = "Estos dos virus causan una enfermedad de 2 {}."
    assert faults(source, text.format("meses"), "es") == ()
    assert faults(source, text.format("semanas"), "es") == (Fault.UNIT_CHANGED,)


@pytest.mark.parametrize(
    ("source", "other", "language", "text"),
    [
        ("Cells grow at 37 °C.", "Cells grow at 37 °F.", "pt", "As células crescem a 37 ºC."),
        ("fever in the 2nd week", "fever in the 2nd month", "pt", "febre na 2ª semana"),
        ("a risk after 28 weeks", "a risk after 28 days", "ru", "риск после 28-ой недели"),
    ],
)
def test_signs_and_endings_of_ordinals_hide_no_unit(
    source: str, other: str, language: str, text: str
) -> None:
    assert faults(source, text, language) == ()
    assert faults(other, text, language) == (Fault.UNIT_CHANGED,)


def test_a_side_is_told_as_the_first_part_of_a_german_word() -> None:
    assert faults("Left bundle branch block", "Linksschenkelblock", "de") == ()
    assert faults("Bundle branch block", "Linksschenkelblock", "de") == (Fault.SIDE_CHANGED,)
    assert faults("Right bundle branch block", "Linksschenkelblock", "de") == (Fault.SIDE_CHANGED,)
    assert Fault.SIDE_CHANGED not in faults("forensic medicine", "Rechtsmedizin", "de")


def back_of(text: str, known: Sequence[str], back: str = ASKED) -> tuple[str, str, tuple[Fault, ...]]:
    """(status, detail, faults) of a Spanish translation that an engine translated back."""
    found = check(Translation(ASKED, text, "es"), back=Back("engine", back, known))
    score = next(one for one in found.scores if one.check == "back_translation")
    return score.status, score.detail, found.faults


def test_a_translation_that_comes_back_as_something_else_is_rejected() -> None:
    right = [english for english, _ in known_pairs("es")]
    assert back_of(SAID["es"], right)[0] == "passed"
    for wrong, what in (
        (ASKED.replace("14", "21"), "lost: 14 day"),
        (ASKED.replace("days", "weeks"), "lost: 14 day"),
        (AFFIRMED, "negation lost"),
        (ASKED.replace("left", "right"), "side: now right"),
        ("Which foods are not given to guests of the left hotel within 14 days of arrival?", "of the words"),
    ):
        status, detail, found = back_of(SAID["es"], right, wrong)
        assert status == "failed" and what in detail and found == (Fault.BACK_CHANGED,), wrong


def test_an_engine_that_copies_its_input_fails() -> None:
    copied = [text for _, text in known_pairs("es")]
    assert control("es", copied) == "gave back known sentence 1 as it was"
    status, _, found = back_of(SAID["es"], copied, SAID["es"])
    assert status == "failed" and found == (Fault.BACK_CHANGED,)
    status, detail, found = back_of(SAID["es"], copied)  # even where it returns the English source
    assert status == "not_run" and "failed its control" in detail and not found


@pytest.mark.parametrize("language", sorted(SAID))
def test_an_engine_is_controlled_by_its_own_known_sentences(language: str) -> None:
    right = [english for english, _ in known_pairs(language)]
    assert control(language, right) == ""
    assert "0 of 4" in control(language, []) and "3 of 4" in control(language, right[:3])
    assert control(language, [right[0].replace("14", "41"), *right[1:]]).startswith("known sentence 1: lost")
    for english, text in known_pairs(language):
        assert check(Translation(english, text, language)).is_kept, text


def test_the_prompt_names_the_language_and_its_answer_is_read() -> None:
    prompt = translation.ask("q1", "multilingual_evidence", ASKED, "es", [("femur", "fémur")])
    other = translation.ask("q1", "multilingual_evidence", ASKED, "fr")
    assert prompt.id != other.id and "Spanish" in "".join(part.value for part in prompt.parts)
    assert translation.text_of({"text": f" {SAID['es']}\n"}) == SAID["es"]
    assert translation.text_of({"text": f"{SAID['es']} {'a1' * 16}"}) == "holds_mark"
