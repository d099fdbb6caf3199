"""Reads published run files block by block: faults of their lines, and measures of each query.

Written apart from `curation.evaluation`, in arrays: a run of 164 K queries has 16 million lines.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from curation.audit.rule import MAX_EXAMPLES, Context
from curation.audit.rules.runs_tally import Keys, Mask, Split, Tally, places
from curation.published.query import Views

_BLOCK = 1 << 26
SPARE = 1_000_000
"""Lines a run file may have beside twice those it should have, before it is read no further."""
_COLUMNS = {"query": pa.string(), "document": pa.string(), "rank": pa.int64(), "score": pa.float64()}
JUDGED = 'SELECT "query-id" AS q, "corpus-id" AS c, score FROM qrels'
_UNJUDGED = 'ANTI JOIN qrels r ON r."query-id" = q AND r."corpus-id" = c'
PAIRS_LEFT_OUT = f"""
    SELECT "query-id" AS q, "corpus-id" AS c FROM excluded
    UNION SELECT q, c FROM (SELECT id AS q, source_id AS c FROM provenance_queries) {_UNJUDGED}
    UNION SELECT q, c FROM (SELECT o.id AS q, d.id AS c FROM provenance_queries o
        JOIN provenance_corpus d ON o.patient_id <> '' AND d.patient_id = o.patient_id) {_UNJUDGED}"""
_QUERIES = "SELECT id FROM {source} ORDER BY id"
_PAIRS = f"""SELECT q, c, score, 'label' AS kind FROM ({JUDGED})
    UNION ALL SELECT q, c, NULL, 'left out' FROM ({PAIRS_LEFT_OUT})"""
SETS = 'SELECT "query-id" AS q, "corpus-id" AS c FROM confusions'
"""Pairs of queries that are ranked among a set of their own."""
OUTSIDE = f"""
    SELECT q, id AS c FROM (SELECT DISTINCT q FROM ({SETS})), corpus
    ANTI JOIN ({SETS}) AS s ON s.q = q AND s.c = id"""
TABLES = ("queries", "corpus", "qrels", "excluded", "provenance_queries", "provenance_corpus")
"""What a split is read from."""
UNREADABLE, TOO_MANY, TOO_LONG = (
    "the run cannot be read",
    "the run has far more lines than results.json says",
    "the ranking is longer than results.json says",
)
NO_QUERY, NO_DOCUMENT = "the query is not one of this split", "the document is not in the corpus"
IN_PARTS, TWICE = "the ranking of a query is in several parts", "the document occurs twice in a ranking"
RANKS, NO_NUMBER = "the ranks are not 1 to n", "the score is not a number"
RISES = "the score is not below the one before, as a 32-bit number"
LEFT_OUT = "an excluded pair, a record of the query's own, or what is not in the query's set, is ranked"
"""What can be wrong with a run file's content."""


@dataclass(frozen=True, slots=True)
class Part:
    """Queries of one split: what stands after FROM, and the views it needs."""

    source: str
    views: Views

    def batches(self, context: Context, text: str) -> Iterator[pa.RecordBatch]:
        """The rows of a SELECT from it; `{source}` stands for it."""
        views = {"qrels": context.views["qrels"], **self.views}
        return context.query(text.format(source=self.source), views)


def parts(context: Context) -> dict[str, Part]:
    """Queries by the split whose files they are in."""
    queries = context.views["queries"]
    if "placed" in context.views:
        views = {name: context.views[name] for name in ("queries", "placed")}
        of = "SELECT q FROM placed WHERE tab = 'queries' AND split = "
        listed = context.rows("SELECT DISTINCT split FROM placed WHERE tab = 'queries'", "placed")
        return {
            row["split"]: Part(f"queries SEMI JOIN ({of}'{row['split']}') ON q = id", views) for row in listed
        }
    files: dict[str, list[Path]] = {}
    for path in queries:
        files.setdefault(path.name.split("-")[0], []).append(path)
    return {split: Part("queries", {"queries": paths}) for split, paths in files.items()}


@dataclass(slots=True)
class Faults:
    """What is wrong with a run, by kind: all is counted, some are kept as (message, query, document)."""

    found: Counter[str] = field(default_factory=Counter)
    kept: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)

    def add(self, kind: str, message: str = "", query: str = "", document: str = "") -> None:
        """Count a fault; ids are '' where it is of the file, and the message where it is the kind."""
        self.found[kind] += 1
        kept = self.kept.setdefault(kind, [])
        if len(kept) < MAX_EXAMPLES:
            kept.append((message or kind, query, document))

    def add_rows(self, kind: str, rows: pa.Table, wrong: Mask, message: str = "") -> None:
        """Count the rows of a mask, and keep some."""
        if count := int(np.count_nonzero(wrong)):
            shown = rows.take(np.flatnonzero(wrong)[:MAX_EXAMPLES]).to_pylist()
            for row in shown:
                self.add(kind, message, str(row["query"]), str(row["document"]))
            self.found[kind] += count - len(shown)


def splits_of(context: Context, parts: Mapping[str, Part], corpus: pa.Array) -> dict[str, Split]:
    """Every split of the audited release; `corpus` has its ids in order."""
    queries = {split: _ids(part.batches(context, _QUERIES)) for split, part in sorted(parts.items())}
    labels: dict[str, list[Keys]] = {split: [] for split in queries}
    grades: dict[str, list[Keys]] = {split: [] for split in queries}
    out: dict[str, list[Keys]] = {split: [] for split in queries}
    sets: dict[str, list[Keys]] = {split: [] for split in queries}
    has_sets = "confusions" in context.views
    text = f"{_PAIRS} UNION ALL SELECT q, c, NULL, 'set' FROM ({SETS})" if has_sets else _PAIRS
    for batch in context.batches(text, *TABLES, *(["confusions"] if has_sets else [])):
        grade = np.asarray(pc.fill_null(batch.column("score"), 0)).astype(np.int64)
        kinds = {
            kind: np.asarray(pc.equal(batch.column("kind"), kind)) for kind in ("label", "left out", "set")
        }
        for split, known in queries.items():
            keys = _keys(batch.column("q"), batch.column("c"), known, corpus)
            chosen = kinds["label"] & (keys >= 0)
            labels[split].append(keys[chosen])
            grades[split].append(grade[chosen])
            out[split].append(keys[kinds["left out"] & (keys >= 0)])
            sets[split].append(keys[kinds["set"] & (keys >= 0)])
    made = {}
    for split, known in queries.items():
        every = _joined(labels[split])
        order = np.argsort(every, kind="stable")
        grade = _joined(grades[split])[order]
        left_out, own = (np.unique(_joined(found[split])) for found in (out, sets))
        made[split] = Split(known, corpus, every[order], grade, left_out, own)
    return made


def corpus_ids(context: Context) -> pa.Array:
    """Every document id, in order."""
    return _ids(context.batches("SELECT id FROM corpus ORDER BY id", "corpus"))


def _ids(batches: Iterable[pa.RecordBatch]) -> pa.Array:
    return pa.chunked_array([batch.column(0) for batch in batches], pa.string()).combine_chunks()


def _joined(parts: Sequence[Keys]) -> Keys:
    return np.concatenate([np.empty(0, np.int64), *parts])


def codes(column: pa.Array | pa.ChunkedArray, known: pa.Array) -> Keys:
    """Place of each value among the known ones, -1 for another."""
    return np.asarray(pc.fill_null(pc.index_in(column, value_set=known), -1)).astype(np.int64)


def _keys(queries: pa.Array, documents: pa.Array, known: pa.Array, corpus: pa.Array) -> Keys:
    """Keys of pairs, -1 where one of the two is not known."""
    owners, found = codes(queries, known), codes(documents, corpus)
    return np.where((owners < 0) | (found < 0), -1, owners * len(corpus) + found)


def read(
    path: Path,
    split: Split,
    k: int,
    faults: Faults,
    own: Keys | None = None,
    beside: Sequence[Tally] = (),
) -> Tally | None:
    """Check and measure one run file; None when it cannot be read to its end.

    Args:
        path: gzipped lines `query Q0 document rank score tag`.
        split: whose rankings it holds.
        k: documents a ranking has at most.
        faults: what is wrong is added here.
        own: keys in order of positives that the system alone found.
        beside: sums under other labels, to which the rankings are added.
    """
    tally = Tally(split) if own is None else Tally(split, own=own)
    seen = np.zeros(len(split.queries), np.bool_)
    held: pa.Table | None = None
    try:
        for block in _blocks(path):
            tally.lines += block.num_rows
            if tally.lines > 2 * k * len(split.queries) + SPARE:
                faults.add(TOO_MANY, f"the run has far more lines than {k} for each query")
                return None
            rows = block if held is None else pa.concat_tables([held, block]).combine_chunks()
            last = pc.equal(rows.column("query"), rows.column("query")[-1])
            whole = int(np.flatnonzero(~np.asarray(last))[-1]) + 1 if pc.any(pc.invert(last)).as_py() else 0
            held = rows.slice(whole)
            _check(rows.slice(0, whole), split, k, faults, (tally, *beside), seen)
        if held is not None:
            _check(held, split, k, faults, (tally, *beside), seen)
    except (OSError, EOFError, zlib.error, pa.ArrowInvalid) as error:
        text = (str(error).splitlines() or [""])[0].replace(str(path), path.name)
        faults.add(UNREADABLE, f"{UNREADABLE}: {text}"[:300])
        return None
    return tally


def _blocks(path: Path) -> Iterator[pa.Table]:
    with gzip.open(path) as packed:
        if not packed.read(1):  # no query found anything; the reader takes that for a damaged file
            return
    with pa.input_stream(path, compression="gzip") as stream:
        reader = csv.open_csv(
            stream,
            csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK,
                column_names=["query", "q0", "document", "rank", "score", "tag"],
            ),
            csv.ParseOptions(delimiter=" ", quote_char=False, double_quote=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=_COLUMNS, null_values=[], include_columns=list(_COLUMNS)),
        )
        for batch in reader:
            if batch.num_rows:
                yield pa.Table.from_batches([batch])


def _check(
    rows: pa.Table, split: Split, k: int, faults: Faults, tallies: Sequence[Tally], seen: Mask
) -> None:
    """Look at whole rankings; `seen` marks the queries met so far."""
    if not rows.num_rows:
        return
    owners = _owners(rows.column("query"), split.queries)
    documents = codes(rows.column("document"), split.corpus)
    place = places(owners)
    with np.errstate(over="ignore"):
        scores = np.asarray(rows.column("score")).astype(np.float32)
    starts = (place == 0) & (owners >= 0)
    again = np.zeros(rows.num_rows, np.bool_)
    again[starts] = seen[owners[starts]] | (_numbered(owners[starts]) > 0)
    seen[owners[starts]] = True
    keys = np.where((owners < 0) | (documents < 0), -1, owners * len(split.corpus) + documents)
    rises = np.r_[False, ~(scores[1:] < scores[:-1])] & (place > 0)
    faults.add_rows(NO_QUERY, rows, owners < 0)
    faults.add_rows(NO_DOCUMENT, rows, documents < 0)
    faults.add_rows(IN_PARTS, rows, again)
    faults.add_rows(RANKS, rows, np.asarray(rows.column("rank")) != place + 1)
    faults.add_rows(NO_NUMBER, rows, ~np.isfinite(scores))
    faults.add_rows(RISES, rows, rises)
    faults.add_rows(TOO_LONG, rows, place == k, f"the ranking is longer than {k}")
    faults.add_rows(TWICE, rows, (keys >= 0) & (_numbered(keys) > 0))
    faults.add_rows(LEFT_OUT, rows, split.is_left_out(keys))
    for tally in tallies:
        tally.add(owners, documents)


def _owners(column: pa.ChunkedArray, known: pa.Array) -> Keys:
    """Codes of a column in which equal values stand together: only the first of each is looked up."""
    starts = np.r_[True, np.asarray(pc.not_equal(column[1:], column[:-1]))]
    found: Keys = codes(column.take(pa.array(np.flatnonzero(starts))), known)[np.cumsum(starts) - 1]
    return found


def _numbered(keys: Keys) -> Keys:
    """For each key, how many equal ones stand before it."""
    order = np.argsort(keys, kind="stable")
    numbers = np.empty(len(keys), np.int64)
    numbers[order] = places(keys[order])
    return numbers
