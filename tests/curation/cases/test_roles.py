"""Roles of single sentences: what only looks like treatment or outcome is none."""

from __future__ import annotations

import pytest

from curation.cases.roles import Role, role_of


@pytest.mark.parametrize(
    ("sentence", "before", "role"),
    [
        ("Bands of high signal were seen on inversion recovery images of the pons.", "findings", "findings"),
        ("Despite a normal hip joint, she had asymptomatic bursitis.", "findings", "findings"),
        (
            "Subsequent tests in another town excluded an overproduction of aldosterone.",
            "findings",
            "findings",
        ),
        ("A year before, the patient's younger brother had died of sepsis.", "findings", "presentation"),
        ("This followed a bout of neck pain.", "presentation", "presentation"),
        ("Then, twitching of the right thumb continued.", "findings", "findings"),
        (
            "Although 500 mg of a steroid led to recovery, he exhibited tremor and ataxia.",
            "findings",
            "findings",
        ),
        ("Niega cirugía previa, refiere asma de dos años de evolución.", "presentation", "presentation"),
        ("The lesion was hypointense on T1-weighted scans after 3 days.", "findings", "findings"),
        ("On palpation wide cranial sutures were felt.", "presentation", "findings"),
        ("Cliniquement, elle est afébrile.", "presentation", "findings"),
        ("Son traitement habituel est le suivant: aspirine.", "presentation", "presentation"),
        ("Glucose was 320 mg/dL.", "findings", "findings"),
        ("At the age of two she started to have spells.", "presentation", "presentation"),
        ("The child was placed on nasal continuous positive airway pressure.", "findings", "course"),
        ("Antibiotics were continued and he was discharged.", "findings", "course"),
        ("She was given 40 mg of prednisolone per day.", "findings", "course"),
        ("With warfarin the evolution was good.", "findings", "course"),
        ("The patient died on the third day.", "findings", "course"),
        ("He was followed up for two years.", "findings", "course"),
    ],
)
def test_words_of_time_images_and_relatives_are_no_course(sentence: str, before: Role, role: Role) -> None:
    assert role_of(sentence, before, None) == role
