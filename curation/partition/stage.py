"""The partition as one set stage: keys, held keys, the contest between tasks, splits, what was lost and why.

Which statement follows from which is told in docs/overlap.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.partition import contest_sql, held_sql, keys_sql, lot_sql, splits_sql
from curation.partition.records import (
    Barred,
    Block,
    Candidate,
    Choice,
    Contested,
    DocumentKey,
    Group,
    HeldKey,
    ImageLikeness,
    Island,
    Loss,
    Lost,
    MergedConcept,
    NearQuery,
    Positive,
    PublishedKey,
    Rest,
    Withheld,
)
from curation.tasks.registry import by_lot, listing_images
from schemas.benchmark import Assignment, Document, OverlapKey, Qrel, Query, RowImage
from schemas.errors import UsageError
from schemas.image import FigureImage
from schemas.label import RecordLabels
from schemas.stages import Drop, SetAccount, SetStage, Sql

VERSION = 7
_MILLION = 1_000_000

_KEYS = """
    SELECT a.task, a.query_id, r.dimension, r.key FROM rests AS r
    JOIN candidates AS c ON c.number = r.number
    JOIN assignments AS a ON a.task = c.task AND a.query_id = c.query_id"""
_OUT = """
    (SELECT number, reason, dimension, detail FROM barred
    UNION ALL SELECT number, reason, dimension, detail FROM beaten
    UNION ALL SELECT number, reason, dimension, detail FROM torn)"""
_DROPS = f"""
    WITH kept AS (
        SELECT {keys_sql.article_key("c.article_id")} AS article,
            list(DISTINCT a.task ORDER BY a.task) AS tasks
        FROM assignments AS a JOIN candidates AS c ON c.task = a.task AND c.query_id = a.query_id
        GROUP BY ALL),
    told AS (
        SELECT d.number, k.tasks, regexp_extract(d.detail, 'goes to (\\w+) by lot', 1) AS winner
        FROM drawn AS d LEFT JOIN kept AS k ON k.article = d.key),
    lost AS (
        SELECT number, coalesce('; its query went to ' || array_to_string(tasks, ' and '),
            '; its query was dropped too') AS more
        FROM told WHERE NOT coalesce(list_contains(tasks, winner), false))
    SELECT 'query' AS unit, c.query_id AS id, c.article_id, o.reason,
        o.detail || coalesce(l.more, '') AS detail
    FROM {_OUT} AS o JOIN candidates AS c ON c.number = o.number
    LEFT JOIN lost AS l ON l.number = o.number"""
"""Who drew an article by lot may lose it in the contest: a drop says then who has it."""
_LOSSES = f"""
    SELECT c.task, o.reason, o.dimension, count(*) AS queries, any_value(n.candidates) AS candidates
    FROM {_OUT} AS o JOIN candidates AS c ON c.number = o.number
    JOIN (SELECT task, count(*) AS candidates FROM candidates GROUP BY task) AS n ON n.task = c.task
    GROUP BY c.task, o.reason, o.dimension"""


def partition_stage(
    tasks: Sequence[str],
    *,
    dev_share: float = 0.05,
    weights: Mapping[str, float] | None = None,
    leave_out: Sequence[str] = (),
) -> SetStage:
    """The partition of these tasks.

    Args:
        tasks: names of tasks, in any order.
        dev_share: share of each task's queries for dev, at most 0.5.
        weights: task -> weight of the kept share of its queries in the objective; 1 where it is not named.
        leave_out: ids of queries that may not be released.

    Raises:
        UsageError: no task, one named twice, a share or weight out of range.
    """
    given = {task: 1.0 for task in tasks} | dict(weights or {})
    _check(tasks, dev_share, given)
    ordered = sorted(tasks)
    parts = {task: max(1, round(given[task] * _MILLION)) for task in ordered}
    named = sorted(set(leave_out))
    return SetStage(
        name="partition",
        version=VERSION,
        inputs=_inputs(ordered),
        outputs=_outputs(ordered, round(dev_share * _MILLION), parts, named),
        accounts=(SetAccount("query", "candidates", "query_id", "assignments", "query_id"),),
        params={"tasks": ordered, "dev_share": dev_share, "weights": parts, "leave_out": named},
    )


def _check(tasks: Sequence[str], dev_share: float, weights: Mapping[str, float]) -> None:
    unknown = sorted(set(weights) - set(tasks))
    if unknown or len(set(tasks)) != len(tasks) or not tasks:
        raise UsageError(f"not tasks to partition: {unknown or list(tasks)}", hint="name each task once")
    if not 0 <= dev_share <= 0.5:
        raise UsageError(f"dev_share {dev_share} is not between 0 and 0.5")
    wrong = [task for task in sorted(weights) if not 0 < weights[task] <= 1000]
    if wrong:
        raise UsageError(f"weight of {wrong[0]} is not above 0 and at most 1000: {weights[wrong[0]]}")


def _inputs(tasks: Sequence[str]) -> dict[str, tuple[str, type]]:
    inputs: dict[str, tuple[str, type]] = {}
    for task in tasks:
        inputs[f"{task}_queries"] = (f"{task}_all.queries", Query)
        inputs[f"{task}_qrels"] = (f"{task}_all.qrels", Qrel)
        inputs[f"{task}_documents"] = (f"{task}_all.documents", Document)
    for task in listing_images(tasks):
        inputs[f"{task}_images"] = (f"{task}_all.images", RowImage)
    return inputs | {
        "images": ("images.images", FigureImage),
        "published": ("published.keys", PublishedKey),
        "merged": ("published.merged", MergedConcept),
        "near_queries": ("near_queries.keys", NearQuery),
        "labels": ("labels.records", RecordLabels),
    }


def _outputs(
    tasks: Sequence[str], dev_parts: int, weights: Mapping[str, int], leave_out: Sequence[str]
) -> dict[str, Sql]:
    return {
        "candidates": Sql(keys_sql.candidates(tasks, weights, leave_out), Candidate, ("number",)),
        "likenesses": Sql(keys_sql.likenesses(tasks), ImageLikeness, ("phash", "key")),
        "canonical": Sql(keys_sql.CANONICAL, MergedConcept, ("concept",)),
        "own": Sql(keys_sql.own(tasks), Rest, ("number", "dimension", "key")),
        "of_documents": Sql(
            keys_sql.of_documents(tasks), DocumentKey, ("task", "corpus_id", "dimension", "key")
        ),
        "positives": Sql(keys_sql.positives(tasks), Positive, ("number", "corpus_id")),
        "held": Sql(held_sql.HELD, HeldKey, ("dimension", "key")),
        "withheld": Sql(held_sql.WITHHELD, Withheld, ("task", "query_id", "corpus_id")),
        "rests": Sql(held_sql.RESTS, Rest, ("number", "dimension", "key")),
        "barred": Sql(held_sql.BARRED, Barred, ("number",)),
        "drawn": Sql(lot_sql.drawn(by_lot(tasks), weights), Lost, ("number",)),
        "contested": Sql(contest_sql.CONTESTED, Contested, ("number", "item")),
        "blocks": Sql(contest_sql.BLOCKS, Block, ("number",)),
        "islands": Sql(contest_sql.ISLANDS, Island, ("block",)),
        "exact": Sql(contest_sql.EXACT, Choice, ("block",)),
        "voted": Sql(contest_sql.VOTED, Choice, ("block",)),
        "choices": Sql(contest_sql.CHOICES, Choice, ("block",)),
        "beaten": Sql(contest_sql.BEATEN, Lost, ("number",)),
        "torn": Sql(splits_sql.TORN, Lost, ("number",)),
        "groups": Sql(splits_sql.GROUPS, Group, ("number",)),
        "assignments": Sql(splits_sql.assignments(dev_parts), Assignment, ("task", "query_id")),
        "keys": Sql(_KEYS, OverlapKey, ("task", "query_id", "dimension", "key")),
        "losses": Sql(_LOSSES, Loss, ("task", "reason", "dimension")),
        "drops": Sql(_DROPS, Drop, ("unit", "id")),
    }
