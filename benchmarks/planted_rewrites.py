"""Faults in faithful rewrites that people wrote: concepts changed, lost and added, values in another unit.

Shares no code with the checks: plain words in place of plain words, outside what the rewrite asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

CONCEPT, UNIT, LOST, ADDED = "changed concept", "changed unit", "lost concept", "added concept"
_LIKE = (
    "hypertension|diabetes|asthma|rheumatoid arthritis|osteoporosis|psoriasis|epilepsy|cirrhosis"
    "|schizophrenia|hypothyroidism|ulcerative colitis|tuberculosis|atrial fibrillation|heart failure"
    "|migraine|sarcoidosis|gout|breast cancer|colon cancer|lung cancer|celiac disease|hepatitis C|malaria"
    "|bipolar disorder",
    "warfarin|methotrexate|lithium|levodopa|amiodarone|metformin|prednisone|amoxicillin|spironolactone|heparin"
    "|ibuprofen|aspirin|insulin|carbamazepine|phenytoin|isoniazid|haloperidol|clozapine|tamoxifen|digoxin",
    "fever|cough|headache|nausea|vomiting|diarrhea|constipation|palpitations|jaundice|fatigue|dizziness"
    "|hematuria|dyspnea|tremor|rash|ascites|hoarseness|tinnitus|splenomegaly|hepatomegaly|lymphadenopathy"
    "|seizures|weight loss|chest pain|abdominal pain|back pain|sore throat|itching|neck stiffness|wheezing",
)  # fmt: skip
"""Things of one kind, any of which a vignette could as well have told."""
_OTHER_UNIT: Mapping[str, str] = {
    "mg/dL": "g/dL", "g/dL": "mg/dL", "mmol/L": "µmol/L", "µmol/L": "mmol/L", "mEq/L": "mg/L", "U/L": "mg/L",
    "ng/mL": "mg/mL", "mm Hg": "cm H2O", "cm": "mm", "mm": "cm", "kg": "g", "hours": "days", "days": "weeks",
    "weeks": "months", "months": "weeks", "years": "months", "minutes": "hours", "fL": "pg", "°C": "°F",
}  # fmt: skip
_UNIT = re.compile(
    r"(?<=\d )(?:" + "|".join(sorted(map(re.escape, _OTHER_UNIT), key=len, reverse=True)) + r")(?![\w/])"
)


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A question, a rewrite of it with one fault, and the fault."""

    group: str
    question: str
    made: str
    answer: str
    planted: str


def spoilt_rewrites(items: Sequence[Mapping[str, str]]) -> Iterator[Spoilt]:
    """Of each rewrite one of each fault, where it has a word or a unit to change."""
    for number, item in enumerate(items):
        question, rewrite = item["question"], item["rewrite"]
        told = max(rewrite.rfind(". "), 0)  # what stands behind is the question
        for group, found in ((CONCEPT, _concepts(rewrite, question)), (UNIT, _units(rewrite))):
            places = [place for place in found if place[1] <= told]
            if places:
                start, end, word = places[number % len(places)]
                made = rewrite[:start] + word + rewrite[end:]
                yield Spoilt(group, question, made, item["answer"], f"{rewrite[start:end]} => {word}")
        if told and ". " in question:
            more, finding = _told_more(question, rewrite, number)
            yield Spoilt(LOST, more, rewrite, item["answer"], finding)
            more, finding = _told_more(rewrite, question, number + 1)
            yield Spoilt(ADDED, question, more, item["answer"], finding)


def _told_more(text: str, other: str, number: int) -> tuple[str, str]:
    """A text with one finding more before what it asks, which neither text had."""
    words = _LIKE[2].split("|")
    free = [word for word in words if not any(part in (text + other).lower() for part in word.split())]
    finding = free[number % len(free)]
    end = text.rfind(". ") + 1
    said = (
        f". There is also {finding}.",
        f", along with {finding}.",
        f". {finding.capitalize()} has been present for some time.",
        f", and also {finding}.",
    )[number % 4]
    return text[: end - 1] + said + text[end:], finding


def _concepts(rewrite: str, question: str) -> list[tuple[int, int, str]]:
    found = []
    for row in _LIKE:
        words = row.split("|")
        for at, word in enumerate(words):
            if not re.search(rf"\b{word}\b", question):  # of what both texts name in the same word
                continue
            for match in re.finditer(rf"(?<![\w-]){word}\b", rewrite):
                others = (words[(at + step) % len(words)] for step in range(1, len(words)))
                free = (other for other in others if other.split()[0] not in question + rewrite)
                found += [(match.start(), match.end(), other) for other in list(free)[:1]]
    return found


def _units(rewrite: str) -> list[tuple[int, int, str]]:
    return [(match.start(), match.end(), _OTHER_UNIT[match.group()]) for match in _UNIT.finditer(rewrite)]
