"""The articles of a generated release, and the way from crawled articles to released queries."""

from __future__ import annotations

from typing import Any

from benchmarks.generated_shape import Shape
from schemas.hashing import sha256_text

READ = "jats:license/@href"
Columns = dict[str, list[Any]]


def source(shape: Shape, number: int, title: str, licence: str) -> dict[str, Any]:
    """One row of `sources`."""
    name = shape.article(number)
    digits = name.removeprefix("pmc:PMC").removesuffix(".1")
    return {
        "id": name,
        "title": title,
        "authors": ["A. Nobody"],
        "journal": f"Journal of Inventions {number % 300}",
        "year": 2000 + number % 26,
        "doi": f"10.5555/{digits}",
        "pmid": digits,
        "pmcid": f"PMC{digits}",
        "article_type": "case-report",
        "language": "en",
        "subjects": [],
        "license": licence,
        "license_url": "https://creativecommons.org/licenses/by/4.0/",
        "license_evidence": READ,
        "license_statement": "",
        "is_retracted": False,
        "is_synthetic": True,
        "scope_evidence": [],
        "raw_sha256": sha256_text(name),
    }


def funnel(shape: Shape) -> tuple[Columns, Columns]:
    """Columns of `drops` and `funnel`: one article in twenty was dropped."""
    lost = [shape.article(9_000_000 + number) for number in range(shape.articles // 20)]
    count = len(lost)
    drops: Columns = {
        "stage": ["crawl"] * count,
        "unit": ["article"] * count,
        "id": list(lost),
        "article_id": list(lost),
        "reason": ["licence_not_allowed"] * count,
        "detail": [""] * count,
    }
    steps: Columns = {
        "step": [1, 2],
        "stage": ["crawl", shape.name],
        "unit": ["article", "query"],
        "entered": [shape.articles + count, shape.queries],
        "kept": [shape.articles, shape.queries],
        "dropped": [count, 0],
    }
    return drops, steps
