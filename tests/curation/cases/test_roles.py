"""Parts of a story: sentences that sound like another part than they are, and sentences of no patient."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from benchmarks.cases_gold import gold_rows
from curation.cases.roles import Role, Told, roles_of
from scripts.role_weights import GOLD, WRITTEN, label_of, written_stories

OPENING = ("A 52-year-old man presented with headache for two weeks.", "He had a history of hypertension.")
FINDINGS = (
    "On examination he was pale.",
    "Laboratory tests showed a raised C-reactive protein.",
    "Magnetic resonance imaging revealed a lesion of the pons.",
)
COURSE = ("He was treated with prednisolone.", "At follow-up after six months he had recovered.")
BEFORE: dict[Role, tuple[str, ...]] = {
    "presentation": OPENING,
    "findings": (*OPENING, *FINDINGS[:2]),
    "course": (*OPENING, *FINDINGS, *COURSE[:1]),
}
BEHIND: dict[Role, tuple[str, ...]] = {
    "presentation": (*FINDINGS, *COURSE),
    "findings": (*FINDINGS[2:], *COURSE),
    "course": COURSE[1:],
}


def read(sentences: Sequence[str]) -> list[Role | None]:
    """Roles of sentences of one paragraph, none of which is surely of the patient."""
    return roles_of([Told(text, "p", None) for text in sentences], lambda text: False)


@pytest.mark.parametrize(
    ("sentence", "before", "role"),
    [
        ("Bands of high signal were seen on inversion recovery images of the pons.", "findings", "findings"),
        (
            "Subsequent tests in another town excluded an overproduction of aldosterone.",
            "findings",
            "findings",
        ),
        ("A year before, the patient's younger brother had died of sepsis.", "presentation", "presentation"),
        ("This followed a bout of neck pain.", "presentation", "presentation"),
        ("Niega cirugía previa, refiere asma de dos años de evolución.", "presentation", "presentation"),
        ("On palpation wide cranial sutures were felt.", "presentation", "findings"),
        ("Cliniquement, elle est afébrile.", "presentation", "findings"),
        ("Son traitement habituel est le suivant: aspirine.", "presentation", "presentation"),
        ("Em uso de sinvastatina 20 mg e atenolol.", "presentation", "presentation"),
        ("Glucose was 320 mg/dL.", "findings", "findings"),
        ("At the age of two she started to have spells.", "presentation", "presentation"),
        ("Drops had improved her sight for a month.", "presentation", "presentation"),
        ("The child was placed on nasal continuous positive airway pressure.", "course", "course"),
        ("Antibiotics were continued and he was discharged.", "course", "course"),
        ("She was given 40 mg of prednisolone per day.", "course", "course"),
        ("With warfarin the evolution was good.", "course", "course"),
        ("A girl with a birth weight of 1,370 g was delivered.", "course", "course"),
        ("El paciente ingresa en la unidad de cuidados intensivos.", "course", "course"),
        ("The patient died on the third day.", "course", "course"),
        ("He was followed up for two years.", "course", "course"),
        ("A month later, she was admitted again for a review.", "course", "course"),
        ("Three days later, pustules were noticed by his wife.", "presentation", "presentation"),
        ("Two years later, he was well.", "course", "course"),
    ],
)
def test_place_in_the_story_speaks_beside_words(sentence: str, before: Role, role: Role) -> None:
    found = read([*BEFORE[before], sentence, *BEHIND[before]])
    assert found[len(BEFORE[before])] == role


def test_what_a_disease_is_belongs_to_no_patient_before_one_is_met() -> None:
    general = "Pontine myelinolysis is a rare demyelinating disease of the brain stem."
    story = [general, *OPENING, *FINDINGS, *COURSE]
    assert read(story)[0] is None
    assert read(story)[1:] == [*["presentation"] * 2, *["findings"] * 3, *["course"] * 2]


def test_a_sentence_that_is_of_the_patient_is_never_left_out() -> None:
    told = [Told(text, "p", None) for text in ("It is a rare disease.", *OPENING, *FINDINGS)]
    assert roles_of(told, lambda text: True)[0] is not None


def test_no_sentences_have_no_roles() -> None:
    assert read([]) == []


@pytest.mark.parametrize("half", ["dev", "test"])
def test_written_stories_are_read_as_they_were_meant(half: str) -> None:
    right = total = 0
    for _, story in written_stories(half):
        found = roles_of(story.sentences, lambda text: False)
        right += sum(one == other for one, other in zip(found, story.roles, strict=True))
        total += len(found)
    assert right / total >= (0.95 if half == "dev" else 0.8)


def test_weights_are_learned_from_dev_halves_alone() -> None:
    rows = json.loads((GOLD / "roles.json").read_text("utf-8"))
    written = json.loads((WRITTEN / "gold.json").read_text("utf-8"))
    dev = {row["file"] for row in gold_rows("dev")} | {row["file"] for row in written if row["half"] == "dev"}
    assert {row["file"] for row in rows} <= dev
    for row in rows:
        assert all(start < end and label_of(mark) >= 0 for _, start, end, mark in row["sentences"])
