"""Rules on judgement: unjudged is not negative, excluded stays excluded, expert means experts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.checks import add_violations
from curation.audit.rule import (
    Check,
    Collector,
    Context,
    Defect,
    NotApplicable,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules import reviewed
from curation.audit.rules.planting import ANY_PAIR, GONE, add_row, drop_row, exclude, set_row
from curation.audit.rules.text_rows import literal
from curation.published.manifest import NAME, OF_CANDIDATES
from curation.published.parquet import column_names
from curation.published.query import Row, Stored, fetch

RANKED = ("top_ranked", "runs")
"""Optional folders of ranked candidates: columns query-id, and corpus-id or a list corpus-ids."""
_NEGATIVE = "(score <= 0 OR score IS NULL)"
_BY_NOBODY = "coalesce(label_status, '') NOT IN ('judge', 'expert', 'adjudicated')"
_LABELS = frozenset({"silver", "expert", OF_CANDIDATES})
_LABELLED = """SELECT count(DISTINCT "query-id") AS n, count(DISTINCT "query-id")
    FILTER (label_status IN ('expert', 'adjudicated')) AS people FROM qrels"""


def _unjudged_negative(context: Context) -> Outcome:
    """Pairs scored 0 or less that nobody judged."""
    found = Collector("unjudged_negative", "error")
    counted = context.select(f"SELECT count(*) AS n, count(*) FILTER ({_NEGATIVE}) AS negative FROM qrels")[0]
    if "label_status" in column_names(context.views["qrels"]):
        message = "a pair is scored {score} with label status {label_status!r}: nobody judged it"
        text = f"""SELECT "query-id" AS q, "corpus-id" AS c, score, label_status FROM qrels
            WHERE {_NEGATIVE} AND {_BY_NOBODY}"""
        add_violations(found, message, text, context.select)
        return found.outcome(counted["n"], f"{counted['negative']} pairs are scored 0 or less")
    if counted["negative"]:
        raise NotCovered(
            f"{counted['negative']} pairs are scored 0 or less, and nothing says who judged them"
        )
    return found.outcome(counted["n"], "no pair is scored 0 or less")


def _negative(name: str, document: str, values: str) -> Defect:
    """A further pair of the first query."""
    return Defect(
        name, add_row("qrels", f"'canary:{document}' AS \"corpus-id\", {values}", names='"corpus-id"')
    )


UNJUDGED = Check(
    "a pair is scored 0 or less, and nobody judged it",
    _unjudged_negative,
    (
        _negative("a pair scored 0 that nobody judged", "zero", "0 AS score, 'structural' AS label_status"),
        _negative("a pair scored 0 without a status", "untold", "0 AS score, NULL AS label_status"),
        _negative("a pair without a score", "null", "NULL AS score, 'structural' AS label_status"),
    ),
    at_once=True,
)


def _candidates(context: Context) -> Iterator[tuple[str, Sequence[Path], str]]:
    """Folder, its files, and SQL for its pairs (q, c) of `ranked`: '' when it has no such columns.

    Raises:
        NotApplicable: there is no such folder.
    """
    found = {
        name: context.views.get(name) or sorted((context.directory / name).rglob("*.parquet"))
        for name in RANKED
    }
    if not any(found.values()):
        raise NotApplicable("the files hold no ranked candidates (top_ranked, runs)")
    for name, files in found.items():
        if files:
            single = [files] if isinstance(files, Stored) else [[path] for path in files]
            columns = set.intersection(*(set(column_names(one)) for one in single))
            document = '"corpus-id"' if "corpus-id" in columns else 'unnest("corpus-ids")'
            pairs = f'SELECT DISTINCT "query-id" AS q, {document} AS c FROM ranked'
            is_known = "query-id" in columns and columns & {"corpus-id", "corpus-ids"}
            yield name, files, pairs if is_known else ""


def _unreadable(context: Context) -> Outcome:
    """Folders without the columns; also how many candidates the others hold."""
    found = Collector("excluded_honoured", "error")
    compared = 0
    for name, files, pairs in _candidates(context):
        if pairs:
            compared += _select(context, files, f"SELECT count(*) AS n FROM ({pairs})")[0]["n"]
        else:
            message = f"{name} has no columns query-id and corpus-id or corpus-ids"
            found.add(message, side(name, files[0].name))
    return found.outcome(compared)


def _select(context: Context, ranked: Sequence[Path], text: str) -> list[Row]:
    return fetch(context.query, text, {**context.views, "ranked": ranked})


def _of_candidates(message: str, text: str, *defects: Defect, folders: Sequence[str] = RANKED) -> Check:
    """What SQL selects of the pairs (q, c) of any folder; it may name `excluded` where that is not."""

    def test(context: Context) -> Outcome:
        found = Collector("excluded_honoured", "error")
        for name, files, pairs in _candidates(context):
            if pairs and name in folders and ("excluded" not in text or "excluded" in context.views):
                wrong, select = text.format(pairs=pairs), partial(_select, context, files)
                add_violations(found, f"{name}: {message}", wrong, select)
        return found.outcome(0)

    return Check(message, test, defects)


def _run_of(column: str) -> Callable[[Path, Sequence[str]], None]:
    """Writes a run of one pair, with this name of its column of queries."""

    def write(directory: Path, ids: Sequence[str]) -> None:
        path = directory / "runs" / "canary" / "canary.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table({column: ids[:1], "corpus-id": ids[-1:]}), path)

    return write


_FIRST = 'SELECT "query-id", "corpus-ids"[1] AS "corpus-id" FROM top_ranked WHERE rowid = 0'
CANDIDATES = (
    Check(
        "candidates have no columns query-id and corpus-id or corpus-ids",
        _unreadable,
        Defect("a run without queries", "SELECT 'canary.parquet'", files=_run_of("qid")),
    ),
    _of_candidates(
        "a query is not in queries",
        "SELECT DISTINCT q, NULL AS c FROM ({pairs}) ANTI JOIN queries o ON o.id = q",
        Defect("candidates of a query that is not there", add_row("top_ranked", f"'{GONE}' AS \"query-id\"")),
    ),
    _of_candidates(
        "a document is not in the corpus",
        "SELECT q, c FROM ({pairs}) ANTI JOIN corpus o ON o.id = c",
        Defect(
            "a candidate that is not there",
            set_row("top_ranked", f"\"corpus-ids\" = ['{GONE}']", names=f"'{GONE}'"),
        ),
    ),
    _of_candidates(
        "an excluded pair is among the candidates",
        """SELECT q, c FROM ({pairs})
            SEMI JOIN excluded e ON e."query-id" = q AND e."corpus-id" = c""",
        Defect("an excluded pair among the candidates", exclude(_FIRST)),
        Defect("an excluded pair in a run", exclude(ANY_PAIR), files=_run_of("query-id")),
    ),
    _of_candidates(
        "a query has no candidate (MTEB: zero_top_ranked)",
        "SELECT id AS q, NULL AS c FROM queries ANTI JOIN ({pairs}) o ON o.q = id AND o.c IS NOT NULL",
        Defect("a query that is not among the candidates", drop_row("top_ranked")),
        Defect("a query without a candidate", set_row("top_ranked", '"corpus-ids" = []')),
        folders=("top_ranked",),
    ),
)


def _unknown_label(context: Context) -> str:
    label = context.manifest.label
    return "" if label in _LABELS else f"SELECT 'label' AS \"{NAME}\", {literal(label)} AS label"


def _called_expert(context: Context) -> Outcome:
    """A release called expert that people have not judged enough of."""
    found = Collector("silver_label", "error")
    manifest = context.manifest
    row = context.rows(_LABELLED, "qrels")[0]
    needed = max(1, manifest.expert_minimum)
    if manifest.label == "expert" and row["people"] < needed:
        found.add(
            f"release.json says expert; {row['people']} queries have expert or adjudicated labels, "
            f"{needed} are needed",
            side(NAME, "label", manifest.label),
            side(NAME, "expert_minimum", manifest.expert_minimum),
        )
    return found.outcome(int(row["n"]), f"{row['people']} queries have expert or adjudicated labels")


LABEL = (
    Check(
        "the label is {label!r}, neither candidates, silver nor expert",
        _unknown_label,
        Defect("an unknown label", "SELECT 'label'", stated={"label": "canary"}),
    ),
    Check(
        "release.json says expert, and too few queries have labels by people",
        _called_expert,
        (
            Defect(
                "silver labels called expert",
                "SELECT 'label', 'expert_minimum'",
                stated={"label": "expert", "expert_minimum": 10**9},
            ),
            Defect(
                "labels of nobody called expert",
                "UPDATE qrels SET label_status = 'structural'; SELECT 'label'",
                stated={"label": "expert", "expert_minimum": 0},
            ),
        ),
    ),
)
_rule = partial(Rule, severity="error")
RULES = (
    *reviewed.RULES,
    _rule(
        "unjudged_negative",
        1,
        "Unjudged is not negative",
        "No pair is scored 0 or less unless a judge, an expert or an adjudicator gave the score.",
        unit="pairs",
        checks=(UNJUDGED,),
        tables=("qrels",),
        per_task={"concept_discrimination": "warn"},
    ),
    _rule(
        "excluded_honoured",
        1,
        "Excluded stays excluded",
        "Published candidates (top_ranked) and runs hold no excluded pair and no id that is not published, "
        "and top_ranked has candidates for every query.",
        unit="pairs",
        checks=CANDIDATES,
    ),
    _rule(
        "silver_label",
        2,
        "'Expert' means labelled by experts",
        "release.json says 'expert' only when at least expert_minimum queries (at least one) have a label "
        "by an expert or an adjudicator; else it says 'silver', or 'candidates' where rules found pairs for "
        "review.",
        unit="queries",
        checks=LABEL,
    ),
)
