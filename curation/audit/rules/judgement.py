"""Rules on judgement: unjudged is not negative, excluded stays excluded, expert means experts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.rule import (
    MAX_EXAMPLES,
    Canary,
    Collector,
    Context,
    NotApplicable,
    NotCovered,
    Outcome,
    Rows,
    Rule,
    side,
)
from curation.audit.rules import reviewed
from curation.audit.rules.planting import manifest as edited
from curation.published.parquet import column_names

RANKED = ("top_ranked", "runs")
"""Optional folders of ranked candidates: columns query-id, and corpus-id or a list corpus-ids."""
_BY_PEOPLE = "('expert', 'adjudicated')"
_LABELS = frozenset({"silver", "expert"})


def _columns(files: Sequence[Path]) -> set[str]:
    return set.intersection(*(set(column_names([path])) for path in files))


def _unjudged_negative(context: Context) -> Outcome:
    found = Collector("unjudged_negative", "error")
    if "qrels" not in context.views:
        raise NotCovered("table absent: qrels")
    compared = context.count("qrels")
    negative = int(
        context.rows("SELECT count(*) AS n FROM qrels WHERE score <= 0 OR score IS NULL", "qrels")[0]["n"]
    )
    if "label_status" not in column_names(context.views["qrels"]):
        if negative:
            raise NotCovered(f"{negative} pairs are scored 0 or less, and nothing says who judged them")
        return found.outcome(compared, "no pair is scored 0 or less")
    text = """SELECT "query-id" AS q, "corpus-id" AS c, score, label_status FROM qrels
        WHERE (score <= 0 OR score IS NULL)
            AND coalesce(label_status, '') NOT IN ('judge', 'expert', 'adjudicated')"""
    count = int(context.rows(f"SELECT count(*) AS n FROM ({text})", "qrels")[0]["n"])
    for row in context.rows(f"{text} ORDER BY q, c LIMIT {MAX_EXAMPLES}", "qrels") if count else ():
        found.add(
            f"a pair is scored {row['score']} with label status {row['label_status']!r}: nobody judged it",
            side("queries", row["q"]),
            side("corpus", row["c"]),
        )
    found.found += max(0, count - MAX_EXAMPLES)
    return found.outcome(compared, f"{negative} pairs are scored 0 or less")


def _excluded_honoured(context: Context) -> Outcome:
    found = Collector("excluded_honoured", "error")
    ranked = {
        name: files for name in RANKED if (files := sorted((context.directory / name).rglob("*.parquet")))
    }
    if not ranked:
        raise NotApplicable("the files hold no ranked candidates (top_ranked, runs)")
    compared = 0
    for name, files in ranked.items():
        columns = _columns(files)
        if "query-id" not in columns or not columns & {"corpus-id", "corpus-ids"}:
            found.add(
                f"{name} has no columns query-id and corpus-id or corpus-ids", side(name, files[0].name)
            )
            continue
        document = '"corpus-id"' if "corpus-id" in columns else 'unnest("corpus-ids")'
        pairs = f'SELECT DISTINCT "query-id" AS q, {document} AS c FROM ranked'
        views = {"ranked": files, **context.views}
        compared += _number(context, f"SELECT count(*) AS n FROM ({pairs})", views)
        for message, text in _ranked_checks(pairs, context, name):
            count = _number(context, f"SELECT count(*) AS n FROM ({text})", views)
            shown = f"{text} ORDER BY q, c LIMIT {MAX_EXAMPLES}"
            for batch in context.query(shown, views) if count else ():
                for row in batch.to_pylist():
                    sides = [side("queries", row["q"])]
                    if row["c"] is not None:
                        sides.append(side("corpus", row["c"]))
                    found.add(f"{name}: {message}", *sides)
            found.found += max(0, count - MAX_EXAMPLES)
    return found.outcome(compared)


def _number(context: Context, text: str, views: Mapping[str, Sequence[Path]]) -> int:
    return int(next(iter(context.query(text, views))).to_pylist()[0]["n"])


def _ranked_checks(pairs: str, context: Context, name: str) -> list[tuple[str, str]]:
    """(what is wrong, statement that selects q and c) for one folder of candidates."""
    checks = [
        (
            "a query is not in queries",
            f"SELECT DISTINCT q, NULL AS c FROM ({pairs}) ANTI JOIN queries o ON o.id = q",
        ),
        ("a document is not in the corpus", f"SELECT q, c FROM ({pairs}) ANTI JOIN corpus o ON o.id = c"),
    ]
    if "excluded" in context.views:
        join = 'SEMI JOIN excluded e ON e."query-id" = q AND e."corpus-id" = c'
        checks.append(("an excluded pair is among the candidates", f"SELECT q, c FROM ({pairs}) {join}"))
    if name == "top_ranked":
        none = f"SELECT id AS q, NULL AS c FROM queries ANTI JOIN ({pairs}) o ON o.q = id AND o.c IS NOT NULL"
        checks.append(("a query has no candidate (MTEB: zero_top_ranked)", none))
    return checks


def _silver_label(context: Context) -> Outcome:
    found = Collector("silver_label", "error")
    manifest = context.manifest
    row = context.rows(
        f"""SELECT count(DISTINCT "query-id") AS n,
            count(DISTINCT "query-id") FILTER (label_status IN {_BY_PEOPLE}) AS people FROM qrels""",
        "qrels",
    )[0]
    needed = max(1, manifest.expert_minimum)
    if manifest.label not in _LABELS:
        found.add(
            f"the label is {manifest.label!r}, neither silver nor expert", side("release.json", "label")
        )
    elif manifest.label == "expert" and row["people"] < needed:
        found.add(
            f"release.json says expert; {row['people']} queries have expert or adjudicated labels, "
            f"{needed} are needed",
            side("release.json", "label", manifest.label),
            side("release.json", "expert_minimum", manifest.expert_minimum),
        )
    return found.outcome(int(row["n"]), f"{row['people']} queries have expert or adjudicated labels")


def _plant_zero(rows: Rows, _: Rows) -> Sequence[str] | None:
    if not rows["qrels"] or "label_status" not in rows["qrels"][0]:
        return None
    pair = rows["qrels"][0] | {"corpus-id": "canary:unjudged", "score": 0, "label_status": "structural"}
    rows["qrels"].append(pair)
    return [str(pair["query-id"]), "canary:unjudged"]


def _read(directory: Path, table: str) -> list[dict[str, Any]]:
    files = sorted((directory / table).glob("*.parquet"))
    columns = ["id"] if table in ("queries", "corpus") else ["query-id", "corpus-id"]
    return [row for path in files for row in pq.read_table(path, columns=columns).to_pylist()]


def _plant_excluded(directory: Path) -> Sequence[str] | None:
    """Candidates for every query: all its documents, an excluded pair among them; none for one query."""
    queries, excluded = _read(directory, "queries"), _read(directory, "excluded")
    if not excluded or len(queries) < 2:
        return None
    left_out = next((row["id"] for row in queries if row["id"] != excluded[0]["query-id"]), None)
    pairs = [*excluded[:1], *({"query-id": row["id"], "corpus-id": "canary:gone"} for row in queries)]
    kept = [row for row in pairs if row["query-id"] != left_out]
    folder = directory / "top_ranked"
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.parquet"):
        path.unlink()
    pq.write_table(pa.Table.from_pylist(kept), folder / "test-00000-of-00001.parquet")
    return [excluded[0]["query-id"], excluded[0]["corpus-id"], "canary:gone", left_out]


RULES = (
    *reviewed.RULES,
    Rule(
        "unjudged_negative",
        1,
        "Unjudged is not negative",
        "No pair is scored 0 or less unless a judge, an expert or an adjudicator gave the score.",
        "error",
        "pairs",
        _unjudged_negative,
        canaries=(Canary("a pair scored 0 that nobody judged", _plant_zero),),
        per_task={"concept_discrimination": "warn"},
    ),
    Rule(
        "excluded_honoured",
        1,
        "Excluded stays excluded",
        "Published candidates (top_ranked) and runs hold no excluded pair and no id that is not published, "
        "and "
        "top_ranked has candidates for every query.",
        "error",
        "pairs",
        _excluded_honoured,
        canaries=(
            Canary("an excluded pair, a lost document and a query without candidates", files=_plant_excluded),
        ),
    ),
    Rule(
        "silver_label",
        1,
        "Expert means experts",
        "release.json says 'expert' only when at least expert_minimum queries (at least one) have a label "
        "by an "
        "expert or an adjudicator; else it says 'silver'.",
        "error",
        "queries",
        _silver_label,
        canaries=(Canary("silver labels called expert", files=edited(label="expert", expert_minimum=10**9)),),
    ),
)
