"""Who is told of: patients without an age in figures, in brackets, in one sentence; and what is of nobody."""

from __future__ import annotations

import pytest

from curation.cases.narrative import is_aside
from curation.cases.patient import introduces, introduction
from curation.extract.formalities import is_consent
from tests.curation.cases.stories import DISCUSSION, INTRODUCTION, cases_of, extracted, report


@pytest.mark.parametrize(
    ("sentence", "years"),
    [
        ("Madame T. est une patiente de 71 ans, suivie par son cardiologue.", 71.0),
        ("A 20-minute-old boy was brought to the nursery.", 0.0),
        ("A teenage boy presented to our clinic with a cough.", None),
        ("An otherwise healthy middle-aged woman was referred with a lump.", None),
    ],
)
def test_ages_in_words_in_minutes_and_before_a_possessive(sentence: str, years: float | None) -> None:
    age = introduces(sentence)
    assert age is not None and age.years == years


def test_an_age_in_figures_is_better_than_one_in_words() -> None:
    told = ["An elderly man was brought in with a fall.", "The 81-year-old man lived alone."]
    found = introduction(told)
    assert found is not None and found[1].years == 81.0
    found = introduction([told[0], "He lived alone."])
    assert found is not None and found[1].years is None
    assert introduces("The tumour is mostly seen in an elderly woman.") is None


def test_a_patient_without_an_age_is_told_of_under_concerns() -> None:
    of = report(
        [
            ("Rationale", [INTRODUCTION]),
            (
                "Patient concerns",
                ["We report a patient who was brought in with cramps. His blood sugar was 20 mg/dL."],
            ),
            ("Diagnoses", ["The patient was found to have a defect of an enzyme after a gene test."]),
            ("Outcomes", ["He died at the age of 5 months because he could not breathe any more."]),
            ("Discussion", [DISCUSSION]),
        ]
    )
    (case,) = cases_of(of)
    assert len({span.passage_id for span in case.spans}) == 3
    assert (case.age_years, case.sex) == (None, "male")


def test_patients_numbered_in_brackets_under_the_sections_of_a_study() -> None:
    mother = "A 48-year-old woman (case 1) presented with brittle nails. She had a short neck."
    daughter = "Her 19-year-old daughter (case 2) was also seen and had the same nails."
    one, two = "Tests in case 1 showed a low calcium.", "X-rays of case 2 showed thin bones."
    of = report(
        [
            ("Objectives", ["To describe two cases of a disease of the nails."]),
            ("Materials and methods", [f"{mother} {daughter}"]),
            ("Results", [f"{one} Her kidneys were normal. {two}"]),
            ("Conclusions", [DISCUSSION]),
        ]
    )
    first, second = cases_of(of)
    assert ((first.age_years, first.label), (second.age_years, second.label)) == (
        (48.0, "case 1"),
        (19.0, "case 2"),
    )
    texts = {item.id: item.text for item in of.passages}
    told = [
        " ".join(texts[span.passage_id][span.start : span.end] for span in case.spans)
        for case in (first, second)
    ]
    assert one in told[0] and "kidneys" in told[0] and two not in told[0] and "daughter" not in told[0]
    assert two in told[1] and one not in told[1] and "brittle" not in told[1]


def test_sentences_go_back_to_one_patient_or_to_both() -> None:
    text = (
        "Case 1 is a 52-year-old man who presented with a limp. Case 2 is a 33-year-old woman who came with "
        "cramps. Both developed a rash within days. It spread. A low level was found in both cases. In May, "
        "the first patient was still limping. The second patient died."
    )
    of = report([("Case reports", [text]), ("Discussion", [DISCUSSION])], title="Limp and cramps")
    told = [[text[span.start : span.end] for span in case.spans] for case in cases_of(of)]
    first, second = (" ".join(one) for one in told)
    for shared in ("Both developed", "It spread.", "in both cases"):
        assert shared in first and shared in second
    assert "still limping" in first and "still limping" not in second
    assert "died" in second and "died" not in first


def test_patients_announced_in_one_sentence_are_parted() -> None:
    text = (
        "We present two cases of a rash: a 44-year-old woman with a rash of the scalp for some months who "
        "was seen by us in May, and a 29-year-old man with a rash of the back who came in June. Both were "
        "well later."
    )
    of = report([("Case presentation", [text]), ("Discussion", [DISCUSSION])], title="A rash")
    first, second = cases_of(of)
    assert [(case.age_years, case.sex) for case in (first, second)] == [(44.0, "female"), (29.0, "male")]
    assert text[first.spans[0].start : first.spans[0].end].endswith("in May")
    assert text[second.spans[0].start :].startswith("a 29-year-old man")
    assert text[second.spans[-1].start :].startswith(("a 29", "Both"))


@pytest.mark.parametrize(
    ("sentence", "is_of_nobody"),
    [
        ("About 5-10% of women with the syndrome have fair hair.", True),
        ("Twins have been reported in rare patients.", True),
        ("Porphyria should be considered in patients with cramps.", True),
        ("Gout is a common inflammatory disease and may look like anything.", True),
        ("The patient's cramps should be considered mild.", False),
        ("About 40% of his body was burnt.", False),
        ("Her tumour has been described as soft.", False),
        ("About 30% of the cells were positive.", False),
    ],
)
def test_what_is_told_of_nobody_is_no_part_of_a_case(sentence: str, is_of_nobody: bool) -> None:
    assert is_aside(sentence) is is_of_nobody


def test_consent_before_care_is_consent() -> None:
    assert is_consent("Written informed consent was obtained from his parents before the transplantation.")
    assert not is_consent("Informed consent was obtained and she underwent surgery of the hip.")


def test_a_methods_section_without_a_patient_makes_no_case() -> None:
    of = report(
        [("Methods", ["We enrolled 20 patients with gout in a study."]), ("Results", ["They did well."])]
    )
    cases, drops = extracted(of)
    assert not cases and len(drops) == 1
