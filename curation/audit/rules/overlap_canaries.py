"""What is planted for the overlap rules: two queries that rest on one thing, in two splits or two tasks.

Both queries of a pair are invented (on a real row, so that columns fit), so that nothing else that is wrong
with a release hides them.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curation.audit.rule import Canary, Rows
from curation.tasks.registry import level

Row = dict[str, Any]
_EMPTY_IMAGE = {
    "image_source_sha256": None,
    "image_sha256": None,
    "image_transform": "",
    "image_width": None,
    "image_height": None,
}


@dataclass(frozen=True, slots=True)
class Planter:
    """Adds invented rows to one task; `made` are the columns of the audited copy."""

    rows: Rows
    made: Rows

    @property
    def has_provenance(self) -> bool:
        """Whether the copy is of a release: another layout has no provenance and no keys."""
        return bool(self.made["provenance_queries"])

    def query(self, name: str, split: str, text: str = "", **origin: Any) -> str:
        """One query that shares nothing, but for what `origin` sets in its provenance."""
        query = copy.deepcopy(self.made["queries"][0]) | {"id": name, "text": text or f"canary {name}"}
        if "image" in query:
            query["image"] = None
        self.rows["queries"].append(query)
        if self.has_provenance:
            own: Row = {"split": split, "article_id": f"canary:{name}", "source_id": f"canary:{name}"}
            own |= {"patient_id": "", "family": "", "hides_target": False}
            row = copy.deepcopy(self.made["provenance_queries"][0])
            self.rows["provenance_queries"].append(row | own | _EMPTY_IMAGE | {"id": name} | origin)
        return name

    def image(self, table: str, row_id: str, data: bytes) -> None:
        """Put image bytes into the row planted last."""
        row = self.rows[table][-1]
        if row["id"] == row_id and "image" in row:
            row["image"] = {"bytes": data, "path": f"{row_id}.png"}

    def positive(self, query: str, name: str, **origin: Any) -> str:
        """One positive document of a planted query."""
        document = copy.deepcopy(self.made["corpus"][0]) | {"id": name, "text": f"canary {name}"}
        if "image" in document:
            document["image"] = None
        self.rows["corpus"].append(document)
        own = {"article_id": f"canary:{name}", "patient_id": ""}
        row = copy.deepcopy(self.made["provenance_corpus"][0])
        self.rows["provenance_corpus"].append(row | own | _EMPTY_IMAGE | {"id": name} | origin)
        qrel = copy.deepcopy(self.made["qrels"][0])
        self.rows["qrels"].append(qrel | {"query-id": query, "corpus-id": name, "score": 2})
        evidence = copy.deepcopy(self.made["provenance_qrels"][0]) if self.made["provenance_qrels"] else None
        if evidence is not None:
            self.rows["provenance_qrels"].append(evidence | {"query-id": query, "corpus-id": name})
        return name

    def key(self, query: str, dimension: str, key: str) -> None:
        """One published key."""
        self.rows["keys"].append({"query-id": query, "dimension": dimension, "key": key})


Plant = Callable[[Planter, str, str, int], None]
"""Plants one query of a pair: planter, query id, split, 1 or 2."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of overlap to plant; `can` says whether the release has the tables and columns for it."""

    name: str
    what: str
    plant: Plant
    can: Callable[[Rows], bool]


def _planted(*kinds: _Kind) -> tuple[Canary, ...]:
    """Canaries of some kinds between two splits, and of the same between two tasks.

    Kinds are planted side by side, each with ids of its own, because a copy of a release has its price.
    """

    def between_splits(rows: Rows, second: Rows) -> Sequence[str] | None:
        if not rows["queries"] or not rows["provenance_queries"]:
            return None
        return _plant_all(kinds, ((Planter(rows, rows), "test"), (Planter(rows, rows), "dev")))

    def between_tasks(rows: Rows, second: Rows) -> Sequence[str] | None:
        if not rows["queries"]:
            return None
        return _plant_all(kinds, ((Planter(rows, rows), "test"), (Planter(second, rows), "test")))

    what = ", ".join(kind.what for kind in kinds)
    return (
        Canary(f"in two splits: {what}", between_splits),
        Canary(f"in two tasks: {what}", between_tasks, second="sibling"),
    )


def _plant_all(kinds: Sequence[_Kind], places: Sequence[tuple[Planter, str]]) -> Sequence[str] | None:
    """Plant what the release has room for; the ids of all queries planted."""
    ids = []
    for kind in kinds:
        if not kind.can(places[0][0].made):
            continue
        for number, (planter, split) in enumerate(places, start=1):
            ids.append(f"canary-{kind.name}-{number}")
            kind.plant(planter, ids[-1], split, number)
    return ids or None


def _anything(rows: Rows) -> bool:
    return True


def _is_release(rows: Rows) -> bool:
    return bool(rows["provenance_queries"])


def _has_positives(rows: Rows) -> bool:
    return bool(rows["provenance_queries"] and rows["provenance_corpus"] and rows["qrels"] and rows["corpus"])


def _query_images(rows: Rows) -> bool:
    return "image" in rows["queries"][0]


def _document_images(rows: Rows) -> bool:
    return _has_positives(rows) and "image" in rows["corpus"][0]


def _has_targets(rows: Rows) -> bool:
    """Whether target concepts may not be shared: a query's id says its task (`schemas.ids.query_id`)."""
    task = str(rows["queries"][0]["id"]).rpartition("-")[0]
    return _is_release(rows) and level(task, task, "target_concept") == "zero"


def _text(planter: Planter, name: str, split: str, number: int) -> None:
    texts = (
        "Canary, yellow: what is this BIRD of 5 \u00b5m, fiery and caf\u00e9-brown?",
        "canary  yellow what is this bird of \uff15\u00a0\u03bcm \ufb01ery and cafe\u0301\u2011brown",
    )
    planter.query(name, split, texts[number - 1])


def _own(column: str, *values: str) -> Plant:
    def plant(planter: Planter, name: str, split: str, number: int) -> None:
        planter.query(name, split, **{column: values[number - 1]})

    return plant


def _through_positive(column: str, own: str, *values: str) -> Plant:
    """The first query rests on it through a positive, the second itself."""

    def plant(planter: Planter, name: str, split: str, number: int) -> None:
        if number == 1:
            planter.query(name, split)
            planter.positive(name, f"{name}-document", **{column: values[0]})
        else:
            planter.query(name, split, **{own: values[1]})

    return plant


def _stated(dimension: str, key: str) -> Plant:
    def plant(planter: Planter, name: str, split: str, number: int) -> None:
        planter.query(name, split)
        planter.key(name, dimension, key)

    return plant


def _query_bytes(planter: Planter, name: str, split: str, number: int) -> None:
    planter.query(name, split)
    planter.image("queries", name, b"canary image")


def _document_bytes(planter: Planter, name: str, split: str, number: int) -> None:
    planter.query(name, split)
    document = planter.positive(name, f"{name}-document")
    planter.image("corpus", document, b"canary document image")


_ARTICLES = ("pmc:PMC000000001.1", "pmc:PMC000000001.2")
_SHARED = ("pmc:PMC000000002.1", "europepmc:PMC000000002")
_PATIENTS = ("pmc:PMC000000003.1#case1", "pmc:PMC000000003.2#case1")
_SHOWN = ("pmc:PMC000000004.1#case2", "pmc:PMC000000004.2#case2")
_FETCHED = (hashlib.sha256(b"canary 1").hexdigest(),) * 2
_PICTURED = (hashlib.sha256(b"canary 2").hexdigest(),) * 2

TARGET_CONCEPT = _planted(
    _Kind("concept", "a target concept", _stated("target_concept", "CANARY:0000001"), _has_targets)
)
QUERY = _planted(
    _Kind("text", "a text in other case, punctuation and Unicode form", _text, _anything),
    _Kind("family", "a family", _own("family", "canary-family", "canary-family"), _is_release),
    _Kind("query-key", "a query known from keys alone", _stated("query", "family:canary-key"), _is_release),
)
ARTICLE = _planted(
    _Kind("article", "an article in two versions", _own("article_id", *_ARTICLES), _is_release),
    _Kind(
        "positive",
        "an article of a positive document and of a query",
        _through_positive("article_id", "article_id", *_SHARED),
        _has_positives,
    ),
    _Kind(
        "article-key",
        "an article known from keys alone",
        _stated("article", "pmc:PMC000000009"),
        _is_release,
    ),
)
PATIENT = _planted(
    _Kind("patient", "a patient", _own("patient_id", *_PATIENTS), _is_release),
    _Kind(
        "shown",
        "a patient of a positive document and of a query",
        _through_positive("patient_id", "patient_id", *_SHOWN),
        _has_positives,
    ),
    _Kind(
        "patient-key",
        "a patient known from keys alone",
        _stated("patient", "pmc:PMC000000009#case1"),
        _is_release,
    ),
)
IMAGE_FAMILY = (
    *_planted(
        _Kind("image", "an image as fetched", _own("image_source_sha256", *_FETCHED), _is_release),
        _Kind(
            "picture",
            "an image of a positive document and of a query",
            _through_positive("image_source_sha256", "image_source_sha256", *_PICTURED),
            _has_positives,
        ),
        _Kind(
            "family",
            "an image family known from keys alone",
            _stated("image_family", "phash:canary"),
            _is_release,
        ),
    ),
    *_planted(
        _Kind("bytes", "the released bytes of a query image", _query_bytes, _query_images),
        _Kind("document", "those of a positive document's image", _document_bytes, _document_images),
    ),
)


def _query_with_keys(planter: Planter, name: str, lacking: str = "", **origin: Any) -> str:
    """A query whose keys say all it rests on, but for one dimension."""
    row_id = planter.query(f"canary-{name}", "test", **origin)
    text = f"canary {row_id}".replace("-", " ")
    keys = {
        "query": hashlib.sha256(text.encode()).hexdigest(),
        "article": f"canary:{row_id}",
        "target_concept": "CANARY:0000001",
    }
    for dimension, key in keys.items():
        if dimension != lacking:
            planter.key(row_id, dimension, key)
    return row_id


_LACKING: Mapping[str, Mapping[str, Any]] = {
    "query": {},
    "article": {},
    "patient": {"patient_id": "pmc:PMC000000005.1#case1"},
    "image_family": {"image_source_sha256": hashlib.sha256(b"canary 3").hexdigest()},
    "target_concept": {"hides_target": True},
}


def _lacks(rows: Rows, second: Rows) -> Sequence[str] | None:
    if not _has_positives(rows):
        return None
    planter = Planter(rows, rows)
    ids = [
        _query_with_keys(planter, f"lacks-{dimension}", dimension, **origin)
        for dimension, origin in _LACKING.items()
    ]
    ids.append(_query_with_keys(planter, "lacks-positive"))
    planter.positive(ids[-1], "canary-lacking-document")
    return ids


def _states(rows: Rows, second: Rows) -> Sequence[str] | None:
    if not _is_release(rows):
        return None
    planter = Planter(rows, rows)
    ids = [_query_with_keys(planter, "extra"), _query_with_keys(planter, "unknown"), "canary-orphan"]
    planter.key(ids[0], "article", "canary:nowhere")
    planter.key(ids[1], "canary", "canary")
    planter.key(ids[2], "image_family", "phash:canary")
    return ids


KEYS_TRUE = (
    Canary(
        "keys lacks a query's text, article, patient, image, target concept, and a positive's article", _lacks
    ),
    Canary(
        "keys states an article nothing rests on, an unknown dimension, a query that is not there", _states
    ),
)
