"""Worlds of cases whose every pair is known: what case_study must find, told without its code.

What any two concepts are to each other stands here as a table, written by hand.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from schemas.ids import family_key
from tests.curation.tasks.case_world import USED, Patient, Report, story

_TABLE = """
lung pneumonia child
lung fibrosis child
lung bacterial grandchild
lung viral grandchild
lung pneumococcal related
pneumonia fibrosis sibling
pneumonia bacterial child
pneumonia viral child
pneumonia pneumococcal grandchild
fibrosis bacterial related
fibrosis viral related
fibrosis pneumococcal related
bacterial viral sibling
bacterial pneumococcal child
viral pneumococcal related
acne scabies related
"""
_TURNED = {"child": "parent", "grandchild": "grandparent", "sibling": "sibling", "related": "related"}
VIA = {"pneumonia fibrosis": "lung", "bacterial viral": "pneumonia"}
RELATIONS: dict[tuple[str, str], str] = {(name, name): "same-diagnosis" for name in USED}
for _line in _TABLE.split("\n"):
    if _line:
        _one, _two, _named = _line.split()
        RELATIONS[_one, _two], RELATIONS[_two, _one] = _named, _TURNED[_named]


@dataclass
class Told:
    """One case of a world: the patient and which invented text tells of it."""

    id: str
    report: Report
    patient: Patient
    text: int
    """Cases of one number have the same text, letters and digits compared."""
    shares: int = -1
    """Number of the text a long stretch is taken from, -1 for none."""


def world(seed: int, articles: int) -> list[Told]:
    """Cases in which every rule and exclusion of the task occurs, drawn from a seed."""
    chance = random.Random(seed)
    cases: list[Told] = []
    texts = 0
    for number in range(1, articles + 1):
        name = f"pmc:PMC{number}.1" if number % 9 else f"europepmc:PMC{number - 1}"
        authors = tuple(chance.sample(("Abe K", "Braun U", "Costa M", "Diaz P"), 1))
        report = Report(name, [], authors=authors, names=tuple(chance.sample(USED, 1)))
        made = []
        for position in range(1, chance.choice((1, 1, 2)) + 1):
            text, shares = seed * 1000 + texts, -1
            texts += 1
            words = story(text)
            earlier = chance.choice(cases) if cases else None
            if earlier is not None and chance.random() < 0.12:
                text, shares = earlier.text, earlier.shares
                words = earlier.patient.texts[0].upper().replace(" ", ", ", 3)
            elif earlier is not None and earlier.shares < 0 and chance.random() < 0.12:
                shares = earlier.text
                words = f"{words} {' '.join(earlier.patient.texts[0].split()[:80])}"
            patient = _drawn(chance, words)
            told = Told(f"{name}#case{position}", report, patient, text, shares)
            cases.append(told)
            made.append(patient)
        report.patients = made
    return cases


def _drawn(chance: random.Random, words: str) -> Patient:
    patient = Patient(
        [words],
        concept=chance.choice(USED),
        age=chance.choice((30.0, 40.0, None)),
        sex=chance.choice(("female", "male", "")),
        names=tuple(chance.sample(USED, chance.choice((0, 1)))),
        denies=tuple(chance.sample(USED, 1)),
        kind=chance.choice(("radiology", "pathology", "chart")),
    )
    state = chance.random()
    if state < 0.15:
        return replace(patient, concept="", contenders=tuple(chance.sample(USED, chance.choice((0, 2)))))
    return replace(patient, confidence=0.3) if state < 0.25 else patient


def truth(cases: Sequence[Told]) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """What must be found: (case, case) -> relation or exclusion; case -> reason why it is no query."""
    kept = {one.id: min(other.id for other in cases if other.text == one.text) for one in cases}
    asked = [one for one in cases if _may_ask(one)]
    first = {one.text: min(other.id for other in asked if other.text == one.text) for one in asked}
    ordered = sorted(cases, key=lambda other: other.id)
    pairs: dict[tuple[str, str], str] = {}
    lost: dict[str, str] = {}
    for one in asked:
        if first[one.text] != one.id:
            lost[one.id] = "duplicate_query"
            continue
        found = {
            name: _verdict(one, [c for c in ordered if kept[c.id] == name]) for name in set(kept.values())
        }
        if any(verdict in _GRADED for verdict in found.values()):
            pairs |= {(one.id, name): verdict for name, verdict in found.items() if verdict}
            continue
        near = [
            c for c in cases if _same_article(one, c) and c.text != one.text and _relation(one, c) in _GRADED
        ]
        lost[one.id] = "only_same_article" if near else "no_relevant_case"
    for one in cases:
        if not _may_ask(one):
            is_open, is_weak = not one.patient.concept, one.patient.confidence < 0.5
            lost[one.id] = (
                "open_diagnosis" if is_open else "weak_diagnosis" if is_weak else "no_clinical_image"
            )
    return pairs, lost


_GRADED = frozenset({"same-diagnosis", "parent", "child", "grandparent", "grandchild", "sibling"})


def _is_decided(one: Told) -> bool:
    return bool(one.patient.concept) and one.patient.confidence >= 0.5


def _may_ask(one: Told) -> bool:
    return _is_decided(one) and one.patient.kind != "chart"


def _same_article(one: Told, other: Told) -> bool:
    return family_key(one.report.id) == family_key(other.report.id)


def _relation(one: Told, other: Told) -> str:
    if not (_is_decided(one) and _is_decided(other)):
        return ""
    return RELATIONS.get((one.patient.concept, other.patient.concept), "")


def _same_patient(one: Told, other: Told) -> bool:
    if (
        one.text == other.shares
        or other.text == one.shares
        or (one.shares >= 0 and one.shares == other.shares)
    ):
        return True
    mine, theirs = one.patient, other.patient
    return (
        _relation(one, other) in _GRADED
        and bool(mine.sex)
        and (mine.sex, mine.age) == (theirs.sex, theirs.age)
        and mine.age is not None
        and bool(set(one.report.authors) & set(other.report.authors))
    )


def _names(other: Told, concept: str) -> bool:
    if _is_decided(other):
        return concept in (other.patient.concept, *other.patient.names)
    told = {*other.report.names, *other.patient.contenders}
    return concept in told.union(*((p.concept, *p.names) for p in other.report.patients))


def _verdict(one: Told, group: Sequence[Told]) -> str:
    """What the documents of one text, by id, are to a query, '' when nothing is known."""
    relations = [_relation(one, other) for other in group]
    graded = [relation for relation in relations if relation in _GRADED]
    if any(other.text == one.text for other in group):
        return "own_case"
    if any(_same_article(one, other) for other in group):
        return "same_article"
    if any(_same_patient(one, other) for other in group):
        return "same_patient"
    if graded:
        if "same-diagnosis" in graded:
            return "same-diagnosis"
        return next(relation for relation in relations if relation in _GRADED)
    if "related" in relations:
        return "related_diagnosis"
    return "mentions_target" if any(_names(other, one.patient.concept) for other in group) else ""
