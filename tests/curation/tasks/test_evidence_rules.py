"""Rules, difficulty and own patients of clinical_evidence."""

from __future__ import annotations

from fractions import Fraction

import pytest

from curation.tasks.clinical_evidence.cells import CELLS, conclusion
from curation.tasks.clinical_evidence.difficulty import (
    Difficulty,
    counting_models,
    difficulties,
    guessing,
    judge,
)
from curation.tasks.clinical_evidence.pairs import apart
from curation.tasks.clinical_evidence.patient import same_patient
from curation.tasks.clinical_evidence.records import Attempt
from curation.tasks.clinical_evidence.rules import RuleReason, why_not
from curation.tasks.shared.judging.records import AskedPair
from schemas.article import Licence
from schemas.benchmark import Excluded
from schemas.question import Option, Question
from schemas.stages import Drop, Reason

STORY = (
    "A 52-year-old woman comes to the clinic because she has been tired for four months. She has gained "
    "6 kg, feels cold, and her skin is dry. Her pulse is 52/min. Her thyroid is not enlarged. "
)


def question(
    asked: str, *, story: str = STORY, correct: tuple[str, ...] = ("A",), answer: str = ""
) -> Question:
    options = tuple(
        Option(letter=letter, text=text) for letter, text in zip("AB", ("gout", "rest"), strict=True)
    )
    return Question(
        id="questions:ours/1",
        collection="questions:ours",
        number=1,
        language="en",
        text=story + asked,
        options=() if answer else options,
        correct=() if answer else correct,
        answer=answer,
        licence=Licence(spdx="CC0-1.0", evidence="ours"),
        is_synthetic=True,
    )


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("Which of the following is the most likely diagnosis?", None),
        ("What is the most appropriate next step in management?", None),
        ("Which of the following tests should be ordered?", None),
        ("Which of the following statements is true?", RuleReason.NEEDS_OPTIONS),
        ("Which of the following is correct?", RuleReason.NEEDS_OPTIONS),
        ("Which of the following would you expect?", RuleReason.NEEDS_OPTIONS),
        ("Which of these applies to her?", RuleReason.NEEDS_OPTIONS),
        ("All of the following are signs of it EXCEPT:", RuleReason.ASKS_FOR_EXCEPTION),
        ("Which of the following is NOT a cause?", RuleReason.ASKS_FOR_EXCEPTION),
        ("Which diagnosis is least likely?", RuleReason.ASKS_FOR_EXCEPTION),
        ("Which drug is contraindicated?", RuleReason.ASKS_FOR_EXCEPTION),
        ("Her smear is shown below. What is the diagnosis?", Reason.NEEDS_IMAGE),
        ("The photograph shown is of her hand. What is the cause?", Reason.NEEDS_IMAGE),
        ("An electrocardiogram is shown. What is the diagnosis?", Reason.NEEDS_IMAGE),
        ("The drug is shown to help. What is the diagnosis?", None),
        ("See the figure. What is the diagnosis?", Reason.NEEDS_IMAGE),
        ("Her ECG showed a slow rhythm. What is the diagnosis?", None),
        ("A rash is seen on the left arm. What is the diagnosis?", None),
        ("He was not vaccinated. What is the diagnosis?", None),
    ],
)
def test_a_question_breaks_the_rule_it_is_written_for(asked: str, reason: RuleReason | None) -> None:
    found = why_not(question(asked), ["T:1"], 20)
    assert (found[0] if found else None) is reason, found


def test_answers_targets_and_length_have_rules_of_their_own() -> None:
    asked = "What is the most likely diagnosis?"
    cases = {
        RuleReason.SEVERAL_ANSWERS: (question(asked, correct=("A", "B")), ["T:1"]),
        RuleReason.NO_ANSWER: (question(asked, correct=()), ["T:1"]),
        RuleReason.SHORT_VIGNETTE: (question(asked, story="A woman is tired. "), ["T:1"]),
        RuleReason.NO_TARGET: (question(asked), []),
    }
    for reason, (given, targets) in cases.items():
        found = why_not(given, targets, 20)
        assert found is not None and found[0] is reason
    assert why_not(question(asked, answer="hypothyroidism"), ["T:1"], 20) is None


def tries(model: str, question: str, right: int, wrong: int, options: int = 4) -> list[Attempt]:
    return [
        Attempt(
            prompt_id=f"{model} {question} {number}",
            collection="questions:ours",
            unit=question,
            form=f"sample-{number}",
            options=options,
            is_right=number < right,
            model=model,
        )
        for number in range(right + wrong)
    ]


def test_guessing_is_counted_exactly() -> None:
    assert guessing([4, 4], 1) == Fraction(7, 16) and guessing([2] * 4, 4) == Fraction(1, 16)
    assert guessing([2, 4], 2) == Fraction(1, 8) and guessing([], 0) == 1 and guessing([3], 2) == 0


def test_a_model_that_guesses_does_not_count() -> None:
    known = [item for n in range(8) for item in tries("able", f"c{n}", 3 if n < 6 else 0, 0 if n < 6 else 3)]
    guessed = [item for n in range(8) for item in tries("toy", f"c{n}", 3 if n < 2 else 0, 0 if n < 2 else 3)]
    control = [f"c{n}" for n in range(8)]
    level = Fraction(1, 20)
    counting = counting_models([*known, *guessed], control, level)
    assert counting == {"able"}
    assert counting_models([*known, *guessed], control, Fraction(1, 100_000)) == frozenset()
    assert counting_models([*known, *guessed], control, Fraction(2, 3)) == {"able", "toy"}
    assert counting_models([*known, *guessed], [], level) == frozenset()
    both = [*tries("able", "q", 1, 2), *tries("toy", "q", 3, 0)]
    assert judge(both, counting, Fraction(1, 2)).difficulty is Difficulty.HARD_ENOUGH
    assert judge(both, counting, Fraction(1, 2)).tries == 3
    assert judge(tries("able", "q", 2, 1), counting, Fraction(1, 2)).difficulty is Difficulty.TOO_EASY
    assert judge(tries("able", "q", 0, 3), counting, Fraction(1, 2)).difficulty is Difficulty.KEY_SUSPECT
    found = difficulties([*known, *both], [*control, "q", "r"], Fraction(1, 2), level)
    assert found["q"].models == 1 and found["r"].difficulty is Difficulty.NOT_RUN
    for unheard in (tries("toy", "q", 3, 0), []):
        assert judge(unheard, counting, Fraction(1, 2)).difficulty is Difficulty.NOT_RUN


RETOLD = (
    "We saw a woman of 52 years with tiredness. Over 4 months her weight had risen by 6 kg; the pulse was "
    "52 per minute, the temperature 36.1 °C."
)


@pytest.mark.parametrize(
    ("passage", "is_own"),
    [
        (RETOLD, False),
        (STORY, True),
        (
            "In the clinic: she has gained 6 kg, feels cold, and her skin is dry, said the nurse.",
            True,
        ),
        (RETOLD.replace("36.1", "36.2"), True),
        (RETOLD.replace("36.1", "36.2").replace("woman", "man"), False),
        (RETOLD.replace("36.1", "36.2").replace("52 years", "51 years"), False),
        ("Hypothyroidism is common. About 5 % of adults have it; levothyroxine 1.6 µg/kg is given.", False),
    ],
)
def test_a_passage_about_the_own_patient_is_known(passage: str, is_own: bool) -> None:
    query = STORY + "Her temperature is 36.2 °C."
    assert bool(same_patient(query, passage)) == is_own


@pytest.mark.parametrize(("values", "is_own"), [((15.7, 134, 183), True), ((7.1, 131, 44), False)])
def test_a_list_of_findings_tells_of_whom_by_its_values(values: tuple[float, ...], is_own: bool) -> None:
    query = "Laboratory studies show a hemoglobin of 15.7 g/dL, a sodium of 134 mmol/L and a CRP of 183 mg/L."
    passage = "Hemoglobin {} g/dL; sodium {} mmol/L; C-reactive protein (CRP) {} mg/L. What is suspected?"
    assert bool(same_patient(query, passage.format(*values))) == is_own


def test_sixteen_cells_say_what_a_pair_is() -> None:
    scores = [(one, other) for one in range(4) for other in range(4)]
    assert sorted(CELLS) == scores
    for one, other in scores:
        wanted: int | str = 2 if min(one, other) >= 2 else 0 if max(one, other) == 0 else "middle"
        assert conclusion([(one, other)]) == conclusion([(one, other)] * 2) == wanted
    assert conclusion([(2, 2), (3, 3)]) == 2 and conclusion([(0, 1), (3, 1)]) == "middle"
    assert conclusion([(2, 2), (1, 2)]) == conclusion([(0, 0), (2, 2)]) == "unstable"


def test_a_pair_of_the_same_story_is_set_apart() -> None:
    def pair(passage: str) -> AskedPair:
        return AskedPair(
            id="q d",
            query_id="q",
            corpus_id="d",
            article_id="pmc:PMC1.1",
            question=STORY + "Her temperature is 36.2 °C.",
            answer="hypothyroidism",
            passage=passage,
        )

    general = "Tiredness, dry skin and a slow pulse suggest that the thyroid makes too little hormone."
    assert list(apart(pair(general))) == [pair(general)]
    excluded, drop = apart(pair(RETOLD.replace("36.1", "36.2")))
    assert isinstance(excluded, Excluded) and isinstance(drop, Drop)
    assert excluded.reason == str(drop.reason) == "same_patient" and (drop.id, drop.unit) == ("q d", "pair")
