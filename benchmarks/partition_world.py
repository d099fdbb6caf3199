"""Made-up tasks of realistic size for the partition: ten tasks that want the same articles and concepts.

Sizes follow M3Retrieve (two large tasks, two small ones) and leave 26 k queries for the other six. Every
article has a main concept (Zipf) and every tenth a second one, which chains concepts; case reports serve
case tasks, figure tasks and vignettes at once; some images are near copies of others.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curation.partition.records import MergedConcept, NearQuery, PublishedKey
from curation.tasks.registry import listing_images
from schemas.benchmark import Document, Qrel, Query, RowImage
from schemas.image import FigureImage
from schemas.label import RecordLabels
from schemas.record import arrow_schema

SIZES = {
    "visual_context": 80_000,
    "case_study": 55_000,
    "clinical_case": 8_000,
    "clinical_evidence": 6_000,
    "reference_qa": 5_000,
    "summary": 3_015,
    "crosslingual_qa": 3_000,
    "concept_discrimination": 3_000,
    "multilingual_evidence": 1_261,
    "image_search": 671,
}
"""Queries at 1.2 M documents: 164,947 in all."""
FULL = 1_200_000
_CASES = ("case_study", "clinical_case")
_FIGURES = ("visual_context", "summary", "image_search")
_WITH_FAMILY = ("crosslingual_qa", "multilingual_evidence")
_WORDS = 40

Array = Any


class _Articles:
    """Articles in three kinds, their concepts, and who is about what."""

    def __init__(self, count: int, random: np.random.Generator) -> None:
        self.count = count
        self.kind = random.choice(
            3, count, p=(0.4, 0.45, 0.15)
        )  # case report, review or study, textbook part
        ranks = 1.0 / np.arange(1, max(count // 4, 50) + 1) ** 0.9
        self.concept = random.choice(len(ranks), count, p=ranks / ranks.sum())
        self.second = np.where(random.random(count) < 0.1, random.choice(len(ranks), count), self.concept)
        self.order = {kind: np.flatnonzero(np.isin(self.kind, kind)) for kind in ((0,), (1, 2), (0, 1, 2))}
        self.about: dict[tuple[int, ...], dict[int, Array]] = {}
        for kind, members in self.order.items():
            by_concept = members[np.argsort(self.concept[members], kind="stable")]
            cuts = np.flatnonzero(np.diff(self.concept[by_concept])) + 1
            parts = np.split(by_concept, cuts)
            self.about[kind] = {int(self.concept[part[0]]): part for part in parts if len(part)}


def write_world(folder: Path, documents: int, seed: int = 5) -> dict[str, int]:
    """Write all inputs of the stage and `files.json`; return queries per task."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(seed)
    scale = documents / FULL
    articles = _Articles(max(int(60_000 * scale), 500), random)
    files: dict[str, list[str]] = {}
    images: dict[str, str] = {}
    queries = {}
    for task, full in SIZES.items():
        count = max(int(full * scale), 20)
        share = max(int(documents * full / sum(SIZES.values())), count)
        made = _task(task, count, share, articles, images, random)
        queries[task] = count
        for name, (row, columns) in made.items():
            path = folder / f"{task}_{name}.parquet"
            pq.write_table(_filled(row, columns), path, compression="zstd")
            files[f"{task}_{name}"] = [str(path)]
    phashes = {"sha256": list(images), "phash": list(images.values())}
    for name, row, columns in (
        ("images", FigureImage, phashes),
        *((f"{task}_images", RowImage, {}) for task in listing_images(tuple(SIZES))),
        ("published", PublishedKey, {}),
        ("merged", MergedConcept, {}),
        ("near_queries", NearQuery, {}),
        ("labels", RecordLabels, {}),
    ):
        pq.write_table(_filled(row, columns), folder / f"{name}.parquet", compression="zstd")
        files[name] = [str(folder / f"{name}.parquet")]
    (folder / "files.json").write_text(json.dumps(files), "utf-8")
    return queries


def _filled(row: type, columns: dict[str, Any]) -> pa.Table:
    """Columns that are not given hold the same small value in every row: the partition does not read them."""
    count = len(next(iter(columns.values()), []))
    arrays = []
    schema = pa.schema([_relaxed(field) for field in arrow_schema(row)])
    for field in schema:
        if field.name in columns:
            arrays.append(pa.array(columns[field.name], type=field.type))
        elif field.nullable:
            arrays.append(pa.nulls(count, type=field.type))
        else:
            empty: Any = "" if pa.types.is_string(field.type) else [] if pa.types.is_list(field.type) else 0
            empty = False if pa.types.is_boolean(field.type) else empty
            arrays.append(pa.array([empty] * count, type=field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _relaxed(field: pa.Field) -> pa.Field:
    """The column with parts that may be null: a missing image has none."""
    if pa.types.is_struct(field.type):
        return pa.field(field.name, pa.struct([(part.name, part.type) for part in field.type]))
    return field


def _image(images: dict[str, str], random: np.random.Generator) -> dict[str, Any]:
    """A new image file; three in a hundred are near copies of the one before."""
    name = random.bytes(32).hex()
    if images and random.random() < 0.03:
        latest = images[next(reversed(images))]
        bits = int(latest, 16) ^ (1 << int(random.integers(64)))
    else:
        bits = sum(1 << int(bit) for bit in random.choice(64, 32, replace=False))
    images[name] = f"{bits:016x}"
    return {"href": name, "use": "", "alt": "", "problem": "", "is_synthetic": False, "sha256": name}


def _task(
    task: str,
    count: int,
    documents: int,
    articles: _Articles,
    images: dict[str, str],
    random: np.random.Generator,
) -> dict[str, tuple[type, dict[str, Any]]]:
    cases, figures = task in _CASES or task == "clinical_evidence", task in _FIGURES
    kind = (0,) if cases else (0, 1, 2) if figures else (1, 2)
    home = articles.order[kind]
    origin = home[random.integers(0, len(home), count)]
    target = articles.concept[origin]
    answers = articles.about[(0,) if task in _CASES else (1, 2)]
    pair_query, pair_article = [], []
    for number in range(count):
        own = int(origin[number])
        found = answers.get(int(target[number]), home[:1])
        picked = (
            [own] if figures else [int(x) for x in random.choice(found, min(len(found), 3), replace=False)]
        )
        if articles.second[own] != articles.concept[own] and not figures:
            also = answers.get(int(articles.second[own]))
            picked += [int(x) for x in (found if also is None else also)[:1]]
        pair_query += [number] * len(picked)
        pair_article += picked
    ids = [f"{task}-{random.bytes(8).hex()}" for _ in range(count)]
    words = random.integers(0, 20_000, (count, _WORDS))
    with_image = task in ("visual_context", "image_search")
    query = {
        "id": ids,
        "task": [task] * count,
        "text": [" ".join(f"w{word}" for word in row) for row in words.tolist()],
        "image": [_image(images, random) if with_image else None for _ in range(count)],
        "article_id": [_name(articles, a, figures or cases) for a in origin.tolist()],
        "family": [f"{task}{n // 4}" if task in _WITH_FAMILY else "" for n in range(count)],
        "targets": [[] if figures else [f"UMLS:C{c:07d}"] for c in target.tolist()],
        "patient_id": [f"pmc:PMC{a}.1#case1" if cases else "" for a in origin.tolist()],
    }
    fill = articles.order[(0, 1, 2)][
        random.integers(0, articles.count, max(documents - len(pair_article), 0))
    ]
    of = np.concatenate([np.array(pair_article, dtype=np.int64), fill]).tolist()
    names = [f"pmc:PMC{a}.1#p{n}" for n, a in enumerate(of)]
    document = {
        "id": names,
        "task": [task] * len(of),
        "article_id": [f"pmc:PMC{a}.1" for a in of],
        "patient_id": [f"pmc:PMC{a}.1#case1" if task in _CASES else "" for a in of],
    }
    qrel = {
        "query_id": [ids[number] for number in pair_query],
        "corpus_id": names[: len(pair_query)],
        "score": [2] * len(pair_query),
        "task": [task] * len(pair_query),
    }
    return {"queries": (Query, query), "documents": (Document, document), "qrels": (Qrel, qrel)}


def _name(articles: _Articles, article: int, is_article: bool) -> str:
    """Questions come from collections of their own, everything else from the articles."""
    return f"pmc:PMC{article}.1" if is_article else f"question:{article}"
