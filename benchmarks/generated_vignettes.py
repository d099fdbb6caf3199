"""Invented vignettes, each told twice.

A patient is a set of facts; a way of telling makes a vignette of them. A retelling is made of the same facts
in another way: clauses in another order, synonyms of the vocabulary, active for passive, words for numbers.
This module knows nothing of the checks: it shares no code with them. What is drawn follows from the SHA-256
of what is drawn and a number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

SYMPTOMS = (
    "fever", "headache", "fatigue", "nausea", "vomiting", "cough", "hemoptysis", "hematuria", "weight loss",
    "night sweats", "arthralgia", "myalgia", "pruritus", "jaundice", "epistaxis", "dysphagia", "diarrhea",
    "constipation", "vertigo", "syncope", "palpitations", "tinnitus", "diplopia", "photophobia", "alopecia",
    "dyspnea", "insomnia", "polyuria", "polydipsia", "dysuria", "chills", "back pain", "neck pain",
    "abdominal pain", "hoarseness", "tremor", "xerostomia", "hematochezia", "melena", "paresthesia",
)  # fmt: skip
PARTS = (
    "knee", "hip", "shoulder", "elbow", "wrist", "ankle", "calf", "thigh", "forearm", "hand", "foot", "flank",
    "ear", "eye", "breast", "groin", "cheek", "neck", "lower leg", "upper arm",
)  # fmt: skip
COMPLAINTS = ("swelling", "pain", "weakness", "numbness", "redness")
ILLNESSES = (
    "hypertension", "asthma", "hypothyroidism", "epilepsy", "psoriasis", "migraine", "gout", "osteoporosis",
)  # fmt: skip
RELATIVES = ("mother", "father", "sister", "brother", "grandmother")
WORK = ("teacher", "farmer", "welder", "nurse", "student", "driver", "painter", "baker")
DRUGS = ("lisinopril", "metformin", "levothyroxine", "omeprazole", "sertraline", "amlodipine", "ibuprofen")
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

Synonyms = Mapping[str, Sequence[str]]
"""Name -> other English names that the vocabulary has for the same concept."""
Name = Callable[[str], str]
"""Name of a symptom -> how it is written."""


@dataclass(frozen=True, slots=True)
class Facts:
    """One invented patient."""

    number: int
    age: int
    sex: str
    work: str
    duration: int
    unit: str
    side: str
    part: str
    complaint: str
    other_side: str
    other_part: str
    has: tuple[str, ...]
    lacks: tuple[str, ...]
    illness: str
    since: int
    relative: str
    inherited: str
    drug: str
    dose: int
    temperature: str
    pulse: int
    systolic: int
    diastolic: int
    haemoglobin: str
    sodium: int
    protein: int
    answer: str
    smokes: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A vignette and what was made of it; `group` is '' where nothing is wrong with it."""

    group: str
    facts: Facts
    source: str
    made: str
    options: tuple[str, ...] = ()
    planted: str = ""


def drawn(*parts: object) -> int:
    """A number that follows from some words alone."""
    return int.from_bytes(hashlib.sha256(" ".join(map(str, parts)).encode()).digest()[:6], "big")


def facts(number: int, answers: Sequence[str]) -> Facts:
    """The patient of a number; `answers` are names of diseases."""

    def one(what: str, among: Sequence[str]) -> str:
        return among[drawn(what, number) % len(among)]

    def between(what: str, low: int, high: int) -> int:
        return low + drawn(what, number) % (high - low + 1)

    symptoms = sorted(SYMPTOMS, key=lambda item: drawn("symptom", number, item))
    parts = sorted(PARTS, key=lambda item: drawn("part", number, item))
    illnesses = sorted(ILLNESSES, key=lambda item: drawn("illness", number, item))
    side = one("side", ("left", "right"))
    return Facts(
        number=number,
        age=between("age", 19, 88),
        sex=one("sex", ("woman", "man")),
        work=one("work", WORK),
        duration=between("duration", 2, 9),
        unit=one("unit", ("day", "week", "month")),
        side=side,
        part=parts[0],
        complaint=one("complaint", COMPLAINTS),
        other_side=one("other side", ("left", "right")),
        other_part=parts[1],
        has=tuple(symptoms[:2]),
        lacks=tuple(symptoms[2:5]),
        illness=illnesses[0],
        since=between("since", 2, 18),
        relative=one("relative", RELATIVES),
        inherited=illnesses[1],
        drug=one("drug", DRUGS),
        dose=between("dose", 2, 9) * 10,
        temperature=f"{between('degrees', 36, 39)}.{between('tenths', 1, 9)}",
        pulse=between("pulse", 61, 129),
        systolic=between("systolic", 101, 168),
        diastolic=between("diastolic", 56, 98),
        haemoglobin=f"{between('grams', 7, 15)}.{between('decigrams', 1, 9)}",
        sodium=between("sodium", 126, 147),
        protein=between("protein", 11, 190),
        answer=answers[drawn("answer", number) % len(answers)],
    )


def spelt(number: int) -> str:
    """A number up to 99 in words."""
    if number < len(_ONES):
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")


@dataclass(frozen=True, slots=True)
class _Words:
    """How a way of telling speaks of a patient."""

    he: str
    his: str

    @classmethod
    def of(cls, told: Facts) -> _Words:
        return cls("She", "her") if told.sex == "woman" else cls("He", "his")


def _plural(count: int, unit: str) -> str:
    return f"{count} {unit}s"


def _listed(words: Sequence[str], last: str) -> str:
    return f" {last} ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def original(told: Facts) -> str:
    """The vignette as an exam would print it."""
    w = _Words.of(told)
    return " ".join(
        [
            f"A {told.age}-year-old {told.sex}, a {told.work}, presents with a {told.duration}-{told.unit} "
            f"history of {told.complaint} of the {told.side} {told.part} and {told.has[0]}.",
            f"{w.he} also reports {_listed(told.has[1:], 'and')} and says that the {told.other_side} "
            f"{told.other_part} was injured {spelt(told.since)} years ago.",
            f"{w.he} denies {_listed(told.lacks, 'and')}.",
            f"{w.he} has a history of {told.illness} and takes {told.drug} {told.dose} mg daily.",
            f"{w.his.capitalize()} {told.relative} has {told.inherited}.",
            f"{w.he} {'smokes' if told.smokes else 'does not smoke'}.",
            f"{w.his.capitalize()} temperature is {told.temperature} °C, pulse is {told.pulse}/min and blood "
            f"pressure is {told.systolic}/{told.diastolic} mm Hg.",
            f"Laboratory studies show a hemoglobin of {told.haemoglobin} g/dL, a sodium of {told.sodium} "
            f"mmol/L and a C-reactive protein of {told.protein} mg/L.",
        ]
    )


def _turned(told: Facts, name: Name) -> str:
    """Clauses in another order, passive for active."""
    w = _Words.of(told)
    return " ".join(
        [
            f"For {_plural(told.duration, told.unit)}, a {told.work} aged {told.age} years has had "
            f"{name(told.has[0])} together with {told.complaint} of the {told.side} {told.part}.",
            f"{_listed([name(item) for item in told.has[1:]], 'and').capitalize()} is reported as well; an "
            f"injury of the {told.other_side} {told.other_part} was sustained {told.since} years ago by this "
            f"{told.sex}.",
            f"There is {_listed([f'no {name(item)}' for item in told.lacks[::-1]], 'and')}.",
            f"{told.drug.capitalize()} is taken at {told.dose} mg daily, and {told.illness} is known.",
            f"{told.inherited.capitalize()} runs in the family: {w.his} {told.relative} has it.",
            f"{w.he} {'is known to smoke' if told.smokes else 'has never been found to smoke'}.",
            f"Blood pressure was measured at {told.systolic}/{told.diastolic} mmHg, with a pulse of "
            f"{told.pulse} beats per minute and a temperature of {told.temperature} °C.",
            f"C-reactive protein is {told.protein} mg/L, sodium {told.sodium} mmol/L and hemoglobin "
            f"{told.haemoglobin} g/dL.",
        ]
    )


def _spelt_out(told: Facts, name: Name) -> str:
    """Words for numbers, longer sentences."""
    w = _Words.of(told)
    smokes = "smokes at home" if told.smokes else "does not smoke at home or elsewhere"
    return " ".join(
        [
            f"A {spelt(told.age)}-year-old {told.work} comes to the clinic because of {told.complaint} in "
            f"the {told.side} {told.part}, which began {spelt(told.duration)} {told.unit}s earlier and came "
            f"with {_listed([name(item) for item in told.has], 'and')}.",
            f"This {told.sex} injured the {told.other_side} {told.other_part} {spelt(told.since)} years ago, "
            f"is known to have {told.illness}, and uses {told.drug}, {told.dose} mg a day.",
            f"{w.he} has had neither {' nor '.join(name(item) for item in told.lacks)}.",
            f"{w.he} {smokes}. {told.inherited.capitalize()} was diagnosed in {w.his} {told.relative}.",
            f"On examination, the pulse is {told.pulse} per minute, the temperature {told.temperature} "
            f"degrees Celsius and the blood pressure {told.systolic} over {told.diastolic} mm Hg.",
            f"Blood tests reveal hemoglobin {told.haemoglobin} g/dl, C-reactive protein {told.protein} mg/l "
            f"and sodium {told.sodium} mmol/l.",
        ]
    )


def _shortened(told: Facts, name: Name) -> str:
    """A telegraphic summary."""
    w = _Words.of(told)
    return " ".join(
        [
            f"{told.age}-year-old {told.sex} ({told.work}) with {told.complaint} of the {told.part} on the "
            f"{told.side}, {_listed([name(item) for item in told.has], 'and')} for "
            f"{_plural(told.duration, told.unit)}.",
            f"No {_listed([name(item) for item in told.lacks], 'or')}.",
            f"Past history: {told.illness}; injury to the {told.other_side} {told.other_part} {told.since} "
            f"years ago. Medication: {told.drug} {told.dose} mg once daily.",
            f"Family history: {w.his} {told.relative} has {told.inherited}. "
            f"{'Smokes' if told.smokes else 'Does not smoke'}.",
            f"Vital signs: temperature {told.temperature} °C, blood pressure "
            f"{told.systolic}/{told.diastolic} mm Hg, pulse {told.pulse} bpm.",
            f"Hemoglobin {told.haemoglobin} g/dL; sodium {told.sodium} mmol/L; C-reactive protein "
            f"{told.protein} mg/L.",
        ]
    )


TELLINGS = (_turned, _spelt_out, _shortened)
QUESTIONS = (
    "What is the most likely diagnosis?",
    "Which disease best explains these findings?",
    "What condition should be suspected?",
)


def retold(told: Facts, synonyms: Synonyms, number: int) -> str:
    """The facts told in another way, some names by a synonym."""

    def name(word: str) -> str:
        known = synonyms.get(word, ())
        at = drawn("synonym", number, word) % (len(known) + 1)
        return word if at == 0 else known[at - 1]

    way = TELLINGS[drawn("telling", number) % len(TELLINGS)]
    return f"{way(told, name)} {QUESTIONS[drawn('question', number) % len(QUESTIONS)]}"


def clean(number: int, answers: Sequence[str], synonyms: Synonyms) -> Pair:
    """A vignette and a faithful retelling."""
    told = facts(number, answers)
    return Pair("", told, original(told), retold(told, synonyms, number), options(told, answers))


def options(told: Facts, answers: Sequence[str]) -> tuple[str, ...]:
    """Three other answers than the patient's."""
    at = answers.index(told.answer)
    return tuple(answers[(at + step) % len(answers)] for step in (1, 2, 3))
