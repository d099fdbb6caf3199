"""Numbers, sides and denials of texts, and what a rewrite may not change of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from curation.fidelity.compare import changes
from curation.fidelity.denials import denials
from curation.fidelity.leaks import Leak, leaks, needs_options
from curation.fidelity.quantities import quantities
from curation.fidelity.sides import sides
from schemas.concept import Mention

SOURCE = (
    "A 45-year-old man has a 2-day history of pain in the left knee. He denies fever but has a cough. "
    "Temperature is 38.5 °C; blood pressure is 120/80 mm Hg. Hemoglobin is 9.1 g/dL and albumin 3.2 g/dL. "
    "The right hip is normal. His mother had gout."
)


class Plain:
    """A vocabulary in which every concept tells something and names are told apart by their end."""

    def tells(self, concept: str) -> bool:
        return True

    def any_same(self, concept: str, others: Iterable[str]) -> bool:
        return any(concept.rpartition("/")[2] == other.rpartition("/")[2] for other in others)

    def follows(self, concept: str, others: Iterable[str]) -> bool:
        return any(other.startswith(f"{concept}/") for other in others)

    def wordings(self, concept: str) -> Sequence[frozenset[str]]:
        return [frozenset({"skin", "yellow"})] if concept == "jaundice" else []

    def substitutes(self, stem: str) -> frozenset[str]:
        return frozenset({"cutan"}) if stem == "skin" else frozenset()

    def gloss(self, concept: str) -> frozenset[str]:
        told = {"dysuria": {"pain", "urin"}, "palpitations": {"sensat", "heart", "race", "pound"}}
        return frozenset(told.get(concept, ()))

    def is_short_form(self, concept: str, name: str) -> bool:
        return concept == "encephalitis"


def mention(text: str, words: str, concept: str, **flags: Any) -> Mention:
    start = text.index(words)
    return Mention(
        article_id="a",
        text_id="t",
        start=start,
        end=start + len(words),
        text=words,
        concept=concept,
        name=words,
        **flags,
    )


def found(rewrite: str, source: str = SOURCE) -> set[str]:
    return {str(item.reason) for item in changes(source, rewrite, [], [], Plain())}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a 2-day history", [("2", "day")]),
        ("for two days", [("2", "day")]),
        ("aged 45", [("45", "age")]),
        ("a forty-five-year-old", [("45", "age")]),
        ("three to five weeks", [("3", "week"), ("5", "week")]),
        ("120/80 mm Hg", [("120", "mmhg"), ("80", "mmhg")]),
        ("120 over 80 mmHg", [("120", "mmhg"), ("80", "mmhg")]),
        ("2.5 x 3 cm", [("2.5", "cm"), ("3", "cm")]),
        ("12,000/mm3", [("12000", "mm3")]),
        ("38.50 degrees Celsius", [("38.5", "c")]),
        ("at L4-L5, T2-weighted, CD20, one of them", []),
        ("one week", [("1", "week")]),
        ("88 beats per minute and 88/min", [("88", "/min"), ("88", "/min")]),
    ],
)
def test_numbers_are_read_with_their_units(text: str, wanted: list[tuple[str, str]]) -> None:
    assert [(item.value, item.unit) for item in quantities(text)] == wanted
    for item in quantities(text):
        assert text[item.start : item.end][0].isalnum()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("pain in the left knee", {"": {"left"}, "knee": {"left"}}),
        ("She left the hospital. He was left with a limp.", {"": set()}),
        ("The right answer is right now.", {"": set()}),
        ("swelling of the calf on the right", {"": {"right"}, "calf": {"right"}}),
        ("RLQ pain", {"": {"right"}, "lower": {"right"}, "quadrant": {"right"}}),
        ("bilateral edema", {"": {"both"}, "edema": {"both"}}),
        ("Both tests were normal.", {"": set()}),
    ],
)
def test_sides_are_told_from_leaving_and_being_correct(text: str, wanted: dict[str, set[str]]) -> None:
    assert sides(text) == wanted


def test_words_are_denied_where_the_context_rules_say_so() -> None:
    told = denials("He denies fever, chills, or weight loss but has cough. She never drinks alcohol.")
    assert {word for word, flags in told.items() if flags == {True}} >= {
        "fever",
        "chill",
        "loss",
        "alcohol",
    }
    assert told["cough"] == {False}
    told = denials("A man who takes no drugs suddenly had chest pain. No muscle atrophy; no rash, a cough.")
    assert (told["pain"], told["muscl"], told["cough"]) == ({None}, {None}, {False})
    assert told["atrophi"] == told["rash"] == {True}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("She takes no supplements.", "She does not take supplements."),
        ("He has no allergy to penicillin.", "He is not allergic to penicillin."),
        ("She did not bite her tongue.", "Her tongue was not bitten."),
        ("Vibration sense is lost in the toes.", "The toes have no sense of vibration."),
        ("The testis lies high, and the reflex is absent.", "The testis is high; there is no reflex."),
        ("He will not bear weight on the leg.", "He refuses to bear weight on the leg."),
    ],
)
def test_what_a_clause_denies_in_another_turn_of_phrase_is_no_change(one: str, other: str) -> None:
    assert found(other, one) == found(one, other) == set()


def test_a_relative_named_behind_what_he_has_still_has_it() -> None:
    texts = ("Both of her parents have hypertension.", "Hypertension is present in both parents.")
    own = "She has hypertension."
    mine, theirs, hers = (
        mention(texts[0], "hypertension", "D:1", is_family=True),
        mention(texts[1], "Hypertension", "D:1"),
        mention(own, "hypertension", "D:1"),
    )
    assert not changes(texts[0], texts[1], [mine], [theirs], Plain())
    assert [item.reason for item in changes(texts[0], own, [mine], [hers], Plain())] == ["person_changed"]


def test_a_concept_is_told_by_words_of_its_definition_beside_words_that_are_new() -> None:
    """Painful urination: burning when she urinates; not where only the same words stand in both."""
    retold = "A woman has dysuria."
    named = [mention(retold, "dysuria", "dysuria")]
    burning = "A woman has burning when she passes urine."
    assert not changes(burning, retold, [], named, Plain())
    same = "A woman has urine."
    assert {
        item.reason
        for item in changes(
            same,
            f"{same} She has dysuria.",
            [],
            [mention(f"{same} She has dysuria.", "dysuria", "dysuria")],
            Plain(),
        )
    } == {"concept_added"}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("45-year", "54-year", "number_changed"),
        ("2-day", "2-week", "unit_changed"),
        ("38.5 °C", "38.5 °F", "unit_changed"),
        ("38.5 °C", "38.5 ºF", "unit_changed"),
        ("9.1 g/dL and albumin 3.2", "3.2 g/dL and albumin 9.1", "number_changed"),
        ("120/80", "80/120", "number_changed"),
        ("left knee", "right knee", "side_changed"),
        ("left knee", "knee", "side_changed"),
        ("denies fever", "has fever", "negation_changed"),
        ("has a cough", "has no cough", "negation_changed"),
    ],
)
def test_a_change_is_seen_for_its_reason(old: str, new: str, reason: str) -> None:
    assert found(SOURCE.replace(old, new)) == {reason}


def test_both_sides_exchanged_are_seen() -> None:
    assert found(SOURCE.replace("left knee", "right knee").replace("right hip", "left hip")) == {
        "side_changed"
    }


def test_the_same_in_other_words_is_kept() -> None:
    told = (
        "His mother had gout. For two days, a man aged 45 years has had pain in the knee on the left, and a "
        "cough but no fever; the hip on the right is normal. Albumin is 3.2 g/dl, hemoglobin 9.1 g/dl, blood "
        "pressure 120 over 80 mmHg and temperature 38.5 degrees Celsius."
    )
    assert found(told) == set()


def test_concepts_are_compared_by_id_by_name_and_by_words() -> None:
    source, rewrite = "He has pyrexia and back pain.", "There is fever; the back is in pain."
    told = [mention(source, "pyrexia", "A/fever"), mention(source, "back pain", "B/back")]
    assert changes(source, rewrite, told, [mention(rewrite, "fever", "C/fever")], Plain()) == []
    lost = changes(source, "He is well.", told, [], Plain())
    assert {(str(item.reason), item.detail) for item in lost} == {
        ("concept_lost", "pyrexia (A/fever)"),
        ("concept_lost", "back pain (B/back)"),
    }
    added = changes("He is well.", source, [], told, Plain())
    assert {str(item.reason) for item in added} == {"concept_added"}
    asked = "He is well. Is it back pain?"
    assert changes("He is well.", asked, [], [mention(asked, "back pain", "B/back")], Plain()) == []


def test_a_concept_may_be_said_by_the_words_of_another_name_or_by_a_kind_of_it() -> None:
    source = "He has jaundice."
    told = [mention(source, "jaundice", "jaundice")]
    assert changes(source, "His skin is yellow.", told, [], Plain()) == []
    apart = changes(source, "His skin is dry. His teeth are yellow.", told, [], Plain())
    assert [str(item.reason) for item in apart] == ["concept_lost"]
    denied = changes(source, "He has no yellow skin.", told, [], Plain())
    assert [str(item.reason) for item in denied] == ["negation_changed"]
    kind = "He has obstruction."
    retold = [mention(kind, "obstruction", "jaundice/kind")]
    assert [str(item.reason) for item in changes(source, kind, told, retold, Plain())] == ["concept_added"]


@pytest.mark.parametrize(
    ("source", "rewrite", "wanted"),
    [
        ("He fell twice.", "He had two falls.", set()),
        ("It changes from day to day.", "It changes from one day to the next.", set()),
        ("A 69-year-old man, ill for 1 year.", "For 1 year a man aged 69 was ill.", set()),
        ("He has never had smoke.", "A never-smoker.", set()),
        ("He takes no drugs.", "He is not taking any drugs.", set()),
        ("He takes drugs.", "He is not taking any drugs.", {"negation_changed"}),
    ],
)
def test_numbers_and_denials_have_normal_forms(source: str, rewrite: str, wanted: set[str]) -> None:
    assert found(rewrite, source) == wanted


def test_a_denied_or_inherited_concept_is_another_fact() -> None:
    source, rewrite = "No pyrexia.", "Fever."
    told = [mention(source, "pyrexia", "A/fever", is_negated=True)]
    assert [
        str(item.reason)
        for item in changes(source, rewrite, told, [mention(rewrite, "Fever", "B/fever")], Plain())
    ] == ["negation_changed"]
    source, rewrite = "Her mother had gout.", "She had gout."
    told = [mention(source, "gout", "A/gout", is_family=True)]
    retold = [mention(rewrite, "gout", "A/gout")]
    assert [str(item.reason) for item in changes(source, rewrite, told, retold, Plain())] == [
        "person_changed"
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("It was Crohn disease.", Leak.ANSWER_LEFT),
        ("It was CROHN-DISEASE.", Leak.ANSWER_LEFT),
        ("A disease of the Crohn type.", Leak.ANSWER_LEFT),
        ("It was regional enteritis.", Leak.ANSWER_LEFT),
        ("Could it be gout?", Leak.OPTION_LEFT),
        ("Which of the following is it?", Leak.OPTION_LEFT),
        ("Is it (A) this or (B) that?", Leak.OPTION_LEFT),
        ("He has asthma. What is it?", None),
        ("He came back the following day. What is it?", None),
    ],
)
def test_nothing_of_a_choice_is_left(text: str, reason: Leak | None) -> None:
    told = [mention(text, "regional enteritis", "B/crohn")] if "enteritis" in text else []
    named = [mention("Crohn disease", "Crohn disease", "A/crohn")]
    given = leaks(text, "Crohn disease", ["gout", "asthma"], "He has asthma.", told, named, Plain())
    assert {item.reason for item in given} == ({reason} if reason else set())


def test_a_short_form_of_the_answer_is_its_name() -> None:
    (leak,) = leaks("GCA is likely.", "giant cell arteritis", [], "", [], [], Plain())
    assert leak.detail == "GCA"


@pytest.mark.parametrize(
    "text", ["Which of these is best?", "Choose among the options.", "Is option B right?"]
)
def test_a_question_that_needs_its_options_is_known(text: str) -> None:
    assert needs_options(text) and not needs_options("Vitamin B. cereus was given on the following morning.")


def reasons(source: str, told: Sequence[Mention], rewrite: str, retold: Sequence[Mention] = ()) -> list[str]:
    return [str(item.reason) for item in changes(source, rewrite, told, retold, Plain())]


def test_a_short_form_is_named_in_capitals_alone() -> None:
    for text, wanted in (("She looks pale.", []), ("She has PALE.", ["concept_lost"])):
        words = text.split()[-1].rstrip(".")
        assert reasons(text, [mention(text, words, "encephalitis")], "She is ill.") == wanted


@pytest.mark.parametrize(
    ("name", "rewrite", "is_told"),
    [
        ("Creatine kinase", "CK is normal.", True),
        ("Creatine kinase", "A lack of it is normal.", False),
        ("Complement C3", "C3 is normal.", True),
        ("Complement C3", "C4 is normal.", False),
        ("steroids", "Corticosteroids are normal.", True),
        ("tension", "Hypertension is normal.", False),
        ("pain", "His head hurts.", True),
    ],
)
def test_a_name_is_told_by_its_initials_or_inside_a_compound(name: str, rewrite: str, is_told: bool) -> None:
    source = f"{name} is normal."
    assert reasons(source, [mention(source, name, "x")], rewrite) == ([] if is_told else ["concept_lost"])


def test_a_name_is_told_by_a_concept_that_is_defined_with_all_its_words() -> None:
    source, made = "He has a racing heart.", "He has palpitations."
    told = [mention(source, "racing heart", "tachycardia")]
    assert reasons(source, told, made, [mention(made, "palpitations", "palpitations")]) == []
    denied = [mention(made, "palpitations", "palpitations", is_negated=True)]
    assert "concept_lost" in reasons(source, told, made, denied)
    both = [*told, mention(source, "heart", "palpitations")]
    assert "concept_lost" in reasons(source, both, made, denied)


@pytest.mark.parametrize(
    ("source", "rewrite", "wanted"),
    [
        ("He has not gained weight.", "His weight is the same.", []),
        ("He has not gained weight.", "He has gained weight.", ["negation_changed"]),
        ("She is still growing.", "She has not finished growing.", []),
        ("She takes no other drugs.", "Her only drugs are these.", []),
        ("She takes no drugs.", "She takes drugs.", ["negation_changed"]),
        ("He has no appetite.", "His appetite is gone.", []),
        ("He has no appetite.", "His appetite is good.", ["negation_changed"]),
    ],
)
def test_a_denial_is_lost_where_all_that_it_denies_is_affirmed(
    source: str, rewrite: str, wanted: list[str]
) -> None:
    assert reasons(source, [], rewrite) == wanted
