"""Rules on overlap: no two tasks or splits rest on the same concept, query, article, patient or image.

One matrix cell for each dimension and pair of parts; a part is a split of a task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from curation.audit.dataset import Dataset
from curation.audit.rule import (
    MAX_EXAMPLES,
    CannotRun,
    Check,
    Context,
    NotApplicable,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules.overlap_defects import overlaps
from curation.audit.rules.overlap_keys import (
    POSITIVE,
    PUBLISHED,
    absent_siblings,
    keep,
    require,
    rests_sql,
    texts_of,
)
from curation.audit.rules.overlap_stated import KEYS_TRUE
from curation.published.query import Views, fetch
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


@dataclass
class _Part:
    """One task of the comparison, what its queries rest on (`rests_<number>`) and its splits."""

    dataset: Dataset
    rests: Views
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
        own = parts[0]
        shared = _count(context, parts)
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
        found = sum(pairs for (_, at, _), (_, pairs) in shared.items() if at in zero)
        return Outcome(
            compared=own.keyed if is_any else 0,
            found=found,
            findings=self._findings(context, parts, zero) if found else (),
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
        """What every query of one task rests on."""
        select = rests_sql(self.dimension, dataset)
        kept = keep(context, dataset, f"overlap_{self.dimension}", select, _RESTS, f"rests_{number}")
        return _Part(dataset, kept)

    def _cells(
        self, parts: Sequence[_Part], shared: Mapping[tuple[str, int, str], tuple[int, int]]
    ) -> tuple[OverlapCell, ...]:
        """One cell for every pair of parts, also where nothing is shared."""
        own = parts[0]
        return tuple(
            OverlapCell(
                dimension=self.dimension,
                one=own.label(one),
                other=part.label(other),
                level=self._level(own, part.dataset.task),
                shared=shared.get((one, number, other), (0, 0))[0],
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

    def _findings(self, context: Context, parts: Sequence[_Part], zero: Sequence[int]) -> tuple[Finding, ...]:
        """Every query that shares a key is in one pair at least; the first pairs, each query once first."""
        pairs = fetch(context.query, _pairs(zero), _views(parts))
        wanted: dict[tuple[int, str], set[str]] = defaultdict(set)
        for pair in pairs:
            for number, _, rows in _sides(pair):
                for table, row_id in rows:
                    wanted[number, table].add(row_id)
        texts = texts_of(context, [part.dataset for part in parts], wanted)
        return tuple(self._finding(pair, parts, texts) for pair in pairs)

    def _finding(
        self, pair: Mapping[str, Any], parts: Sequence[_Part], texts: Mapping[tuple[int, str, str], str]
    ) -> Finding:
        sides: list[Side] = []
        stated = []
        for number, basis, rows in _sides(pair):
            for table, row_id in rows:
                text = texts.get((number, table, row_id), "")
                whole = (0, len(text)) if self.dimension == "query" and table == "queries" else ()
                name = parts[number].dataset.name if number else ""
                sides.append(side(table, row_id, text, *whole, dataset=name))
            if basis == PUBLISHED:
                stated.append(rows[0][1])
        where = f"{parts[0].label(pair['s'])} and {parts[pair['d']].label(pair['split'])}"
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


def _sides(pair: Mapping[str, Any]) -> Iterator[tuple[int, int, list[tuple[str, str]]]]:
    """Task, basis and rows (table, id) of both queries of a pair: itself, and the positive with the key."""
    for number, query in ((0, pair["one"]), (pair["d"], pair["two"])):
        by = [("corpus", query["doc"])] if query["basis"] == POSITIVE else []
        yield number, query["basis"], [("queries", query["q"]), *by]


def _shared_words(dimension: Dimension, key: str) -> str:
    """What two queries have in common, in words."""
    if dimension != "query":
        return f"rest on the same {_NOUN[dimension]}: {key}"
    if key.startswith("near:"):
        return f"are nearly the same, as the published keys say: {key}"
    return f"are of the same {key}" if key.startswith("family:") else f"have the same normalised text: {key}"


def _views(parts: Sequence[_Part]) -> Views:
    return {name: files for part in parts for name, files in part.rests.items()}


def _all(numbers: Iterable[int]) -> str:
    """SQL: the rows of several tasks, d saying which."""
    return " UNION ALL ".join(f"SELECT {number} AS d, * FROM rests_{number}" for number in numbers)


_SHARED = """WITH k AS MATERIALIZED (
        SELECT d, split, key, {kept} FROM ({rests}) WHERE key IS NOT NULL GROUP BY d, split, key)
    SELECT a.split AS s, b.d, b.split, {said}
    FROM (FROM k WHERE d = 0) a JOIN k b USING (key) WHERE b.d > 0 OR b.split < a.split"""
"""SQL: keys of one part of the audited task that another part has; `dev` sorts before `test`."""


def _count(context: Context, parts: Sequence[_Part]) -> dict[tuple[str, int, str], tuple[int, int]]:
    """Fill in the parts' counts; keys shared and pairs of their queries by own split, task and its split."""
    rests, views = _all(range(len(parts))), _views(parts)
    counted = "count(DISTINCT q) AS queries, count(DISTINCT key) AS keys"
    for row in fetch(context.query, f"SELECT d, split, {counted} FROM ({rests}) GROUP BY d, split", views):
        part = parts[row["d"]]
        part.queries[row["split"]], part.keys[row["split"]] = row["queries"], row["keys"]
    keyed = f"SELECT d, {counted} FROM ({rests}) WHERE key IS NOT NULL GROUP BY d"
    for row in fetch(context.query, keyed, views):
        parts[row["d"]].keyed, parts[row["d"]].distinct = row["queries"], row["keys"]
    said = "count(*) AS keys, sum(greatest(a.n, b.n)) AS pairs"
    shared = _SHARED.format(kept="count(*) AS n", rests=rests, said=said)
    return {
        (row["s"], row["d"], row["split"]): (row["keys"], int(row["pairs"]))
        for row in fetch(context.query, f"{shared} GROUP BY ALL", views)
    }


def _pairs(zero: Sequence[int]) -> str:
    """SQL: for each key shared that may not be, its queries on both sides in pairs until each has been named.

    The last of the shorter side stands beside what is left of the longer, so that a key of thousands of
    queries stays linear. Pairs that name a query for the first time come first.
    """
    shared = _SHARED.format(
        kept="list({'q': q, 'basis': basis, 'doc': doc} ORDER BY q) AS rows",
        rests=_all(zero),
        said="""key, greatest(len(a.rows), len(b.rows)) AS n,
            unnest(list_resize(a.rows, n, a.rows[-1])) AS one,
            unnest(list_resize(b.rows, n, b.rows[-1])) AS two""",
    )
    return f"""SELECT *, row_number() OVER (PARTITION BY d, split, two.q ORDER BY s, key, one.q) AS nth
        FROM ({shared}) ORDER BY nth, s, d, split, key, one, two LIMIT {MAX_EXAMPLES}"""


def _rule(dimension: Dimension, version: int, title: str, definition: str) -> Rule:
    definition += " Compared: the splits of this task with each other, and with those of every sibling task."
    return Rule(
        f"overlap_{dimension}",
        version,
        title,
        definition,
        "error",
        "queries",
        checks=(
            Check(
                f"queries of two parts rest on one {_NOUN[dimension]}",
                _Overlap(dimension),
                overlaps(dimension),
                at_once=True,
            ),
        ),
    )


RULES = (
    _rule(
        "target_concept",
        2,
        "No shared target concept",
        "No two parts have queries with the same target concept, as the published keys state them. Where a "
        "task's queries have no target concept of their own, shared concepts are only counted.",
    ),
    _rule(
        "query",
        2,
        "No shared query",
        "No two parts have queries of the same text, once case, width, ligatures, punctuation, symbols and "
        "spacing are folded (Unicode NFKC), or of the same family (translations and variants of one query).",
    ),
    _rule(
        "article",
        2,
        "No shared article",
        "No two parts have queries that were made from the same article, or whose positive documents "
        "(score above 0) are from the same article. Versions of one article are the same article.",
    ),
    _rule(
        "patient",
        2,
        "No shared patient",
        "No two parts have queries, or positive documents (score above 0), that tell of or show the same "
        "patient: the same case of the same article, whatever the article's version.",
    ),
    _rule(
        "image_family",
        2,
        "No shared image",
        "No two parts have query images, or images of positive documents (score above 0), with equal bytes "
        "as released or as fetched, or of the same family as the published keys state them.",
    ),
    KEYS_TRUE,
)
