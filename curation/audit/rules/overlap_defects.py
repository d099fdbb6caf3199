"""What is planted for the overlap rules: two queries that rest on one thing, in two splits or two tasks.

Both queries of a pair are invented and rest on nothing else, so that neither what is wrong with a release nor
another defect speaks for them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from curation.audit.rule import Defect
from curation.audit.rules.planting import new_row
from curation.tasks.registry import TASKS
from schemas.image_tables import ORIGIN_IMAGES
from schemas.overlap_policy import Dimension

Rest = Callable[[str, str, str], str]
"""SQL for one query that rests on something: schema ('' or 'second.'), its id, its split."""


def itself(text: str = "", image: bytes | None = None, **origin: object) -> Rest:
    """By its own text, image or provenance."""

    def plant(schema: str, query: str, split: str) -> str:
        row: dict[str, Any] = {"id": query, "text": text}
        planted = new_row(f"{schema}queries", row | ({"image": _image(image)} if image else {}))
        if split == "test" and not origin:  # as no provenance says: other layouts have none
            return planted
        return f"{planted}; {new_row(f'{schema}provenance_queries', {'id': query, 'split': split, **origin})}"

    return plant


def positive(document: str = "", image: bytes | None = None, **origin: object) -> Rest:
    """By the id, image or provenance of a positive document."""

    def plant(schema: str, query: str, split: str) -> str:
        name = document or f"{query}-document"
        planted = [itself()(schema, query, split)]
        if image:
            planted.append(new_row(f"{schema}corpus", {"id": name, "image": _image(image)}))
        if origin:
            planted.append(new_row(f"{schema}provenance_corpus", {"id": name, **origin}))
        judged = {"query-id": query, "corpus-id": name, "score": 2}
        return "; ".join((*planted, new_row(f"{schema}qrels", judged)))

    return plant


def listed(side: str, sha256: str) -> Rest:
    """By one of several images of the query, or of a positive document."""

    def plant(schema: str, query: str, split: str) -> str:
        rest = positive(f"{query}-document") if side == "document" else itself()
        row = {"side": side, "id": f"{query}-document" if side == "document" else query, "position": 2}
        return f"""{rest(schema, query, split)};
            {new_row(f"{schema}{ORIGIN_IMAGES.name}", {**row, "image_source_sha256": sha256})}"""

    return plant


def stated(dimension: str, key: str) -> Rest:
    """By the published keys alone."""

    def plant(schema: str, query: str, split: str) -> str:
        row = {"query-id": query, "dimension": dimension, "key": key}
        return f"{itself()(schema, query, split)}; {new_row(f'{schema}keys', row)}"

    return plant


def _image(data: bytes) -> Mapping[str, Any]:
    return {"bytes": data, "path": "canary.png"}


_FETCHED, _SHOWN, _SECOND, _THIRD = (hashlib.sha256(b"canary %d" % n).hexdigest() for n in (1, 2, 3, 4))
_KINDS: Mapping[Dimension, Mapping[str, tuple[Rest, Rest]]] = {
    "target_concept": {"a target concept": (stated("target_concept", "CANARY:0000001"),) * 2},
    "query": {
        "a text in other case, punctuation and Unicode form": (
            itself("Canary, yellow: what is this BIRD of 5 \u00b5m, fiery and caf\u00e9-brown?"),
            itself(
                "canary  yellow what is this bird of \uff15\u00a0\u03bcm \ufb01ery and cafe\u0301\u2011brown"
            ),
        ),
        "a family": (itself(family="canary-family"),) * 2,
        "a query known from keys alone": (stated("query", "family:canary-key"),) * 2,
    },
    "article": {
        "an article in two versions": (
            itself(article_id="pmc:PMC000000001.1"),
            itself(article_id="pmc:PMC000000001.2"),
        ),
        "an article of a positive document and of a query": (
            positive(article_id="pmc:PMC000000002.1"),
            itself(article_id="europepmc:PMC000000002"),
        ),
        "an article that only the ids of a document and a source name": (
            positive(document="pmc:PMC000000005.1#p1"),
            itself(source_id="pmc:PMC000000005.2#p2"),
        ),
        "an article known from keys alone": (stated("article", "pmc:PMC000000009"),) * 2,
    },
    "patient": {
        "a patient": (
            itself(patient_id="pmc:PMC000000003.1#case1"),
            itself(patient_id="pmc:PMC000000003.2#case1"),
        ),
        "a patient of a positive document and of a query": (
            positive(patient_id="pmc:PMC000000004.1#case2"),
            itself(patient_id="pmc:PMC000000004.2#case2"),
        ),
        "a patient that only the ids of a document and a source name": (
            positive(document="pmc:PMC000000006.1#case3"),
            itself(source_id="pmc:PMC000000006.2#case3"),
        ),
        "a patient known from keys alone": (stated("patient", "pmc:PMC000000009#case1"),) * 2,
    },
    "image_family": {
        "the released bytes of a query image": (itself(image=b"canary image"),) * 2,
        "the released bytes of a positive document's image": (positive(image=b"canary shown"),) * 2,
        "an image as fetched": (itself(image_source_sha256=_FETCHED),) * 2,
        "an image of a positive document and of a query": (
            positive(image_source_sha256=_SHOWN),
            itself(image_source_sha256=_SHOWN),
        ),
        "the second image of a query": (listed("query", _SECOND),) * 2,
        "the second image of a positive document and of a query": (
            listed("document", _THIRD),
            listed("query", _THIRD),
        ),
        "an image family known from keys alone": (stated("image_family", "phash:canary"),) * 2,
    },
}
"""What may not be shared, and how the query on either side comes to rest on it; rarer columns first."""
_LACKING = ", ".join(f"'{name}'" for name, task in TASKS.items() if "target_concept" in task.lacks)
_MAY_NOT_SHARE = f"FROM queries WHERE rowid = 0 AND regexp_replace(id, '-[^-]*$', '') NOT IN ({_LACKING})"
"""Whether target concepts may not be shared: a query's id says its task (`schemas.ids.query_id`)."""


def overlaps(dimension: Dimension) -> tuple[Defect, ...]:
    """Every kind of overlap in one dimension, between two splits and between two tasks."""
    return tuple(
        _overlap(dimension, what, *rests, where, schema, split)
        for what, rests in _KINDS[dimension].items()
        for where, schema, split in (("splits", "", "dev"), ("tasks", "second.", "test"))
    )


def _overlap(
    dimension: Dimension, what: str, one: Rest, other: Rest, where: str, schema: str, split: str
) -> Defect:
    """Always beside a second task, so that all can be planted at once."""
    ids = [f"canary:{dimension}-{what}-{where}-{side}".replace("'", "") for side in (1, 2)]
    named = f"SELECT '{ids[0]}' AS one, '{ids[1]}' AS other"
    if dimension == "target_concept":
        named += f" {_MAY_NOT_SHARE}"
    plant = f"{one('', ids[0], 'test')}; {other(schema, ids[1], split)}; {named}"
    return Defect(f"in two {where}: {what}", plant, second="sibling")
