"""What verdicts of people make of a task's labels: one set stage between the task and the partition.

A verdict counts while the query and the document read as they did when they were judged. A grade above 0
replaces the rule's grade or makes a new positive, 0 makes a judged negative, no grade excludes the pair, and
so does one between the grades of the task. A pair that a judge left undecided is decided by its verdict. A
new positive that repeats the query is refused and excluded. A rule under its floor keeps only the pairs that
people judged. A query without a positive is withdrawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.published.query import QueryRunner, Views, fetch, fetch_one
from curation.tasks.registry import task_of
from schemas.benchmark import Document, Excluded, LabelStatus, Qrel, Query
from schemas.grades import UNDECIDED
from schemas.record import column, record
from schemas.review import Role, Verdict
from schemas.stages import Drop, SetAccount, SetStage, Sql
from schemas.task import Task

VERSION = 4
VERDICTS, REVIEWED = "{task}_verdicts", "{task}_reviewed"
"""Names of the stage that holds what was brought from the review, and of the stage that applies it."""
REVIEW = "provenance/review.json"
"""Agreement, precision of rules and missed positives, as they were when the release was made."""
NOT_RELEVANT = "{who} judged that the document is not relevant to the query."
_JUDGES = {
    "structural": "rules",
    "candidate": "rules",
    "judge": "a language model",
    "expert": "people",
    "adjudicated": "people",
}
"""Label status -> who gave the grade."""
_COUNTS = """
    SELECT count(DISTINCT ("query-id", "corpus-id")) AS pairs, count(DISTINCT "query-id") AS queries,
        count(*) AS answers, count(DISTINCT annotator) AS people,
        count(*) FILTER (role = 'adjudicator') AS adjudicated, count(*) FILTER (grade IS NULL) AS unjudged
    FROM annotations"""
_RULES = """
    SELECT rule, count(DISTINCT ("query-id", "corpus-id")) AS pairs FROM annotations
    GROUP BY rule ORDER BY rule"""

_CHANGES = """
    SELECT a.rule_grade, q.score AS grade, coalesce(e.reason, '') AS excluded,
        coalesce(q.score = a.rule_grade, false) AS is_same, count(*) AS pairs
    FROM (SELECT DISTINCT "query-id", "corpus-id", rule_grade FROM annotations) AS a
    LEFT JOIN qrels AS q ON q."query-id" = a."query-id" AND q."corpus-id" = a."corpus-id"
    LEFT JOIN excluded AS e ON e."query-id" = a."query-id" AND e."corpus-id" = a."corpus-id"
    GROUP BY ALL ORDER BY rule_grade DESC NULLS LAST, grade DESC NULLS LAST, excluded"""


@record
class JudgedAnswer:
    """One answer of a person to an item with a verdict; comments stay in the workspace."""

    candidate_id: str = column("candidate")
    annotator: str = column("pseudonym")
    role: Role = column("annotator or adjudicator")
    grade: int | None = column("grade, null when it could not be judged")
    reason: str = column("why it could not be judged, '' when it was")
    seconds: float = column("time spent, 0 when unknown")


@record
class RuleUnderFloor:
    """A rule whose precision was measured and is too low."""

    rule: str = column("named, versioned rule")


@record
class Copied:
    """A candidate whose document repeats the query, by the measure of the audit's rule self_match."""

    candidate_id: str = column("candidate")
    detail: str = column("what they share, one line")


@record
class CalibratedPair:
    """One pair of the calibration sample with what people said of it; see schemas.review.CalibrationPair."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    stratum: str = column("what it was drawn from")
    population: int = column("pairs of the stratum that could be drawn")
    drawn: int = column("pairs drawn of them")
    judge: int | None = column("what the judge concluded, null for nothing", default=None)
    people: int | None = column("verdict of two people or an adjudicator, null while none", default=None)
    answers: tuple[str, ...] = column("each answer: role, pseudonym, grade", default=())


@record
class Applied:
    """One verdict that counts."""

    candidate_id: str = column("candidate")
    query_id: str = column("query")
    corpus_id: str = column("document")
    grade: int | None = column("final grade, null when nobody could judge it")
    label_status: LabelStatus = column("expert or adjudicated")
    rule: str = column("named, versioned rule of review")


@record
class ReviewAnswer:
    """One row of the published table of answers."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    annotator: str = column("pseudonym")
    role: Role = column("annotator or adjudicator")
    grade: int | None = column("grade, null when it could not be judged")
    reason: str = column("why it could not be judged, '' when it was")
    seconds: float = column("time spent, 0 when unknown")
    rule: str = column("rule of the verdict")
    rule_grade: int | None = column("grade that a rule of the task gave the pair, null for none")


_HASH = "sha256(text || chr(0) || coalesce(image.sha256, ''))"
"""`schemas.review.content_sha256` in SQL."""
_WEIGHED = f"""
    WITH asked AS (SELECT id, article_id, {_HASH} AS hash FROM given_queries),
    offered AS (SELECT id, {_HASH} AS hash FROM documents WHERE id IN (SELECT corpus_id FROM verdicts)),
    met AS (
        SELECT v.*, coalesce(q.article_id, '') AS article_id, CASE
            WHEN q.id IS NULL THEN 'the query is gone' WHEN d.id IS NULL THEN 'the document is gone'
            WHEN q.hash <> v.query_sha256 THEN 'the query was changed'
            WHEN d.hash <> v.corpus_sha256 THEN 'the document was changed' END AS stale,
            CASE WHEN e.reason NOT IN {UNDECIDED} THEN e.reason END AS excluded_as,
            CASE WHEN v.grade > 0 AND v.grade IN ({{grades}}) AND r.query_id IS NULL THEN p.detail
                END AS copied
        FROM verdicts AS v LEFT JOIN asked AS q ON q.id = v.query_id
        LEFT JOIN offered AS d ON d.id = v.corpus_id
        LEFT JOIN copies AS p ON p.candidate_id = v.candidate_id
        LEFT JOIN (SELECT query_id, corpus_id FROM given_qrels WHERE score > 0) AS r
            ON r.query_id = v.query_id AND r.corpus_id = v.corpus_id
        LEFT JOIN given_excluded AS e ON e.query_id = v.query_id AND e.corpus_id = v.corpus_id),
    ranked AS (
        SELECT *, row_number() OVER (PARTITION BY query_id, corpus_id, stale IS NULL
            ORDER BY label_status <> 'adjudicated', candidate_id) AS place FROM met)
"""
_APPLIED = f"""{_WEIGHED}
    SELECT candidate_id, query_id, corpus_id, grade, label_status, rule FROM ranked
    WHERE stale IS NULL AND excluded_as IS NULL AND copied IS NULL AND place = 1"""
_QRELS = """
    SELECT r.query_id, r.corpus_id, coalesce(a.grade, r.score) AS score, r.task,
        coalesce(a.rule, r.rule) AS rule, coalesce(a.label_status, r.label_status) AS label_status,
        CASE WHEN a.grade = 0 THEN list_slice(r.evidence, 1, 0) ELSE r.evidence END AS evidence,
        CASE WHEN a.grade = 0 THEN '' ELSE r.via END AS via
    FROM given_qrels AS r
    LEFT JOIN applied AS a ON a.query_id = r.query_id AND a.corpus_id = r.corpus_id
    WHERE CASE WHEN a.candidate_id IS NULL THEN r.rule NOT IN (SELECT rule FROM under_floor)
        ELSE coalesce(a.grade IN ({grades}), false) END
    UNION ALL
    SELECT a.query_id, a.corpus_id, a.grade, '{task}', a.rule, a.label_status, [], ''
    FROM applied AS a
    ANTI JOIN given_qrels AS r ON r.query_id = a.query_id AND r.corpus_id = a.corpus_id
    WHERE a.grade IN ({grades})"""
_EXCLUDED = f"""{_WEIGHED}
    SELECT e.query_id, e.corpus_id, e.task, e.reason FROM given_excluded AS e
    ANTI JOIN (FROM ranked WHERE stale IS NULL AND excluded_as IS NULL AND place = 1) AS a
        ON a.query_id = e.query_id AND a.corpus_id = e.corpus_id
    UNION ALL
    SELECT query_id, corpus_id, '{{task}}', 'self_match' FROM ranked
    WHERE stale IS NULL AND excluded_as IS NULL AND copied IS NOT NULL AND place = 1
    UNION ALL
    SELECT query_id, corpus_id, '{{task}}', 'cannot_judge' FROM applied WHERE grade IS NULL
    UNION ALL
    SELECT query_id, corpus_id, '{{task}}', 'middle' FROM applied WHERE grade NOT IN ({{grades}})
    UNION ALL
    SELECT r.query_id, r.corpus_id, r.task, 'rule_under_floor' FROM given_qrels AS r
    ANTI JOIN applied AS a ON a.query_id = r.query_id AND a.corpus_id = r.corpus_id
    WHERE r.rule IN (SELECT rule FROM under_floor)"""
_QUERIES = """SELECT q.* FROM given_queries AS q
    SEMI JOIN (SELECT query_id FROM qrels WHERE score > 0) AS r ON r.query_id = q.id"""
_ANSWERS = """SELECT a.query_id, a.corpus_id, g.annotator, g.role, g.grade, g.reason, g.seconds, a.rule,
        r.score AS rule_grade
    FROM applied AS a JOIN answers AS g ON g.candidate_id = a.candidate_id
    LEFT JOIN given_qrels AS r ON r.query_id = a.query_id AND r.corpus_id = a.corpus_id"""
_DROPS = f"""{_WEIGHED}
    SELECT 'verdict' AS unit, candidate_id AS id, article_id, CASE WHEN stale IS NOT NULL THEN 'stale_verdict'
        WHEN excluded_as IS NOT NULL THEN 'excluded_pair' WHEN place > 1 THEN 'other_verdict'
        ELSE 'self_match' END AS reason,
        CASE WHEN stale IS NOT NULL THEN stale WHEN excluded_as IS NOT NULL THEN 'excluded as ' || excluded_as
            WHEN place > 1 THEN 'another verdict on the pair counts' ELSE copied END AS detail
    FROM ranked
    WHERE stale IS NOT NULL OR excluded_as IS NOT NULL OR copied IS NOT NULL OR place > 1
    UNION ALL
    SELECT 'query', q.id, q.article_id, 'no_positive_left', 'no document has a grade above 0 after review'
    FROM given_queries AS q ANTI JOIN queries AS k ON k.id = q.id"""


def reviewed_stage(task: str) -> SetStage:
    """The stage that applies the verdicts on one task; its tables stand in for those of the task.

    Args:
        task: task name; its tables are read from `<task>_all`, what was brought from the review from
            `<task>_verdicts`.
    """
    built, brought = f"{task}_all", VERDICTS.format(task=task)
    grades = ", ".join(str(grade.score) for grade in task_of(task).grades)

    def made(text: str) -> str:
        return text.replace("{task}", task).replace("{grades}", grades)

    return SetStage(
        name=REVIEWED.format(task=task),
        version=VERSION,
        inputs={
            "given_queries": (f"{built}.queries", Query),
            "documents": (f"{built}.documents", Document),
            "given_qrels": (f"{built}.qrels", Qrel),
            "given_excluded": (f"{built}.excluded", Excluded),
            "verdicts": (f"{brought}.verdicts", Verdict),
            "answers": (f"{brought}.answers", JudgedAnswer),
            "under_floor": (f"{brought}.under_floor", RuleUnderFloor),
            "copies": (f"{brought}.copies", Copied),
        },
        outputs={
            "applied": Sql(made(_APPLIED), Applied, ("query_id", "corpus_id")),
            "qrels": Sql(made(_QRELS), Qrel, ("query_id", "corpus_id")),
            "excluded": Sql(made(_EXCLUDED), Excluded, ("query_id", "corpus_id")),
            "queries": Sql(_QUERIES, Query, ("id",)),
            "annotations": Sql(_ANSWERS, ReviewAnswer, ("query_id", "corpus_id", "role", "annotator")),
            "drops": Sql(made(_DROPS), Drop, ("unit", "id")),
        },
        accounts=(
            SetAccount("query", "given_queries", "id", "queries", "id"),
            SetAccount("verdict", "verdicts", "candidate_id", "applied", "candidate_id"),
        ),
    )


def grades(task: Task, scores: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Definitions of a task's grades; 0 is one where a pair was judged not relevant, and says by whom.

    Args:
        task: the task.
        scores: rows with `score` and `label_status` of the task's labels.
    """
    found = {str(grade.score): grade.definition for grade in task.grades if grade.score}
    statuses = {row["label_status"] for row in scores if row["score"] == 0}
    who = dict.fromkeys(name for status, name in _JUDGES.items() if status in statuses)
    if who:
        told = " or ".join(who)
        found["0"] = NOT_RELEVANT.format(who=told[0].upper() + told[1:])
    return found


def changes(query: QueryRunner, given: Views) -> list[dict[str, Any]]:
    """How many pairs people judged, by the grade a rule had given them and what the release makes of them.

    Args:
        query: runs SQL over Parquet.
        given: published tables, see `curation.release.facts.views`.

    Returns:
        Rows of `rule_grade` (None where no rule labelled the pair), `grade` (None where it is excluded),
        `excluded` (the reason, '' for a label), `is_same` (the grade is the rule's) and `pairs`; none of a
        release without answers, or whose answers do not tell.
    """
    files = given.get("annotations", ())
    if not files or "rule_grade" not in pq.read_schema(files[0]).names:
        return []
    return fetch(query, _CHANGES, given)


def write_review(directory: Path, content: Mapping[str, Any]) -> None:
    """Write what is known of a review into a task directory, see `review_facts`."""
    path = directory / REVIEW
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def review_facts(directory: Path, query: QueryRunner, given: Views) -> dict[str, Any]:
    """What the card tells of a review: counts from the table of answers, figures from review.json.

    `review` is None where nothing was reviewed.
    """
    if "annotations" not in given:
        return {"review": None}
    try:
        told: dict[str, Any] = json.loads((directory / REVIEW).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        told = {}
    return {
        "review": {
            **fetch_one(query, _COUNTS, given),
            "rules": fetch(query, _RULES, given),
            "changes": changes(query, given),
            "agreement": told.get("agreement", []),
            "precision": told.get("precision", []),
            "missed": told.get("missed"),
            "meaning": told.get("rules", {}),
            "words": told.get("words", {}),
        }
    }
