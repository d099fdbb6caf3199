"""How large a generated release is, and which documents answer which queries of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

PER_ARTICLE, CITABLE = 20, 14
"""Documents of an article; only the first are positives, the others may hold boilerplate or near copies."""
_DEV, _SECOND_POSITIVE = 0.04, 0.4

Array = Any


@dataclass(frozen=True, slots=True)
class Shape:
    """One task.

    In a task about cases the queries of an article are answered by the article it is paired with, hide their
    diagnosis and rest on a target concept. In the other a query is a figure, answered by passages of its own
    article.
    """

    name: str
    number: int
    articles: int
    queries: int
    seed: int
    is_about_cases: bool
    sibling: str

    def article(self, number: int) -> str:
        """Id of an article."""
        return f"pmc:PMC{10_000_000 * (self.number + 1) + number}.1"

    def document(self, number: int) -> str:
        """Id of a document; ids sort as numbers do."""
        return f"{self.article(number // PER_ARTICLE)}#p{10 + number % PER_ARTICLE}"

    def article_of(self, query: Array) -> Array:
        """Article a query was made of."""
        return query * self.articles // self.queries

    def answering(self, article: Array) -> Array:
        """Article that answers an article's queries."""
        return article ^ 1 if self.is_about_cases else article

    def random(self, *names: int) -> np.random.Generator:
        """A generator for one part of the task, whatever was drawn for the others."""
        return np.random.default_rng([self.seed, self.number, *names])


def shapes(documents: int, queries: int, seed: int) -> tuple[Shape, Shape]:
    """Two thirds of everything are figures and passages, one third cases."""
    articles = documents // PER_ARTICLE
    cases = max(articles // 3 & ~1, 2)
    asked = max(queries // 3, 2)
    one, other = "visual_context", "clinical_case"
    return (
        Shape(one, 0, max(articles - cases, 2), max(queries - asked, 2), seed, False, other),
        Shape(other, 1, cases, asked, seed, True, one),
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """Query -> positive documents; both by number. `splits` is 1 for dev."""

    first: Array
    second: Array
    is_dev: Array

    def of(self, query: int) -> list[int]:
        """Numbers of its positives, ascending."""
        found = {int(self.first[query]), int(self.second[query])}
        return sorted(found)


def judge(shape: Shape) -> Judged:
    """Choose the positives and the split of every query; articles that belong together are in one split."""
    random = shape.random(0)
    query = np.arange(shape.queries)
    article = shape.article_of(query)
    base = shape.answering(article) * PER_ARTICLE
    place = random.integers(0, CITABLE - 1, shape.queries)
    second = place + (random.random(shape.queries) < _SECOND_POSITIVE)
    of_group = random.random(shape.articles) < _DEV
    of_group[:2], of_group[-2:] = True, False
    group = article & ~1
    return Judged(base + place, base + second, of_group[group])
