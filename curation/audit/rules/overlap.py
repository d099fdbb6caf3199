"""Rules on overlap: no two tasks or splits rest on the same concept, query, article, patient or image.

One matrix cell for each dimension and pair of parts; a part is a split of a task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.dataset import Dataset
from curation.audit.pictures import is_hashed
from curation.audit.rule import (
    MAX_EXAMPLES,
    Canary,
    CannotRun,
    Context,
    NotApplicable,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules import overlap_canaries as canaries
from curation.audit.rules.overlap_keys import POSITIVE, PUBLISHED, absent_siblings, require, rests_sql
from curation.audit.rules.overlap_stated import KEYS_TRUE
from curation.published.query import fetch
from curation.tasks.registry import level
from schemas.audit import Coverage, Finding, OverlapCell, Side
from schemas.overlap_policy import Dimension, Level

_RESTS = pa.schema(
    [
        pa.field("split", pa.string()),
        pa.field("q", pa.string()),
        pa.field("key", pa.string()),
        pa.field("basis", pa.int32()),
        pa.field("doc", pa.string()),
    ]
)
_NOUN: Mapping[Dimension, str] = {
    "target_concept": "target concept",
    "query": "query",
    "article": "article",
    "patient": "patient",
    "image_family": "image",
}
_PAIRED = """(d > 0 OR split < s)"""
"""Pairs are one part of the audited task (split s) with another; `dev` sorts before `test`."""


@dataclass
class _Part:
    """One task of the comparison, what its queries rest on (a Parquet file) and its splits."""

    dataset: Dataset
    rests: Path
    queries: dict[str, int] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    distinct: int = 0
    keyed: int = 0

    def label(self, split: str) -> str:
        """`<task>/<split>`."""
        return f"{self.dataset.task}/{split}" if split else self.dataset.task


@dataclass(frozen=True, slots=True)
class _Overlap:
    """The check of one dimension."""

    dimension: Dimension

    def __call__(self, context: Context) -> Outcome:
        """Compare the audited task's splits with each other and with every sibling's."""
        require(self.dimension, context.subject)
        siblings, missed = self._comparable(context)
        parts = [
            self._read(context, number, dataset)
            for number, dataset in enumerate((context.subject, *siblings))
        ]
        shared = self._count(context, parts)
        own = parts[0]
        absent = absent_siblings(context)
        if not own.queries:
            raise NotApplicable("the dataset has no query")
        if len(own.queries) == 1 and len(parts) == 1 and not absent and not missed:
            raise NotApplicable("the dataset is one split of one task: nothing beside it to overlap with")
        if absent:
            missed.insert(0, f"siblings absent: {', '.join(absent)}; not covered")
        cells = self._cells(parts, shared)
        is_any = any(cell.keys for cell in cells)
        zero = [at for at, part in enumerate(parts) if self._level(own, part.dataset.task) == "zero"]
        found, findings = self._findings(context, parts, zero) if _any_shared(cells) else (0, ())
        return Outcome(
            compared=own.keyed if is_any else 0,
            found=found,
            findings=findings,
            coverage=self._coverage(parts, absent),
            missed="; ".join(missed),
            matrix=(*cells, *self._unknown(own, absent)),
            nothing="" if is_any else self._nothing(own),
        )

    def _comparable(self, context: Context) -> tuple[list[Dataset], list[str]]:
        """Siblings that hold what this dimension is read from, and why the others cannot be compared."""
        usable, missed = [], []
        for sibling in sorted(context.siblings, key=lambda item: (item.task, item.name)):
            try:
                require(self.dimension, sibling)
                usable.append(sibling)
            except NotCovered as reason:
                missed.append(f"{sibling.name}: {reason}; not covered")
            except CannotRun as reason:
                raise CannotRun(f"{sibling.name}: {reason}") from reason
        return usable, missed

    def _read(self, context: Context, number: int, dataset: Dataset) -> _Part:
        """Write down what every query of one task rests on, unless the sibling's own audit has done so."""
        key = ("rests", self.dimension, dataset.name, dataset.task, dataset.sha256, str(dataset.directory))
        known = context.shared.get(key)
        if known is not None and known.is_file():
            return _Part(dataset, known)
        path = context.scratch / f"overlap-{self.dimension}-{number}.parquet"
        sql, tables = rests_sql(self.dimension, dataset)
        with pq.ParquetWriter(path, _RESTS, compression="lz4") as writer:
            for batch in context.query(sql, {name: dataset.views[name] for name in tables}):
                writer.write_table(pa.Table.from_batches([batch]).cast(_RESTS))
        if is_hashed(dataset):
            context.shared[key] = path
        return _Part(dataset, path)

    def _count(self, context: Context, parts: Sequence[_Part]) -> dict[tuple[str, int, str], int]:
        """Fill in the parts' counts; shared keys by own split, task number and its split."""
        shared = {}
        for row in fetch(context.query, _counts(parts), _views(parts)):
            part = parts[row["d"]]
            if row["s"] is not None:
                shared[row["s"], row["d"], row["split"]] = row["keys"]
            elif row["split"] is not None:
                part.queries[row["split"]], part.keys[row["split"]] = row["queries"], row["keys"]
            else:
                part.distinct, part.keyed = row["keys"], row["keyed"]
        return shared

    def _cells(
        self, parts: Sequence[_Part], shared: Mapping[tuple[str, int, str], int]
    ) -> tuple[OverlapCell, ...]:
        """One cell for every pair of parts, also where nothing is shared."""
        own = parts[0]
        return tuple(
            OverlapCell(
                dimension=self.dimension,
                one=own.label(one),
                other=part.label(other),
                level=self._level(own, part.dataset.task),
                shared=shared.get((one, number, other), 0),
                keys=min(own.keys[one], part.keys[other]),
            )
            for one in sorted(own.queries)
            for number, part in enumerate(parts)
            for other in sorted(part.queries)
            if number or other < one
        )

    def _level(self, own: _Part, other: str) -> Level:
        return level(own.dataset.task, other, self.dimension)

    def _unknown(self, own: _Part, absent: Iterable[str]) -> list[OverlapCell]:
        """Cells of siblings that were not given; which splits they have is unknown."""
        return [
            OverlapCell(
                dimension=self.dimension,
                one=own.label(split),
                other=f"{task}/*",
                level=self._level(own, task),
                shared=None,
            )
            for split in sorted(own.queries)
            for task in absent
        ]

    def _findings(
        self, context: Context, parts: Sequence[_Part], zero: Sequence[int]
    ) -> tuple[int, tuple[Finding, ...]]:
        """Every query that shares a key is in one pair at least; the first pairs, each query once first."""
        if not zero:
            return 0, ()
        pairs = fetch(context.query, _pairs(parts, _shared(parts, zero)), _views(parts))
        texts = _Texts(context, parts, pairs)
        findings = tuple(self._finding(pair, parts, texts) for pair in pairs)
        return (int(pairs[0]["total"]) if pairs else 0), findings

    def _finding(self, pair: Mapping[str, Any], parts: Sequence[_Part], texts: _Texts) -> Finding:
        part = parts[pair["d"]]
        sides: list[Side] = []
        stated = []
        for number, query, basis, doc in (
            (0, pair["one"], pair["basis"], pair["doc"]),
            (pair["d"], pair["two"], pair["their_basis"], pair["their_doc"]),
        ):
            whole = len(texts.queries.get((number, query), "")) if self.dimension == "query" else None
            sides.append(texts.side("queries", number, query, whole))
            if basis == POSITIVE:
                sides.append(texts.side("corpus", number, doc))
            if basis == PUBLISHED:
                stated.append(query)
        where = f"{parts[0].label(pair['s'])} and {part.label(pair['split'])}"
        message = f"queries of {where} {_shared_words(self.dimension, pair['key'])}"
        if stated and self.dimension != "target_concept":
            message += f" (known from keys alone for {' and '.join(stated)})"
        return Finding(
            rule=f"overlap_{self.dimension}", severity="error", message=message, sides=tuple(sides)
        )

    def _coverage(self, parts: Sequence[_Part], absent: Iterable[str]) -> tuple[Coverage, ...]:
        covered = []
        for number, part in enumerate(parts):
            without = sum(part.queries.values()) - part.keyed
            covered.append(
                Coverage(
                    compared_with=part.dataset.name if number else "",
                    compared=part.distinct,
                    unit="keys",
                    skipped=without,
                    why=f"queries that rest on no {_NOUN[self.dimension]}" if without else "",
                )
            )
        covered += [
            Coverage(compared_with=task, compared=0, unit="keys", why="its files were not given")
            for task in absent
        ]
        return tuple(covered)

    def _nothing(self, own: _Part) -> str:
        whose = "beside it" if own.distinct else "of this task"
        return f"no query {whose} rests on a known {_NOUN[self.dimension]}"


def _shared_words(dimension: Dimension, key: str) -> str:
    """What two queries have in common, in words."""
    if dimension != "query":
        return f"rest on the same {_NOUN[dimension]}: {key}"
    if key.startswith("near:"):
        return f"are nearly the same, as the published keys say: {key}"
    return f"are of the same {key}" if key.startswith("family:") else f"have the same normalised text: {key}"


def _any_shared(cells: Iterable[OverlapCell]) -> bool:
    return any(cell.shared and cell.level == "zero" for cell in cells)


def _views(parts: Sequence[_Part]) -> dict[str, Sequence[Path]]:
    return {f"rests_{number}": [part.rests] for number, part in enumerate(parts)}


def _all(parts: Sequence[_Part], numbers: Iterable[int] | None = None) -> str:
    """SQL: the rows of several tasks, d saying which."""
    chosen = range(len(parts)) if numbers is None else numbers
    return " UNION ALL ".join(f"SELECT {number} AS d, * FROM rests_{number}" for number in chosen)


def _counts(parts: Sequence[_Part]) -> str:
    """SQL: rows with s count the keys shared by a pair of parts; the others a part, or a whole task."""
    return f"""SELECT NULL AS s, d, split, count(DISTINCT q) AS queries, count(DISTINCT key) AS keys,
            count(DISTINCT q) FILTER (key IS NOT NULL) AS keyed
        FROM ({_all(parts)}) GROUP BY GROUPING SETS ((d, split), (d))
        UNION ALL
        SELECT s, d, split, 0, count(*), 0
        FROM (SELECT DISTINCT split AS s, key FROM rests_0)
        JOIN (SELECT DISTINCT d, split, key FROM ({_all(parts)})) USING (key)
        WHERE {_PAIRED} GROUP BY s, d, split"""


def _shared(parts: Sequence[_Part], zero: Sequence[int]) -> str:
    """SQL: keys two parts share that may not, with the number of queries on either side."""
    return f"""SELECT s, d, split, key, own, theirs FROM
        (SELECT split AS s, key, count(*) AS own FROM rests_0 GROUP BY ALL) JOIN
        (SELECT d, split, key, count(*) AS theirs FROM ({_all(parts, zero)}) GROUP BY ALL) USING (key)
        WHERE {_PAIRED}"""


def _pairs(parts: Sequence[_Part], shared: str) -> str:
    """SQL: for each shared key, its queries on both sides in pairs until each has been named.

    Pairing row by row keeps a key that thousands of queries share linear. Pairs that name a query for the
    first time come first; `total` is the number of all.
    """
    numbered = "row_number() OVER (PARTITION BY d, split, key ORDER BY q) AS place"
    return f"""SELECT *, count(*) OVER () AS total FROM (
        SELECT p.s, p.d, p.split, p.key, a.q AS one, b.q AS two, a.basis, a.doc, b.basis AS their_basis,
            b.doc AS their_doc,
            row_number() OVER (PARTITION BY p.d, p.split, b.q ORDER BY p.s, p.key, a.q) AS nth
        FROM (SELECT *, unnest(range(1, greatest(own, theirs) + 1)) AS i FROM ({shared})) p
        JOIN (SELECT *, {numbered} FROM (SELECT 0 AS d, * FROM rests_0)) a
            ON a.split = p.s AND a.key = p.key AND a.place = least(p.i, p.own)
        JOIN (SELECT *, {numbered} FROM ({_all(parts)})) b
            ON b.d = p.d AND b.split = p.split AND b.key = p.key AND b.place = least(p.i, p.theirs))
        ORDER BY nth, s, d, split, key, one, two LIMIT {MAX_EXAMPLES}"""


class _Texts:
    """Texts of the rows that findings quote."""

    def __init__(self, context: Context, parts: Sequence[_Part], pairs: Sequence[Mapping[str, Any]]) -> None:
        self.parts = parts
        self.queries: dict[tuple[int, str], str] = {}
        self.documents: dict[tuple[int, str], str] = {}
        wanted: dict[tuple[int, str], set[str]] = {}
        for row in pairs:
            wanted.setdefault((0, "queries"), set()).add(row["one"])
            wanted.setdefault((row["d"], "queries"), set()).add(row["two"])
            for number, basis, doc in (
                (0, row["basis"], row["doc"]),
                (row["d"], row["their_basis"], row["their_doc"]),
            ):
                if basis == POSITIVE:
                    wanted.setdefault((number, "corpus"), set()).add(doc)
        present = [place for place in sorted(wanted) if place[1] in parts[place[0]].dataset.views]
        if not present:
            return
        text = " UNION ALL ".join(
            f"SELECT {number} AS d, '{table}' AS tab, id, text FROM {table}_{number} "
            f"WHERE id IN ({_literals(wanted[number, table])})"
            for number, table in present
        )
        views = {f"{table}_{number}": parts[number].dataset.views[table] for number, table in present}
        for row in fetch(context.query, text, views):
            kind = self.queries if row["tab"] == "queries" else self.documents
            kind[row["d"], row["id"]] = row["text"] or ""

    def side(self, table: str, number: int, row_id: str, end: int | None = None) -> Side:
        """One side of a finding; with `end`, the words up to there are what is shared."""
        text = (self.queries if table == "queries" else self.documents).get((number, row_id), "")
        name = self.parts[number].dataset.name if number else ""
        return side(table, row_id, text, None if end is None else 0, end, dataset=name)


def _literals(values: Iterable[str]) -> str:
    return ", ".join("'" + value.replace("'", "''") + "'" for value in sorted(values))


def _rule(
    dimension: Dimension, version: int, title: str, definition: str, planted: tuple[Canary, ...]
) -> Rule:
    definition += " Compared: the splits of this task with each other, and with those of every sibling task."
    return Rule(
        f"overlap_{dimension}", version, title, definition, "error", "queries", _Overlap(dimension), planted
    )


RULES = (
    _rule(
        "target_concept",
        2,
        "No shared target concept",
        "No two parts have queries with the same target concept, as the published keys state them. Where a "
        "task's queries have no target concept of their own, shared concepts are only counted.",
        canaries.TARGET_CONCEPT,
    ),
    _rule(
        "query",
        2,
        "No shared query",
        "No two parts have queries of the same text, once case, width, ligatures, punctuation, symbols and "
        "spacing are folded (Unicode NFKC), or of the same family (translations and variants of one query).",
        canaries.QUERY,
    ),
    _rule(
        "article",
        2,
        "No shared article",
        "No two parts have queries that were made from the same article, or whose positive documents "
        "(score above 0) are from the same article. Versions of one article are the same article.",
        canaries.ARTICLE,
    ),
    _rule(
        "patient",
        2,
        "No shared patient",
        "No two parts have queries, or positive documents (score above 0), that tell of or show the same "
        "patient: the same case of the same article, whatever the article's version.",
        canaries.PATIENT,
    ),
    _rule(
        "image_family",
        2,
        "No shared image",
        "No two parts have query images, or images of positive documents (score above 0), with equal bytes "
        "as released or as fetched, or of the same family as the published keys state them.",
        canaries.IMAGE_FAMILY,
    ),
    KEYS_TRUE,
)
