"""Rules on published images: whole, as recorded, and no picture twice where that would be scored wrongly."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.pictures import features_of, pairs_of
from curation.audit.rule import (
    MAX_EXAMPLES,
    CannotRun,
    Check,
    Collector,
    Context,
    NotApplicable,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules import images_defects as defects
from curation.audit.rules.images_overlap import OVERLAP
from curation.published.query import Row, fetch
from curation.similarity.image import ImageFeatures, ImagePair, confirm
from schemas.audit import Coverage, Finding, Severity
from schemas.stages import Reason

_ORIGINS = {"queries": "provenance_queries", "corpus": "provenance_corpus"}
_HOW = {"bytes": "with equal bytes", "rescaled": "re-encoded or rescaled", "cropped": "cropped"}
_LOOKED = "_images_looked"
"""Under this name what is wrong with images is kept with the context."""
_PAIRS = pa.schema(
    [("place", pa.int64()), ("one", pa.string()), ("other", pa.string()), ("how", pa.string())]
)
SAME = (
    "the same image: equal bytes, or (after alignment) a correlation of the common area of at least "
    f"{confirm.MIN_CORRELATION} with details that agree in {confirm.MIN_AGREEING:.0%} of its textured blocks"
)


def require_images(context: Context) -> ImageFeatures:
    """Features of the audited images.

    Raises:
        CannotRun: a table of a release is absent.
        NotApplicable: there is no image.
    """
    if context.subject.kind == "release":
        for table in _ORIGINS:
            if table not in context.views:
                raise CannotRun(f"table absent: {table}")
    found = features_of(context, context.subject)
    if not len(found):
        raise NotApplicable("the dataset has no image")
    return found


def left_out(seen: ImageFeatures) -> tuple[int, str]:
    """How many images cannot be compared by sight, and why."""
    broken, flat = int((~seen.is_ok).sum()), int((seen.is_ok & seen.is_flat).sum())
    why = [f"{broken} do not decode" if broken else "", f"{flat} are nearly of one tone" if flat else ""]
    return broken + flat, " and ".join(part for part in why if part)


_NO_BYTES, _OTHER_BYTES = "the image has no bytes", "the image's bytes are not those provenance records"
_UNDECODED, _LOST = "the image does not decode", "the image that provenance records is missing"


def _decoded(context: Context) -> Outcome:
    """Images that do not decode; also how many there are, and whether no hash of them is recorded."""
    seen, missed, _ = _looked(context)
    outcome = _told(_UNDECODED, context)
    return dataclasses.replace(outcome, compared=int((seen.sha256 != "").sum()), missed=missed)


def _told(kind: str, context: Context) -> Outcome:
    """Images of which one thing is wrong."""
    found = Collector("images", "error")
    for table, name, message in _looked(context)[2]:
        if message.startswith(kind):
            found.add(message, side(table, name))
    return found.outcome(0)


def _looked(context: Context) -> tuple[ImageFeatures, str, list[tuple[str, str, str]]]:
    """Every released image, decoded; what is not compared; table, id and what is wrong, for all checks."""
    held = vars(context)
    if _LOOKED not in held:
        recorded, missed = _recorded(context)
        seen = features_of(context, context.subject) if recorded else require_images(context)
        is_recorded = any(any(rows.values()) for rows in recorded.values())
        if context.subject.kind == "release" and not is_recorded and not len(seen):
            raise NotApplicable("the release has no image")
        held[_LOOKED] = seen, missed, sorted(_messages(seen, recorded))
    found: tuple[ImageFeatures, str, list[tuple[str, str, str]]] = held[_LOOKED]
    return found


def _recorded(context: Context) -> tuple[dict[str, dict[str, str | None]], str]:
    """Hashes provenance records, by table and id, and what could not be read of them."""
    recorded: dict[str, dict[str, str | None]] = {}
    for table, origin in _ORIGINS.items():
        try:
            text = f"SELECT id, image_sha256 FROM {origin} WHERE image_sha256 IS NOT NULL"
            rows = context.rows(text, origin)
        except NotCovered:
            return {}, "no provenance: hashes are not compared"
        if table not in context.views:
            raise CannotRun(f"table absent: {table}")
        recorded[table] = {row["id"]: row["image_sha256"] for row in rows}
    return recorded, ""


def _messages(
    seen: ImageFeatures, recorded: Mapping[str, Mapping[str, str | None]]
) -> Iterator[tuple[str, str, str]]:
    """Table, id and what is wrong, for every image and every record without one."""
    wanted = {table: dict(rows) for table, rows in recorded.items()}
    for place in range(len(seen)):
        table, name = seen.table_of(place), str(seen.ids[place])
        digest, problem = str(seen.sha256[place]), str(seen.problem[place])
        stated = wanted[table].pop(name, recorded[table].get(name)) if table in wanted else digest
        if problem == Reason.IMAGE_MISSING.value:
            if stated or not recorded:
                yield table, name, _NO_BYTES
            continue
        if digest != stated:
            yield table, name, _OTHER_BYTES
        if problem:
            yield table, name, f"{_UNDECODED}: {problem}"
    for table, rows in wanted.items():
        for name in rows:
            yield table, name, _LOST


@dataclass(frozen=True, slots=True)
class _Duplicates:
    """Same pictures in one table whose labels differ; `hows` are the kinds of copies the rule speaks of."""

    rule: str
    severity: Severity
    hows: frozenset[str]
    table: str

    def __call__(self, context: Context) -> Outcome:
        """Pairs of queries, or of documents, of which one's label is unjudged for the other."""
        seen = require_images(context)
        if "qrels" not in context.views:
            raise (CannotRun if context.subject.kind == "release" else NotCovered)("table absent: qrels")
        pairs = [pair for pair in pairs_of(context) if pair.how in self.hows]
        number = list(_ORIGINS).index(self.table)
        chosen = [pair for pair in pairs if seen.table[pair.one] == seen.table[pair.other] == number]
        chosen = [pair for pair in chosen if seen.ids[pair.one] != seen.ids[pair.other]]
        rows = self._unjudged(context, seen, chosen) if chosen else []
        findings = tuple(self._finding(row) for row in rows[:MAX_EXAMPLES])
        if number:
            return Outcome(0, len(rows), findings)
        skipped, why = left_out(seen)
        covered = (Coverage(compared_with="", compared=len(seen), unit="images", skipped=skipped, why=why),)
        note = f"{len(pairs)} pairs of the same image" if pairs else ""
        return Outcome(len(seen), len(rows), findings, note, covered)

    def _unjudged(self, context: Context, seen: ImageFeatures, pairs: list[ImagePair]) -> list[Row]:
        path = context.scratch / f"{self.rule}-{self.table}.parquet"
        rows = [
            {"place": place, "one": str(seen.ids[one]), "other": str(seen.ids[other]), "how": pair.how}
            for place, pair in enumerate(pairs)
            for one, other in ((pair.one, pair.other), (pair.other, pair.one))
        ]
        pq.write_table(pa.Table.from_pylist(rows, schema=_PAIRS), path)
        views = {name: files for name, files in context.views.items() if name in _JUDGED}
        whose = "query-id" if self.table == "queries" else "corpus-id"
        text = _UNJUDGED.format(
            whose=whose,
            its="corpus-id" if self.table == "queries" else "query-id",
            text=self.table,
            excluded=_EXCLUDED if "excluded" in views else "",
            apart=_APART if self.table == "queries" and "provenance_queries" in views else "",
        )
        return fetch(context.query, text, {**views, "pairs": [path]})

    def _finding(self, row: Row) -> Finding:
        if self.table == "queries":
            message = (
                f"two queries show the same image ({_HOW[row['how']]}), but {row['count']} of the first's "
                f"positives are neither labelled nor excluded for the second"
            )
        else:
            message = (
                f"two documents show the same image ({_HOW[row['how']]}), but for {row['count']} queries "
                "the first is positive and the second neither labelled nor excluded"
            )
        sides = (
            side(self.table, row["one"], row["one_text"]),
            side(self.table, row["other"], row["other_text"]),
            side("corpus" if self.table == "queries" else "queries", row["label"]),
        )
        return Finding(rule=self.rule, severity=self.severity, message=message, sides=sides)


_JUDGED = frozenset({"queries", "corpus", "qrels", "excluded", "provenance_queries"})
_EXCLUDED = 'UNION ALL SELECT "query-id", "corpus-id" FROM excluded'
_APART = """
    AND (SELECT count(DISTINCT o.split) FROM provenance_queries o WHERE o.id IN (p.one, p.other)) < 2"""
_UNJUDGED = """
    WITH judged AS (SELECT DISTINCT "query-id", "corpus-id" FROM (
        SELECT "query-id", "corpus-id" FROM qrels {excluded})),
    lacking AS (
        SELECT p.place, p.one, p.other, p.how, r."{its}" AS label
        FROM pairs p JOIN qrels r ON r."{whose}" = p.one AND r.score > 0
        LEFT JOIN judged j ON j."{whose}" = p.other AND j."{its}" = r."{its}"
        WHERE j."{its}" IS NULL {apart}),
    grouped AS (
        SELECT place, min_by(one, (one, other)) AS one, min_by(other, (one, other)) AS other,
            count(*) AS count, min(how) AS how, min_by(label, (one, other, label)) AS label
        FROM (SELECT *, min(one) OVER (PARTITION BY place) AS first FROM lacking) WHERE one = first
        GROUP BY place)
    SELECT g.*, a.text AS one_text, b.text AS other_text FROM grouped g
    LEFT JOIN (SELECT id, any_value(text) AS text FROM {text}
        WHERE id IN (SELECT one FROM grouped) GROUP BY id) a ON a.id = g.one
    LEFT JOIN (SELECT id, any_value(text) AS text FROM {text}
        WHERE id IN (SELECT other FROM grouped) GROUP BY id) b ON b.id = g.other
    ORDER BY g.one, g.other, g.place"""


def _self_match(context: Context) -> Outcome:
    """A query's picture among the documents it is scored against."""
    seen = require_images(context)
    tables = set(np.unique(seen.table).tolist())
    if tables != {0, 1}:
        raise NotApplicable("not both queries and documents have images")
    pairs = [pair for pair in pairs_of(context) if seen.table[pair.one] != seen.table[pair.other]]
    named = [(str(seen.ids[pair.one]), str(seen.ids[pair.other])) for pair in pairs]
    excluded, scores = _labels(context, named)
    told = []
    for pair, (query, document) in zip(pairs, named, strict=True):
        if (query, document) not in excluded:
            score = scores.get((query, document))
            kind = "unlabelled" if score is None else "positive" if score > 0 else "labelled 0"
            told.append((query, document, pair.how, kind))
    found = Collector("image_self_match", "error")
    for query, document, how, kind in sorted(told):
        found.add(
            f"the query's own image ({_HOW[how]}) is a document, {kind} for it",
            side("queries", query),
            side("corpus", document),
        )
    outcome = found.outcome(len(seen))
    skipped, why = left_out(seen)
    return Outcome(
        len(seen),
        outcome.found,
        outcome.findings,
        "",
        (Coverage(compared_with="", compared=len(seen), unit="images", skipped=skipped, why=why),),
    )


Named = tuple[str, str]
"""Query id, document id."""


def _labels(context: Context, pairs: Sequence[Named]) -> tuple[set[Named], dict[Named, int]]:
    """Of some pairs those that are excluded, and the scores of those that have one."""
    if not pairs:
        return set(), {}
    path = context.scratch / "image-self-match.parquet"
    queries, documents = zip(*sorted(set(pairs)), strict=True)
    pq.write_table(
        pa.table({"q": pa.array(queries, pa.string()), "c": pa.array(documents, pa.string())}), path
    )
    found: dict[str, list[dict[str, Any]]] = {"excluded": [], "qrels": []}
    for table, score in (("excluded", "0"), ("qrels", "t.score")):
        if table in context.views:
            text = f"""SELECT w.q, w.c, max({score}) AS score FROM {table} t
                JOIN wanted w ON w.q = t."query-id" AND w.c = t."corpus-id" GROUP BY ALL ORDER BY ALL"""
            given = {table: context.views[table], "wanted": [path]}
            found[table] = [row for batch in context.query(text, given) for row in batch.to_pylist()]
    excluded = {(row["q"], row["c"]) for row in found["excluded"]}
    return excluded, {(row["q"], row["c"]): row["score"] for row in found["qrels"]}


def _alike(
    rule: str, severity: Severity, hows: Sequence[str], planted: Mapping[str, Any]
) -> tuple[Check, ...]:
    """A check of queries and one of documents, with what is planted in each."""
    return tuple(
        Check(
            f"two {what} show the same image, and a label of one is missing from the other",
            _Duplicates(rule, severity, frozenset(hows), table),
            planted[table],
            at_once=True,
        )
        for what, table in (("queries", "queries"), ("documents", "corpus"))
    )


_rule = partial(Rule, severity="error", unit="images")
RULES = (
    _rule(
        "images",
        2,
        "Images decode",
        "Every image that provenance records is there, has the recorded hash, and decodes whole.",
        checks=(
            Check(_UNDECODED, _decoded, defects.UNDECODED, at_once=True),
            Check(_OTHER_BYTES, partial(_told, _OTHER_BYTES), defects.OTHER_BYTES),
            Check(_NO_BYTES, partial(_told, _NO_BYTES), defects.NO_BYTES),
            Check(_LOST, partial(_told, _LOST), defects.LOST, at_once=True),
        ),
    ),
    _rule(
        "image_duplicates",
        1,
        "Equal images share their labels",
        f"Where two queries of one split, or two documents, show {SAME}, what is positive for one is "
        "labelled or excluded for the other.",
        checks=_alike("image_duplicates", "error", ("bytes", "rescaled"), defects.DUPLICATES),
    ),
    _rule(
        "image_crops",
        1,
        "Cut images share their labels",
        "The same for images of which one is a cut of the other, or both of a third: the common area "
        f"is at least {confirm.MIN_COMMON:.0%} of one of them.",
        severity="warn",
        checks=_alike("image_crops", "warn", ("cropped",), defects.CROPS),
    ),
    _rule(
        "image_self_match",
        1,
        "No query finds its own image",
        f"No document that a query is scored against shows {SAME}, whole or cut; excluded pairs may.",
        checks=(Check("the query's own image is a document", _self_match, defects.SELF_MATCH, at_once=True),),
    ),
    OVERLAP,
)
