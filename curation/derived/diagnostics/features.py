"""Shallow features of texts: length, place in the article, age and sex of the patient told of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from curation.cases.patient import introduces, is_animal, sex_of
from curation.evaluation.collection import Collection
from curation.evaluation.reading import rows
from curation.extract.sentences import sentence_spans
from schemas.tables import ORIGIN_CORPUS, ORIGIN_QUERIES

UNKNOWN = -1
_OPENING = 4_000
"""Characters of a text in which the patient is looked for; who is introduced later is another one."""
_MAYBE_AGE = re.compile(
    r"\bold\b|\baged?\b|\d\s?[/,]\s?[FM]\b|\d[\s\u00ad\-‐‑‒–—]*(?:y|mo|mes|mês|week|wk|day|hour|jähr|woche|tag|a[nñ]"
    r"|sem|settim|d[ií]a|jour|giorn)",
    re.IGNORECASE,
)
"""What a stated age holds; sentences without it are not read more closely."""
_NUMBERS = re.compile(r"(\d+)")
_SEXES = {"female": 1, "male": 2}

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Patients:
    """Age in days (UNKNOWN when no patient is introduced) and sex (0 unstated, 1 female, 2 male) of texts."""

    ages: Numbers
    sexes: Numbers


@dataclass(frozen=True, slots=True)
class Features:
    """Of every document, shape (documents,).

    `lengths` are characters of title and text. `ordinals` count documents of one article from 0, `numbers`
    are those in their ids (figure, passage), UNKNOWN when there is none.
    """

    lengths: Numbers
    ordinals: Numbers
    numbers: Numbers
    patients: Patients


def patient_of(text: str) -> tuple[int, int]:
    """(age in days, sex code) of the patient a text introduces, (UNKNOWN, 0) when it introduces none.

    The first sentence of the opening that introduces a person by age decides; animals do not count.
    """
    opening = text[:_OPENING]
    if not _MAYBE_AGE.search(opening):
        return UNKNOWN, 0
    sentences = [opening[start:end] for start, end in sentence_spans(opening)]
    for sentence in sentences:
        age = introduces(sentence) if _MAYBE_AGE.search(sentence) else None
        if age is not None and age.years is not None:
            if is_animal(sentence):
                return UNKNOWN, 0
            return round(age.years * 365.25), _SEXES.get(sex_of(sentences, age, sentence), 0)
    return UNKNOWN, 0


def patients_of(texts: Sequence[str]) -> Patients:
    """The patients of several texts."""
    found = np.array([patient_of(text) for text in texts], np.int64).reshape(-1, 2)
    return Patients(found[:, 0], found[:, 1])


def query_numbers(collection: Collection, directory: Path) -> dict[str, int]:
    """Query -> number in the id of the record it was made from, e.g. 3 of `…#fig3`; others are not there."""
    files = ORIGIN_QUERIES.files(directory)
    found = {row["id"]: number_in(row["source_id"] or "") for row in rows(files, ["id", "source_id"])}
    return {query.id: found[query.id] for query in collection.queries if found.get(query.id, UNKNOWN) >= 0}


def number_in(record: str) -> int:
    """The last number of a record's id after '#' and before any '/', UNKNOWN when it has none."""
    local = record.partition("#")[2].partition("/")[0]
    digits = _NUMBERS.findall(local)
    return int(digits[-1][-9:]) if digits else UNKNOWN


def read_features(
    collection: Collection,
    directory: Path,
    wanted: NDArray[np.bool_],
    advance: Callable[[], None] = lambda: None,
) -> Features:
    """Features of every document; the corpus is read once.

    Args:
        collection: one split.
        directory: the task folder.
        wanted: (documents,) whose patients are looked for.
        advance: called once per document.
    """
    count = len(collection.corpus_ids)
    lengths = np.zeros(count, np.int64)
    ages, sexes = np.full(count, UNKNOWN, np.int64), np.zeros(count, np.int64)
    for place, document in enumerate(collection.documents()):
        lengths[place] = len(document.text)
        if wanted[place]:
            ages[place], sexes[place] = patient_of(document.text)
        advance()
    numbers = np.array([number_in(name) for name in collection.corpus_ids], np.int64)
    articles = {
        row["id"]: row["article_id"] for row in rows(ORIGIN_CORPUS.files(directory), ["id", "article_id"])
    }
    return Features(lengths, ordinals(collection.corpus_ids, articles), numbers, Patients(ages, sexes))


def ordinals(ids: Sequence[str], articles: Mapping[str, str]) -> Numbers:
    """Place of each document among those of its article, from 0, numbers in ids compared as numbers."""
    found = np.zeros(len(ids), np.int64)
    last, place = None, 0
    for article, _, row in sorted(
        (articles.get(name, name), _natural(name), row) for row, name in enumerate(ids)
    ):
        place = place + 1 if article == last else 0
        found[row], last = place, article
    return found


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Key that sorts p2 before p10."""
    return tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _NUMBERS.split(name) if part
    )
