"""Which documents a query has labels for, and which a ranking of it must not hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.evaluation.ranking import Indices
from curation.evaluation.reading import column_names, pairs, positions_of, rows
from curation.evaluation.variants import WHOLE, Tables
from schemas.confusion_table import CONFUSIONS
from schemas.errors import ReleaseError
from schemas.tables import ORIGIN_CORPUS, ORIGIN_QUERIES

RELEVANT = 1
"""The lowest grade that counts as relevant in measures without grades."""


@dataclass(frozen=True, slots=True)
class LeftOut(Mapping[str, Indices]):
    """Positions that rankings must not hold, by query: those listed, and all outside a query's own set.

    What lies outside is made when it is asked for: thousands of sets leave out nearly the whole corpus.
    """

    listed: Mapping[str, Indices]
    sets: Mapping[str, Indices] = field(default_factory=dict)
    documents: int = 0

    def __getitem__(self, query: str) -> Indices:
        inside = self.sets.get(query)
        if inside is None:
            return self.listed[query]
        out = np.ones(self.documents, np.bool_)
        out[inside] = False
        if query in self.listed:
            out[self.listed[query]] = True
        return np.flatnonzero(out).astype(np.int32)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self.listed, *self.sets}))

    def __len__(self) -> int:
        return len({*self.listed, *self.sets})


def read_sets(directory: Path, corpus_ids: pa.Array, known: set[str]) -> dict[str, Indices]:
    """Query -> positions of the documents it is ranked among, for the queries that have such a set."""
    found: dict[str, list[int]] = {}
    for table in pairs(CONFUSIONS.files(directory), ["query-id", "corpus-id"]):
        places = pc.index_in(table.column("corpus-id"), value_set=corpus_ids).to_pylist()
        for query, place in zip(table.column("query-id").to_pylist(), places, strict=True):
            if query in known and place is not None:
                found.setdefault(query, []).append(place)
    return {query: np.unique(np.array(places, np.int32)) for query, places in found.items()}


def read_origins(directory: Path) -> dict[str, dict[str, str]]:
    """Query -> article, record and patient it was made from, and family of translations it is in."""
    files = ORIGIN_QUERIES.files(directory)
    known = ("article_id", "source_id", "patient_id", "family")
    wanted = [name for name in known if name in column_names(files)]
    return {row["id"]: row for row in rows(files, ["id", *wanted])}


def read_labels(
    directory: Path, split: str, known: set[str], corpus_ids: pa.Array, tables: Tables = WHOLE
) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    """Grades by query and document, and the label status of each query's positives ('mixed' if several)."""
    grades: dict[str, dict[str, int]] = {}
    statuses: dict[str, set[str]] = {}
    files = tables.qrels.files(directory, split)
    for table in pairs(files, ["query-id", "corpus-id", "score", "label_status"]):
        positions_of(table, corpus_ids, directory / tables.qrels.folder)
        for row in table.to_pylist():
            query = row["query-id"]
            if query not in known:
                raise ReleaseError(
                    "a label names a query that is not there",
                    record=query,
                    file=str(directory / tables.qrels.folder),
                )
            grades.setdefault(query, {})[row["corpus-id"]] = row["score"]
            if row["score"] >= RELEVANT:
                statuses.setdefault(query, set()).add(row["label_status"])
    return grades, {
        query: next(iter(found)) if len(found) == 1 else "mixed" for query, found in statuses.items()
    }


def read_left_out(
    directory: Path,
    split: str,
    known: set[str],
    corpus_ids: pa.Array,
    grades: Mapping[str, Mapping[str, int]],
    origins: Mapping[str, Mapping[str, str]],
    tables: Tables = WHOLE,
) -> LeftOut:
    """Positions no ranking of a query may hold: excluded pairs, the query's own record and own patient.

    Of a query with a set of its own, all other documents.
    """
    parts: dict[str, list[Indices]] = {}
    for table in pairs(tables.excluded.files(directory, split), ["query-id", "corpus-id"]):
        positions = positions_of(table, corpus_ids, directory / tables.excluded.folder)
        owners = table.column("query-id").combine_chunks().dictionary_encode()
        codes = owners.indices.to_numpy()
        order = np.argsort(codes, kind="stable")
        cuts = np.searchsorted(codes[order], np.arange(len(owners.dictionary) + 1))
        for code, query in enumerate(owners.dictionary.to_pylist()):
            parts.setdefault(query, []).append(positions[order[cuts[code] : cuts[code + 1]]])
    for query, places in _own_records(directory, known, corpus_ids, origins).items():
        judged = grades.get(query, {})
        kept = [place for place in places if corpus_ids[place].as_py() not in judged]
        parts.setdefault(query, []).append(np.asarray(kept, dtype=np.int32))
    listed = {query: np.unique(np.concatenate(found)) for query, found in parts.items() if query in known}
    return LeftOut(listed, read_sets(directory, corpus_ids, known), len(corpus_ids))


def _own_records(
    directory: Path, known: set[str], corpus_ids: pa.Array, origins: Mapping[str, Mapping[str, str]]
) -> dict[str, list[int]]:
    """Query -> positions of the record it was made from and of documents of its own patient."""
    mine = [query for query in sorted(known) if query in origins]
    patients = {origins[query].get("patient_id") or "" for query in mine} - {""}
    by_patient = _documents_of(directory, patients, corpus_ids)
    sources = pa.array([origins[query].get("source_id") or "" for query in mine], pa.string())
    found: dict[str, list[int]] = {}
    for query, place in zip(mine, pc.index_in(sources, value_set=corpus_ids).to_pylist(), strict=True):
        own = [] if place is None else [place]
        own += by_patient.get(origins[query].get("patient_id") or "", [])
        if own:
            found[query] = own
    return found


def _documents_of(directory: Path, patients: set[str], corpus_ids: pa.Array) -> dict[str, list[int]]:
    """Patient -> positions of the documents that tell of or show them."""
    found: dict[str, list[int]] = {}
    files = ORIGIN_CORPUS.files(directory)
    if not patients or "patient_id" not in column_names(files):
        return found
    wanted = pa.array(sorted(patients), pa.string())
    for table in pairs(files, ["id", "patient_id"]):
        chosen = table.filter(pc.is_in(table.column("patient_id"), value_set=wanted))
        places = pc.index_in(chosen.column("id"), value_set=corpus_ids).to_pylist()
        for place, patient in zip(places, chosen.column("patient_id").to_pylist(), strict=True):
            if place is not None:
                found.setdefault(patient, []).append(place)
    return found
