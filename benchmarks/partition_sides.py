"""What kinds of articles the partition gives to visual context and to summary: figures, domain, specialty.

Both tasks are made of the shared articles (without asking for image files, which most of them lack), then the
partition is run over the two. Articles that only one of them can use are left out of the comparison.
`python -m benchmarks.partition_sides`
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.labels import articles
from benchmarks.measure import SHARED, save
from curation.cases.stage import CASES
from curation.extract.stage import EXTRACT
from curation.labels.stage import LABELS
from curation.partition.near_queries import near_keys
from curation.partition.records import NearQuery
from curation.partition.stage import partition_stage
from curation.tasks.registry import TASKS
from flows.engine.database import run_set_stage
from flows.engine.runner import run_records
from schemas.article import Article
from schemas.benchmark import Document, Qrel, Query
from schemas.label import RecordLabels
from schemas.record import to_table
from schemas.vocabulary import ConceptType

NAMES = ("summary", "visual_context")
_SETTINGS = {"require_image": False, "licence_profile": "noncommercial"}
_BANDS = (1, 2, 3, 5, 9, 1_000_000)
KINDS: dict[str, type] = {"queries": Query, "documents": Document, "qrels": Qrel}


def tables(shared: Path, scratch: Path) -> dict[str, list[Any]]:
    """Rows of every stage the two tasks read, by `stage.table`; nothing is grounded."""
    types = scratch / "types.parquet"
    pq.write_table(to_table(ConceptType, []), types)
    made: dict[str, list[Any]] = {"parse.articles": list(articles(shared))}
    for stage in (EXTRACT, CASES, LABELS, *(TASKS[name].per_article for name in NAMES)):
        given = {item.table: made.get(item.table, []) for item in stage.inputs}
        params = dict(stage.params) if stage.settings is None else dict(_SETTINGS)
        rows, _, _ = run_records(stage, given, params, dict.fromkeys(stage.resources, types))
        made |= {f"{stage.name}.{name}": found for name, found in rows.items()}
    return made


def owners(made: Mapping[str, list[Any]], scratch: Path) -> dict[str, str]:
    """Article -> task it went to, of the articles that each of the tasks has a query of."""
    files: dict[str, list[Path]] = {}

    def write(name: str, row: type, rows: Sequence[Any]) -> None:
        files[name] = [scratch / f"{name}.parquet"]
        pq.write_table(to_table(row, rows), files[name][0])

    for task in NAMES:
        for name, row in KINDS.items():
            write(f"{task}_{name}", row, made[f"{task}.{name}"])
    write("labels", RecordLabels, made["labels.records"])
    write("near_queries", NearQuery, near_keys({task: files[f"{task}_queries"] for task in NAMES}))
    out = scratch / "out"
    out.mkdir()
    stage = partition_stage(NAMES)
    for name, (_, row) in stage.inputs.items():  # nothing is published and no image is looked at
        if name not in files:
            write(name, row, [])
    run_set_stage(stage, {name: files[name] for name in stage.inputs}, out, "1GB")
    of_query = {row.id: row.article_id for task in NAMES for row in made[f"{task}.queries"]}
    both = set.intersection(*({row.article_id for row in made[f"{task}.queries"]} for task in NAMES))
    placed = pq.read_table(out / "assignments.parquet", columns=["task", "query_id"]).to_pylist()
    found = {of_query[row["query_id"]]: str(row["task"]) for row in placed}
    return {article: task for article, task in sorted(found.items()) if article in both}


def side(members: Sequence[str], made: Mapping[str, list[Any]]) -> dict[str, Any]:
    """What one task's articles are."""
    figures = Counter(row.article_id for row in made["extract.figures"])
    asked = Counter(row.article_id for row in made["visual_context.queries"])
    told = {row.id: row for row in made["labels.records"] if row.unit == "article"}
    types = {row.id: row.article_type for row in made["parse.articles"] if isinstance(row, Article)}
    return {
        "articles": len(members),
        "figures_mean": round(statistics.fmean(figures[name] for name in members), 2),
        "figures_median": statistics.median(figures[name] for name in members),
        "figure_queries": dict(sorted(Counter(_band(asked[name]) for name in members).items())),
        "domains": dict(sorted(Counter(told[name].domain for name in members).items())),
        "article_types": dict(sorted(Counter(types[name] for name in members).items())),
        "specialties": dict(
            sorted(Counter((told[name].specialties or ("",))[0] for name in members).items())
        ),
    }


def _band(count: int) -> str:
    low = max(bound for bound in _BANDS if bound <= count)
    high = _BANDS[_BANDS.index(low) + 1] - 1
    return str(low) if high == low else f"{low}+" if high > 1000 else f"{low}-{high}"


def apart(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Total variation between two counts: 0 for equal shares, 1 where nothing is shared."""
    sums = sum(one.values()), sum(other.values())
    return round(sum(abs(one.get(k, 0) / sums[0] - other.get(k, 0) / sums[1]) for k in {*one, *other}) / 2, 3)


def measure(shared: Path) -> dict[str, Any]:
    """Both sides, and how far they lie apart."""
    with tempfile.TemporaryDirectory(prefix="sides-") as scratch:
        made = tables(shared, Path(scratch))
        held = owners(made, Path(scratch))
    sides = {task: side([name for name, owner in held.items() if owner == task], made) for task in NAMES}
    one, other = sides.values()
    asked = Counter(row.article_id for row in made["visual_context.queries"])
    return {
        **sides,
        "apart": {
            name: apart(one[name], other[name])
            for name in ("figure_queries", "domains", "article_types", "specialties")
        },
        "kept_figure_queries": sum(asked[name] for name, task in held.items() if task == "visual_context"),
        "all_figure_queries": sum(asked[name] for name in held),
    }


def main() -> None:
    """Measure, print, save beside what was measured before the lot."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument(
        "--before", type=Path, help="result of the same command under version 4 of the partition"
    )
    given = options.parse_args()
    result = measure(given.data)
    if given.before:
        result = {"before": json.loads(given.before.read_text("utf-8")), "now": result}
        save("partition_sides", result)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
