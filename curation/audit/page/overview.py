"""What the audited files hold, counted from their own columns in bounded memory: funnel, rights, labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.published.manifest import ReleaseManifest

Views = Mapping[str, Sequence[Path]]
_BATCH = 65_536
_IDS_SHOWN = 3
_BROKEN = (OSError, pa.ArrowException, KeyError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of the funnel; widths are percent of the largest count of its unit."""

    stage: str
    unit: str
    entered: int
    kept: int
    dropped: int
    kept_width: float
    dropped_width: float
    reasons: tuple[Lost, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """Units one stage dropped for one reason, with the first few ids."""

    reason: str
    count: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """Tables of the page; an empty tuple means that the files do not say."""

    funnel: tuple[Step, ...] = ()
    licences: tuple[tuple[str, int, int], ...] = ()
    languages: tuple[tuple[str, int, int], ...] = ()
    splits: tuple[tuple[str, int], ...] = ()
    statuses: tuple[tuple[str, int], ...] = ()
    scores: tuple[tuple[str, str, int], ...] = ()
    exclusions: tuple[tuple[str, str, int], ...] = ()
    unreadable: tuple[str, ...] = field(default=())


def overview(views: Views, manifest: ReleaseManifest | None) -> Overview:
    """Count what a dataset holds.

    Args:
        views: view name -> Parquet files.
        manifest: of a release; says what grades and exclusion reasons mean.
    """
    grades = manifest.grades if manifest else {}
    reasons = manifest.exclusions if manifest else {}
    undefined = "not defined" if manifest else ""
    return Overview(
        funnel=_funnel(views),
        licences=_two_sided(views, "license"),
        languages=_two_sided(views, "language"),
        splits=tuple((str(split), count) for split, count in counts(views, "provenance_queries", "split")),
        statuses=tuple((str(name), count) for name, count in counts(views, "qrels", "label_status")),
        scores=tuple(
            (str(score), grades.get(str(score), undefined), count)
            for score, count in counts(views, "qrels", "score")
        ),
        exclusions=tuple(
            (str(reason), reasons.get(str(reason), undefined), count)
            for reason, count in counts(views, "excluded", "reason")
        ),
    )


def counts(views: Views, table: str, *names: str) -> list[tuple[Any, ...]]:
    """Distinct values of small columns with counts, most frequent first; [] when absent or unreadable."""
    counted: Counter[tuple[Any, ...]] = Counter()
    try:
        for path in views.get(table, ()):
            with pq.ParquetFile(path) as file:
                if not set(names) <= set(file.schema_arrow.names):
                    return []
                for batch in file.iter_batches(_BATCH, columns=list(names)):
                    found = pa.table(batch).group_by(list(names)).aggregate([([], "count_all")])
                    for row in found.to_pylist():
                        counted[tuple(row[name] for name in names)] += row["count_all"]
    except _BROKEN:
        return []
    return [
        (*key, count)
        for key, count in sorted(counted.items(), key=lambda item: (-item[1], tuple(map(str, item[0]))))
    ]


def _two_sided(views: Views, column: str) -> tuple[tuple[str, int, int], ...]:
    """(value, queries, documents), most frequent first."""
    queries = {row[0]: row[1] for row in counts(views, "queries", column)}
    corpus = {row[0]: row[1] for row in counts(views, "corpus", column)}
    values = sorted(
        set(queries) | set(corpus),
        key=lambda value: (-queries.get(value, 0) - corpus.get(value, 0), str(value)),
    )
    return tuple((str(value or "none"), queries.get(value, 0), corpus.get(value, 0)) for value in values)


def _funnel(views: Views) -> tuple[Step, ...]:
    names = ("step", "stage", "unit", "entered", "kept", "dropped")
    rows = [dict(zip(names, row[:-1], strict=True)) for row in counts(views, "funnel", *names)]
    rows.sort(key=lambda row: (row["step"] or 0, str(row["stage"]), str(row["unit"])))
    lost = _lost(views)
    widest: dict[str, int] = {}
    for row in rows:
        row.update({name: int(row[name] or 0) for name in ("entered", "kept", "dropped")})
        widest[row["unit"]] = max(widest.get(row["unit"], 1), row["entered"])
    return tuple(
        Step(
            stage=str(row["stage"]),
            unit=str(row["unit"]),
            entered=row["entered"],
            kept=row["kept"],
            dropped=row["dropped"],
            kept_width=_percent(row["kept"], widest[row["unit"]]),
            dropped_width=_percent(row["dropped"], widest[row["unit"]]),
            reasons=tuple(lost.get((row["stage"], row["unit"]), ())),
        )
        for row in rows
    )


def _percent(part: int, whole: int) -> float:
    return min(100.0, max(0.0, round(1000 * part / whole) / 10))


def _lost(views: Views) -> dict[tuple[Any, Any], list[Lost]]:
    """Stage and unit -> what it dropped, most frequent reason first, with the first ids in file order."""
    keys = ("stage", "unit", "reason")
    ids: dict[tuple[Any, ...], list[str]] = {}
    counted = counts(views, "drops", *keys)
    wanted = {row[:-1]: min(row[-1], _IDS_SHOWN) for row in counted}
    try:
        for batch in _batches(views, "drops", (*keys, "id")) if wanted else ():
            found = pa.table(batch.select(keys)).group_by(list(keys)).aggregate([])
            for row in found.to_pylist():
                key = tuple(row[name] for name in keys)
                have = ids.setdefault(key, [])
                if len(have) < wanted.get(key, 0):
                    have += _first(batch, keys, key, wanted[key] - len(have))
    except _BROKEN:
        ids = {}
    lost: dict[tuple[Any, Any], list[Lost]] = {}
    for stage, unit, reason, count in counted:
        shown = tuple(ids.get((stage, unit, reason), ()))
        lost.setdefault((stage, unit), []).append(Lost(str(reason), count, shown))
    return lost


def _batches(views: Views, table: str, names: Sequence[str]) -> Any:
    for path in views.get(table, ()):
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(_BATCH, columns=list(names))


def _first(batch: pa.RecordBatch, names: Sequence[str], key: tuple[Any, ...], count: int) -> list[str]:
    mask = None
    for name, value in zip(names, key, strict=True):
        column = batch.column(name)
        equal = pc.is_null(column) if value is None else pc.fill_null(pc.equal(column, value), False)
        mask = equal if mask is None else pc.and_(mask, equal)
    return [str(name) for name in batch.column("id").filter(mask).slice(0, count).to_pylist()]
