"""One row per record out of the label rows: what a task joins to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from schemas.label import Facet, Label, RecordLabels

Unit = Literal["article", "figure", "panel", "case", "question"]


def summaries(
    article: str, units: Mapping[Unit, Iterable[str]], rows: Iterable[Label]
) -> Iterator[RecordLabels]:
    """RecordLabels of the records of an article or of a file of questions, in the order given.

    Args:
        article: article id, or the file's.
        units: ids of records by what they are.
        rows: all label rows of the article and of its records.
    """
    held: dict[tuple[str, Facet], list[Label]] = {}
    for row in rows:
        if row.value:
            held.setdefault((row.id, row.facet), []).append(row)
    for unit, ids in units.items():
        for name in ids:
            yield _summary(name, article, unit, held)


def _summary(name: str, article: str, unit: Unit, held: dict[tuple[str, Facet], list[Label]]) -> RecordLabels:
    def own(facet: Facet) -> list[Label]:
        return held.get((name, facet)) or held.get((article, facet), [])

    domains, systems, countries = own("domain"), own("body_system"), own("country")
    modalities, regions = held.get((name, "modality"), []), held.get((name, "region"), [])
    return RecordLabels(
        id=name,
        article_id=article,
        unit=unit,
        specialties=tuple(row.value for row in own("specialty")),
        body_systems=tuple(row.value for row in systems),
        body_system_confidence=systems[0].confidence if systems else 0.0,
        domain=domains[0].value if domains else "",
        domain_confidence=domains[0].confidence if domains else 0.0,
        modalities=tuple(row.value for row in modalities),
        modality_groups=tuple(row.parent or row.value for row in modalities),
        country=countries[0].value if countries else "",
        who_region=countries[0].parent if countries else "",
        regions=tuple(dict.fromkeys(row.parent or row.value for row in regions)),
        region_parts=tuple(row.value for row in regions if row.parent),
    )
