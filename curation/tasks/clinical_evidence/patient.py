"""Whether a passage tells of the query's own patient, in whatever words: no evidence, but the same story.

What it copies is seen sentence by sentence; a retelling is seen by age, sex and measured values that two
patients hardly share.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from curation.cases.patient import ages_in, introduces, sex_of
from curation.extract.sentences import sentence_spans
from curation.fidelity.quantities import Quantity, quantities
from curation.similarity.text.edited import copyable, edited_copies

_OF_AGE = ("year", "age")
LEAST_VALUES = 4
"""Values with a unit that two texts share from which both tell of one patient of that age and sex."""
LEAST_WITHOUT_SEX = 6
"""The same where one of them does not say the patient's sex."""
_LONG = 10
"""Words of a sentence whose copy shows that the story was copied; shorter ones are turns of the trade."""


@dataclass(frozen=True, slots=True)
class Portrait:
    """What a text says of its patient in figures."""

    ages: frozenset[float]
    sex: str
    values: frozenset[tuple[str, str]]


@functools.lru_cache(maxsize=256)
def portrait(text: str) -> Portrait:
    """The patient of a text as figures; a text about nobody has no age."""
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    introduced = [age for sentence in sentences if (age := introduces(sentence))]
    first = introduced[0] if introduced else None
    sex = sex_of([text], first, next((item for item in sentences if introduces(item)), ""))
    found = quantities(text)
    ages = {age.years for age in introduced or ages_in(text)[:1] if age.years is not None}
    return Portrait(
        frozenset(ages or {float(item.value) for item in found if item.unit in _OF_AGE}),
        sex,
        _measured(found),
    )


def _values(sentence: str) -> frozenset[tuple[str, str]]:
    return _measured(quantities(sentence))


def _measured(found: list[Quantity]) -> frozenset[tuple[str, str]]:
    return frozenset((item.value, item.unit) for item in found if item.unit and item.unit not in _OF_AGE)


def _are_of_two(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> bool:
    """Whether most values of two sentences differ: words that list findings are alike in all patients."""
    return 2 * len(one & other) < min(len(one), len(other))


def same_patient(query: str, passage: str) -> str:
    """The words or figures by which a passage tells of a query's patient, '' when it does not."""
    return next(_seen(query, passage), "")


def _seen(query: str, passage: str) -> Iterator[str]:
    for item, source in edited_copies(passage, copyable([query])):
        copy, original = passage[item.start : item.end], query[source.start : source.end]
        if len(item.tokens) >= _LONG and not _are_of_two(_values(copy), _values(original)):
            yield copy
    one, other = portrait(query), portrait(passage)
    shared = one.values & other.values
    are_alike = not one.sex or not other.sex or one.sex == other.sex
    least = LEAST_VALUES if one.sex and one.sex == other.sex else LEAST_WITHOUT_SEX
    is_same_age = bool(one.ages & other.ages) or not other.ages
    if are_alike and is_same_age and len(shared) >= least:
        yield ", ".join(" ".join(value) for value in sorted(shared))
