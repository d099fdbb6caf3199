from __future__ import annotations

import dataclasses

import pytest

from curation.cases.headings import numbered
from schemas.article import Box, Continuation
from schemas.stages import Reason
from tests.curation.builders import passage
from tests.curation.cases.stories import (
    CHILD,
    CONSENT,
    DISCUSSION,
    INTRODUCTION,
    MAN,
    WOMAN,
    cases_of,
    extracted,
    numbers_of,
    report,
    stated_in,
)

PLAIN = "Torsion of a wandering spleen in patients with acute abdominal pain: surgical treatment"


@pytest.mark.parametrize(
    "title",
    [
        "Case report",
        "2. Case Presentation",
        "CASE DESCRIPTION",
        "Presentation of the case",
        "Our case",
        "Patient information",
        "Relato de caso",
        "Presentación del caso",
        "Présentation du cas",
        "Kasuistik",
        "Descrizione del caso",
        "Observation",
    ],
)
def test_a_case_section_is_the_case_and_nothing_around_it(title: str) -> None:
    of = report([("Introduction", [INTRODUCTION]), (title, [WOMAN, CONSENT]), ("Discussion", [DISCUSSION])])
    (case,) = cases_of(of)
    assert numbers_of(case) == [2]
    assert (case.rule, case.label, case.age_years, case.sex) == ("section", "", 34.0, "female")
    assert case.id == "pmc:PMC1.1#case1"


def test_a_report_that_presents_its_patient_under_the_first_heading_does_not_close_the_case() -> None:
    told = (
        "This case report presents a 44 year old woman who fell from a ladder. Her history was unremarkable."
    )
    of = report(
        [
            ("Introduction", [INTRODUCTION]),
            ("Patient Information", [told]),
            ("Clinical Findings", [WOMAN]),
            ("Discussion", [DISCUSSION]),
        ]
    )
    (case,) = cases_of(of)
    assert numbers_of(case) == [2, 3]
    assert case.age_years == 44.0


def test_subsections_and_following_sections_of_a_case_belong_to_it() -> None:
    of = report(
        [
            ("Background", [INTRODUCTION]),
            ("Case presentation", [WOMAN]),
            ("> Differential diagnosis", ["The differential diagnosis of her pain included appendicitis."]),
            ("Treatment", ["The patient was given fluids and antibiotics before the operation."]),
            ("Outcome and follow-up", ["She was well at the follow-up visit after six months."]),
            ("Discussion", [DISCUSSION]),
        ]
    )
    (case,) = cases_of(of)
    assert numbers_of(case) == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("first", "second"),
    [("Case 1", "Case 2"), ("Patient A", "Patient B"), ("First case", "Second case"), ("Caso 1", "Caso 2")],
)
def test_one_record_per_patient_section(first: str, second: str) -> None:
    of = report(
        [
            ("Introduction", [INTRODUCTION]),
            (first, [WOMAN]),
            (second, [MAN, "He was well later."]),
            ("Discussion", [DISCUSSION]),
        ]
    )
    one, two = cases_of(of)
    assert (numbers_of(one), numbers_of(two)) == ([2], [3, 4])
    assert (one.label, two.label, one.rule) == (first, second, "heading")
    assert (two.age_years, two.sex, two.number, two.id) == (61.0, "male", 2, "pmc:PMC1.1#case2")


@pytest.mark.parametrize(
    "words", [("Case 1: ", "Case 2: "), ("Case 1. ", "Case 2. "), ("Patient 1. ", "Patient 2. ")]
)
def test_numbers_at_the_head_of_paragraphs_part_patients(words: tuple[str, str]) -> None:
    of = report(
        [
            ("Case reports", [words[0] + WOMAN, "She was well at follow-up.", words[1] + MAN]),
            ("Discussion", [DISCUSSION]),
        ]
    )
    one, two = cases_of(of)
    assert (numbers_of(one), numbers_of(two)) == ([1, 2], [3])
    assert one.rule == two.rule == "numbered"


def test_run_in_headings_part_patients() -> None:
    of = report([("Case reports", ["Case 1", WOMAN, "Case 2", MAN]), ("Discussion", [DISCUSSION])])
    assert [numbers_of(case) for case in cases_of(of)] == [[1, 2], [3, 4]]


def test_a_letter_with_run_in_headings_is_a_case_up_to_its_discussion() -> None:
    examined = "Examination revealed a perforation, and biopsy showed many bacilli."
    of = report([("", ["Dear Editor,", f"Case report. {WOMAN}", examined, f"Discussion. {DISCUSSION}"])])
    (case,) = cases_of(of)
    assert numbers_of(case) == [2, 3]


@pytest.mark.parametrize("title", ["Autopsy findings", "Neurological examination", "Genetic findings"])
def test_what_was_found_goes_on_with_the_case(title: str) -> None:
    found = "The pericardial sac was obliterated by clots."
    (case,) = cases_of(report([("Case report", [WOMAN]), (title, [found]), ("Discussion", [DISCUSSION])]))
    assert numbers_of(case) == [1, 2]


def test_ordinals_part_patients_inside_one_paragraph() -> None:
    text = (
        "The first patient was a 34-year-old woman with abdominal pain. She underwent splenectomy and "
        "recovered well in our hospital. The second patient, a 61-year-old man, was admitted with fever "
        "and pain. He was treated with antibiotics and his symptoms resolved; he was discharged after "
        "ten days and had no pain at follow-up."
    )
    of = report([("Case reports", [text]), ("Discussion", [DISCUSSION])])
    one, two = cases_of(of)
    assert one.spans[-1].end <= text.index("The second patient") == two.spans[0].start
    assert (one.rule, one.label, two.label) == ("ordinal", "The first patient", "The second patient")
    assert (one.sex, two.sex, two.age_years) == ("female", "male", 61.0)


def test_text_before_case_2_is_the_first_case() -> None:
    of = report([("Case reports", [WOMAN, "Case 2: " + MAN]), ("Discussion", [DISCUSSION])])
    assert [numbers_of(case) for case in cases_of(of)] == [[1], [2]]


def test_patients_introduced_by_age_are_parted_when_several_are_announced() -> None:
    of = report(
        [("Case reports", [WOMAN, MAN, CHILD]), ("Discussion", [DISCUSSION])],
        title="Splenic torsion: report of three cases",
    )
    assert [(numbers_of(case), case.age_years) for case in cases_of(of)] == [
        ([1], 34.0),
        ([2], 61.0),
        ([3], 0.75),
    ]


def test_a_second_age_does_not_part_a_single_case() -> None:
    later = "A 62-year-old donor was found, and the patient was transplanted. She recovered after surgery."
    of = report([("Case report", [WOMAN, later]), ("Discussion", [DISCUSSION])])
    assert [numbers_of(case) for case in cases_of(of)] == [[1, 2]]


def test_a_passage_about_both_patients_belongs_to_both() -> None:
    both = "Both patients were well at the follow-up visit one year later."
    of = report([("Case 1", [WOMAN]), ("Case 2", [MAN, both]), ("Discussion", [DISCUSSION])])
    assert [numbers_of(case) for case in cases_of(of)] == [[1, 3], [2, 3]]


def test_relatives_reported_in_a_sentence_are_patients_of_a_family_report() -> None:
    kin = (
        "Two relatives (her cousin, a 12-year-old girl with similar pain, and her brother, a "
        "30-year-old man) were operated on as well."
    )
    of = report(
        [("Case report", [WOMAN, kin]), ("Discussion", [DISCUSSION])],
        title="Splenic torsion in three members of a family",
    )
    assert [(case.age_years, case.sex) for case in cases_of(of)] == [
        (34.0, "female"),
        (12.0, "female"),
        (30.0, "male"),
    ]


def test_reports_without_sections_run_from_the_patient_to_the_discussion() -> None:
    more = "She was followed for one year after the operation. Her platelet count remained elevated."
    of = report([("", [INTRODUCTION, WOMAN, more, DISCUSSION])])
    (case,) = cases_of(of)
    assert (case.rule, numbers_of(case)) == ("body", [2, 3])


def test_general_paragraphs_of_a_case_section_are_left_out() -> None:
    general = (
        "Plasma exchange is recommended in many patients. Studies in the literature are few, and its "
        "use is rare [b1/bibr|1]."
    )
    of = report([("Case report", [WOMAN, general, "She was discharged."]), ("Discussion", [DISCUSSION])])
    assert numbers_of(cases_of(of)[0]) == [1, 3]


def test_a_research_article_with_one_boxed_case_section() -> None:
    of = report(
        [
            ("Introduction", [INTRODUCTION]),
            ("Results", ["Patients were treated in two groups."]),
            ("Case report", ["Box 1 A patient", WOMAN]),
        ],
        title=PLAIN,
        article_type="research-article",
        journal="Surgery",
    )
    assert numbers_of(cases_of(of)[0]) == [4]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Case 2: a man", 2),
        ("Patient 1, 54 years old, was seen", 1),
        ("Case 3 - 54-year-old man", 3),
        ("Patient II was seen", 2),
        ("Our second patient was seen", 2),
        ("Caso clínico 2. Paciente", 2),
        ("Cas n° 1 : une femme", 1),
        ("Index case was a boy", 1),
        ("Cases 1 and 2 were seen", 0),
        ("Patients 1, 2 and 3 were seen", 0),
        ("Cases 1–3 were seen", 0),
        ("Patient a few days later", 0),
        ("Case reports are rare", 0),
        ("The second operation was done", 0),
        ("Case1 was seen", 0),
    ],
)
def test_numbers_of_patients(text: str, number: int) -> None:
    found = numbered(text)
    assert (found[0] if found else 0) == number


def test_book_boxes_are_cases_with_their_continuation_in_later_documents() -> None:
    later = passage(9, "The next day she was operated on, and her pain resolved.", article="openstax:b/m2")
    of = report(
        [("Anatomy", [WOMAN, "What may have caused her pain?"])],
        boxes=(Box(number=1, type="clinical-focus", title="Part 1"),),
        box=1,
        continuations=(Continuation(box=1, document="openstax:b/m2", passage=later),),
        title="Diseases of the spleen and their surgery in patients",
        article_type="book-chapter",
        source="openstax",
        journal="Medicine",
    )
    (case,) = cases_of(of)
    assert case.rule == "box"
    assert list(dict.fromkeys(span.passage_id for span in case.spans)) == [
        "pmc:PMC1.1#p1",
        "openstax:b/m2#p9",
    ]
    assert extracted(
        dataclasses.replace(of, boxes=(Box(number=1, type="clinical-focus", title="Resolution"),))
    ) == ([], [])


def test_case_reports_of_drug_monographs_end_before_their_comment() -> None:
    of = report(
        [
            ("Overview", [INTRODUCTION]),
            ("CASE REPORT", []),
            ("> Case 1. Acute hepatitis due to an invented drug.", [WOMAN]),
            ("> Laboratory values", ["Her bilirubin was 7 mg/dL on the first day."]),
            ("> Comment", ["The drug caused the injury of this patient."]),
        ],
        title="Doravexin",
        article_type="book-chapter",
        source="litarch",
        journal="Hepatology: clinical information on drugs and injury of the liver",
    )
    (case,) = cases_of(of)
    assert (case.rule, numbers_of(case)) == ("heading", [2, 3])
    assert [said.place for said in stated_in(of)[0] if said.place == "title"] == []


@pytest.mark.parametrize(
    ("title", "parts", "reason"),
    [
        (
            "Selection of residents: a case report",
            [("Methods", [("Respondents (n = 40) answered a questionnaire, and consensus was reached.")])],
            Reason.NOT_A_CASE,
        ),
        (
            "Torsion of the spleen: a case series",
            [
                (
                    "Patients and methods",
                    [("We retrospectively enrolled 30 patients. The mean age was 40 years (p < 0.05).")],
                )
            ],
            Reason.NOT_A_CASE,
        ),
        (
            "Running a mountain race: a case report",
            [("Results", [("Speed and heart rate rose on the first slope.")])],
            Reason.NOT_A_PATIENT,
        ),
    ],
)
def test_reports_without_a_patient_are_dropped_with_the_reason(
    title: str, parts: list[tuple[str, list[str]]], reason: Reason
) -> None:
    abstract = "Hospital care of patients: clinical disease, treatment, surgery and diagnosis in adults."
    cases, (drop,) = extracted(report([("Introduction", [abstract, INTRODUCTION]), *parts], title=title))
    assert not cases
    assert (drop.unit, drop.reason) == ("report", reason)


def test_animals_that_pass_the_scope_gate_are_not_cases() -> None:
    dog = (
        "A 5-year-old neutered male Labrador was presented with abdominal pain. The patient underwent "
        "surgery and he recovered well after treatment."
    )
    cases, (drop,) = extracted(
        report([("Introduction", [INTRODUCTION]), ("Case report", [dog]), ("Discussion", [DISCUSSION])])
    )
    assert (cases, drop.reason) == ([], Reason.NOT_HUMAN)


@pytest.mark.parametrize(
    "heading",
    [
        "Case-control study",
        "Patients and methods",
        "Patient characteristics",
        "Case definition",
        "Clinical presentation",
        "Cases",
    ],
)
def test_headings_that_only_look_like_cases_claim_nothing(heading: str) -> None:
    of = report(
        [("Introduction", [INTRODUCTION]), (heading, [WOMAN])],
        title=PLAIN,
        article_type="research-article",
        journal="Surgery",
    )
    assert extracted(of) == ([], [])


_SWOLLEN = "A spleen that wandered"


@pytest.mark.parametrize("kind", ["letter", "correspondence"])
def test_a_letter_that_introduces_a_patient_tells_a_case(kind: str) -> None:
    of = report(
        [("", ["Dear Editor,", INTRODUCTION, WOMAN, DISCUSSION])],
        title=_SWOLLEN,
        article_type=kind,
        journal="Surgery",
    )
    (case,) = cases_of(of)
    assert (case.age_years, numbers_of(case)) == (34.0, [3])
    none = report(
        [("", ["Dear Editor,", INTRODUCTION, DISCUSSION])],
        title=_SWOLLEN,
        article_type=kind,
        journal="Surgery",
    )
    assert cases_of(none) == []


def test_other_articles_claim_no_case_by_a_patient_in_their_text() -> None:
    of = report(
        [("", [INTRODUCTION, WOMAN])], title=_SWOLLEN, article_type="research-article", journal="Surgery"
    )
    assert cases_of(of) == []


@pytest.mark.parametrize(
    "title", [f"{_SWOLLEN} in a patient of rheumatoid arthritis", f"{_SWOLLEN} in a young woman"]
)
def test_a_title_on_one_patient_claims_a_case(title: str) -> None:
    of = report([("", [INTRODUCTION, WOMAN])], title=title, article_type="article", journal="Surgery")
    assert len(cases_of(of)) == 1


@pytest.mark.parametrize("what", ["a patient population", "a woman-led clinic", "a patient's eyes"])
def test_a_title_on_patients_as_such_claims_none(what: str) -> None:
    of = report(
        [("", [INTRODUCTION, WOMAN])],
        title=f"Spleens in {what}",
        article_type="research-article",
        journal="Surgery",
    )
    assert cases_of(of) == []


EXPERTS = [
    ("Case presentation", [WOMAN]),
    ("MULTIDISCIPLINARY EXPERT CONSULTATION", ["A surgeon and a radiologist agreed on the operation."]),
    ("FINAL DIAGNOSIS", ["Torsion of a wandering spleen secondary to a long pedicle."]),
    ("TREATMENT", ["The patient was given fluids before the operation."]),
    ("Discussion", [DISCUSSION]),
    ("Treatment", ["The patient of another report was treated with antibiotics."]),
]


def test_a_title_that_says_nothing_does_not_end_the_case_a_discussion_does() -> None:
    (case,) = cases_of(report(EXPERTS))
    assert [number for number in numbers_of(case) if number != 2] == [1, 3, 4]
    assert [span.role for span in case.spans if span.passage_id.endswith(("p3", "p4"))] == [
        "findings",
        "course",
    ]


@pytest.mark.parametrize("title", ["FINAL DIAGNOSIS", "5. Definitive diagnosis", "Diagnóstico final"])
@pytest.mark.parametrize(
    "name", ["Torsion of a wandering spleen due to a long pedicle.", "Splenic infarction"]
)
def test_what_stands_under_final_diagnosis_states_it(title: str, name: str) -> None:
    of = report([("Case presentation", [WOMAN]), (title, [name]), ("Discussion", [DISCUSSION])])
    (statements,) = stated_in(of)
    stated = [(item.text, item.rule) for item in statements if item.place == "passage"]
    assert (name, "final diagnosis") in stated  # a name alone, with or without a full stop
