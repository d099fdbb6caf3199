"""The published table of what each query was decided to be about: two levels, confidence, evidence."""

from __future__ import annotations

import pyarrow as pa

from schemas.columns import OF_QUERY, measure, number, text
from schemas.published import Column, Published

_EVIDENCE = pa.list_(
    pa.struct(
        [("rule", pa.string()), ("place", pa.string()), ("text", pa.string()), ("points", pa.float64())]
    )
)
FACET_DECISIONS = Published(
    "facets",
    "provenance/facets",
    "What each query was decided to be about, how surely, and what decided it.",
    (
        OF_QUERY,
        text("facet", "specialty, body_system, domain, modality or region", repeats=True),
        number("rank", "1 is the main value, 2 and on further ones that hold as well"),
        text("value", "id in the facet's taxonomy", repeats=True),
        text(
            "parent",
            "the level above: group of a modality, region of a part of the body; '' for none",
            repeats=True,
        ),
        measure("confidence", "how sure that is, above 0 and at most 1", may_be_null=False),
        text("record", "article, figure, case or question that it was decided of"),
        Column(
            "evidence",
            _EVIDENCE,
            "what decided, most points first: rule, place, points and the words as written; of a concept its "
            "CURIE alone, '' where its name decided",
            is_prose=True,
        ),
    ),
    ("query-id", "facet", "rank"),
    reader="auditor",
    is_optional=True,
)
